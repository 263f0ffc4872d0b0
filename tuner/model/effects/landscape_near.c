/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "tuner/model/effects/landscape_impl.h"

/* What a time measured without a word on its spread may be off by; and how many are predicted of one parameter. */
static const double DEVIATION_UNKNOWN = 0.02, REACH = 1.96;
enum { PREDICTED_MAX = 300 };

static bool is_over(const struct response_data *data, size_t row) {
	return data->over && data->over[row];
}

static double own_variance(const struct response_data *data, size_t row) {
	double deviation = data->deviation ? data->deviation[row] : NAN;
	return isfinite(deviation) ? deviation * deviation : DEVIATION_UNKNOWN * DEVIATION_UNKNOWN;
}

/* The largest limit of those cut short, where there is no other. */
static void cost_over(const struct look *look, size_t first, size_t count, double *cost, double *variance) {
	*cost = -INFINITY;
	*variance = 0;
	for (size_t i = first; i < first + count; i++)
		*cost = fmax(*cost, log(look->data->measured.cost[look->keys[i].row]));
}

size_t look_at(const struct look *look, const int *places, double *cost, double *variance, bool *over) {
	const struct response_data *data = &look->data->measured;
	size_t first = 0, count = response_keys_at(look->keys, data, places, &first), n = 0;
	double sum = 0, squares = 0, own = 0;
	for (size_t i = first; i < first + count; i++) {
		size_t row = look->keys[i].row;
		if (is_over(data, row))
			continue;
		sum += log(data->cost[row]);
		squares += pow(log(data->cost[row]), 2);
		own += own_variance(data, row);
		n++;
	}
	*over = count > 0 && n == 0;
	if (*over) {
		cost_over(look, first, count, cost, variance);
		return count;
	}
	if (n == 0)
		return 0;
	double between = n > 1 ? fmax(squares - sum * sum / (double)n, 0) / (double)(n - 1) : 0;
	*cost = sum / (double)n;
	*variance = fmax(own / (double)n, between) / (double)n;
	return n;
}

static void step_set(struct landscape_step *step, double difference, double deviation) {
	step->ratio = exp(difference);
	step->ci[0] = exp(difference - REACH * deviation);
	step->ci[1] = exp(difference + REACH * deviation);
}

static void measure(const struct look *look, const int *places, struct near_value *value) {
	double cost, variance;
	bool over;
	size_t rows = look_at(look, places, &cost, &variance, &over);
	if (rows == 0)
		return;
	value->step = (struct landscape_step){.place = value->place, .measured = true, .rows = rows};
	step_set(&value->step, cost - look->cost, sqrt(variance + look->variance));
	if (over)
		value->step.ci[1] = INFINITY;
}

static int by_at(const void *a, const void *b) {
	const struct near_value *x = a, *y = b;
	return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : (x->place > y->place) - (x->place < y->place);
}

static bool is_valid(const struct look *look, const int *places) {
	return !look->data->valid || look->data->valid(places, look->data->ctx);
}

/* ask: count x params, after the winner; of: which value each is. */
static void predict(const struct look *look, const int *ask, struct near_value *const *of, size_t count) {
	size_t all = count + 1;
	double *mean = mem_alloc(all, sizeof *mean), *covariance = mem_alloc(all * all, sizeof *covariance);
	double stretch = response_stretch(look->response);
	response_predict(look->response, ask, all, mean, NULL, covariance);
	for (size_t i = 1; i < all; i++) {
		double variance = covariance[0] + covariance[i * all + i] - 2 * covariance[i];
		of[i - 1]->step = (struct landscape_step){.place = of[i - 1]->place};
		step_set(&of[i - 1]->step, mean[i] - mean[0], stretch * sqrt(fmax(variance, 0)));
	}
	free(mean);
	free(covariance);
}

/* The closest of those that were not measured, by place in the order. */
static void predict_near(const struct look *look, size_t param, struct near_value *values, size_t count, size_t own) {
	size_t params = look->data->measured.params, asked = 0;
	int *ask = mem_alloc((PREDICTED_MAX + 1) * params, sizeof *ask);
	struct near_value **of = mem_alloc(PREDICTED_MAX, sizeof *of);
	memcpy(ask, look->winner, params * sizeof *ask);
	for (size_t away = 1; away < count; away++)
		for (int side = 0; side < 2 && asked < PREDICTED_MAX; side++) {
			size_t v = side ? own + away : own - away; /* below 0: beyond count */
			int *places = ask + (asked + 1) * params;
			if (v >= count || values[v].step.place >= 0)
				continue;
			memcpy(places, look->winner, params * sizeof *places);
			places[param] = values[v].place;
			if (is_valid(look, places))
				of[asked++] = &values[v];
		}
	if (asked)
		predict(look, ask, of, asked);
	free(ask);
	free(of);
}

struct near_value *look_values_new(const struct look *look, size_t param, size_t *count) {
	const struct response_data *data = &look->data->measured;
	size_t own = 0;
	int *places = mem_alloc(data->params, sizeof *places);
	*count = data->levels[param];
	struct near_value *values = mem_alloc(*count + 1, sizeof *values);
	memcpy(places, look->winner, data->params * sizeof *places);
	for (size_t v = 0; v < *count; v++) {
		double at = response_place(data, param, (int)v);
		values[v] = (struct near_value){.at = isnan(at) ? (double)v : at, .place = (int)v, .step = {.place = -1}};
		places[param] = (int)v;
		measure(look, places, &values[v]);
	}
	qsort(values, *count, sizeof *values, by_at);
	while (own < *count && values[own].place != look->winner[param])
		own++;
	if (own < *count) {
		step_set(&values[own].step, 0, 0);
		if (look->response)
			predict_near(look, param, values, *count, own);
	}
	free(places);
	return values;
}
