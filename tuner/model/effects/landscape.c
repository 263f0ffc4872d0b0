/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "tuner/model/effects/landscape_impl.h"

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

/* Without an order only the least costly step decides: a parameter of words is sharp if each other word costs. */
static enum landscape_verdict judge(const struct landscape_param *param) {
	const struct landscape_step *step = param->step;
	if (step[0].level < 0 && step[1].level < 0)
		return LANDSCAPE_UNCLEAR;
	if (is_free(&step[0]) && is_free(&step[1]))
		return LANDSCAPE_FLAT;
	if (is_costly(&step[0]) || (param->ordered && is_costly(&step[1])))
		return LANDSCAPE_SHARP;
	return LANDSCAPE_UNCLEAR;
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
	struct neighbour *values = look_around(look, at);
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
	free(values);
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
	struct effects_key *keys = effects_keys_new(measured);
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
	free(keys);
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
