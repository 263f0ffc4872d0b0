/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs without a rebuild: their runs have shown something, and their environment can be changed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "tuner/probe/cause_impl.h"
#include "tuner/program/program.h"

const char *const probe_variables[] = {
	"OMP_NUM_THREADS",        "OMP_PROC_BIND",          "OMP_PLACES",      "OMP_SCHEDULE",   "OMP_WAIT_POLICY",
	"GOMP_CPU_AFFINITY",      "GOMP_SPINCOUNT",         "KMP_AFFINITY",    "KMP_BLOCKTIME",  "MALLOC_ARENA_MAX",
	"MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "MALLOC_TOP_PAD_", "GLIBC_TUNABLES", NULL};

double cause_usage(const struct probe_subject *subject, size_t row, const char *name) {
	const json_t *usage = subject->whole ? json_object_get(study_row(subject->study, row)->detail, "usage") : NULL;
	return js_real_or(usage, name, NAN);
}

size_t cause_row_today(const struct probe_subject *subject) {
	size_t row = cause_row_full(subject);
	return row == SIZE_MAX ? cause_row(subject, 1, 0) : row;
}

double cause_members(const struct probe_subject *subject, size_t row) {
	const json_t *config = study_row(subject->study, row)->config;
	return cause_threads(config) ? cause_team(config) : js_real_or(subject->regions, "default_threads", NAN);
}

double cause_fewer(double team) {
	return team >= 8 ? floor(team / 4) : 1;
}

bool cause_openmp(const struct probe_subject *subject, size_t row, struct cause_test *test) {
	js_members (name, value, study_row(subject->study, row)->config)
		if (strncmp(name, "OMP_", 4) == 0 || strcmp(name, "proc_bind") == 0)
			return true;
	return json_array_size(json_object_get(subject->regions, "regions")) ||
	       cause_untestable(test, "it is not known to use OpenMP");
}

/* Threads that poll, or that are bound to other cores, would not share them. */
bool cause_confine(const struct probe_subject *subject, size_t row, double cores, struct cause_test *test) {
	double team = row == SIZE_MAX ? NAN : cause_members(subject, row), room = probe_room(subject->study);
	if (!(team >= 2) || !(room >= 2))
		return cause_untestable(test, "no team of several threads is known");
	if (team > room)
		return cause_untestable(test, "its threads share cores already");
	cause_begin(subject, row, test);
	if (subject->program) {
		json_object_set_new(test->config[1], "OMP_NUM_THREADS", json_integer((json_int_t)team));
		json_object_set_new(test->config[1], "OMP_WAIT_POLICY", json_string("passive"));
		json_object_set_new(test->config[1], "OMP_PROC_BIND", json_string("false"));
	} else if (json_object_get(test->config[1], "proc_bind")) {
		json_object_set_new(test->config[1], "proc_bind", json_string("false"));
		json_object_del(test->config[1], "places");
	}
	test->confined = CAUSE_CORES;
	test->cores = (int)cores;
	test->least = cores / team / CAUSE_CLOCKS;
	test->longer = team / cores;
	test->quiet = true;
	cause_intervene(test, "all of its %g threads on %g core%s", team, cores, probe_s(cores));
	return true;
}

/* Seconds of it that are part of this; NAN: not known. */
static double part_of(const json_t *region, enum cause_part part, double fork_join) {
	double time = js_real_or(region, "time", 0), more = js_real_or(region, "imbalance", NAN),
		   joins = js_real_or(region, "calls", NAN) * fork_join;
	if (part == CAUSE_REGIONS)
		return time;
	if (part == CAUSE_JOINS)
		return joins > time ? time : joins;
	return more < 0 ? 0 : time * more / (1 + more);
}

double cause_share(const struct probe_subject *subject, enum cause_part part) {
	static const double MATTERS = 0.01; /* a smaller region may be unknown */
	const json_t *profile = subject->regions;
	double fork_join = js_real_or(profile, "fork_join_s", NAN), all = js_real_or(profile, "time", NAN), sum = 0;
	if (isnan(all))
		return part == CAUSE_REGIONS && subject->alone ? 1 - subject->alone[0] : NAN;
	if (part != CAUSE_REGIONS && js_bool_or(profile, "busy", false)) /* then the threads wait for others, too */
		return NAN;
	js_each (region, json_object_get(profile, "regions")) {
		double one = part_of(region, part, fork_join);
		sum += isnan(one) && js_real_or(region, "time", 0) < MATTERS * all ? 0 : one;
	}
	return sum > all ? 1 : sum / all;
}

/* A share of the time that is gone makes it so many times faster. */
double cause_without(double share) {
	return share > 0.99 ? 100 : 1 / (1 - share);
}

bool cause_bounded(struct cause_test *test, double bound, const char *why, ...) {
	va_list args;
	va_start(args, why);
	vsnprintf(test->why, sizeof test->why, why, args);
	va_end(args);
	test->bound = bound;
	return true;
}

/* The name that `tune` has for it if it has tuned it, and otherwise the variable itself. */
static const char *member_of(const struct cause_test *test, const struct cause_variable *variable) {
	return variable->param && json_object_get(test->config[0], variable->param) ? variable->param : variable->name;
}

/* A value that a tune recommends comes before ours, because its finals have measured it. */
static json_t *value_of(const struct probe_subject *subject, const struct cause_test *test,
                        const struct cause_variable *variable, const char *member) {
	json_t *won = json_object_get(js_at(subject->tune, "best.config"), member);
	if (won && variable->value && !json_equal(won, json_object_get(test->config[0], member)))
		return json_incref(won);
	return json_string(variable->value ? variable->value : PROGRAM_UNSET);
}

static bool is_today(const struct cause_variable *variable, const json_t *was, const json_t *value) {
	const char *own = getenv(variable->name), *text = json_string_value(value);
	return was ? json_equal(was, value) : variable->value ? own && text && strcmp(own, text) == 0 : !own;
}

/* Sets the variable on the second side; false: it is so today. *priced: a tune recommends the value, and has measured
 * what it is worth. */
static bool variable_set(const struct probe_subject *subject, const struct cause_variable *one, struct cause_test *test,
                         char text[PROBE_TEXT], bool *priced) {
	const char *member = member_of(test, one);
	json_t *value = value_of(subject, test, one, member);
	size_t used = strlen(text);
	if (is_today(one, json_object_get(test->config[0], member), value)) {
		json_decref(value);
		return false;
	}
	json_object_set_new(test->config[1], member, value);
	const char *word = json_is_string(value) ? json_string_value(value) : one->value;
	snprintf(text + used, PROBE_TEXT - used, "%s%s=%s", used ? " " : "", member, word ? word : PROGRAM_UNSET);
	if (*priced)
		return true;
	*priced = json_equal(value, json_object_get(js_at(subject->tune, "best.config"), member));
	test->param = *priced || used == 0 ? member : NULL;
	return true;
}

bool cause_environment(const struct probe_subject *subject, size_t row, const struct cause_variable *variables,
                       struct cause_test *test) {
	char text[PROBE_TEXT] = "";
	bool changed = false, priced = false;
	if (!subject->program)
		return cause_untestable(test, "only the environment of a program can be changed");
	cause_begin(subject, row, test);
	for (; variables->name; variables++)
		changed |= variable_set(subject, variables, test, text, &priced);
	test->predicted = NAN;
	test->otherwise = 1;
	test->apart = CAUSE_LEAST;
	cause_intervene(test, "%s", text);
	return changed || cause_untestable(test, "it runs so already");
}
