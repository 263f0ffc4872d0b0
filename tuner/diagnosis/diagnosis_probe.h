/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by diagnoses: the rows to look at, thresholds of effects, words of the field, curves over threads. */
#ifndef TUNER_DIAGNOSIS_DIAGNOSIS_PROBE_H
#define TUNER_DIAGNOSIS_DIAGNOSIS_PROBE_H
#include "tuner/diagnosis/diagnosis.h"
#include "tuner/study/follows.h"

enum { PROBE_TEXT = 160, PROBE_CASES = 256, PROBE_PROBLEMS = 64 };

/* Selects rows of one problem, with one level of a column and teams of some size. */
struct probe_scope {
	int column, level;  /* -1: any */
	size_t problem_row; /* a row of the problem; SIZE_MAX: any */
	double least, most; /* threads; 0: no limit */
};
#define PROBE_ALL ((struct probe_scope){.column = -1, .level = -1, .problem_row = SIZE_MAX})
bool probe_in(void *scope, const struct study *study, size_t row);
/* A row of each problem, the smallest problem first. */
size_t probe_problems(const struct study *study, size_t rows[PROBE_PROBLEMS]);
/* The size of a row's problem: its operations, otherwise its bytes, otherwise the product of its members. */
double probe_size(const struct study *study, size_t row);

double probe_limit(const struct study *study); /* the ratio that an effect must exceed */
bool probe_over(const struct study *study,
                const struct study_ratio *ratio); /* the ratio is above 1, beyond the noise */
bool probe_under(const struct study *study,
                 const struct study_ratio *ratio); /* the ratio is below 1, beyond the noise */
/* a over b, for two ratios that were measured independently. */
struct study_ratio probe_apart(const struct study_ratio *a, const struct study_ratio *b);

/* One of several tested contrasts. */
struct probe_case {
	struct study_ratio ratio;
	size_t problem_row; /* as in a scope */
	int a, b;           /* levels */
	double extra[2];
	bool holds;
};
/* Sets `holds`: the ratio is above 1 beyond the noise, also after Holm's correction for all tests. Returns how many
 * hold. */
size_t probe_hold(const struct study *study, struct probe_case *cases, size_t count);

/* words: one or more, separated by blanks. */
bool probe_word(const struct study_column *column, int level,
                const char *words);                                     /* true if a part of the value is one of them */
bool probe_named(const struct study_column *column, const char *words); /* true if the name contains one of them */
size_t probe_words_count(const struct study_column *column,
                         const char *words);        /* number of levels for which probe_word is true */
bool probe_tile(const struct study_column *column); /* the edge of a block or tile */
/* True if the text or a part of it is one of the words. */
bool probe_text_has(const char *text, const char *words);
extern const char probe_locks[], probe_fair_locks[];
/* The column of locks; -1: there is none. */
int probe_lock_column(const struct study *study);

const char *probe_s(double count); /* "s", or "" for one */
const char *probe_level(const struct study *study, size_t column, int level, char text[PROBE_TEXT]); /* "pad=none" */
/* "n=64 pad=none": a row's values, or those of its problem only, without those of one column. */
const char *probe_columns(const struct study *study, size_t row, bool of_problem, size_t without,
                          char text[PROBE_TEXT]);
const char *probe_problem(const struct study *study, size_t row,
                          char text[PROBE_TEXT]); /* "n=64", or "" if there is only one problem */
const char *probe_at(const struct study *study, size_t row, char text[PROBE_TEXT]);       /* " at n=64", or "" */
void probe_about_problem(struct finding *finding, const struct study *study, size_t row); /* SIZE_MAX: adds nothing */
/* A row's words without those of some names. The caller frees them. */
char *probe_words(const struct study *study, size_t row, const char *without);
/* The fastest row of a scope; SIZE_MAX: none. */
size_t probe_best(const struct study *study, const struct probe_scope *scope);
/* Sets the experiment that counts this group in a run of the row, unless that is SIZE_MAX. */
void probe_next_counters(struct finding *finding, const struct study *study, size_t row, const char *group);
/* Adds a share of the top-down tree, "backend memory bound at 61 %", where it was counted in the row. */
void probe_topdown_add(struct finding *finding, const struct study *study, size_t row, const char *metric,
                       const char *words);
/* Sets the experiment that compares another level of the scope's column with its own, in its fastest row. */
void probe_next_compare(struct finding *finding, const struct study *study, const struct probe_scope *scope, int other);
/* Sets the experiment over threads that would tell more about this row. */
void probe_next_threads(struct finding *finding, const struct study *study, size_t row, size_t column);

/* Does the column's name end with a word for the members of a team: "MPI ranks", "threads/processes"? */
bool probe_is_team(const struct study_column *column);
/* The column of threads; -1: the number never changes. */
int probe_threads(const struct study *study);
/* The threads that the machine has room for: its hardware threads, INFINITY if unknown. */
double probe_room(const struct study *study);

/* The times in seconds that rows report beside their own, and their sum over a row's time. */
enum { JUDGE_PARTS_MAX = 12 };
struct judge_parts {
	const char *name[JUDGE_PARTS_MAX];
	size_t count;
};
struct judge_parts judge_parts_find(const struct study *study);
double judge_parts_share(const struct study *study, size_t row, const struct judge_parts *parts);

enum { CURVE_MAX = 40 };
/* Time over threads in a scope, the smallest team first: how many times faster each team is than the first one. */
struct curve {
	struct probe_scope scope;
	size_t count, stop; /* stop: index of the smallest team that no larger one beats */
	int level[CURVE_MAX];
	double threads[CURVE_MAX];
	struct study_ratio speedup[CURVE_MAX];
};
bool curve_make(const struct study *study, struct probe_scope scope,
                struct curve *curve); /* false: fewer than two teams */
/* The time with a over the time with b threads, which are levels of the column of threads. */
struct study_ratio curve_gain(const struct study *study, const struct curve *curve, int a, int b);

/* A parameter with a value that suffers from something which its other values prevent, and only with several threads.
 */
struct remedy {
	size_t column;
	struct study_ratio ratio; /* time of the value that suffers over that of the other */
	int bad, good;            /* levels */
	size_t problem_row;       /* the problem; SIZE_MAX: all measured ones */
	struct study_ratio alone; /* the same with one thread; pairs is 0 if not measured */
	bool only_together;       /* one thread does not show the effect */
};
struct remedy_words {
	const char *names; /* of the column */
	const char *bad, *good;
	const char *sure_bad, *sure_good; /* a column of any name counts if it has one of each; NULL: none does */
};
/* Finds one for each value and problem for which it holds; returns their number. */
size_t remedies_find(const struct study *study, const struct remedy_words *words, struct remedy found[PROBE_CASES]);
/* Is it more than the distance of memory can cost, so that something else has to add to it? */
bool remedy_beyond_distance(const struct remedy *remedy);
/* Sets "compare .." of both values, or a sweep over threads if one thread was never measured. */
void remedy_next(struct finding *finding, const struct study *study, const struct remedy *remedy);

/* Problems that stop gaining from more threads while others still gain. */
struct saturation {
	size_t problem, other; /* rows of the problem that stops scaling and of the one that continues */
	bool other_is_larger;
	struct curve curve; /* of the problem that stops */
	double stop, next,
		most; /* threads: where it stops, one step further, and the most for which the other one scales */
	struct study_ratio own, others; /* gain from there to the most threads */
};
/* Finds one for each problem that stops while another one does not, among teams that the machine has room for.
 * Allocated at *found; returns the number. */
size_t saturations_find(const struct study *study, bool other_is_larger, struct saturation **found);
void saturation_evidence(struct finding *finding, const struct study *study, const struct saturation *one);
/* The fastest row of that problem with that many threads. */
size_t saturation_row(const struct study *study, const struct saturation *one, double threads);
#endif
