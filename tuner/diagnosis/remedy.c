/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/diagnosis/diagnosis_probe.h"

#include <math.h>
#include <strings.h>

#include "base/mem.h"

enum {
	LINE_LEAST = 32, /* a padding of at least a cache line */
	STRIDE_LEAST = 8 /* elements, of which a line holds no more */
};
/* Memory of another node takes up to three times as long, and one node has the bandwidth of one of all nodes. */
static const double DISTANCE_MOST = 4;

static double number_of(const struct study_column *column, int level) {
	struct value value = column->level[level];
	return value.type == VALUE_INT ? (double)value.as.i : value.type == VALUE_REAL ? value.as.r : -1;
}

/* A column of 0 and 1 tells whether there is padding at all. */
static bool is_switch(const struct study_column *column) {
	return column->levels == 2 && number_of(column, 0) == 0 && number_of(column, 1) == 1;
}

/* Is the value `good` the value `bad` and a word for what mends it: "array" and "array padded"? */
static bool is_mended(const struct study_column *column, int bad, int good, const struct remedy_words *words) {
	char plain[PROBE_TEXT], mended[PROBE_TEXT];
	if (!words->sure_good || bad == good || value_text(column->level[bad], plain, sizeof plain) <= 0 ||
	    value_text(column->level[good], mended, sizeof mended) <= 0)
		return false;
	size_t length = strlen(plain);
	return strncasecmp(plain, mended, length) == 0 && mended[length] && strchr("_-+ ", mended[length]) &&
	       probe_text_has(mended + length + 1, words->sure_good) && !probe_text_has(plain, words->sure_good);
}

static bool is_mended_somewhere(const struct study_column *column, int bad, const struct remedy_words *words) {
	for (int l = 0; l < (int)column->levels && !column->numeric; l++)
		if (is_mended(column, bad, l, words))
			return true;
	return false;
}

static bool is_bad(const struct study_column *column, int level, const struct remedy_words *words) {
	bool stride = probe_named(column, "stride");
	if (!column->numeric)
		return probe_word(column, level, words->bad) || is_mended_somewhere(column, level, words);
	return stride ? number_of(column, level) <= 1 : number_of(column, level) < (is_switch(column) ? 1 : LINE_LEAST);
}

static bool is_good(const struct study_column *column, int level, const struct remedy_words *words) {
	bool stride = probe_named(column, "stride");
	if (!column->numeric)
		return probe_word(column, level, words->good);
	return number_of(column, level) >= (is_switch(column) ? 1 : stride ? STRIDE_LEAST : LINE_LEAST);
}

static bool is_candidate(const struct study_column *column, const struct remedy_words *words) {
	bool sure = words->sure_bad && !column->numeric && probe_words_count(column, words->sure_bad) &&
	            probe_words_count(column, words->sure_good);
	for (int l = 0; l < (int)column->levels && !sure; l++)
		sure = is_mended_somewhere(column, l, words);
	return !column->is_problem && (sure || probe_named(column, words->names));
}

bool remedy_beyond_distance(const struct remedy *remedy) {
	return remedy->ratio.ratio > DISTANCE_MOST;
}

static struct study_ratio ratio_of(const struct study *study, const struct remedy *remedy, double least, double most) {
	struct probe_scope scope = {-1, -1, remedy->problem_row, least, most};
	return study_contrast(study, remedy->column, remedy->bad, remedy->good, probe_in, &scope);
}

/* Is it much slower with several threads than with one? */
static bool is_only_together(const struct study *study, const struct remedy *remedy) {
	if (remedy->alone.pairs == 0)
		return true;
	struct study_ratio beyond = probe_apart(&remedy->ratio, &remedy->alone);
	return probe_over(study, &beyond) && remedy->alone.ratio - 1 < (remedy->ratio.ratio - 1) / 2;
}

static size_t cases_test(const struct study *study, size_t column, const struct remedy_words *words,
                         struct probe_case cases[PROBE_CASES]) {
	const struct study_column *one = study_column(study, column);
	size_t problem[PROBE_PROBLEMS], problems = probe_problems(study, problem), count = 0;
	for (size_t p = 0; p < problems; p++)
		for (int a = 0; a < (int)one->levels; a++)
			for (int b = 0; b < (int)one->levels && count < PROBE_CASES; b++) {
				struct remedy remedy = {.column = column, .bad = a, .good = b, .problem_row = problem[p]};
				if (a == b || !is_bad(one, a, words) || !is_good(one, b, words) ||
				    (is_mended_somewhere(one, a, words) && !is_mended(one, a, b, words)))
					continue;
				cases[count].a = a;
				cases[count].b = b;
				cases[count].problem_row = problems > 1 ? problem[p] : SIZE_MAX;
				cases[count++].ratio = ratio_of(study, &remedy, 2, 0);
			}
	probe_hold(study, cases, count);
	return count;
}

/* Is this the best of the values that prevent it? */
static bool is_best(const struct probe_case *cases, size_t count, size_t i) {
	for (size_t j = 0; j < count; j++)
		if (cases[j].holds && cases[j].problem_row == cases[i].problem_row && cases[j].a == cases[i].a &&
		    (cases[j].ratio.ratio > cases[i].ratio.ratio || (cases[j].ratio.ratio == cases[i].ratio.ratio && j < i)))
			return false;
	return cases[i].holds;
}

static bool is_followed(const struct study *study, size_t column, const struct remedy_words *words) {
	const struct study_column *one = study_column(study, column);
	struct probe_scope together = {-1, -1, SIZE_MAX, 2, 0};
	mem_auto double *weight = mem_alloc(one->levels + 1, sizeof *weight);
	double bad = 0, good = 0;
	for (int l = 0; l < (int)one->levels; l++) {
		bad += is_bad(one, l, words);
		good += is_good(one, l, words);
	}
	for (int l = 0; l < (int)one->levels; l++)
		weight[l] = is_bad(one, l, words) ? 1 / bad : is_good(one, l, words) ? -1 / good : 0;
	return bad > 0 && good > 0 && follows_directed(study, (int)column, weight, probe_in, &together);
}

/* One value and the same mended are too few to shuffle. All pairs agree then, and by more than chance puts a mean of so
 * many. */
static bool is_mended_clearly(const struct study *study, size_t column, const struct remedy_words *words) {
	const struct study_column *one = study_column(study, column);
	for (int a = 0; a < (int)one->levels && !one->numeric; a++)
		for (int b = 0; b < (int)one->levels; b++) {
			struct remedy remedy = {.column = column, .bad = a, .good = b, .problem_row = SIZE_MAX};
			if (!is_mended(one, a, b, words))
				continue;
			struct study_ratio ratio = ratio_of(study, &remedy, 2, 0);
			if (ratio.pairs && ratio.agree == ratio.pairs &&
			    log(ratio.ratio) > log(study_chance_ratio(study, 2)) / sqrt((double)ratio.pairs))
				return true;
		}
	return false;
}

static size_t column_examine(const struct study *study, size_t column, const struct remedy_words *words,
                             struct remedy *found, size_t room) {
	mem_auto struct probe_case *cases = mem_alloc(PROBE_CASES, sizeof *cases);
	size_t count = cases_test(study, column, words, cases), kept = 0;
	for (size_t i = 0; i < count && kept < room; i++) {
		struct remedy remedy = {.column = column,
		                        .ratio = cases[i].ratio,
		                        .bad = cases[i].a,
		                        .good = cases[i].b,
		                        .problem_row = cases[i].problem_row};
		if (!is_best(cases, count, i))
			continue;
		remedy.alone = ratio_of(study, &remedy, 1, 1);
		remedy.only_together = is_only_together(study, &remedy);
		if (remedy.only_together)
			found[kept++] = remedy;
	}
	return kept;
}

size_t remedies_find(const struct study *study, const struct remedy_words *words, struct remedy found[PROBE_CASES]) {
	size_t count = 0;
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *column = study_column(study, c);
		if (is_candidate(column, words) && (is_followed(study, c, words) || is_mended_clearly(study, c, words)))
			count += column_examine(study, c, words, found + count, PROBE_CASES - count);
	}
	return count;
}

void remedy_next(struct finding *finding, const struct study *study, const struct remedy *remedy) {
	struct probe_scope scope = {(int)remedy->column, remedy->bad, remedy->problem_row, 2, 0};
	const struct study_column *column = study_column(study, remedy->column);
	char bad[PROBE_TEXT], good[PROBE_TEXT];
	size_t row = probe_best(study, &scope);
	if (row == SIZE_MAX)
		return;
	probe_level(study, remedy->column, remedy->bad, bad);
	probe_level(study, remedy->column, remedy->good, good);
	if (remedy->alone.pairs == 0) {
		mem_auto char *names = mem_printf("threads %s", column->name), *words = probe_words(study, row, names);
		finding_next(finding, "sweep %s %s --over %s,%s --over threads=1,%g", study_kernel(study), words, bad,
		             good + strlen(column->name) + 1, study_value_number(study, row, "threads", 2));
		return;
	}
	probe_next_compare(finding, study, &scope, remedy->good);
}

/* A problem keeps scaling if it gains GOES_ON, and that share of what as many more threads could bring. */
static const double GOES_ON = 1.2, SHARE_LEAST = 1.0 / 3, SIZE_APART = 2;

/* Does the smallest team work longer on the larger of two problems? "difficulty" need not be a size, and of speed-ups,
 * which are the same there, nothing is known. */
static bool is_more_work(const struct study *study, const struct saturation *one, size_t problem, double apart) {
	struct probe_scope own = {-1, -1, one->problem, one->curve.threads[0], one->curve.threads[0]}, other = own;
	other.problem_row = problem;
	size_t a = probe_best(study, &own), b = probe_best(study, &other);
	double longer = a == SIZE_MAX || b == SIZE_MAX ? NAN : study_row(study, b)->value / study_row(study, a)->value;
	return study_is_rate(study) ? longer != 1 : apart > 1 ? longer > 1 : longer < 1;
}

/* The problem on that side that gains most from larger teams. None is found if one on the other side gains as well:
 * then it is not the size that stops a team. */
static bool other_find(const struct study *study, struct saturation *one, const size_t *problem, size_t problems) {
	int a = one->curve.level[one->curve.stop], b = one->curve.level[one->curve.count - 1];
	double more = one->curve.threads[one->curve.count - 1] / one->curve.threads[one->curve.stop] - 1;
	one->other = SIZE_MAX;
	for (size_t i = 0; i < problems; i++) {
		struct curve curve = one->curve;
		double apart = probe_size(study, problem[i]) / probe_size(study, one->problem);
		curve.scope.problem_row = problem[i];
		bool other = one->other_is_larger ? apart >= SIZE_APART : apart <= 1 / SIZE_APART;
		bool beyond = one->other_is_larger ? apart <= 1 / SIZE_APART : apart >= SIZE_APART;
		if ((!other && !beyond) || !is_more_work(study, one, problem[i], apart))
			continue;
		struct study_ratio gain = curve_gain(study, &curve, a, b);
		if (beyond && gain.pairs && gain.ratio >= GOES_ON && probe_over(study, &gain))
			return false;
		if (other && gain.pairs && (one->other == SIZE_MAX || gain.ratio > one->others.ratio)) {
			one->other = problem[i];
			one->others = gain;
		}
	}
	return one->other != SIZE_MAX && one->others.ratio >= fmax(GOES_ON, 1 + SHARE_LEAST * more) &&
	       probe_over(study, &one->others);
}

static bool is_saturated(const struct study *study, struct saturation *one, const size_t *problem, size_t problems) {
	struct probe_scope scope = {-1, -1, one->problem, 0, isfinite(probe_room(study)) ? probe_room(study) : 0};
	if (!curve_make(study, scope, &one->curve) || one->curve.stop + 1 >= one->curve.count)
		return false;
	one->stop = one->curve.threads[one->curve.stop];
	/* Beyond the cores, only their second threads differ, which share too much to tell one reason from another. */
	if (study_host(study)->cores > 0 && one->stop >= study_host(study)->cores)
		return false;
	one->next = one->curve.threads[one->curve.stop + 1];
	one->most = one->curve.threads[one->curve.count - 1];
	one->own =
		curve_gain(study, &one->curve, one->curve.level[one->curve.stop], one->curve.level[one->curve.count - 1]);
	return one->own.pairs && other_find(study, one, problem, problems);
}

size_t saturations_find(const struct study *study, bool other_is_larger, struct saturation **found) {
	size_t problem[PROBE_PROBLEMS], problems = probe_problems(study, problem), count = 0, kept = 0;
	mem_auto struct probe_case *cases = mem_alloc(problems + 1, sizeof *cases);
	int threads = probe_threads(study);
	*found = mem_alloc(problems + 1, sizeof **found);
	for (size_t i = 0; i < problems && problems > 1 && threads >= 0; i++) {
		struct saturation *one = &(*found)[count];
		*one = (struct saturation){.problem = problem[i], .other_is_larger = other_is_larger};
		if (is_saturated(study, one, problem, problems))
			cases[count++].ratio = probe_apart(&one->others, &one->own);
	}
	probe_hold(study, cases, count);
	if (count && (!follows(study, threads) || !follows(study, FOLLOWS_PROBLEM)))
		count = 0;
	for (size_t i = 0; i < count; i++)
		if (cases[i].holds)
			(*found)[kept++] = (*found)[i];
	return kept;
}

size_t saturation_row(const struct study *study, const struct saturation *one, double threads) {
	struct probe_scope scope = {-1, -1, one->problem, threads, threads};
	return probe_best(study, &scope);
}

void saturation_evidence(struct finding *finding, const struct study *study, const struct saturation *one) {
	struct study_ratio before = one->curve.speedup[one->curve.stop];
	char other[PROBE_TEXT];
	if (one->stop > one->curve.threads[0])
		finding_evidence(finding, EVIDENCE_SCALING, before.ratio, "x", "%.2f times as fast with %g thread%s as with %g",
		                 before.ratio, one->stop, probe_s(one->stop), one->curve.threads[0]);
	finding_evidence(finding, EVIDENCE_SCALING, one->own.ratio, "x",
	                 "from %g to %g threads it is %.2f times as fast [%.2f, %.2f]", one->stop, one->most,
	                 one->own.ratio, one->own.ci[0], one->own.ci[1]);
	finding_evidence(finding, EVIDENCE_CONTRAST, one->others.ratio, "x", "at %s that brings %.2f times [%.2f, %.2f]",
	                 probe_problem(study, one->other, other), one->others.ratio, one->others.ci[0], one->others.ci[1]);
}
