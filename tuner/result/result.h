/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A result is the document of a search, or the entry of a profile, which has the same members. Other rooms read
 * and write its verdict and its speedup by these functions only. */
#ifndef TUNER_RESULT_RESULT_H
#define TUNER_RESULT_RESULT_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define VERDICTS(X)                                                                                                    \
	X(FASTER, "faster")                                                                                                \
	X(NOT_SAME, "faster, but not the same work")                                                                       \
	X(TIE, "tie")                                                                                                      \
	X(UNDECIDED, "undecided")                                                                                          \
	X(SLOWER, "slower")                                                                                                \
	X(NO_BASELINE, "no baseline")

enum verdict {
#define VERDICT_ENUM(name, word) VERDICT_##name,
	VERDICTS(VERDICT_ENUM)
#undef VERDICT_ENUM
		VERDICT_COUNT
};
/* The member's name, for lists of members and for headings of columns. */
#define VERDICT_MEMBER "verdict"

const char *verdict_word(enum verdict verdict);
bool verdict_find(const char *word, enum verdict *verdict);
/* A word that is not known, as of a later version, proves nothing: undecided. */
enum verdict verdict_named(const char *word);
/* The verdict of a result or an entry: undecided without one, or with one that is not known. */
enum verdict verdict_of(const json_t *result);
/* The word that the document has; the fallback without one. */
const char *verdict_said(const json_t *result, const char *fallback);
void verdict_set(json_t *result, enum verdict verdict);
/* null without one. */
void verdict_copy(json_t *to, const json_t *from);
/* Is it proven to be faster, whatever work it does? */
bool verdict_is_faster(const json_t *result);
/* How the setting was checked: "output same in 31 of 31 runs", "verified by CMD in 9 of 9 runs", "nothing". Caller
 * frees; NULL: the result is from an earlier version, and nobody knows. */
char *verdict_checked(const json_t *result);

/* How many times as fast, with its 95 % interval; NAN: not known. One whose upper end is INFINITY, in the document
 * null, is "at least" what its lower end says. */
struct speedup {
	double ratio, low, high;
};

/* The member "speedup" of a result or an entry. */
struct speedup speedup_of(const json_t *result);
/* {"ratio", "ci"}, as comparisons, effects and steps have it, too. */
struct speedup speedup_read(const json_t *json);
/* Of a ratio of times: 1/x swaps the ends of the interval. */
struct speedup speedup_inverse(double ratio, const double ci[2]);
json_t *speedup_json(struct speedup speedup);
bool speedup_has_interval(struct speedup speedup);
bool speedup_is_least(struct speedup speedup);
/* A few pairs that others disturb can give a ratio an interval such as [0.00, 10006269.34], which says nothing. */
bool speedup_is_vague(struct speedup speedup);
/* An upper bound so far above the ratio says nothing; it is not printed. */
bool speedup_is_unbounded(struct speedup speedup);
/* "2.58x [2.51, 2.68]", "2.58x" without an interval, "-" if it is not known. */
void speedup_text(struct speedup speedup, char *text, size_t size);
/* The same to three digits, for tables and sentences that hold large factors, too. */
void speedup_digits_text(struct speedup speedup, char *text, size_t size);

/* Is the interval so wide that only its lower end should be told? */
bool speedup_is_wide(struct speedup speedup);
/* "1.29x faster [1.26, 1.32]", or "at least 1.60x faster" where it is wide. Caller frees. */
char *speedup_gain_text(struct speedup speedup, const char *word);
/* An element of "worth": "OMP_PROC_BIND=close  1.29x [1.26, 1.32]". Caller frees. */
char *result_worth_text(const json_t *price);
/* "OMP_SCHEDULE, GOMP_SPINCOUNT", "" if there are none. Caller frees. */
char *result_not_needed_text(const json_t *result);

/* The largest speedup of several results, at least 1. */
double result_speedup_most(const json_t *results);
bool result_no_bounds(const json_t *result);   /* was it compared with a vague interval? */
bool result_is_compared(const json_t *result); /* has it a speedup, if only that of the baseline itself? */
bool result_is_decided(const json_t *result);
bool result_is_program(const json_t *result);
bool result_is_maximized(const json_t *result); /* are larger values of the metric better? */
bool result_keeps_baseline(const json_t *result);
bool result_is_rejected(const json_t *result); /* the program runs, but what it prints is refused */
/* Do the medians of baseline and best (of `explain`: the winner) give another ratio than their pairs, on which the
 * speedup rests? */
bool result_medians_differ(const json_t *result);
bool result_untried(const json_t *result);   /* was nothing but the baseline tried? */
bool result_single(const json_t *result);    /* is the baseline all that there is? */
bool result_tried_all(const json_t *result); /* was every valid configuration measured? */
/* Did the baseline stay without a comparison, because nothing else worked? */
bool result_alone(const json_t *result);
/* Did nothing meet the baseline, because other programs made the others take too long? */
bool result_unmet(const json_t *result);
/* How many times as long the closest of the others took, if it was so far off that no pairs were measured; else 0. */
double result_closest(const json_t *result);
long long result_pairs(const json_t *result);
/* Trials that were cut short, because they took too long to win. */
long long result_cut_short(const json_t *result);

#endif
