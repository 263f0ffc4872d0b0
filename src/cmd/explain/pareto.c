/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Pareto front of time against energy, over the trials that have both. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/stats.h"
#include "src/cmd/explain/explain.h"
#include "tuner/model/pareto.h"

enum { JOULES_MAX = 10000 };

/* "energy_j" of a trial is a list, one for each sample. */
static double joules_of(const json_t *detail) {
	const json_t *list = json_object_get(detail, "energy_j");
	size_t count = json_array_size(list), known = 0;
	double *joules = mem_alloc(count + 1, sizeof *joules), median;
	for (size_t i = 0; i < count && i < JOULES_MAX; i++) {
		double one = json_number_value(json_array_get(list, i));
		if (one > 0)
			joules[known++] = one;
	}
	median = known ? stats_median(joules, known) : NAN;
	free(joules);
	return median;
}

static json_t *front_json(const struct study *study, const size_t *row, const double (*points)[2], const size_t *front,
                          size_t count) {
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list,
		                      json_pack("{s:O,s:o,s:o}", "config", study_row(study, row[front[i]])->config, "seconds",
		                                js_number(points[front[i]][0]), "joules", js_number(points[front[i]][1])));
	return list;
}

json_t *explain_pareto(const struct explain_view *view) {
	const struct study *study = view->study;
	size_t rows = study_rows(study), count = 0, *row = mem_alloc(rows + 1, sizeof *row);
	size_t *front = mem_alloc(rows + 1, sizeof *front);
	double(*points)[2] = mem_alloc(rows + 1, sizeof *points);
	json_t *json = NULL;
	for (size_t i = 0; i < rows; i++) {
		const json_t *detail = study_row(study, i)->detail;
		double seconds = js_real_or(detail, "seconds", NAN), joules = joules_of(detail);
		if (!(seconds > 0) || !(joules > 0) || !explain_of_problem((void *)view, study, i))
			continue;
		points[count][0] = seconds;
		points[count][1] = joules;
		row[count++] = i;
	}
	if (count > 1) {
		size_t kept = (size_t)pareto_front((const double(*)[2])points, count, front);
		kept = (size_t)pareto_thin((const double(*)[2])points, front, kept, study_noise(study));
		json = json_pack("{s:[s,s],s:I,s:o}", "objectives", "time", "energy", "configurations", (json_int_t)count,
		                 "front", front_json(study, row, (const double(*)[2])points, front, kept));
	}
	free(points);
	free(front);
	free(row);
	return json;
}
