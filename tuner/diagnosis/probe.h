/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by diagnoses: the rows to look at, when an effect counts, words of the field, curves over threads. */
#ifndef TUNER_DIAGNOSIS_PROBE_H
#define TUNER_DIAGNOSIS_PROBE_H
#include "tuner/diagnosis/diagnosis.h"
#include "tuner/study/follows.h"

enum { PROBE_TEXT = 160, PROBE_CASES = 256, PROBE_PROBLEMS = 64 };

/* Rows of one problem, at one level of a column, with teams of some size. */
struct probe_scope {
	int column, level;  /* -1: any */
	size_t problem_row; /* a row of the problem; SIZE_MAX: any */
	double least, most; /* threads; 0: no limit */
};
#define PROBE_ALL ((struct probe_scope){.column = -1, .level = -1, .problem_row = SIZE_MAX})
bool probe_in(void *scope, const struct study *study, size_t row);
/* A row of each problem, the smallest first. */
size_t probe_problems(const struct study *study, size_t rows[PROBE_PROBLEMS]);
/* Operations, else bytes, else the product of what the problem says. */
double probe_size(const struct study *study, size_t row);

double probe_limit(const struct study *study);                               /* what an effect must exceed */
bool probe_over(const struct study *study, const struct study_ratio *ratio); /* the ratio is over 1, beyond the noise */
bool probe_under(const struct study *study, const struct study_ratio *ratio); /* .. under 1 */
/* The probability of this ratio, or a larger one, where none is beyond the noise; 1 where it is under. */
double probe_chance(const struct study *study, const struct study_ratio *ratio);
/* a over b, of two ratios that were measured apart. */
struct study_ratio probe_apart(const struct study_ratio *a, const struct study_ratio *b);

/* Something that was tested, one of several. */
struct probe_case {
	struct study_ratio ratio;
	size_t problem_row; /* as in a scope */
	int a, b;           /* levels */
	double extra[2];
	bool holds;
};
/* Sets `holds`: over, and still so among all that were tested (Holm). Returns how many hold. */
size_t probe_hold(const struct study *study, struct probe_case *cases, size_t count);

/* words: one or more with blanks between them. */
bool probe_word(const struct study_column *column, int level,
                const char *words);                                             /* a part of the value is one of them */
bool probe_named(const struct study_column *column, const char *words);         /* the name contains one of them */
size_t probe_words_count(const struct study_column *column, const char *words); /* levels of which that is true */
extern const char probe_locks[], probe_fair_locks[];
/* A column of locks, -1: there is none. */
int probe_lock_column(const struct study *study);

const char *probe_s(double count); /* "s", of one nothing */
const char *probe_level(const struct study *study, size_t column, int level, char text[PROBE_TEXT]); /* "pad=none" */
const char *probe_problem(const struct study *study, size_t row,
                          char text[PROBE_TEXT]); /* "n=64", "": there is one only */
void probe_about_problem(struct finding *finding, const struct study *study, size_t row); /* SIZE_MAX: says nothing */
/* A row's words without those of some names. Caller frees. */
char *probe_words(const struct study *study, size_t row, const char *without);
/* The row of least time in a scope, SIZE_MAX: none. */
size_t probe_best(const struct study *study, const struct probe_scope *scope);
/* "1,2,4": levels of a numeric column. Caller frees. */
char *probe_levels(const struct study *study, size_t column);
/* The experiment over threads that would tell more of this row. */
void probe_next_threads(struct finding *finding, const struct study *study, size_t row, size_t column);

/* Column of threads, -1: they never change. */
int probe_threads(const struct study *study);
/* Teams that the machine has room for: hardware threads, infinite where they are not known. */
double probe_room(const struct study *study);

enum { CURVE_MAX = 40 };
/* Time over threads in a scope, least team first: how many times faster each is than the first one. */
struct curve {
	struct probe_scope scope;
	size_t count, stop; /* stop: from here on no larger team is faster */
	int level[CURVE_MAX];
	double threads[CURVE_MAX];
	struct study_ratio speedup[CURVE_MAX];
};
bool curve_make(const struct study *study, struct probe_scope scope, struct curve *curve); /* false: under two teams */
/* Time with a over time with b threads, for levels of the column of threads. */
struct study_ratio curve_gain(const struct study *study, const struct curve *curve, int a, int b);

#endif
