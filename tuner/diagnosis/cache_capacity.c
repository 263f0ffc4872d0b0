/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data that fits a level of cache is close to the processor, larger data is not: the time of one operation rises when a
 * tile, or the problem, exceeds the level's size (Lam, Rothberg, Wolf, The cache performance and optimizations of
 * blocked algorithms, 1991). */
#include <math.h>

#include "base/mem.h"
#include "tuner/diagnosis/diagnosis_probe.h"

enum { TILES = 3 /* tiles that a step of a blocked algorithm works on */ };
static const double RISE = 1.15;
static const char *const level_names[] = {"", "L1", "L2", "L3"};

/* The outermost level of cache that holds the first size, but not the second; 0: there is none. */
static int level_between(const struct study *study, double held, double passed, double team) {
	for (int level = 3; level >= 1; level--) {
		double size = study_host(study)->cache[level] * (level < 3 ? team : 1);
		if (size > 0 && held <= size && passed > size)
			return level;
	}
	return 0;
}

static double team_least(const struct study *study) {
	double team = INFINITY;
	for (size_t r = 0; r < study_rows(study); r++)
		team = fmin(team, study_value_number(study, r, "threads", 1));
	return team;
}

static double element_bytes(const struct study *study, size_t row) {
	static const struct {
		const char *word;
		double bytes;
	} types[] = {{"double", 8}, {"float64", 8}, {"f64", 8},  {"int64", 8},
	             {"int16", 2},  {"f16", 2},     {"int8", 1}, {"byte", 1}};
	struct value value;
	if (study_value(study, row, "type", &value) && value.type == VALUE_WORD)
		for (size_t i = 0; i < sizeof types / sizeof *types; i++)
			if (strcmp(value.as.w, types[i].word) == 0)
				return types[i].bytes;
	return 4;
}

static void misses_add(struct finding *finding, const struct study *study, size_t few, size_t many) {
	static const char *const names[] = {"l1d_misses", "l2_misses", "llc_misses", "sim_ll_read_misses"};
	for (size_t i = 0; i < sizeof names / sizeof *names && few != SIZE_MAX && many != SIZE_MAX; i++) {
		double ratio = study_counter(study, many, names[i]) / study_counter(study, few, names[i]);
		if (isfinite(ratio)) {
			finding_evidence(finding, EVIDENCE_COUNTER, ratio, "x", "%.3g times as many %s", ratio, names[i]);
			return;
		}
	}
	finding_missing(finding, EVIDENCE_COUNTER, "the misses of each level (--counters CACHE)");
	probe_next_counters(finding, study, many, "CACHE");
}

static size_t tile_row(const struct study *study, size_t column, int level) {
	struct probe_scope scope = {(int)column, level, SIZE_MAX, 0, 0};
	return probe_best(study, &scope);
}

/* The fastest edge of a tile, by its time relative to the first. */
static int tile_best(const struct study *study, size_t column, struct probe_scope *alone) {
	double least = 1;
	int best = 0;
	for (int l = 1; l < (int)study_column(study, column)->levels; l++) {
		double ratio = study_contrast(study, column, l, 0, probe_in, alone).ratio;
		if (ratio < least) {
			least = ratio;
			best = l;
		}
	}
	return best;
}

static double edge_of(const struct study_column *column, int level) {
	return value_number(column->level[level]);
}

static void tile_examine(const struct study *study, struct findings *findings, size_t column) {
	const struct study_column *one = study_column(study, column);
	struct probe_case cases[PROBE_CASES];
	/* The smallest team tells, because large tiles leave a large one without work. */
	struct probe_scope alone = PROBE_ALL;
	if (probe_threads(study) >= 0)
		alone.least = alone.most = team_least(study);
	int best = tile_best(study, column, &alone);
	size_t count = 0, row = tile_row(study, column, best), first;
	for (int l = best + 1; l < (int)one->levels && count < PROBE_CASES; l++)
		cases[count++] = (struct probe_case){
			study_contrast(study, column, l, best, probe_in, &alone), SIZE_MAX, l, best, {0}, false};
	if (row == SIZE_MAX || !probe_hold(study, cases, count))
		return;
	double tile = TILES * element_bytes(study, row), held = 0, passed = 0;
	int level = 0;
	/* A tile that is a little too large for something else comes before the one that exceeds a cache. */
	for (first = 0; first < count; first++) {
		held = tile * pow(edge_of(one, cases[first].a - 1), 2);
		passed = tile * pow(edge_of(one, cases[first].a), 2);
		level = level_between(study, held, passed, 1);
		if (level && cases[first].holds &&
		    cases[first].ratio.ratio >= RISE * (first ? cases[first - 1].ratio.ratio : 1))
			break;
	}
	char own[PROBE_TEXT], good[PROBE_TEXT];
	if (first == count)
		return;
	struct finding *finding = findings_add(findings, CONFIDENCE_LOW, cases[first].ratio.ratio,
	                                       "%s is too large for %s: it takes %.2f times as long as %s",
	                                       probe_level(study, column, cases[first].a, own), level_names[level],
	                                       cases[first].ratio.ratio, probe_level(study, column, best, good));
	finding_about(finding, study, column, cases[first].a);
	finding_evidence(finding, EVIDENCE_CONTRAST, cases[first].ratio.ratio, "x",
	                 "%s over %s [%.2f, %.2f], %zu of %zu pairs agree", own, good, cases[first].ratio.ci[0],
	                 cases[first].ratio.ci[1], cases[first].ratio.agree, cases[first].ratio.pairs);
	finding_evidence(finding, EVIDENCE_MACHINE, study_host(study)->cache[level], "bytes",
	                 "three square tiles take %.4g bytes, one step smaller %.4g; %s has %.4g", passed, held,
	                 level_names[level], study_host(study)->cache[level]);
	if (team_least(study) > 1)
		finding_missing(finding, EVIDENCE_SCALING,
		                "the same with one thread, where too few tiles for the team cannot be the reason");
	misses_add(finding, study, row, tile_row(study, column, cases[first].a));
}

/* The bytes of a problem's data: the least that each repetition of a run must move. */
static double footprint_of(const struct study *study, size_t row) {
	static const char *const again[] = {"loops", "repeat", "repetitions", "repeats"};
	double bytes = study_work(study, row, "bytes");
	for (size_t i = 0; i < sizeof again / sizeof *again; i++)
		bytes /= fmax(1, study_value_number(study, row, again[i], 1));
	return bytes;
}

/* The time of an operation at the larger problem over that at the smaller one, both with the smallest team. */
static struct study_ratio step_of(const struct study *study, size_t small, size_t large, double team) {
	struct probe_scope a = {-1, -1, large, team, team}, b = {-1, -1, small, team, team};
	mem_auto struct study_pair *pairs = mem_alloc(study_rows(study) + 1, sizeof *pairs);
	double ops = study_work(study, large, "ops") / study_work(study, small, "ops");
	size_t count = 0;
	for (size_t r = 0; r < study_rows(study); r++)
		for (size_t s = 0; s < study_rows(study) && probe_in(&a, study, r) && !study_row(study, r)->over; s++)
			if (count < study_rows(study) && probe_in(&b, study, s) && !study_row(study, s)->over &&
			    study_same_config(study, r, s))
				pairs[count++] = (struct study_pair){r, s};
	struct study_ratio ratio = study_compare(study, pairs, count);
	ratio.ratio /= ops;
	ratio.ci[0] /= ops;
	ratio.ci[1] /= ops;
	return ratio;
}

static void size_report(const struct study *study, struct findings *findings, const struct probe_case *step,
                        size_t small, double otherwise, double team) {
	int level = level_between(study, footprint_of(study, small), footprint_of(study, step->problem_row), team);
	char own[PROBE_TEXT], other[PROBE_TEXT];
	probe_problem(study, step->problem_row, own);
	probe_problem(study, small, other);
	struct finding *finding =
		findings_add(findings, otherwise < INFINITY ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW, step->ratio.ratio,
	                 "the data of %s is too large for %s: an operation takes %.2f times as long as at %s", own,
	                 level_names[level], step->ratio.ratio, other);
	probe_about_problem(finding, study, step->problem_row);
	finding_evidence(finding, EVIDENCE_SCALING, step->ratio.ratio, "x",
	                 "time of an operation, from %s to %s [%.2f, %.2f]", other, own, step->ratio.ci[0],
	                 step->ratio.ci[1]);
	finding_evidence(finding, EVIDENCE_MACHINE, study_host(study)->cache[level], "bytes",
	                 "the data is at least %.4g bytes, before that %.4g; %s has %.4g",
	                 footprint_of(study, step->problem_row), footprint_of(study, small), level_names[level],
	                 study_host(study)->cache[level]);
	finding_known(finding, EVIDENCE_CONTRAST, otherwise, "x", NULL,
	              "steps that stay within a level: at most %.2f times", otherwise);
	misses_add(finding, study, small, step->problem_row);
}

/* Looks for steps in size that exceed a level and slow down, while steps that do not exceed one stay the same. */
static void sizes_examine(const struct study *study, struct findings *findings) {
	size_t problem[PROBE_PROBLEMS], problems = probe_problems(study, problem), count = 0,
									row = probe_best(study, &PROBE_ALL);
	struct probe_case cases[PROBE_PROBLEMS] = {0};
	double team = team_least(study), otherwise = 0;
	for (size_t i = 0; i + 1 < problems && row != SIZE_MAX; i++) {
		struct study_ratio step = step_of(study, problem[i], problem[i + 1], team);
		if (!level_between(study, footprint_of(study, problem[i]), footprint_of(study, problem[i + 1]), team))
			otherwise = step.pairs ? fmax(otherwise, step.ratio) : otherwise;
		else if (step.pairs)
			cases[count++] = (struct probe_case){step, problem[i + 1], (int)i, 0, {0}, false};
	}
	otherwise = otherwise > 0 ? fmax(1, otherwise) : INFINITY;
	if (!probe_hold(study, cases, count) || !follows(study, FOLLOWS_PROBLEM))
		return;
	for (size_t i = 0; i < count; i++)
		if (cases[i].holds && cases[i].ratio.ratio >= RISE &&
		    (otherwise == INFINITY || log(cases[i].ratio.ratio) > 2 * log(otherwise)))
			size_report(study, findings, &cases[i], problem[cases[i].a], otherwise, team);
}

static void examine(const struct study *study, struct findings *findings) {
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *column = study_column(study, c);
		if (!column->is_problem && column->numeric && column->levels >= 3 && probe_tile(column) &&
		    follows(study, (int)c))
			tile_examine(study, findings, c);
	}
	sizes_examine(study, findings);
}

const struct diagnosis diagnosis_cache_capacity = {
	.name = "cache_capacity",
	.summary = "data is larger than a level of cache",
	.device = "cpu",
	.examine = examine,
};
