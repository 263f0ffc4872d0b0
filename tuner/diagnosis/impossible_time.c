/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The laws that every time has to obey before anything may rest on it: no more operations or bytes a second than any
 * measured ceiling of this machine, a larger problem does not take much less time, a team gains no more than its
 * threads and caches explain, a core no more than its hardware threads, parts do not exceed the whole, and a time
 * depends on the work. Those that break one are told and left out. If many break it, the law is wrong and not the
 * times. */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/stats.h"
#include "tuner/diagnosis/diagnosis_probe.h"

enum judged { LAW_WORK, LAW_POINT /* of a curve */, LAW_SIZE /* a configuration at all sizes */ };

struct wrong {
	enum evidence kind;
	double value;
	const char *unit;
	char text[3 * PROBE_TEXT];
	/* set by the caller, which asks for many rows: of probe_problems, and whether times follow the teams */
	size_t problem[PROBE_PROBLEMS], problems;
	bool teams_known, few;
	enum judged judged;
};

static double judge_time_at(const struct study *study, size_t row, size_t problem) {
	for (size_t r = 0; r < study_rows(study); r++)
		if (!study_row(study, r)->over && study_same_config(study, r, row) && study_same_problem(study, r, problem))
			return study_row(study, r)->value;
	return NAN;
}

enum { POINTS_LEAST = 4, SPIKE_POINTS = 5, SIZES_FLAT = 3 };
static const double LINEAR = 4, SUPER = 1.3, SUPER_STEP = 1.5, ROUGH = 0.3, SPIKE = 1.8, BUMP = 1.2, WORK = 16,
					SURE = 0.995, UNREAL = 3000, WHOLE_LEAST = 0.85, WHOLE = 1.05, WHOLE_MOST = 1.1;

/* The rows that differ from one in the size of the team alone, the smallest team first. */
struct teams {
	size_t count, at; /* at: the row itself */
	size_t row[CURVE_MAX];
	double n[CURVE_MAX], y[CURVE_MAX]; /* threads, logarithms of times */
};

static bool is_same_but(const struct study *study, size_t a, size_t b, int column) {
	for (size_t c = 0; c < study_columns(study); c++)
		if ((int)c != column && study_row(study, a)->level[c] != study_row(study, b)->level[c])
			return false;
	return true;
}

static bool teams_find(const struct study *study, size_t row, struct teams *teams) {
	int threads = probe_threads(study);
	teams->count = 0;
	for (size_t r = 0; threads >= 0 && r < study_rows(study) && teams->count < CURVE_MAX; r++) {
		double team = study_number(study, r, (size_t)threads);
		size_t at = teams->count;
		if (study_row(study, r)->over || !(team >= 1) || !is_same_but(study, row, r, threads))
			continue;
		for (teams->count++; at > 0 && teams->n[at - 1] > team; at--) {
			teams->n[at] = teams->n[at - 1];
			teams->y[at] = teams->y[at - 1];
			teams->row[at] = teams->row[at - 1];
		}
		teams->n[at] = team;
		teams->y[at] = log(study_row(study, r)->value);
		teams->row[at] = r;
	}
	for (teams->at = 0; teams->at < teams->count && teams->row[teams->at] != row;)
		teams->at++;
	return teams->at < teams->count;
}

/* How rough the curve is without a point: the bends of its lines in logarithms. */
static double roughness(const struct teams *teams, size_t without) {
	double before = NAN, sum = 0;
	size_t last = SIZE_MAX;
	for (size_t i = 0; i < teams->count; i++) {
		if (i == without)
			continue;
		double slope = last == SIZE_MAX ? NAN : (teams->y[i] - teams->y[last]) / log(teams->n[i] / teams->n[last]);
		sum += isfinite(before) && isfinite(slope) ? fabs(slope - before) : 0;
		before = slope;
		last = i;
	}
	return sum;
}

/* Do times follow the teams? In a table too small to tell, the other points of this curve must lie on a smooth one. */
static bool is_curve(const struct teams *teams, const struct wrong *wrong) {
	return wrong->teams_known || (wrong->few && teams->count >= POINTS_LEAST && roughness(teams, teams->at) <= ROUGH);
}

__attribute__((format(printf, 4, 5))) static bool suspect(struct wrong *wrong, double value, const char *unit,
                                                          const char *text, ...) {
	va_list args;
	va_start(args, text);
	vsnprintf(wrong->text, sizeof wrong->text, text, args);
	va_end(args);
	wrong->kind = EVIDENCE_SCALING;
	wrong->value = value;
	wrong->unit = unit;
	return true;
}

/* Is it far faster than the number of threads explains, and than the next smaller team suggests? A cache that holds the
 * data of a larger team holds that of a still larger one as well, so that less is enough where the gain is lost again.
 */
static bool judge_beyond_linear(const struct study *study, size_t row, struct wrong *wrong) {
	struct teams teams;
	if (!teams_find(study, row, &teams) || teams.at == 0)
		return false;
	size_t i = teams.at;
	double gain = exp(teams.y[0] - teams.y[i]), all = gain * teams.n[0] / teams.n[i];
	double step = exp(teams.y[i - 1] - teams.y[i]) * teams.n[i - 1] / teams.n[i];
	bool lost = i + 1 < teams.count && teams.n[i + 1] <= probe_room(study) && teams.y[i + 1] > teams.y[i];
	bool far = all > LINEAR && step > LINEAR;
	if (!is_curve(&teams, wrong) || !(far || (lost && all > SUPER && step > SUPER_STEP)))
		return false;
	return suspect(wrong, gain, "x", "%.4g times as fast with %g threads as with %g%s", gain, teams.n[i], teams.n[0],
	               far ? "" : ", which the next larger team loses again, so that no cache explains it");
}

/* Two hardware threads of a core can do at most twice the work of one: one of both times is wrong, the one without
 * which the curve is smoother. */
static bool judge_beyond_core(const struct study *study, size_t row, struct wrong *wrong) {
	const struct study_host *host = study_host(study);
	struct teams teams;
	size_t cores = SIZE_MAX, all = SIZE_MAX;
	if (host->cores < 1 || host->threads <= host->cores || !teams_find(study, row, &teams) || !is_curve(&teams, wrong))
		return false;
	for (size_t i = 0; i < teams.count; i++) {
		cores = teams.n[i] == host->cores ? i : cores;
		all = teams.n[i] == host->threads ? i : all;
	}
	if (cores == SIZE_MAX || all == SIZE_MAX || (teams.at != cores && teams.at != all))
		return false;
	double gain = exp(teams.y[cores] - teams.y[all]), most = (double)host->threads / host->cores;
	if (gain < SURE * most || roughness(&teams, teams.at) > roughness(&teams, teams.at == cores ? all : cores))
		return false;
	return suspect(wrong, gain, "x", "%.3g times as fast on %d hardware threads as on %d cores, where %g is the most",
	               gain, host->threads, host->cores, most);
}

/* How far a point lies above both of its neighbours, as a ratio; 0: it is an end. */
static double spike_of(const struct teams *teams, size_t i) {
	return i == 0 || i + 1 >= teams->count ? 0 : exp(teams->y[i] - fmax(teams->y[i - 1], teams->y[i + 1]));
}

/* Is one point far above both neighbours, on a curve without other bumps, where no other curve has a bump? */
static bool judge_is_spike(const struct study *study, size_t row, struct wrong *wrong) {
	struct teams teams, other;
	if (!teams_find(study, row, &teams) || !is_curve(&teams, wrong) || teams.count < SPIKE_POINTS ||
	    spike_of(&teams, teams.at) < SPIKE)
		return false;
	size_t at = teams.at;
	for (size_t i = 0; i < teams.count; i++)
		if (i != at && spike_of(&teams, i) > BUMP)
			return false;
	for (size_t r = 0; r < study_rows(study); r++)
		if (r != row && study_number(study, r, (size_t)probe_threads(study)) == teams.n[at] &&
		    teams_find(study, r, &other) && spike_of(&other, other.at) > BUMP)
			return false;
	return suspect(wrong, spike_of(&teams, at), "x",
	               "%.3g times as long as both %g and %g threads take, unlike all others", spike_of(&teams, at),
	               teams.n[at - 1], teams.n[at + 1]);
}

/* The largest of a configuration's times at all sizes over the smallest; NAN if one is missing. rises: or if a larger
 * size takes less time. */
static double range_of(const struct study *study, size_t row, const struct wrong *wrong, bool rises) {
	double least = INFINITY, most = 0;
	for (size_t i = 0; i < wrong->problems; i++) {
		double time = judge_time_at(study, row, wrong->problem[i]);
		if (!(time > 0) || (rises && time < most))
			return NAN;
		least = fmin(least, time);
		most = fmax(most, time);
	}
	return wrong->problems < SIZES_FLAT ? NAN : most / least;
}

/* Is the time the same at any size, while the work grows, and so short that it would be thousands of times as fast as
 * other code? Then it is the launch that was timed, and nothing waited for the work. All other code must show how the
 * work grows. */
static bool judge_ignores_size(const struct study *study, size_t row, struct wrong *wrong) {
	size_t large = wrong->problem[wrong->problems ? wrong->problems - 1 : 0];
	double own = range_of(study, row, wrong, false), time = own > 0 ? judge_time_at(study, row, large) : NAN;
	double grows = INFINITY, other = 0;
	for (size_t r = 0; time > 0 && r < study_rows(study); r++) {
		if (study_row(study, r)->over || !study_same_problem(study, r, large))
			continue;
		bool slow = study_row(study, r)->value > UNREAL * time;
		double range = range_of(study, r, wrong, slow);
		if (slow ? !(range >= WORK * own) : !(range < WORK))
			return false;
		grows = slow ? fmin(grows, range) : grows;
		other = slow ? study_row(study, r)->value : other;
	}
	return other > 0 &&
	       suspect(wrong, other / time, "x",
	               "it hardly changes with the size (%.3g times), where other code takes %.3g times as long at the "
	               "largest one: only the launch was timed, and nothing waited for the work to end (synchronize before "
	               "the clock is read)",
	               own, grows);
}

static bool judge_exceeds_whole(const struct study *study, size_t row, struct wrong *wrong) {
	struct judge_parts parts = judge_parts_find(study);
	size_t fit = 0, rows = study_rows(study);
	double share = judge_parts_share(study, row, &parts);
	for (size_t r = 0; r < rows && share > WHOLE_MOST; r++)
		fit += judge_parts_share(study, r, &parts) <= WHOLE && judge_parts_share(study, r, &parts) >= WHOLE_LEAST;
	if (parts.count < 2 || 3 * fit < 2 * rows)
		return false;
	return suspect(wrong, share, "x", "its parts add up to %.0f %% of the whole, elsewhere to %.0f %% or less",
	               100 * share, 100 * WHOLE);
}

/* A time against its neighbours, for tables with too few sizes to fit a law: the other configurations tell how much
 * longer a larger problem takes (the median of their ratios, and how far they agree). A configuration that is faster at
 * the larger problem than at a smaller one, although all others take much longer, did not do the work. */
enum { OTHERS_LEAST = 3, ROWS_MOST = 2000 };
static const double GROWTH_LEAST = 1.5, AGREE = 1.3, BELOW = 3, DROP = 1.5;

/* Is the problem of `small` a smaller one in every member in which it differs? Graphs and mixes are not sizes. */
static bool is_smaller(const struct study *study, size_t small, size_t large) {
	bool differs = false;
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *column = study_column(study, c);
		int a = study_row(study, small)->level[c], b = study_row(study, large)->level[c];
		if (!column->is_problem || a == b)
			continue;
		if (!column->numeric || a == STUDY_ABSENT || b == STUDY_ABSENT || a > b)
			return false;
		differs = true;
	}
	return differs;
}

/* How much longer other configurations take at the problem of `large`; NAN if fewer than three tell, or if they
 * disagree. all: fewer are enough if there are no others. */
static double growth_of(const struct study *study, size_t row, size_t large, size_t small, bool all) {
	mem_auto double *ratio = mem_alloc(study_rows(study) + 1, sizeof *ratio);
	double median = NAN, spread = NAN;
	size_t count = 0, others = 0;
	for (size_t r = 0; r < study_rows(study); r++) {
		if (study_row(study, r)->over || !study_same_problem(study, r, large) || study_same_config(study, r, row))
			continue;
		others++;
		for (size_t s = 0; s < study_rows(study); s++)
			if (!study_row(study, s)->over && study_same_problem(study, s, small) && study_same_config(study, r, s))
				ratio[count++] = log(study_row(study, r)->value / study_row(study, s)->value);
	}
	if (count >= OTHERS_LEAST || (all && count && others < OTHERS_LEAST)) {
		median = stats_median(ratio, count);
		for (size_t i = 0; i < count; i++)
			ratio[i] = fabs(ratio[i] - median);
		spread = stats_median(ratio, count);
	}
	return spread <= log(AGREE) ? exp(median) : NAN;
}

/* The least time of the other configurations at a problem; INFINITY if there are fewer than three. */
static double least_of(const struct study *study, size_t row, size_t problem) {
	double least = INFINITY;
	size_t count = 0;
	for (size_t r = 0; r < study_rows(study); r++)
		if (!study_row(study, r)->over && study_same_problem(study, r, problem) && !study_same_config(study, r, row)) {
			least = fmin(least, study_row(study, r)->value);
			count++;
		}
	return count >= OTHERS_LEAST ? least : INFINITY;
}

/* Do all other times grow with the problem? Then one that falls does not need many witnesses. */
static bool others_grow(const struct study *study, size_t row) {
	for (size_t r = 0; r < study_rows(study); r++)
		for (size_t s = 0; s < study_rows(study) && r != row; s++)
			if (s != row && study_row(study, r)->value < study_row(study, s)->value && study_same_config(study, r, s) &&
			    is_smaller(study, s, r))
				return false;
	return true;
}

/* Is it against the smaller problem? */
static bool is_against(const struct study *study, size_t row, size_t small, struct wrong *wrong) {
	double time = study_row(study, row)->value, own = judge_time_at(study, row, small);
	double least = isnan(own) ? least_of(study, row, small) : NAN;
	bool by_own = own > time * (1 + study_noise(study));
	bool by_all = isnan(own) && least > time && least_of(study, row, row) > BELOW * time;
	double growth =
		by_own || by_all ? growth_of(study, row, row, small, own > DROP * time && others_grow(study, row)) : NAN;
	double expected = growth * (by_own ? own : least);
	char problem[PROBE_TEXT];
	if (!(growth >= GROWTH_LEAST) || !isfinite(expected) || !(expected > BELOW * time))
		return false;
	probe_problem(study, small, problem);
	return suspect(
		wrong, expected, "s",
		"less time than %s takes (%.4g s), although the other configurations take %.3g times as long here, so "
		"that about %.3g s are expected",
		problem, by_own ? own : least, growth, expected);
}

static bool impossible_by_neighbours(const struct study *study, size_t row, struct wrong *wrong) {
	bool asked = wrong->problems >= 2 && study_rows(study) <= ROWS_MOST;
	for (size_t i = 0; asked && i < wrong->problems; i++)
		if (is_smaller(study, wrong->problem[i], row) && is_against(study, row, wrong->problem[i], wrong))
			return true;
	return false;
}

enum { SIZES_LEAST = 4, ROWS_MAX = 4000, ANY_TEAM = 1 << 20 };
static const double BEYOND = 1.25 /* allows for clocks and noise */, LAW = 3, STRAIGHT = 1.3, FEW = 0.25, CHANCE = 0.01,
					HARDLY = 1.25 /* a larger size that takes up to this much longer than a smaller one */;

static double ceiling_of(const struct study *study, const char *const *names, const char *level) {
	int team = strcmp(study_device(study), "cpu") == 0 ? ANY_TEAM : 0;
	double most = NAN;
	for (size_t i = 0; names[i]; i++) {
		if (!study_ceiling_steady(study, names[i], level))
			return INFINITY; /* it was measured beside others, and a quiet run may exceed it */
		most = fmax(most, study_ceiling(study, names[i], level, team));
	}
	return most;
}

/* In units of 1e9 a second; NAN: there is no ceiling for this kind of operation. */
static double peak_of(const struct study *study, size_t row) {
	static const char *const pairs[] = {"addmin", "addmin2", NULL}, *const flops[] = {"fp32", "fp64", NULL};
	const char *op = js_string_or(json_object_get(study_row(study, row)->detail, "work"), "op", "");
	if (strcmp(op, "relaxation") == 0 || strcmp(op, "pair") == 0)
		return ceiling_of(study, pairs, NULL);
	return strcmp(op, "floating-point operation") == 0 || strcmp(op, "flop") == 0 ? ceiling_of(study, flops, NULL)
	                                                                              : NAN;
}

/* The bandwidth of the fastest level, because data may stay in caches. */
static double bandwidth_of(const struct study *study) {
	static const char *const names[] = {"read", "copy", "triad", NULL}, *const shared[] = {"shared", NULL};
	static const char *const levels[] = {"l1d", "l2", "l3", "dram"};
	double most = ceiling_of(study, shared, NULL);
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
		most = fmax(most, ceiling_of(study, names, levels[i]));
	return most;
}

static bool is_over_peak(const struct study *study, size_t row, struct wrong *wrong) {
	double value = study_row(study, row)->value, ops = study_work(study, row, "ops") / value / 1e9;
	double bytes = study_work(study, row, "bytes") / value / 1e9, peak = peak_of(study, row),
		   most = bandwidth_of(study);
	bool work = ops > peak * BEYOND, traffic = bytes > most * BEYOND;
	if (!work && !traffic)
		return false;
	suspect(wrong, work ? ops : bytes, work ? "1e9/s" : "GB/s",
	        "this would need %.4g %s; the highest measured rate here is %.4g", work ? ops : bytes,
	        work ? "billion operations a second" : "GB/s", work ? peak : most);
	wrong->kind = EVIDENCE_CEILING;
	return true;
}

struct law {
	size_t count;
	double x[PROBE_PROBLEMS], y[PROBE_PROBLEMS]; /* log size and log time of the others */
	double slope, offset, residual;              /* the largest residual */
};

/* The median of the slopes of all pairs (Theil, A rank-invariant method of linear and polynomial regression analysis,
 * 1950; Sen, Estimates of the regression coefficient based on Kendall's tau, 1968): a single impossible time must not
 * decide the law. */
static void law_fit(struct law *law) {
	double slopes[PROBE_PROBLEMS * PROBE_PROBLEMS / 2], offsets[PROBE_PROBLEMS];
	size_t count = 0;
	for (size_t i = 0; i < law->count; i++)
		for (size_t j = 0; j < i; j++)
			if (law->x[i] != law->x[j])
				slopes[count++] = (law->y[i] - law->y[j]) / (law->x[i] - law->x[j]);
	law->slope = stats_median(slopes, count);
	for (size_t i = 0; i < law->count; i++)
		offsets[i] = law->y[i] - law->slope * law->x[i];
	law->offset = stats_median(offsets, law->count);
	law->residual = 0;
	for (size_t i = 0; i < law->count; i++)
		law->residual = fmax(law->residual, fabs(offsets[i] - law->offset));
}

static bool is_against_law(const struct study *study, size_t row, struct wrong *wrong) {
	struct law law = {0};
	double size = probe_size(study, row), time = study_row(study, row)->value, smaller = 0;
	for (size_t r = 0; r < study_rows(study) && law.count < PROBE_PROBLEMS; r++) {
		const struct study_row *other = study_row(study, r);
		if (r == row || other->over || !study_same_config(study, r, row))
			continue;
		law.x[law.count] = log(probe_size(study, r));
		law.y[law.count++] = log(other->value);
		if (probe_size(study, r) < size)
			smaller = fmax(smaller, other->value);
	}
	if (law.count + 1 < SIZES_LEAST || !(smaller * HARDLY > time))
		return false;
	law_fit(&law);
	double expected = exp(law.offset + law.slope * log(size));
	if (!(law.slope > 0) || law.residual > log(STRAIGHT) || expected / time < LAW ||
	    log(expected / time) < 5 * law.residual)
		return false;
	return suspect(wrong, expected, "s", "%s a smaller problem (%.4g s); the %zu other sizes predict %.4g s",
	               smaller > time ? "less time than" : "hardly more time than", smaller, law.count, expected);
}

static struct finding *tell_add(const struct study *study, struct findings *findings, size_t row,
                                const struct wrong *wrong, const char *words) {
	double time = study_row(study, row)->value;
	char value[PROBE_TEXT];
	bool sure = wrong->kind == EVIDENCE_CEILING || (wrong->unit[0] == 's' && wrong->value / time > LAW * LAW);
	if (wrong->judged == LAW_SIZE)
		return findings_add(findings, CONFIDENCE_HIGH, 1,
		                    "%s is impossible (%s), as are the times of this configuration at other sizes: measure it "
		                    "again, because only the launch was timed",
		                    study_value_text(study, time, value, sizeof value), words);
	if (wrong->judged == LAW_POINT)
		return findings_add(findings, CONFIDENCE_LOW, 1,
		                    "%.4g s is suspect (%s): measure it again; it is left out until then", time, words);
	return findings_add(findings, sure ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM, 1,
	                    "%.4g s is impossible (%s): the result is probably wrong, for example because "
	                    "of a race, or the run ended early: measure it again",
	                    time, words);
}

static void tell(const struct study *study, struct findings *findings, size_t row, const struct wrong *wrong) {
	const char *device = strcmp(study_device(study), "cpu") == 0 ? NULL : study_device(study);
	mem_auto char *words = study_words(study, row);
	struct finding *finding = tell_add(study, findings, row, wrong, words);
	for (size_t c = 0; c < study_columns(study); c++)
		if (wrong->judged != LAW_SIZE || !study_column(study, c)->is_problem)
			finding_about(finding, study, c, study_row(study, row)->level[c]);
	finding_evidence(finding, wrong->kind, wrong->value, wrong->unit, "%s", wrong->text);
	finding_next(finding, "run %s %s%s%s --alone --samples 21", study_kernel(study), words, device ? " --device " : "",
	             device ? device : "");
}

/* share: if more rows break the law, it is the law that does not hold here. */
static const struct {
	bool (*breaks)(const struct study *study, size_t row, struct wrong *wrong);
	enum judged judged;
	double share;
} laws[] = {
	{is_over_peak, LAW_WORK, FEW},
	{is_against_law, LAW_WORK, FEW},
	{impossible_by_neighbours, LAW_WORK, FEW},
	{judge_beyond_linear, LAW_WORK, FEW},
	{judge_beyond_core, LAW_POINT, FEW},
	{judge_is_spike, LAW_POINT, FEW},
	{judge_exceeds_whole, LAW_POINT, FEW},
	{judge_ignores_size, LAW_SIZE, 1},
};

/* Tells each time that breaks a law, by the first one that it breaks; without findings it is doubted instead. */
static void judge(struct study *study, struct findings *findings) {
	struct wrong wrong = {0};
	size_t rows = study_rows(study);
	if (rows > ROWS_MAX)
		return;
	mem_auto bool *told = mem_alloc(rows + 1, sizeof *told), *breaks = mem_alloc(rows + 1, sizeof *breaks);
	wrong.problems = probe_problems(study, wrong.problem);
	wrong.few = study_few(study);
	wrong.teams_known =
		probe_threads(study) >= 0 && !(study_pattern(study) > CHANCE) && follows(study, probe_threads(study));
	for (size_t l = 0; l < sizeof laws / sizeof *laws; l++) {
		size_t count = 0;
		for (size_t r = 0; r < rows; r++)
			count += breaks[r] = !study_row(study, r)->over && laws[l].breaks(study, r, &wrong);
		wrong.judged = laws[l].judged;
		for (size_t r = 0; r < rows && (double)count <= laws[l].share * (double)rows; r++)
			if (breaks[r] && !told[r] && laws[l].breaks(study, r, &wrong)) {
				told[r] = true;
				if (findings)
					tell(study, findings, r, &wrong);
				else
					study_doubt(study, r);
			}
	}
}

static void examine(const struct study *study, struct findings *findings) {
	judge((struct study *)study, findings); /* which is not changed then */
}

void impossible_times_doubt(struct study *study) {
	judge(study, NULL);
}

const struct diagnosis diagnosis_impossible_time = {
	.name = "impossible_time",
	.summary = "a time that this machine cannot reach, or that contradicts the others",
	.examine = examine,
	.always = true,
};
