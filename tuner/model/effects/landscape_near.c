/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Costs of the neighbours of the winner: measured where possible, else predicted as differences to the winner
 * (landscape.h). */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "tuner/model/effects/landscape_impl.h"

/* The assumed relative error of a time without a known one, and the quantile of a 95 % interval. */
static const double DEVIATION_UNKNOWN = 0.02, REACH = 1.96;
enum { PREDICTED_MAX = 300 /* of one parameter */ };

static double own_variance(const struct effects_table *table, size_t row) {
	double deviation = table->deviation ? table->deviation[row] : NAN;
	return isfinite(deviation) ? deviation * deviation : DEVIATION_UNKNOWN * DEVIATION_UNKNOWN;
}

/* If all rows were cut short, the largest limit is all that is known. */
size_t landscape_look_at(const struct look *look, const int *level, double *cost, double *variance, bool *over) {
	const struct effects_table *table = &look->data->measured;
	size_t first = 0, count = effects_keys_at(look->keys, table, level, &first), n = 0;
	double sum = 0, squares = 0, own = 0, limit = -INFINITY;
	for (size_t i = first; i < first + count; i++) {
		size_t row = look->keys[i].row;
		double one = log(table->cost[row]);
		if (effects_table_over(table, row)) {
			limit = fmax(limit, one);
			continue;
		}
		sum += one;
		squares += one * one;
		own += own_variance(table, row);
		n++;
	}
	*over = n == 0;
	double between = n > 1 ? fmax(squares - sum * sum / (double)n, 0) / (double)(n - 1) : 0;
	*cost = n ? sum / (double)n : limit;
	*variance = n ? fmax(own / (double)n, between) / (double)n : 0;
	return n ? n : count;
}

static void step_set(struct landscape_step *step, double difference, double deviation) {
	step->ratio = exp(difference);
	step->ci[0] = exp(difference - REACH * deviation);
	step->ci[1] = exp(difference + REACH * deviation);
}

static void measure(const struct look *look, const int *level, struct neighbour *neighbour) {
	double cost, variance;
	bool over;
	size_t rows = landscape_look_at(look, level, &cost, &variance, &over);
	if (rows == 0)
		return;
	neighbour->step = (struct landscape_step){.level = neighbour->level, .measured = true, .rows = rows};
	step_set(&neighbour->step, cost - look->cost, sqrt(variance + look->variance));
	if (over)
		neighbour->step.ci[1] = INFINITY;
}

/* asked: the winner, then count configurations, which belong to `of`. The variance is that of a difference to the
 * winner: what both have in common cancels out. */
static void predict(const struct look *look, const int *asked, struct neighbour *const *of, size_t count) {
	size_t all = count + 1;
	double *mean = mem_alloc(all, sizeof *mean), *covariance = mem_alloc(all * all, sizeof *covariance);
	double stretch = response_stretch(look->response);
	response_predict(look->response, asked, all, mean, covariance);
	for (size_t i = 1; i < all; i++) {
		double variance = covariance[0] + covariance[i * all + i] - 2 * covariance[i];
		of[i - 1]->step = (struct landscape_step){.level = of[i - 1]->level};
		step_set(&of[i - 1]->step, mean[i] - mean[0], stretch * sqrt(fmax(variance, 0)));
	}
	free(mean);
	free(covariance);
}

/* Those that were not measured, the closest in order first. */
static void predict_near(const struct look *look, size_t param, struct neighbour *all, size_t count, size_t own) {
	const struct landscape_data *data = look->data;
	size_t params = data->measured.params, asked = 0;
	int *ask = mem_alloc((PREDICTED_MAX + 1) * params, sizeof *ask);
	struct neighbour **of = mem_alloc(PREDICTED_MAX, sizeof *of);
	memcpy(ask, look->winner, params * sizeof *ask);
	for (size_t away = 1; away < count; away++)
		for (int side = 0; side < 2 && asked < PREDICTED_MAX; side++) {
			size_t v = side ? own + away : own - away; /* wraps around below 0, and so ends beyond count */
			int *level = ask + (asked + 1) * params;
			if (v >= count || all[v].step.level >= 0)
				continue;
			memcpy(level, look->winner, params * sizeof *level);
			level[param] = all[v].level;
			if (!data->valid || data->valid(level, data->ctx))
				of[asked++] = &all[v];
		}
	if (asked)
		predict(look, ask, of, asked);
	free(ask);
	free(of);
}

struct neighbour *look_around(const struct look *look, size_t param) {
	const struct effects_table *table = &look->data->measured;
	size_t own = 0, count = table->levels[param], *order = response_order_new(table, param);
	int *level = mem_alloc(table->params, sizeof *level);
	struct neighbour *all = mem_alloc(count + 1, sizeof *all);
	memcpy(level, look->winner, table->params * sizeof *level);
	for (size_t v = 0; v < count; v++) {
		all[v] = (struct neighbour){.level = (int)order[v], .step = {.level = -1}};
		level[param] = (int)order[v];
		measure(look, level, &all[v]);
		own = level[param] == look->winner[param] ? v : own;
	}
	step_set(&all[own].step, 0, 0);
	if (look->response)
		predict_near(look, param, all, count, own);
	free(order);
	free(level);
	return all;
}
