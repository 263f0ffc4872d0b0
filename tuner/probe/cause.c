/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "tuner/probe/cause_impl.h"

bool cause_untestable(struct cause_test *test, const char *why, ...) {
	va_list args;
	va_start(args, why);
	vsnprintf(test->why, sizeof test->why, why, args);
	va_end(args);
	return false;
}

void cause_intervene(struct cause_test *test, const char *text, ...) {
	va_list args;
	va_start(args, text);
	vsnprintf(test->intervention, sizeof test->intervention, text, args);
	va_end(args);
}

/* An effect that was not seen may be any part of what is possible, so that it only has to be worth a word. How much a
 * table or a record lets expect does not move this limit: then what few rows show by chance would decide. */
void cause_predict(struct cause_test *test, double predicted, double otherwise, bool sure) {
	double size = predicted > otherwise ? predicted / otherwise : otherwise / predicted;
	bool slower = predicted >= otherwise;
	double least = fmax(size, CAUSE_LEAST), apart = sure ? sqrt(least) : CAUSE_LEAST;
	test->predicted = slower ? otherwise * least : otherwise / least;
	test->otherwise = otherwise;
	test->apart = slower ? otherwise * apart : otherwise / apart;
}

const char *cause_threads(const json_t *config) {
	static const char *const names[] = {
		"threads", "OMP_NUM_THREADS", "nthreads", "num_threads", "jobs", "workers", "np", "nproc", "T", "j"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (json_object_get(config, names[i]))
			return names[i];
	return NULL;
}

/* A variable of a program may be a word, "4". */
double cause_team(const json_t *config) {
	const char *name = cause_threads(config);
	const json_t *value = name ? json_object_get(config, name) : NULL;
	double team = json_is_string(value) ? atof(json_string_value(value)) : json_number_value(value);
	return team >= 1 ? team : 1;
}

static bool is_own(const struct probe_subject *subject, size_t row) {
	return study_usable(subject->study, row) && study_same_problem(subject->study, row, subject->problem_row);
}

static bool is_faster(const struct study *study, size_t row, size_t best) {
	return best == SIZE_MAX || study_row(study, row)->value < study_row(study, best)->value;
}

size_t cause_row(const struct probe_subject *subject, double least, double most) {
	const struct study *study = subject->study;
	size_t best = SIZE_MAX;
	for (size_t row = 0; row < study_rows(study); row++) {
		double team = cause_team(study_row(study, row)->config);
		if (is_own(subject, row) && team >= least && (most <= 0 || team <= most) && is_faster(study, row, best))
			best = row;
	}
	return best;
}

size_t cause_row_full(const struct probe_subject *subject) {
	double room = probe_room(subject->study), most = 1;
	for (size_t row = 0; row < study_rows(subject->study); row++) {
		double team = cause_team(study_row(subject->study, row)->config);
		if (is_own(subject, row) && team <= room && team > most)
			most = team;
	}
	return cause_row(subject, most, most);
}

void cause_begin(const struct probe_subject *subject, size_t row, struct cause_test *test) {
	for (int side = 0; side < 2; side++) {
		test->problem[side] = json_incref((json_t *)study_row(subject->study, row)->problem);
		test->config[side] = json_copy((json_t *)study_row(subject->study, row)->config);
	}
	test->work = 1;
	test->most = INFINITY;
	test->seconds = study_row(subject->study, row)->value;
}

void cause_team_set(struct cause_test *test, int side, double team) {
	json_object_set_new(test->config[side], cause_threads(test->config[side]), json_integer((json_int_t)team));
}

/* How many times the row's time exceeds that of a team which loses nothing; NAN: one thread was not measured. */
static double loss_of(const struct probe_subject *subject, size_t row) {
	const struct study_row *one = study_row(subject->study, row);
	double team = fmin(cause_team(one->config), probe_room(subject->study));
	size_t alone = cause_row(subject, 1, 1);
	return alone == SIZE_MAX ? NAN : team * one->value / study_row(subject->study, alone)->value;
}

/* A replacement under construction. */
struct replacement {
	const struct probe_subject *subject;
	const struct cause_words *words;
	const char *param;
	const json_t *bad; /* that is in question; NULL: any that the words name */
	size_t row, other; /* with the value that suffers, and the fastest with another one; SIZE_MAX: none */
};

static const char *param_of(const struct replacement *r, size_t row) {
	js_members (name, value, study_row(r->subject->study, row)->config)
		if (probe_text_has(name, r->words->names) && json_is_string(value) == (r->words->bad || r->words->fresh))
			return name;
	return NULL;
}

static bool is_word(const json_t *value, const char *words) {
	return json_is_string(value) && probe_text_has(json_string_value(value), words);
}

/* 0 sets no limit. */
static bool is_limit(const struct replacement *r, const json_t *value) {
	return !r->words->fewer || json_number_value(value) > 0;
}

static bool is_bad(const struct replacement *r, const json_t *value) {
	if (r->bad || r->words->bad)
		return r->bad ? json_equal(value, r->bad) : is_word(value, r->words->bad);
	return is_limit(r, value);
}

static bool is_good(const struct replacement *r, const json_t *value, const json_t *bad) {
	return !json_equal(value, bad) && (!r->words->good || is_word(value, r->words->good));
}

/* The value in question, if one is: what a finding is about, or what a tune has replaced. */
static const json_t *asked_of(const struct replacement *r) {
	const char *bad = r->words->bad ? r->words->bad : "";
	js_each (finding, r->subject->findings)
		js_members (name, value, json_object_get(finding, "about"))
			if (probe_text_has(name, r->words->names) && is_word(value, bad))
				return value;
	js_members (name, value, js_at(r->subject->tune, "baseline.config"))
		if (probe_text_has(name, r->words->names) &&
		    (r->words->bad ? is_word(value, bad) : json_is_number(value) && is_limit(r, value)) &&
		    !json_equal(value, json_object_get(js_at(r->subject->tune, "best.config"), name)))
			return value;
	return NULL;
}

/* The faster one, or where no value is said to suffer the one whose value may suffer more. */
static bool is_before(const struct replacement *r, size_t row, const char *param) {
	const struct study *study = r->subject->study;
	double sign = r->words->fewer ? -1 : 1, own = sign * study_value_number(study, row, param, 0),
		   best = r->row == SIZE_MAX ? own : sign * study_value_number(study, r->row, param, 0);
	return own > best && !r->bad && !r->words->bad ? true : own >= best && is_faster(study, row, r->row);
}

static bool row_find(struct replacement *r) {
	const struct study *study = r->subject->study;
	bool shared = strcmp(study_device(study), "cpu") == 0;
	r->bad = asked_of(r);
	for (size_t row = 0; row < study_rows(study); row++) {
		const json_t *config = study_row(study, row)->config;
		const char *param = is_own(r->subject, row) ? param_of(r, row) : NULL;
		if (!param || (shared && cause_threads(config) && cause_team(config) < 2))
			continue;
		if (is_bad(r, json_object_get(config, param)) && is_before(r, row, param)) {
			r->param = param;
			r->row = row;
		}
	}
	return r->row != SIZE_MAX;
}

/* Equal but for the parameter and what only exists with one of its values. */
static bool is_beside(const struct replacement *r, size_t row) {
	const struct study *study = r->subject->study;
	const struct study_row *a = study_row(study, r->row), *b = study_row(study, row);
	bool beside = is_own(r->subject, row) && json_object_get(b->config, r->param) &&
	              is_good(r, json_object_get(b->config, r->param), json_object_get(a->config, r->param));
	js_members (name, value, a->config) {
		const json_t *other = json_object_get(b->config, name);
		beside = beside && (strcmp(name, r->param) == 0 || !other || json_equal(value, other));
	}
	return beside;
}

/* The winner's value if a tune found one, otherwise the fastest. */
static void other_find(struct replacement *r) {
	const struct study *study = r->subject->study;
	const json_t *won = json_object_get(js_at(r->subject->tune, "best.config"), r->param);
	bool wins = won && is_good(r, won, json_object_get(study_row(study, r->row)->config, r->param));
	for (size_t row = 0; row < study_rows(study); row++)
		if (is_beside(r, row) && is_faster(study, row, r->other) &&
		    (!wins || json_equal(json_object_get(study_row(study, row)->config, r->param), won)))
			r->other = row;
}

static void replacement_predict(const struct replacement *r, struct cause_test *test) {
	const struct study *study = r->subject->study;
	double loss = loss_of(r->subject, r->row), seen = NAN;
	if (r->other != SIZE_MAX)
		seen = study_row(study, r->row)->value / study_row(study, r->other)->value;
	bool clear = seen > 1 + probe_limit(study) && seen > CAUSE_LEAST;
	cause_predict(test, clear ? seen : fmax(1, loss), 1, false);
}

static const char *shown(const json_t *config, const char *param, char text[PROBE_TEXT]) {
	struct value value;
	text[0] = '\0';
	if (value_from_json(json_object_get(config, param), &value))
		value_text(value, text, PROBE_TEXT);
	return text;
}

bool cause_replace(const struct probe_subject *subject, const struct cause_words *words, struct cause_test *test) {
	struct replacement r = {.subject = subject, .words = words, .row = SIZE_MAX, .other = SIZE_MAX};
	char is[PROBE_TEXT], then[PROBE_TEXT];
	if (!row_find(&r))
		return cause_untestable(test, "no setting%s has a parameter for %s",
		                        strcmp(study_device(subject->study), "cpu") == 0 ? " with several threads" : "",
		                        words->what);
	cause_begin(subject, r.row, test);
	other_find(&r);
	if (r.other == SIZE_MAX && !words->fresh)
		return cause_untestable(test, "no other value of %s was measured", r.param);
	if (r.other != SIZE_MAX) {
		json_decref(test->config[1]);
		test->config[1] = json_copy((json_t *)study_row(subject->study, r.other)->config);
	} else {
		json_object_set_new(test->config[1], r.param, json_string(words->fresh));
	}
	test->param = r.param;
	replacement_predict(&r, test);
	cause_intervene(test, "%s=%.40s instead of %.40s", r.param, shown(test->config[1], r.param, then),
	                shown(test->config[0], r.param, is));
	return true;
}

/* The row with this configuration, or that of one thread, on the problem of another row; SIZE_MAX: none. */
static size_t twin_of(const struct study *study, size_t row, size_t problem_row) {
	for (size_t i = 0; i < study_rows(study); i++)
		if (study_usable(study, i) && study_same_problem(study, i, problem_row) && study_same_config(study, i, row))
			return i;
	return SIZE_MAX;
}

static double work_of(const struct study *study, size_t row) {
	double ops = study_work(study, row, "ops");
	return ops > 0 ? ops : study_work(study, row, "bytes");
}

/* The time per work of a row over that of its twin. */
static double per_work(const struct study *study, size_t row, size_t twin) {
	return study_row(study, row)->value / study_row(study, twin)->value * work_of(study, twin) / work_of(study, row);
}

/* A gain that one thread has as well is not the price of a team. */
static double alone_per_work(const struct probe_subject *subject, size_t other) {
	size_t alone = cause_row(subject, 1, 1),
		   twin = alone == SIZE_MAX ? SIZE_MAX : twin_of(subject->study, alone, other);
	double ratio = twin == SIZE_MAX ? NAN : per_work(subject->study, alone, twin);
	return ratio > CAUSE_LEAST || ratio < 1 / CAUSE_LEAST ? ratio : 1;
}

static bool resize_take(const struct probe_subject *subject, size_t row, bool larger, size_t twin,
                        struct cause_test *test) {
	const struct study *study = subject->study;
	double otherwise = cause_team(study_row(study, row)->config) > 1 ? alone_per_work(subject, twin) : 1;
	double seen = per_work(study, row, twin);
	char text[PROBE_TEXT];
	if (!larger && otherwise > CAUSE_CLOCKS) /* what a team takes from itself is too little beside that */
		return cause_untestable(test, "one thread alone gains %.3gx by %s, per work", otherwise,
		                        probe_problem(study, twin, text));
	cause_begin(subject, row, test);
	json_decref(test->problem[1]);
	test->problem[1] = json_incref((json_t *)study_row(study, twin)->problem);
	test->work = work_of(study, twin) / work_of(study, row);
	cause_predict(test, fmax(seen, otherwise), otherwise, seen > otherwise * CAUSE_LEAST);
	cause_intervene(test, "%s, per work", probe_problem(study, twin, text));
	return true;
}

bool cause_resize(const struct probe_subject *subject, size_t row, bool larger, double bytes_most,
                  struct cause_test *test) {
	const struct study *study = subject->study;
	size_t problems[PROBE_PROBLEMS], count = probe_problems(study, problems), best = SIZE_MAX;
	double own = work_of(study, row);
	for (size_t i = 0; i < count && own > 0; i++) {
		size_t twin = twin_of(study, row, problems[i]);
		double work = twin == SIZE_MAX ? NAN : work_of(study, twin);
		bool fits = isinf(bytes_most) || study_work(study, twin == SIZE_MAX ? row : twin, "bytes") <= bytes_most;
		if (!fits || !(larger ? work >= 2 * own : work <= own / 2))
			continue;
		if (best == SIZE_MAX || larger || work > work_of(study, best)) /* the nearest that fits, the farthest larger */
			best = twin;
	}
	if (best == SIZE_MAX)
		return cause_untestable(test, "its fastest setting was not measured on a %s problem whose work is known",
		                        larger ? "larger" : "smaller");
	return resize_take(subject, row, larger, best, test);
}

static bool price_take(double ratio, const json_t *ci, double *found, double range[2]) {
	double low = json_number_value(json_array_get(ci, 0)), high = json_number_value(json_array_get(ci, 1));
	if (!(ratio > 0 && low > 0 && high >= low && high < 1e6))
		return false;
	*found = ratio;
	range[0] = low;
	range[1] = high;
	return true;
}

/* The effect of a change that did not pay, in either direction. */
static bool effect_take(const json_t *effect, const json_t *bad, const json_t *good, double *found, double range[2]) {
	const json_t *best = json_object_get(effect, "best"), *worst = json_object_get(effect, "worst"),
				 *ci = json_object_get(effect, "ci");
	double ratio = js_real_or(effect, "ratio", NAN), low = json_number_value(json_array_get(ci, 0)),
		   high = json_number_value(json_array_get(ci, 1));
	js_auto json_t *inverse = json_pack("[o,o]", js_number(1 / high), js_number(1 / low));
	if (json_equal(worst, bad) && json_equal(best, good))
		return price_take(ratio, ci, found, range);
	return json_equal(worst, good) && json_equal(best, bad) && price_take(1 / ratio, inverse, found, range);
}

bool cause_price(const struct probe_subject *subject, const struct cause_test *test, double *ratio, double ci[2]) {
	const char *param = test->param ? test->param : "";
	const json_t *bad = json_object_get(test->config[0], param), *good = json_object_get(test->config[1], param);
	bool taken = false;
	if (!test->param || !json_equal(bad, json_object_get(js_at(subject->tune, "baseline.config"), param)))
		return false;
	js_each (price, json_object_get(subject->tune, "worth"))
		if (strcmp(js_string_or(price, "param", ""), param) == 0 && json_equal(json_object_get(price, "value"), good))
			taken = price_take(js_real_or(price, "ratio", NAN), json_object_get(price, "ci"), ratio, ci);
	js_each (effect, json_object_get(subject->tune, "effects"))
		if (!taken && strcmp(js_string_or(effect, "param", ""), param) == 0)
			taken = effect_take(effect, bad, good, ratio, ci);
	return taken;
}
