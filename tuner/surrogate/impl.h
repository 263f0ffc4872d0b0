/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of this folder only. */
#ifndef TUNER_SURROGATE_IMPL_H
#define TUNER_SURROGATE_IMPL_H
#include "tuner/surrogate/coding.h"
#include "tuner/surrogate/limits.h"
#include "tuner/surrogate/surrogate.h"

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

struct source_model;
struct cost;

struct surrogate {
	struct strategy_task task;
	struct rng rng;
	struct coding *coding;
	size_t dims;
	struct observed *observed; /* OBSERVED_MAX */
	size_t count, worked, failed;
	double best; /* logarithm; INFINITY if there is none */
	struct pending {
		uint64_t index;
		bool own; /* the model asked for it */
	} pending[PENDING_MAX];
	size_t pending_count;
	struct pool pool;
	struct gp *value, *works; /* works: NULL until a configuration fails */
	struct gp_pool *values, *workings;
	struct limits *limits;  /* what works, too */
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
	size_t in_value, in_works; /* number of observations that each model has */
	size_t *row;               /* observation behind each row of the value model */
	double *target, *lone_mean, *lone_variance;
	size_t fits;
	size_t told, fit_at; /* results so far, and how many of them the next fit waits for */
	double stretch;      /* factor of variances */
	double error;        /* median leave-one-out error of the logarithm; NAN before the first fit */
	double *gain;        /* of each candidate: surrogate_gain_at or more; 0: it is taken */
	float *gain_most;
	float incumbent;
	struct source_model *source[SOURCES_MAX];
	size_t source_count, dropped, firsts;
	struct cost *cost; /* NULL if the budget counts evaluations */
	bool asked;
};

/* target.c: sets the targets of the value model's rows; the soft cap applies to them and to sources */
void surrogate_targets(struct surrogate *surrogate);
double surrogate_cap(double log_ratio, double cap);
double surrogate_cap_of(const double *log_ratios, size_t count);
void surrogate_calibrate(struct surrogate *surrogate);

/* surrogate.c: brings models, calibration and incumbent up to date, without pending configurations */
void surrogate_refresh(struct surrogate *surrogate);
/* The expected improvement by a normal variable that is `gap` below the incumbent. */
double surrogate_gain_of(double gap, double deviation);

double surrogate_gain_at(const struct surrogate *surrogate, size_t candidate); /* times its chance to work */

/* The candidate that promises most by the pool's predictions, and how much. */
double surrogate_most_promising(struct surrogate *surrogate, uint64_t *index);

/* batch.c: counts pending configurations as measured with their means, also for the incumbent */
void surrogate_believe(struct surrogate *surrogate);

/* surrogate.c: the deviation of a candidate's target, after surrogate_ask */
double surrogate_deviation_of(const struct surrogate *surrogate, size_t candidate);

/* chance.c: the chance that a configuration works, as of the last update, and whether a candidate may be proposed. A
 * result is reported before it is learned. */
void surrogate_chance_update(struct surrogate *surrogate, bool fit);
void surrogate_chance_report(struct surrogate *surrogate, uint64_t index, bool failed);
double surrogate_chance_at(const struct surrogate *surrogate, const uint16_t *codes);
double surrogate_chance_of(const struct surrogate *surrogate, size_t candidate);
double surrogate_caution_of(const struct surrogate *surrogate, size_t candidate); /* a factor of its worth */
bool surrogate_passes(const struct surrogate *surrogate, size_t candidate);

/* pool.c */
void surrogate_pool_fill(struct surrogate *surrogate);
void surrogate_codes(const struct surrogate *surrogate, uint64_t index, uint16_t *codes);

/* source.c: adds a dimension for each source that can be used. Their order follows from their contents, because the
 * order in which they are given must not change the search; one that is given twice counts once. */
void source_models_make(struct surrogate *surrogate);
double source_model_scale(const struct source_model *model);        /* the target that the highest code stands for */
double source_model_length(struct source_model *model, size_t dim); /* of its fitted model */
/* Codes the source's prediction of one configuration, or of all candidates at once into dimension `at`. */
uint16_t source_model_code(struct source_model *model, const uint16_t *codes, uint64_t index);
void source_model_codes(struct source_model *model, struct pool *pool, size_t dims, size_t at);
/* After a fit: the source without which left-out configurations are predicted better; SIZE_MAX if all sources help. */
size_t source_misleading(struct surrogate *surrogate);

/* lengths.c: takes the lengths that the task expects */
void surrogate_lengths_expect(struct coding *coding, const struct strategy_task *task);

/* models.c: makes the models for the current dimensions, without observations */
double observed_variance(const struct observed *observed);
void surrogate_models_make(struct surrogate *surrogate);
void surrogate_models_update(struct surrogate *surrogate);
/* Removes a source and its dimension; the models start again. */
void surrogate_source_drop(struct surrogate *surrogate, size_t source);

#endif
