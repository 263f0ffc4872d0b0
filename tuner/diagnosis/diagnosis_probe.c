/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/diagnosis/diagnosis_probe.h"
#include "tuner/model/paired.h"

enum { TEAMS_MOST = 1000 };
static const double LIMIT = 0.05, HOLD = 0.01, NORMAL_95 = 1.959964;

bool probe_in(void *ctx, const struct study *study, size_t row) {
	const struct probe_scope *scope = ctx;
	double team = study_value_number(study, row, "threads", NAN);
	if (scope->column >= 0 && study_row(study, row)->level[scope->column] != scope->level)
		return false;
	if ((scope->least > 0 && !(team >= scope->least)) || (scope->most > 0 && !(team <= scope->most)))
		return false;
	return scope->problem_row == SIZE_MAX || study_same_problem(study, row, scope->problem_row);
}

double probe_size(const struct study *study, size_t row) {
	double ops = study_work(study, row, "ops"), bytes = study_work(study, row, "bytes"), size = 1;
	if (ops > 0 || bytes > 0)
		return ops > 0 ? ops : bytes;
	for (size_t c = 0; c < study_columns(study); c++) {
		double number = study_column(study, c)->is_problem ? study_number(study, row, c) : NAN;
		size *= number > 0 ? number : 1;
	}
	return size;
}

size_t probe_problems(const struct study *study, size_t rows[PROBE_PROBLEMS]) {
	double size[PROBE_PROBLEMS];
	size_t count = 0;
	for (size_t r = 0; r < study_rows(study) && count < PROBE_PROBLEMS; r++) {
		size_t known = 0;
		while (known < count && !study_same_problem(study, r, rows[known]))
			known++;
		if (known < count)
			continue;
		double own = probe_size(study, r);
		for (known = count++; known > 0 && own < size[known - 1]; known--) {
			rows[known] = rows[known - 1];
			size[known] = size[known - 1];
		}
		rows[known] = r;
		size[known] = own;
	}
	return count;
}

size_t probe_best(const struct study *study, const struct probe_scope *scope) {
	struct probe_scope copy = *scope;
	size_t best = SIZE_MAX;
	for (size_t r = 0; r < study_rows(study); r++)
		if (!study_row(study, r)->over && !study_row(study, r)->doubted && probe_in(&copy, study, r) &&
		    (best == SIZE_MAX || study_row(study, r)->value < study_row(study, best)->value))
			best = r;
	return best;
}

double probe_limit(const struct study *study) {
	return fmax(LIMIT, 2 * study_noise(study));
}

bool probe_over(const struct study *study, const struct study_ratio *ratio) {
	return ratio->ratio > 1 + probe_limit(study) && ratio->ci[0] > 1 + study_noise(study);
}

bool probe_under(const struct study *study, const struct study_ratio *ratio) {
	return ratio->ratio < 1 / (1 + probe_limit(study)) && ratio->ci[1] < 1 / (1 + study_noise(study));
}

/* The probability of this ratio or a larger one if the true ratio is within the noise; 1 if it is below. It is taken
 * from the interval, because ranks of few pairs do not reach small probabilities. */
static double chance_of(const struct study *study, const struct study_ratio *ratio) {
	double error = log(ratio->ci[1] / ratio->ci[0]) / (2 * NORMAL_95),
		   over = log(ratio->ratio) - log1p(study_noise(study));
	if (ratio->pairs == 0 || !(over > 0))
		return 1;
	return error > 0 ? erfc(over / error / sqrt(2)) : 0;
}

struct study_ratio probe_apart(const struct study_ratio *a, const struct study_ratio *b) {
	double wide = hypot(log(a->ci[1] / a->ci[0]), log(b->ci[1] / b->ci[0])) / 2;
	struct study_ratio ratio = {.ratio = a->ratio / b->ratio, .pairs = a->pairs < b->pairs ? a->pairs : b->pairs};
	ratio.ci[0] = ratio.ratio * exp(-wide);
	ratio.ci[1] = ratio.ratio * exp(wide);
	ratio.p = wide > 0 ? erfc(fabs(log(ratio.ratio)) / (wide / NORMAL_95) / sqrt(2)) : 0;
	ratio.agree = a->agree < b->agree ? a->agree : b->agree;
	return ratio;
}

size_t probe_hold(const struct study *study, struct probe_case *cases, size_t count) {
	mem_auto double *p = mem_alloc(count + 1, sizeof *p), *adjusted = mem_alloc(count + 1, sizeof *adjusted);
	size_t holding = 0;
	for (size_t i = 0; i < count; i++)
		p[i] = chance_of(study, &cases[i].ratio);
	if (count)
		paired_holm(p, count, adjusted);
	for (size_t i = 0; i < count; i++)
		holding += cases[i].holds = adjusted[i] <= HOLD && probe_over(study, &cases[i].ratio);
	return holding;
}

int probe_threads(const struct study *study) {
	int column = study_find(study, "threads");
	const struct study_column *one = column >= 0 ? study_column(study, (size_t)column) : NULL;
	return one && one->numeric && one->levels <= TEAMS_MOST ? column : -1;
}

double probe_room(const struct study *study) {
	int threads = study_host(study)->threads;
	return threads > 0 ? threads : INFINITY;
}

struct study_ratio curve_gain(const struct study *study, const struct curve *curve, int a, int b) {
	struct probe_scope scope = curve->scope;
	return study_contrast(study, (size_t)probe_threads(study), a, b, probe_in, &scope);
}

/* The smallest team that no larger one beats. */
static size_t stop_find(const struct study *study, const struct curve *curve) {
	for (size_t i = 0; i + 1 < curve->count; i++) {
		bool beaten = false;
		for (size_t j = i + 1; j < curve->count && !beaten; j++) {
			struct study_ratio gain = curve_gain(study, curve, curve->level[i], curve->level[j]);
			beaten = probe_over(study, &gain);
		}
		if (!beaten)
			return i;
	}
	return curve->count - 1;
}

bool curve_make(const struct study *study, struct probe_scope scope, struct curve *curve) {
	int threads = probe_threads(study), first = -1;
	*curve = (struct curve){.scope = scope};
	for (int l = 0; threads >= 0 && l < (int)study_column(study, (size_t)threads)->levels; l++) {
		struct probe_scope one = scope;
		double team = value_number(study_column(study, (size_t)threads)->level[l]);
		one.least = one.most = team;
		if (team < scope.least || (scope.most > 0 && team > scope.most) || probe_best(study, &one) == SIZE_MAX)
			continue;
		first = first < 0 ? l : first;
		struct study_ratio speedup = {.ratio = 1, .ci = {1, 1}, .p = 1};
		if (l != first)
			speedup = study_contrast(study, (size_t)threads, first, l, probe_in, &scope);
		if ((l != first && speedup.pairs == 0) || curve->count == CURVE_MAX)
			continue;
		curve->level[curve->count] = l;
		curve->threads[curve->count] = team;
		curve->speedup[curve->count++] = speedup;
	}
	if (curve->count < 2)
		return false;
	curve->stop = stop_find(study, curve);
	return true;
}

void judge_parts_find(const struct study *study, struct judge_parts *parts) {
	*parts = (struct judge_parts){.count = 0};
	js_each (one, json_object_get(study_row(study, 0)->detail, "figures")) {
		const char *name = js_string_or(one, "name", "");
		if (parts->count < JUDGE_PARTS_MAX && strcmp(js_string_or(one, "unit", ""), "s") == 0 &&
		    strncmp(name, "time_per_", 9) != 0 && !json_object_get(one, "derived"))
			parts->name[parts->count++] = name;
	}
}

double judge_parts_share(const struct study *study, size_t row, const struct judge_parts *parts) {
	double sum = 0;
	for (size_t i = 0; i < parts->count; i++)
		sum += study_figure(study, row, parts->name[i]);
	return sum / study_row(study, row)->value;
}
