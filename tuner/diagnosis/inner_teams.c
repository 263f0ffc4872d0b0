/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads are requested but do not run, because parallel regions within others have one thread (OpenMP 5.2, section
 * 4.1.5). There are two shapes. If the outer region has nothing to share, the time is the same with any number of
 * threads while other values scale. If a recursion opens a region in every call, only the tasks of the outermost call
 * run side by side: two of the four quarters of a blocked algorithm are independent, so that 8 units of work take 6,
 * two threads gain at most 1.33 times, and more gain nothing. */
#include <math.h>

#include "base/json/js.h"
#include "tuner/diagnosis/diagnosis_probe.h"

/* True if a part of any word in the configuration of a row is one of them. */
static bool row_has_word(const struct study *study, size_t row, const char *words) {
	js_members (name, member, study_row(study, row)->config)
		if (json_is_string(member) && probe_text_has(json_string_value(member), words))
			return true;
	return false;
}

static const char meant_serial[] = "serial sequential single coarse global none one";
static const char nested_words[] = "recursive recursion recursively recurse recur nested nest inner";
static const char task_words[] = "recursive recursion recursively recurse recur nested nest inner tasks task divide";
static const double SCALES = 1.5, SCALES_CLEARLY = 2, ONE_CPU = 1.3, CHANCE_MAX = 0.01;
/* The gain of two threads at the outermost call, 8 units in 6, with what noise adds; how level the rest is. */
static const double TWO_LEAST = 1.15, TWO_MOST = 1.45, LEVEL = 1.25;
/* Without a name: how near two threads are to the best, the most that they gain with noise, times that are of another
 * size, and a team that is large. */
static const double NEARLY = 1.1, TWO_BEYOND = 2.4, WORK_APART = 4, TEAM_LARGE = 8;
enum { TEAMS_LEAST = 4, TEAMS_CLEAR = 5, SERIES_CLEAR = 3 };

struct flat {
	int column; /* -1: the whole table */
	int level, sibling;
	bool recursion;          /* the second shape */
	bool exact;              /* two threads gain all there is to gain, and the curve is level from there */
	double most, cpus, team; /* threads; CPUs in use and the size of the team with that many, NAN if not counted */
	double two;              /* threads of the smallest team beyond one */
	struct study_ratio own, other, gain; /* with the most threads; its sibling's; with `two` */
};

/* All teams take the time of the smallest one, as far as the noise shows. */
static bool is_flat(const struct study *study, const struct curve *curve) {
	double limit = log1p(probe_limit(study));
	for (size_t i = 1; i < curve->count; i++) {
		const struct study_ratio *one = &curve->speedup[i];
		if (fabs(log(one->ratio)) > 2 * limit || log(one->ci[1]) < -limit || log(one->ci[0]) > limit)
			return false;
	}
	return true;
}

static bool sibling_find(const struct study *study, const struct curve *curve, struct flat *flat) {
	flat->sibling = -1;
	for (int l = 0; flat->column >= 0 && l < (int)study_column(study, (size_t)flat->column)->levels; l++) {
		struct curve other = {.scope = curve->scope};
		other.scope.level = l;
		struct study_ratio gain = curve_gain(study, &other, curve->level[0], curve->level[curve->count - 1]);
		if (l != flat->level && gain.pairs && (flat->sibling < 0 || gain.ratio > flat->other.ratio)) {
			flat->sibling = l;
			flat->other = gain;
		}
	}
	return flat->sibling >= 0 && flat->other.ratio >= SCALES;
}

static bool is_named(const struct study *study, const struct flat *flat, const char *words) {
	return flat->column >= 0 ? probe_word(study_column(study, (size_t)flat->column), flat->level, words)
	                         : row_has_word(study, 0, words);
}

/* Does everything that threads gain come with the second one, and is the curve level from there? */
static bool is_two_only(const struct study *study, const struct curve *curve) {
	double two = curve->speedup[1].ratio, most = two * (1 + probe_limit(study));
	bool all = curve->count >= TEAMS_LEAST && two >= TWO_LEAST && two <= TWO_MOST;
	for (size_t i = 2; i < curve->count && all; i++)
		all = curve->speedup[i].ratio <= most && curve->speedup[i].ratio >= two / LEVEL;
	return all;
}

/* Regions cost time even with one thread, so two threads may gain more than 8 units in 6, but not more than twice. */
static bool is_never_more(const struct study *study, const struct curve *curve) {
	double most = fmin(2, curve->speedup[1].ratio * (1 + probe_limit(study)));
	for (size_t i = 1; i < curve->count; i++)
		if (curve->speedup[i].ratio > most)
			return false;
	return true;
}

static bool is_recursion(const struct study *study, const struct curve *curve, struct flat *flat) {
	bool sibling = sibling_find(study, curve, flat);
	flat->exact = is_two_only(study, curve);
	if (flat->exact && is_named(study, flat, task_words))
		return true;
	return sibling && is_named(study, flat, nested_words) && is_never_more(study, curve);
}

static bool flat_find(const struct study *study, struct flat *flat) {
	struct curve curve;
	struct probe_scope scope = {flat->column, flat->level, SIZE_MAX, 0, 0};
	scope.most = isfinite(probe_room(study)) ? probe_room(study) : 0;
	if (!curve_make(study, scope, &curve) || curve.threads[0] != 1)
		return false;
	flat->own = curve.speedup[curve.count - 1];
	flat->most = curve.threads[curve.count - 1];
	flat->two = curve.threads[1];
	flat->gain = curve.speedup[1];
	flat->recursion = is_recursion(study, &curve, flat);
	return flat->recursion || (flat->column >= 0 && is_flat(study, &curve) && sibling_find(study, &curve, flat));
}

/* Finds counts with more than one thread. */
static void counted_find(const struct study *study, struct flat *flat) {
	struct probe_scope scope = {flat->column, flat->level, SIZE_MAX, 2, 0};
	static const char *const figures[] = {"team", "team_size", "inner_team", "inner_threads", "threads"};
	flat->cpus = flat->team = NAN;
	for (size_t r = 0; r < study_rows(study); r++) {
		if (!probe_in(&scope, study, r))
			continue;
		flat->cpus = fmax(flat->cpus, study_metric(study, r, "cpus_used"));
		for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
			flat->team = fmax(flat->team, study_figure(study, r, figures[i]));
	}
}

static enum confidence confidence_of(const struct flat *flat) {
	if (flat->team <= 1)
		return CONFIDENCE_HIGH;
	if (flat->recursion)
		return flat->exact && flat->gain.pairs >= SERIES_CLEAR ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW;
	return flat->cpus < ONE_CPU ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW;
}

static const char *subject_text(const struct study *study, const struct flat *flat, char text[PROBE_TEXT]) {
	snprintf(text, PROBE_TEXT, "the program");
	return flat->column >= 0 ? probe_level(study, (size_t)flat->column, flat->level, text) : text;
}

static struct finding *flat_add(const struct study *study, struct findings *findings, const struct flat *flat) {
	char own[PROBE_TEXT];
	double gain = flat->sibling >= 0 ? flat->other.ratio / fmax(1, flat->own.ratio) : 1;
	subject_text(study, flat, own);
	if (flat->recursion)
		return findings_add(
			findings, confidence_of(flat), gain,
			"%s opens its parallel region inside the recursion: inner teams have one thread, so %g threads "
			"give a speedup of %.2f and %g no more than that; open the region once, at the top",
			own, flat->two, flat->gain.ratio, flat->most);
	return findings_add(
		findings, confidence_of(flat), gain,
		"the inner teams of %s have one thread: the time is the same with 1 and %g; open the region once, "
		"around the outer work",
		own, flat->most);
}

static void counted_add(struct finding *finding, const struct flat *flat) {
	finding_known(finding, EVIDENCE_FIGURE, flat->team, "threads", NULL, "its teams have %g thread%s", flat->team,
	              probe_s(flat->team));
	finding_known(finding, EVIDENCE_COUNTER, flat->cpus, "CPUs",
	              "the number of CPUs in use, which a lock around everything would leave above one",
	              "%.2f CPUs were in use", flat->cpus);
}

static void flat_report(const struct study *study, struct findings *findings, const struct flat *flat) {
	struct probe_scope scope = {flat->column, flat->level, SIZE_MAX, flat->most, flat->most};
	char other[PROBE_TEXT];
	size_t row = probe_best(study, &scope);
	struct finding *finding = flat_add(study, findings, flat);
	if (flat->column >= 0)
		finding_about(finding, study, (size_t)flat->column, flat->level);
	if (flat->recursion)
		finding_evidence(
			finding, EVIDENCE_SCALING, flat->gain.ratio, "x",
			"%.2f times as fast with %g threads [%.2f, %.2f]; 8 units of work in the time of 6 give 1.33%s",
			flat->gain.ratio, flat->two, flat->gain.ci[0], flat->gain.ci[1],
			flat->gain.ratio > TWO_MOST ? ", and regions cost time with one thread, too" : "");
	finding_evidence(finding, EVIDENCE_SCALING, flat->own.ratio, "x",
	                 "%.2f times as fast with %g threads as with one [%.2f, %.2f]", flat->own.ratio, flat->most,
	                 flat->own.ci[0], flat->own.ci[1]);
	if (flat->sibling >= 0) {
		probe_level(study, (size_t)flat->column, flat->sibling, other);
		finding_evidence(finding, EVIDENCE_CONTRAST, flat->other.ratio, "x", "%s: %.2f times", other,
		                 flat->other.ratio);
	} else {
		finding_missing(finding, EVIDENCE_CONTRAST, "the same with one region at the top, which would scale");
	}
	counted_add(finding, flat);
	probe_next_counters(finding, study, row, "SOFTWARE");
}

/* More CPUs than one are in use if the threads of the outer team poll for work, which only tells against a time that is
 * flat from one thread on. Such a time has many causes, locks and bandwidth among them, so that a name or a count must
 * speak for this one. */
static bool is_refuted(const struct study *study, const struct flat *flat) {
	if (flat->team > 1 || (!flat->recursion && flat->cpus >= ONE_CPU))
		return true;
	return !flat->recursion && isnan(flat->cpus) && isnan(flat->team) && !is_named(study, flat, task_words);
}

/* Does the sibling gain with every larger team, and much in all? */
static bool sibling_rises(const struct study *study, const struct flat *flat) {
	struct curve curve;
	struct probe_scope scope = {flat->column, flat->sibling, SIZE_MAX, 0, flat->most};
	bool rises = flat->sibling >= 0 && flat->other.ratio >= SCALES_CLEARLY && curve_make(study, scope, &curve) &&
	             curve.count >= TEAMS_CLEAR;
	for (size_t i = 1; rises && i < curve.count; i++)
		rises = curve.speedup[i].ratio > curve.speedup[i - 1].ratio;
	return rises;
}

/* firm: the table as a whole shows that its times follow this column. If it is too small to show that, the name must
 * say it, and another version must scale all the more. */
static bool flat_examine(const struct study *study, struct findings *findings, int column, int level, bool firm) {
	struct flat flat = {.column = column, .level = level, .sibling = -1};
	if (!flat_find(study, &flat))
		return false;
	if (!firm && (!is_named(study, &flat, nested_words) || !flat.recursion || !sibling_rises(study, &flat)))
		return false;
	counted_find(study, &flat);
	if (is_refuted(study, &flat))
		return false;
	flat_report(study, findings, &flat);
	return true;
}

static bool column_examine(const struct study *study, struct findings *findings, int c, bool firm) {
	const struct study_column *column = study_column(study, (size_t)c);
	bool found = false;
	firm = firm && follows(study, c);
	for (int l = 0; l < (int)column->levels; l++)
		if (!probe_word(column, l, meant_serial) && !probe_word(column, l, probe_locks))
			found = flat_examine(study, findings, c, l, firm) || found;
	return found;
}

/* Series of teams, and those of them in which nothing is gained beyond two threads. */
struct twos {
	const struct study *study;
	size_t threads, count, stopping;
	double gain, most, least, longest; /* of two threads, their sum in logarithms; times of one thread */
	double team;
};

static bool two_add(void *ctx, const size_t *rows, size_t count) {
	struct twos *twos = ctx;
	const struct study *study = twos->study;
	double one = study_row(study, rows[0])->value, two = study_row(study, rows[1])->value, best = two;
	if (study_number(study, rows[0], twos->threads) != 1 || study_number(study, rows[1], twos->threads) != 2)
		return true;
	for (size_t i = 2; i < count; i++)
		best = fmin(best, study_row(study, rows[i])->value);
	twos->count++;
	twos->stopping += two <= best * NEARLY && one / two >= TWO_LEAST && one / two <= TWO_BEYOND;
	twos->gain += log(one / two);
	twos->most = fmax(twos->most, one / two);
	twos->least = fmin(twos->least, one);
	twos->longest = fmax(twos->longest, one);
	twos->team = fmax(twos->team, study_number(study, rows[count - 1], twos->threads));
	return true;
}

static bool is_timed(void *ctx, const struct study *study, size_t row) {
	(void)ctx;
	return study_usable(study, row);
}

/* Nobody named it, but all series stop at two threads, whatever the work: memory and locks would depend on the size. */
static void twos_examine(const struct study *study, struct findings *findings, size_t threads) {
	struct twos twos = {.study = study, .threads = threads, .least = INFINITY};
	study_series_each(study, threads, TEAMS_CLEAR, is_timed, NULL, two_add, &twos);
	if (twos.count < SERIES_CLEAR || twos.stopping < twos.count || !(twos.longest > WORK_APART * twos.least) ||
	    twos.team < TEAM_LARGE || probe_room(study) < TEAM_LARGE)
		return;
	double gain = exp(twos.gain / (double)twos.count);
	struct finding *finding = findings_add(
		findings, CONFIDENCE_LOW, 1,
		"all %zu series stop at 2 threads, whatever the size: is the parallel region opened inside a recursion? Then "
		"only the outermost call has a team: open the region once, at the top",
		twos.count);
	finding_evidence(
		finding, EVIDENCE_SCALING, gain, "x",
		"2 threads gain %.2f times, at most %.2f: a region in every call gives at most 1.33 times (8 units "
		"of work in the time of 6), one around the independent pair alone at most 2",
		gain, twos.most);
	finding_evidence(finding, EVIDENCE_SCALING, twos.longest / twos.least, "x",
	                 "%g threads gain no more at %.3g times the work", twos.team, twos.longest / twos.least);
	finding_missing(finding, EVIDENCE_FIGURE, "the threads of an inner team (omp_get_num_threads() in the recursion)");
}

static void examine(const struct study *study, struct findings *findings) {
	int threads = probe_threads(study);
	bool found = false, named = false;
	if (threads < 0)
		return;
	bool firm = !(study_pattern(study) > CHANCE_MAX && !study_few(study)) && follows(study, threads);
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *column = study_column(study, c);
		if (column->is_problem || column->numeric)
			continue;
		named = named || probe_words_count(column, task_words);
		found = column_examine(study, findings, (int)c, firm) || found;
	}
	if (firm && !found && !named)
		found = flat_examine(study, findings, -1, -1, true);
	if (firm && !found)
		twos_examine(study, findings, (size_t)threads);
}

const struct diagnosis diagnosis_inner_teams = {
	.name = "inner_teams",
	.summary = "parallel regions within others have one thread",
	.device = "cpu",
	.examine = examine,
	.always = true,
};
