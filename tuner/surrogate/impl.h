/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files surrogate*.c share. */
#ifndef TUNER_SURROGATE_IMPL_H
#define TUNER_SURROGATE_IMPL_H
#include "tuner/surrogate/coding.h"
#include "tuner/surrogate/surrogate.h"

enum {
	POOL_WHOLE = 20000,
	POOL_SAMPLED = 6000,
	OBSERVED_MAX = 512,
	OBSERVED_KEPT = 320,
	SOURCES_MAX = 3,
	PENDING_MAX = 256
};

struct observed {
	uint64_t index;
	enum strategy_result result;
	double log; /* of the value; of its lower limit where censored */
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
	double best; /* logarithm; INFINITY: none */
	uint64_t pending[PENDING_MAX];
	size_t pending_count;
	struct pool pool;
	struct gp *value, *works; /* works: NULL until something failed */
	struct gp_pool *values, *workings;
	size_t in_value, in_works; /* observations that the models have */
	size_t *row;               /* of each in the value model: its observation */
	double *target, *lone_mean, *lone_variance;
	size_t fits;
	size_t fit_at;  /* observations when the models are fitted next */
	double stretch; /* of variances */
	double error;   /* of left-out ones, median, in logarithms; NAN */
	double *gain;   /* of each candidate */
	float incumbent;
	struct source_model *source[SOURCES_MAX];
	size_t source_count, dropped, firsts;
	struct cost *cost; /* of evaluations; NULL: the budget counts them, not their seconds */
	bool asked;
};

/* surrogate_target.c: targets of the value model's rows, and the soft cap that they and sources go through */
void surrogate_targets(struct surrogate *surrogate);
double surrogate_cap(double log_ratio, double cap);
double surrogate_cap_of(const double *log_ratios, size_t count);
void surrogate_calibrate(struct surrogate *surrogate);

/* surrogate.c: after surrogate_ask, of a candidate: deviation of its target, and the chance that it works */
double surrogate_deviation_of(const struct surrogate *surrogate, size_t candidate);
double surrogate_chance_of(const struct surrogate *surrogate, size_t candidate);

/* surrogate_pool.c */
void surrogate_pool_fill(struct surrogate *surrogate);
void surrogate_codes(const struct surrogate *surrogate, uint64_t index, uint16_t *codes);

/* surrogate_source.c: adds its dimension; code of its opinion of a configuration, and of all candidates at once:
 * dimension `at` of their codes */
struct source_model *source_model_new(struct surrogate *surrogate, const struct strategy_source *source);
uint16_t source_model_code(const struct source_model *model, const uint16_t *codes, uint64_t index);
void source_model_codes(struct source_model *model, struct pool *pool, size_t dims, size_t at);
/* After a fit: the source without which the left-out ones are predicted better, SIZE_MAX where all help. */
size_t source_misleading(struct surrogate *surrogate);

/* surrogate_models.c: the models of the dimensions there are, without observations */
double observed_variance(const struct observed *observed);
void surrogate_models_make(struct surrogate *surrogate);
void surrogate_models_update(struct surrogate *surrogate);
/* Forgets a source: its dimension goes, and the models begin anew. */
void surrogate_source_drop(struct surrogate *surrogate, size_t source);

#endif
