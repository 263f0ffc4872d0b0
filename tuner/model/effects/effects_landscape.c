/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "tuner/model/effects/effects_impl.h"

/* Costs of the neighbours of the winner: measured where possible, else predicted as differences to the winner
 * (landscape.h). */

/* The assumed relative error of a time without a known one, and the quantile of a 95 % interval. */
static const double DEVIATION_UNKNOWN = 0.02, REACH = 1.96;
enum { PREDICTED_MAX = 300 /* of one parameter */ };

static double own_variance(const struct effects_table *table, size_t row) {
	double deviation = table->deviation ? table->deviation[row] : NAN;
	return isfinite(deviation) ? deviation * deviation : DEVIATION_UNKNOWN * DEVIATION_UNKNOWN;
}

/* Log cost of a configuration and its variance, by its rows. Returns their number; `over`: all were cut short. If all
 * rows were cut short, the largest limit is all that is known. */
static size_t landscape_look_at(const struct look *look, const int *level, double *cost, double *variance, bool *over) {
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
	mem_auto double *mean = mem_alloc(all, sizeof *mean), *covariance = mem_alloc(all * all, sizeof *covariance);
	double stretch = response_stretch(look->response);
	response_predict(look->response, asked, all, mean, covariance);
	for (size_t i = 1; i < all; i++) {
		double variance = covariance[0] + covariance[i * all + i] - 2 * covariance[i];
		of[i - 1]->step = (struct landscape_step){.level = of[i - 1]->level};
		step_set(&of[i - 1]->step, mean[i] - mean[0], stretch * sqrt(fmax(variance, 0)));
	}
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
	mem_auto int *level = mem_alloc(table->params, sizeof *level);
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
	return all;
}

static const struct landscape_step NO_STEP = {.level = -1, .ratio = NAN, .ci = {NAN, NAN}};

/* The whole interval must be on one side: a neighbour whose interval contains the limit is neither costly nor free, and
 * its parameter stays unclear. */
static bool is_costly(const struct landscape_step *step) {
	return step->level >= 0 && step->ci[0] > 1 + LANDSCAPE_STEP;
}

static bool is_free(const struct landscape_step *step) {
	return step->level < 0 || step->ci[1] < 1 + LANDSCAPE_STEP;
}

/* The closest known values on either side; values that do not exist with the winner's others are skipped. */
static void ordered_steps(struct landscape_param *param, const struct neighbour *values, size_t count, size_t own) {
	for (size_t v = own; v-- > 0 && param->step[0].level < 0;)
		param->step[0] = values[v].step.level >= 0 ? values[v].step : NO_STEP;
	for (size_t v = own + 1; v < count && param->step[1].level < 0; v++)
		param->step[1] = values[v].step.level >= 0 ? values[v].step : NO_STEP;
}

/* Words have no neighbours, so the two steps are the least and the most costly of the other values. */
static void unordered_steps(struct landscape_param *param, const struct neighbour *values, size_t count, size_t own) {
	for (size_t v = 0; v < count; v++) {
		const struct landscape_step *step = &values[v].step;
		if (v == own || step->level < 0)
			continue;
		if (param->step[0].level < 0 || step->ratio < param->step[0].ratio)
			param->step[0] = *step;
		if (param->step[1].level < 0 || step->ratio > param->step[1].ratio)
			param->step[1] = *step;
	}
}

static bool is_within(const struct neighbour *value, double margin) {
	return value->step.level >= 0 && value->step.ratio <= 1 + margin;
}

/* Extends from the winner across unknown values to the last one that is as good. */
static size_t reach(const struct neighbour *values, size_t count, size_t own, double margin, size_t ends[2]) {
	size_t within = 1;
	ends[0] = ends[1] = own;
	for (size_t v = own; v-- > 0 && (values[v].step.level < 0 || is_within(&values[v], margin));)
		if (values[v].step.level >= 0) {
			ends[0] = v;
			within++;
		}
	for (size_t v = own + 1; v < count && (values[v].step.level < 0 || is_within(&values[v], margin)); v++)
		if (values[v].step.level >= 0) {
			ends[1] = v;
			within++;
		}
	return within;
}

static void widths_set(struct landscape_param *param, const struct neighbour *values, size_t count, size_t own) {
	size_t ends[2];
	if (param->ordered) {
		param->near = reach(values, count, own, LANDSCAPE_NEAR, ends);
		param->wide = reach(values, count, own, LANDSCAPE_STEP, ends);
		param->first = values[ends[0]].level;
		param->last = values[ends[1]].level;
		return;
	}
	param->near = param->wide = 1;
	for (size_t v = 0; v < count; v++) {
		param->near += v != own && is_within(&values[v], LANDSCAPE_NEAR);
		param->wide += v != own && is_within(&values[v], LANDSCAPE_STEP);
	}
}

/* Without an order only the least costly step decides: a parameter of words is sharp if each other word costs. With
 * one, the end of a plateau beside the winner is no peak. */
static enum landscape_verdict judge(const struct landscape_param *param) {
	const struct landscape_step *step = param->step;
	if (step[0].level < 0 && step[1].level < 0)
		return LANDSCAPE_UNCLEAR;
	if (is_free(&step[0]) && is_free(&step[1]))
		return LANDSCAPE_FLAT;
	if (is_costly(&step[0]) || (param->ordered && is_costly(&step[1])))
		return param->ordered && param->first != param->last ? LANDSCAPE_FLAT : LANDSCAPE_SHARP;
	return LANDSCAPE_UNCLEAR;
}

/* Coordinate of a level in 0..1 where the parameter is ordered; NAN: it is unordered, or absent. */
static double response_coordinate(const struct effects_table *table, size_t param, int level) {
	const double *at = table->dim[param].at;
	return at && level != EFFECTS_ABSENT ? at[level] : NAN;
}

static bool is_ordered(const struct neighbour *values, size_t count, const struct effects_table *data, size_t param) {
	for (size_t v = 0; v < count; v++)
		if (isnan(response_coordinate(data, param, values[v].level)))
			return false;
	return true;
}

/* A parameter that the winner lacks, or without another value, stays unclear. */
static void param_look(struct landscape_param *param, const struct look *look, size_t at) {
	size_t count = look->data->measured.levels[at], own = 0;
	*param = (struct landscape_param){.step = {NO_STEP, NO_STEP}, .near = 1, .wide = 1, .first = -1, .last = -1};
	if (look->winner[at] == EFFECTS_ABSENT)
		return;
	mem_auto struct neighbour *values = look_around(look, at);
	while (values[own].level != look->winner[at])
		own++;
	param->ordered = is_ordered(values, count, &look->data->measured, at);
	for (size_t v = 0; v < count; v++) {
		param->measured += v != own && values[v].step.level >= 0 && values[v].step.measured;
		param->predicted += v != own && values[v].step.level >= 0 && !values[v].step.measured;
	}
	(param->ordered ? ordered_steps : unordered_steps)(param, values, count, own);
	widths_set(param, values, count, own);
	param->verdict = judge(param);
}

static void sum_up(struct landscape *landscape, const struct landscape_data *data) {
	for (size_t p = 0; p < landscape->params; p++) {
		const struct landscape_param *param = &landscape->param[p];
		bool choice = data->measured.levels[p] > 1 &&
		              data->measured.level[data->winner * landscape->params + p] != EFFECTS_ABSENT;
		landscape->sharp += param->verdict == LANDSCAPE_SHARP;
		landscape->flat += param->verdict == LANDSCAPE_FLAT;
		landscape->unclear += choice && param->verdict == LANDSCAPE_UNCLEAR;
	}
	landscape->fragile = landscape->sharp > 0;
	landscape->plateau = landscape->flat > 0 && landscape->sharp + landscape->unclear == 0;
}

/* NULL if the surface does not predict. own: the surface to be freed, if it was fitted here. */
static const struct response *surrogate_of(struct landscape *landscape, const struct landscape_data *data,
                                           struct response **own) {
	*own = data->response ? NULL : response_new(&data->measured, landscape->reason);
	const struct response *response = data->response ? data->response : *own;
	landscape->predicted_r2 = response ? response_r2(response) : NAN;
	if (!response || response_predicts(response))
		return response;
	snprintf(landscape->reason, RESPONSE_REASON,
	         "the rows do not predict each other beyond chance (leave-one-out R2 %.2f)", landscape->predicted_r2);
	return NULL;
}

int landscape_make(struct landscape *landscape, const struct landscape_data *data) {
	const struct effects_table *measured = &data->measured;
	*landscape = (struct landscape){.params = measured->params, .predicted_r2 = NAN};
	if (effects_table_check(measured, landscape->reason))
		return -1;
	if (data->winner >= measured->rows || (measured->over && measured->over[data->winner])) {
		snprintf(landscape->reason, RESPONSE_REASON, "the winner is not among the rows that were measured to the end");
		return -1;
	}
	mem_auto struct effects_key *keys = effects_keys_new(measured);
	struct response *own;
	const struct response *response = surrogate_of(landscape, data, &own);
	struct look look = {.data = data, .keys = keys, .response = response};
	bool over;
	look.winner = measured->level + data->winner * measured->params;
	landscape_look_at(&look, look.winner, &look.cost, &look.variance, &over);
	landscape->param = mem_alloc(measured->params, sizeof *landscape->param);
	for (size_t p = 0; p < measured->params; p++)
		param_look(&landscape->param[p], &look, p);
	sum_up(landscape, data);
	response_free(own);
	return 0;
}

void landscape_clear(struct landscape *landscape) {
	free(landscape->param);
	landscape->param = NULL;
}

const char *landscape_verdict_word(enum landscape_verdict verdict) {
	static const char *const words[] = {
		[LANDSCAPE_UNCLEAR] = "unclear", [LANDSCAPE_FLAT] = "flat", [LANDSCAPE_SHARP] = "sharp"};
	return words[verdict];
}
