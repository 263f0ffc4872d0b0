/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of this folder only. */
#ifndef TUNER_SURROGATE_SURROGATE_IMPL_H
#define TUNER_SURROGATE_SURROGATE_IMPL_H
#include <math.h>

#include "tuner/model/gp/gp.h"
#include "tuner/surrogate/surrogate.h"

/* Configurations as a Gaussian process sees them: one dimension for each parameter that has a choice (gp_dim_of), and
 * one for the alignment of numbers whose powers of two do not simply grow with them. (48 lies between 32 and 64, but is
 * less aligned than either.) Numbers of few values have another one, without an order. Flags that exclude each other
 * have one together. */

struct coding {
	const struct space *space;
	size_t count, unnamed; /* unnamed: dimensions before those without an order that repeat a number */
	struct gp_dim dim[GP_DIMS_MAX];
	int param[GP_DIMS_MAX];            /* parameter of each dimension; -1: the dimension belongs to a source */
	const uint16_t *code[GP_DIMS_MAX]; /* code of each level of it, then of its absence */
	uint64_t flags[GP_DIMS_MAX];       /* a choice written as flags: the parameters, of which one is on at most */
};

/* Allocated in the arena. Leaves room for `spare` dimensions. */
struct coding *coding_new(struct arena *arena, const struct space *space, size_t spare);
void coding_config(const struct coding *coding, const int *config, uint16_t *codes);
void coding_index(const struct coding *coding, uint64_t index, uint16_t *codes);

/* Tells which configurations work by a logistic regression with a ridge (Hoerl, Kennard, Ridge regression, 1970): on
 * the parameters, most of them as logarithms, their squares and their products. Resources such as threads, registers
 * and shared memory are products of parameters, so that their limits are planes here, of which a few failures on either
 * side tell more than distances do. */

struct limits {
	const struct gp_dim *dim;
	size_t dims, axes, paired, size, count, room;
	int first[GP_DIMS_MAX]; /* axis of a number, or of the first value of a word; -1: none */
	double *features;       /* count x size */
	double *sign;           /* of each observation */
	double *weight, *precision;
};
/* Allocated in the arena, with room for so many observations. Sources' dimensions are not used. */
struct limits *limits_new(struct arena *arena, const struct coding *coding, size_t room);
void limits_add(struct limits *limits, const uint16_t *codes, bool works);
/* Begins at the weights of the last fit. */
void limits_fit(struct limits *limits);
/* The logarithms of the odds that configurations work. codes: `stride` apart. */
void limits_logits(const struct limits *limits, const uint16_t *codes, size_t stride, size_t count, float *logit);

enum {
	POOL_WHOLE = 20000,
	POOL_SAMPLED = 6000,
	OBSERVED_MAX = 512,
	OBSERVED_KEPT = 320,
	SOURCES_MAX = 8,
	PENDING_MAX = 256
};

struct observed {
	uint64_t index;
	enum strategy_result result;
	double log; /* of the value, or of its lower limit if it was cut short */
	double deviation;
};

struct pool { /* the candidates */
	uint64_t *index;
	uint16_t *codes; /* count x dims */
	size_t count, room;
	bool whole;
};

struct source_model {
	const struct coding *coding;
	size_t dims;         /* dimensions of the coding when the model was made */
	struct gp *gp;       /* NULL until a configuration is asked for that the source does not know */
	double scale;        /* largest target: what the highest code stands for */
	struct known *known; /* sorted by index */
	size_t count;
	struct arena *arena;
};

struct cost;

/* Does a configuration work? */
struct surrogate_odds {
	struct gp *works; /* NULL until a configuration fails */
	struct gp_pool *workings;
	size_t in_works; /* number of observations that the model has */
	struct limits *limits;
	float *chance;          /* of each candidate to work, if `works` is there */
	bool strict;            /* candidates that don't pass are out */
	double pass, pass_bold; /* the chances that they need */
	double line_moved;      /* the line's logarithm of the odds, less that at the beginning */
	struct guesses {        /* what was predicted before each result */
		double chance[OBSERVED_MAX];
		bool failed[OBSERVED_MAX];
		size_t count;
		double ordered, pairs; /* of a success and a failure */
	} guesses;
};

/* How long does it take? */
struct surrogate_fit {
	struct gp *value;
	struct gp_pool *values;
	size_t in_value; /* number of observations that the model has */
	size_t *row;     /* observation behind each row of the model */
	double *target, *lone_mean, *lone_variance;
	size_t fits;
	size_t told, fit_at; /* results so far, and how many of them the next fit waits for */
	double stretch;      /* factor of variances */
	double error;        /* median leave-one-out error of the logarithm; NAN before the first fit */
};

struct surrogate_worth {
	double *gain; /* of each candidate: surrogate_gain_at or more; 0: it is taken */
	float *gain_most;
	float incumbent, step; /* step: a proposal should be better by this */
	double anchor;         /* the best when it last improved clearly */
	size_t vain;           /* results since */
};

struct surrogate_prior { /* earlier searches */
	struct source_model *source[SOURCES_MAX];
	size_t source_count, dropped, firsts;
};

struct surrogate_waiting { /* proposed, without a result */
	struct pending {
		uint64_t index;
		bool own; /* the model asked for it */
	} pending[PENDING_MAX];
	size_t count;
};

struct surrogate {
	struct strategy_task task;
	struct rng rng;
	struct coding *coding;
	size_t dims, expected_at;  /* expected_at: results when each was left out */
	struct observed *observed; /* OBSERVED_MAX */
	size_t count, worked, failed;
	double best; /* logarithm; INFINITY if there is none */
	struct surrogate_waiting waiting;
	struct pool pool;
	struct surrogate_fit fit;
	struct surrogate_odds odds;
	struct surrogate_worth worth;
	struct surrogate_prior prior;
	struct cost *cost;                 /* NULL if the budget counts evaluations */
	struct front *front;               /* NULL with one objective, and `second`, the model of the other one, as well */
	struct surrogate *second, *leader; /* leader: of a second one, the first, whose candidates it has */
	double cap;                        /* of the targets; 0: as the results suggest */
	bool asked;
};

/* front.c: the second of two objectives */
void front_begin(struct surrogate *surrogate);
void front_report(struct surrogate *surrogate, uint64_t index, const struct strategy_outcome *outcome);

/* The expected improvement by a normal variable that is `gap` below the incumbent. */
static inline double surrogate_gain_of(double gap, double deviation) {
	double z = gap / deviation;
	return z < -8 ? 0 : deviation * (z * 0.5 * erfc(-z / sqrt(2)) + exp(-0.5 * z * z) * 0.3989422804014327);
}

/* Gains by the gap in deviations, tabulated from the least on in steps of 1 / GAP_STEP. */
enum { GAP_MIN = -8, GAP_STEP = 8, GAP_STEPS = 96 };

/* surrogate.c: models, candidates and incumbent with all results, and with pending configurations as expected */
void surrogate_predict(struct surrogate *surrogate);

/* Sets the targets of the value model's rows; the soft cap applies to them and to sources */
void surrogate_targets(struct surrogate *surrogate);
double surrogate_cap(double log_ratio, double cap);

/* The candidate that promises most by the pool's predictions, and how much. If no candidate is expected to gain
 * anything, the one that falls short by the fewest deviations; if all of them will probably fail, one of those. Returns
 * what it promises. */
double surrogate_most_promising(struct surrogate *surrogate, uint64_t *index);
double surrogate_gain_at(const struct surrogate *surrogate, size_t candidate); /* times its chance to work */

/* chance.c: the chance that a configuration works, as of the last update, and whether a candidate may be proposed. A
 * result is reported before it is learned. */
void surrogate_chance_update(struct surrogate *surrogate, bool fit);
void surrogate_chance_report(struct surrogate *surrogate, uint64_t index, bool failed);
double surrogate_chance_at(const struct surrogate *surrogate, const uint16_t *codes);

void surrogate_pool_fill(struct surrogate *surrogate);

/* source.c: adds a dimension for each source that can be used. Their order follows from their contents, because the
 * order in which they are given must not change the search; one that is given twice counts once. */
void source_models_make(struct surrogate *surrogate);
/* Codes the source's prediction of one configuration, or of all candidates at once into dimension `at`. */
uint16_t source_model_code(struct source_model *model, const uint16_t *codes, uint64_t index);
void source_model_codes(struct source_model *model, struct pool *pool, size_t dims, size_t at);
/* Codes a configuration in every dimension, those of the sources included. */
void surrogate_codes(const struct surrogate *surrogate, uint64_t index, uint16_t *codes);
/* The variance of an observation's target. */
double observed_variance(const struct observed *observed);
/* After a fit: the source without which left-out configurations are predicted better; SIZE_MAX if all sources help. */
size_t source_misleading(struct surrogate *surrogate);

/* Predicts the cost of an evaluation in seconds of wall clock from the evaluations so far: of the build and of the rest
 * the mean logarithm of the seconds and an effect of each value of each parameter, additive and shrunk. (Unrolling
 * costs time to compile, small blocks cost time to run.) If the budget is a time, a gain is divided by its cost (Snoek,
 * Larochelle, Adams, Practical Bayesian optimization of machine learning algorithms, 2012, section 3.2), the less the
 * more of the budget is used, so that cheap configurations come first and the best ones last (Lee, Perrone, Archambeau,
 * Seeger, Cost-aware Bayesian optimization, 2020). */

struct cost;
/* Covers the dimensions that the coding has now; allocated in the task's arena, which must outlive it as the coding
 * must. NULL, which all functions below accept, if the budget is a number of evaluations, because costs do not matter
 * then. */
struct cost *cost_new(const struct strategy_task *task, const struct coding *coding);
void cost_report(struct cost *cost, uint64_t index, const struct strategy_outcome *outcome);
/* The power of the seconds by which a gain is divided now: 0 while costs are alike or unpredictable, at most 1. */
double cost_power(const struct cost *cost);
/* The logarithm of a configuration's cost relative to the mean. */
double cost_predict(const struct cost *cost, const uint16_t *codes);

/* The factor by which a gain shrinks when it is divided by the seconds to this power. It is almost 0 if building is
 * expected to take over 10 times as long as usual, so that such configurations come last. */
double cost_share(const struct cost *cost, double power, const uint16_t *codes);
#endif
