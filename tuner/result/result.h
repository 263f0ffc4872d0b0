/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A result is the document of a search, or the entry of a profile, which has the same members. Other rooms read
 * and write its verdict and its speedup by these functions only. */
#ifndef TUNER_RESULT_RESULT_H
#define TUNER_RESULT_RESULT_H

#include "base/json/member.h"
#include "base/text.h"

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
struct shown speedup_text(struct speedup speedup);
/* The same to three digits, for tables and sentences that hold large factors, too. */
struct shown speedup_digits_text(struct speedup speedup);

/* Is the interval so wide that only its lower end should be told? */
bool speedup_is_wide(struct speedup speedup);
double speedup_told(struct speedup speedup); /* the number that speedup_gain_text tells */
/* "1.29x faster [1.26, 1.32]", or "at least 1.60x faster" where it is wide. Caller frees. */
char *speedup_gain_text(struct speedup speedup, const char *word);
/* An element of "worth": "OMP_PROC_BIND=close  1.29x [1.26, 1.32]". Caller frees. */
char *result_worth_text(const json_t *price);
char *result_setting_text(const json_t *price); /* "OMP_PROC_BIND=close". Caller frees. */
/* "OMP_SCHEDULE, GOMP_SPINCOUNT", "" if there are none. Caller frees. */
char *result_not_needed_text(const json_t *result);

/* Structs that are read once from documents, whose texts and parts they borrow. Each row is a member: its name, its
 * type (base/json/member.h), its path in the document, and its value if the document does not say it. */

/* A configuration and what it costs: a "best", a "baseline", a "winner". */
#define SETUP_MEMBERS(X)                                                                                               \
	X(config, JSON, "config", NULL)                                                                                    \
	X(unit, TEXT, "unit", "s")                                                                                         \
	X(status, TEXT, "status", NULL)                                                                                    \
	X(message, TEXT, "message", NULL)                                                                                  \
	X(median, REAL, "median", NAN)                                                                                     \
	X(low, REAL, "ci.0", NAN)                                                                                          \
	X(high, REAL, "ci.1", NAN)
struct setup {
	SETUP_MEMBERS(MEMBER_DECLARE)
	const json_t *json; /* NULL: there is none */
};

/* How busy others kept the machine meanwhile. */
#define LOAD_MEMBERS(X)                                                                                                \
	X(busy, BOOL, "busy", false)                                                                                       \
	X(load, REAL, "load", NAN)                                                                                         \
	X(steal, REAL, "steal", 0)                                                                                         \
	X(processors, COUNT, "processors", 0)                                                                              \
	X(blocks, COUNT, "blocks", 0)                                                                                      \
	X(disturbed, COUNT, "disturbed", 0)
struct load {
	LOAD_MEMBERS(MEMBER_DECLARE)
};
struct load load_read(const json_t *json);

/* The effect of a parameter: how many times as long the worst of its values takes as the best. seen: values that were
 * measured. */
#define EFFECT_MEMBERS(X)                                                                                              \
	X(param, TEXT, "param", "?")                                                                                       \
	X(best, JSON, "best", NULL)                                                                                        \
	X(worst, JSON, "worst", NULL)                                                                                      \
	X(seen, COUNT, "seen", 0)                                                                                          \
	X(known, BOOL, "known", false)
struct param_effect {
	EFFECT_MEMBERS(MEMBER_DECLARE)
	struct speedup speedup;
};
/* NULL without any. The caller frees the array. */
struct param_effect *effects_read(const json_t *json, size_t *count);

/* A row of "counters" or "metrics": what was counted of a name. */
#define COUNTED_MEMBERS(X)                                                                                             \
	X(name, TEXT, "name", "?")                                                                                         \
	X(group, TEXT, "group", "")                                                                                        \
	X(status, TEXT, "status", "")                                                                                      \
	X(source, TEXT, "source", "-")                                                                                     \
	X(unit, TEXT, "unit", "")                                                                                          \
	X(formula, TEXT, "formula", "")                                                                                    \
	X(reason, TEXT, "reason", "")                                                                                      \
	X(value, REAL, "value", NAN)                                                                                       \
	X(imbalance, REAL, "imbalance", NAN)
struct counted {
	COUNTED_MEMBERS(MEMBER_DECLARE)
};
struct counts {
	struct counted *rows; /* the caller frees them */
	size_t count;
};
struct counts counts_read(const json_t *json, const char *list);

/* The document of a search. censored: trials that were cut short, because they took too long to win. closest: how many
 * times as long the closest of the others took, if it was so far off that no pairs were measured. */
#define RESULT_MEMBERS(X)                                                                                              \
	X(kernel, TEXT, "kernel", "?")                                                                                     \
	X(objective, TEXT, "objective", "time")                                                                            \
	X(stopped, TEXT, "stopped", NULL)                                                                                  \
	X(narrower, TEXT, "narrower", NULL)                                                                                \
	X(problem, JSON, "problem", NULL)                                                                                  \
	X(program, JSON, "program", NULL)                                                                                  \
	X(pairs, COUNT, "pairs", 0)                                                                                        \
	X(evaluations, COUNT, "evaluations", 0)                                                                            \
	X(valid, COUNT, "space.valid", 0)                                                                                  \
	X(censored, COUNT, "failures.censored", 0)                                                                         \
	X(timeouts, COUNT, "failures.timeout", 0)                                                                          \
	X(incomparable, COUNT, "incomparable", 0)                                                                          \
	X(elapsed_s, REAL, "elapsed_s", NAN)                                                                               \
	X(closest, REAL, "closest", 0)
struct result {
	RESULT_MEMBERS(MEMBER_DECLARE)
	const json_t *json;
	struct setup baseline, best; /* best: of `explain` it is the "winner" */
	enum verdict verdict;
	struct speedup speedup;
	struct load load;
	bool faster, decided; /* faster: whatever work it does */
	bool compared, keeps; /* has a speedup; the best is the baseline */
};
struct result result_read(const json_t *json);
double result_speedup_most(const json_t *results);    /* the largest of several results, at least 1 */
bool result_no_bounds(const struct result *result);   /* was it compared with a vague interval? */
bool result_is_rejected(const struct result *result); /* the program runs, but what it prints is refused */
/* Do the medians of baseline and best give another ratio than their pairs, on which the speedup rests? */
bool result_medians_differ(const struct result *result);
bool result_untried(const struct result *result);   /* was nothing but the baseline tried? */
bool result_single(const struct result *result);    /* is the baseline all that there is? */
bool result_tried_all(const struct result *result); /* was every valid configuration measured? */
/* Did the baseline stay without a comparison, because nothing else worked? */
bool result_alone(const struct result *result);
/* Did nothing meet the baseline, because other programs made the others take too long? */
bool result_unmet(const struct result *result);

/* The machine of a profile. */
#define MACHINE_MEMBERS(X)                                                                                             \
	X(fingerprint, TEXT, "fingerprint", "")                                                                            \
	X(cpu, TEXT, "cpu", "")                                                                                            \
	X(compiler, TEXT, "compiler", "")                                                                                  \
	X(cores, COUNT, "cores", 0)                                                                                        \
	X(threads, COUNT, "threads", 0)
struct machine {
	MACHINE_MEMBERS(MEMBER_DECLARE)
	const json_t *json;
};

/* A recommendation: an entry of a profile. threads, bind, places: of OpenMP; "" if it leaves them alone. */
#define ENTRY_MEMBERS(X)                                                                                               \
	X(kernel, TEXT, "kernel", "")                                                                                      \
	X(objective, TEXT, "objective", "time")                                                                            \
	X(device, TEXT, "device", "cpu")                                                                                   \
	X(unit, TEXT, "unit", "")                                                                                          \
	X(state, TEXT, "state", "")                                                                                        \
	X(source, TEXT, "source", "")                                                                                      \
	X(command, TEXT, "provenance.command", "")                                                                         \
	X(measured, TEXT, "provenance.measured", "")                                                                       \
	X(search, COUNT, "provenance.search", 0)                                                                           \
	X(threads, TEXT, "environment.OMP_NUM_THREADS", "")                                                                \
	X(bind, TEXT, "environment.OMP_PROC_BIND", "")                                                                     \
	X(places, TEXT, "environment.OMP_PLACES", "")                                                                      \
	X(problem, JSON, "problem", NULL)                                                                                  \
	X(config, JSON, "config", NULL)                                                                                    \
	X(environment, JSON, "environment", NULL)                                                                          \
	X(unset, JSON, "unset", NULL)                                                                                      \
	X(program, JSON, "program", NULL)                                                                                  \
	X(median, REAL, "median", NAN)                                                                                     \
	X(low, REAL, "ci.0", NAN)                                                                                          \
	X(high, REAL, "ci.1", NAN)                                                                                         \
	X(noise_floor, REAL, "noise_floor", 0)                                                                             \
	X(proven, BOOL, "proven", true)
struct profile_entry {
	ENTRY_MEMBERS(MEMBER_DECLARE)
	const json_t *json;
	struct setup baseline;
	enum verdict verdict;
	struct speedup speedup;
	bool keeps; /* it is the baseline */
};
struct profile_entry profile_entry_read(const json_t *entry);

/* foreign: exported for another machine */
#define PROFILE_MEMBERS(X)                                                                                             \
	X(created, TEXT, "created", "")                                                                                    \
	X(generator, TEXT, "generator", "")                                                                                \
	X(sizes, JSON, "sizes", NULL)                                                                                      \
	X(foreign, BOOL, "foreign", false)
struct profile {
	PROFILE_MEMBERS(MEMBER_DECLARE)
	const json_t *json;
	struct machine machine;
	struct profile_entry *entries; /* the caller frees them */
	size_t count;
};
struct profile profile_read(const json_t *profile);
#endif
