/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A result is the document of a search, or the entry of a profile, which has the same members. Other rooms read
 * and write its verdict and its speedup by these functions only. */
#ifndef TUNER_RESULT_RESULT_H
#define TUNER_RESULT_RESULT_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
bool verdict_is_decided(const json_t *result);
/* How the setting was checked: "output same in 31 of 31 runs", "verified by CMD in 9 of 9 runs", "nothing". Caller
 * frees; NULL: the result is from an earlier version, and nobody knows. */
char *verdict_checked(const json_t *result);

/* How many times as fast, with its 95 % interval; NAN: not known. */
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
/* A few pairs that others disturb can give a ratio an interval such as [0.00, 10006269.34], which says nothing. */
bool speedup_is_vague(struct speedup speedup);
/* An upper bound so far above the ratio says nothing; it is not printed. */
bool speedup_is_unbounded(struct speedup speedup);
/* "2.58x [2.51, 2.68]", "2.58x" without an interval, "-" if it is not known. */
void speedup_text(struct speedup speedup, char *text, size_t size);
/* The same to three digits, for tables and sentences that hold large factors, too. */
void speedup_digits_text(struct speedup speedup, char *text, size_t size);

/* A configuration and what it costs: a "best", a "baseline", a "winner". Documents belong to the one it was read from.
 */
struct setup {
	const json_t *json; /* NULL: there is none */
	const json_t *config;
	const char *unit, *status, *message; /* unit: "s" if not said; the others: NULL if it did not fail */
	double median, low, high;
};
struct setup setup_read(const json_t *json);

/* How busy others kept the machine meanwhile. */
struct load {
	bool busy;
	double load, steal; /* NAN, 0: not known */
	int64_t processors, blocks, disturbed;
};
struct load load_read(const json_t *json);

/* The effect of a parameter: how many times as long the worst of its values takes as the best. */
struct param_effect {
	const char *param;
	const json_t *best, *worst; /* values */
	struct speedup speedup;
	int64_t seen; /* values that were measured */
	bool known;
};
/* NULL without any. The caller frees the array. */
struct param_effect *effects_read(const json_t *json, size_t *count);

/* What was counted of a name: a row of "counters" or "metrics". A text that is not said is "", but a name is "?" and a
 * source "-"; a number is NAN. */
struct counted {
	const char *name, *group, *status, *source, *unit, *formula, *reason;
	double value, imbalance;
};
struct counts {
	struct counted *rows; /* the caller frees them */
	size_t count;
};
struct counts counts_read(const json_t *json, const char *list);

/* The document of a search. */
struct result {
	const json_t *json;
	const char *kernel, *objective, *stopped, *narrower; /* "?", "time", NULL, NULL if not said */
	const json_t *problem, *program;
	struct setup baseline, best; /* best: of `explain` it is the "winner" */
	enum verdict verdict;
	struct speedup speedup;
	struct load load;
	int64_t pairs, evaluations, valid, censored, timeouts, incomparable; /* censored: took too long to win */
	double elapsed_s,
		closest;          /* closest: times as long the closest of the others took if it was too far off for pairs */
	bool faster, decided; /* faster: whatever work it does */
	bool compared, keeps; /* has a speedup; the best is the baseline */
};
struct result result_read(const json_t *json);
double result_speedup_most(const json_t *results);     /* the largest of several results, at least 1 */
bool result_no_bounds(const struct result *result);    /* was it compared with a vague interval? */
bool result_is_maximized(const struct result *result); /* are larger values of the metric better? */
bool result_is_rejected(const struct result *result);  /* the program runs, but what it prints is refused */
/* Do the medians of baseline and best give another ratio than their pairs, on which the speedup rests? */
bool result_medians_differ(const struct result *result);
bool result_untried(const struct result *result);   /* was nothing but the baseline tried? */
bool result_single(const struct result *result);    /* is the baseline all that there is? */
bool result_tried_all(const struct result *result); /* was every valid configuration measured? */
/* Did the baseline stay without a comparison, because nothing else worked? */
bool result_alone(const struct result *result);
/* Did nothing meet the baseline, because other programs made the others take too long? */
bool result_unmet(const struct result *result);

#endif
