/* SPDX-License-Identifier: GPL-3.0-or-later */
/* On recorded machines each portable event gets the first source that counts there, and no other; the results match
 * the record. */
#include <fnmatch.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>

#include "base/expr/expr.h"
#include "base/json/js.h"
#include "tests/counters/machine.h"
#include "tests/tap.h"

static const char *const machines[] = {"skylake-x", "icelake-x", "sapphirerapids", "zen2",
                                       "zen3",      "zen4",      "zen4-filtered",  "neoverse-n1",
                                       "grace",     "vm",        "paranoid",       "qemu-a57"};

struct rig {
	struct machine *machine;
	struct counter_tables *tables;
	json_t *generic; /* as it is written */
	json_t *families;
	struct arena *arena;
};

static struct counter_plan *plan_of(struct rig *rig, const char *words) {
	struct err err = {0};
	struct counter_plan *plan = machine_plan(rig->machine, rig->arena, rig->tables, words, NULL, &err);
	if (!plan)
		printf("# %s\n", err.what);
	return plan;
}

static const struct counter_event *event_find(const struct counter_plan *plan, const char *name) {
	for (size_t i = 0; i < plan->event_count; i++)
		if (strcmp(plan->events[i].name, name) == 0)
			return &plan->events[i];
	return NULL;
}

/* The tables' family of this CPU: the one whose pattern is longest, wildcards aside. */
static const json_t *family_of(const struct rig *rig) {
	const char *cpu = js_string_or(rig->machine->json, "cpu", "");
	const json_t *best = NULL;
	size_t most = 0;
	js_each (family, rig->families) {
		js_each (pattern, json_object_get(family, "cpus")) {
			size_t says = 1;
			for (const char *c = json_string_value(pattern); *c; c++)
				says += *c != '*' && *c != '?';
			if (says > most && fnmatch(json_string_value(pattern), cpu, 0) == 0) {
				best = family;
				most = says;
			}
		}
	}
	return best;
}

/* The word of the family's own events, which are added up; NULL: there are none. */
static char *native_of(const json_t *family, const char *event) {
	char *out = NULL;
	js_each (row, json_object_get(family, "events")) {
		const char *raw = js_string_or(row, "perf", NULL), *pmu = js_string_or(row, "pmu", NULL);
		bool uncore = json_object_get(row, "scope") != NULL;
		if (!raw || strcmp(js_string_or(row, "event", ""), event) != 0)
			continue;
		char *more = mem_printf("%s%s%s%s%s%s",
		                        out      ? out
		                        : uncore ? "uncore:"
		                                 : "perf:",
		                        out ? "," : "", pmu ? pmu : "", pmu ? "/" : "", raw, pmu ? "/" : "");
		free(out);
		out = more;
	}
	return out;
}

/* All sources in the order that doc/counters.md promises. */
static json_t *order_of(const struct rig *rig, const json_t *event) {
	const json_t *family = family_of(rig);
	char *native = native_of(family, js_string_or(event, "name", ""));
	json_t *order = json_array();
	if (native)
		json_array_append_new(order, json_string(native));
	json_array_extend(order, json_object_get(event, "sources"));
	if (!family || js_bool_or(family, "common", false))
		json_array_extend(order, json_object_get(event, "guesses"));
	free(native);
	return order;
}

/* NULL: none of them does. loop: it must count over the calibrated loop, too. */
static const char *first_that_counts(const struct rig *rig, const json_t *order, bool loop) {
	for (size_t i = 0; i < json_array_size(order); i++)
		if (machine_counts(rig->machine, json_string_value(json_array_get(order, i)), loop))
			return json_string_value(json_array_get(order, i));
	return NULL;
}

static bool is_source(const struct counter_event *event, const char *source) {
	char text[200];
	snprintf(text, sizeof text, "%s:%s", event->backend ? event->backend->name : "",
	         event->backend ? event->event : "");
	return strcmp(text, source) == 0;
}

/* A formula stands in only where no own event does, and all its parts are counted. */
static bool formula_right(const struct counter_plan *plan) {
	for (size_t i = 0; i < plan->event_count; i++)
		if (!plan->events[i].backend)
			return false;
	return plan->metric_count == 1 && plan->event_count > 1;
}

static bool event_right(struct rig *rig, const json_t *row) {
	const char *name = js_string_or(row, "name", "");
	struct counter_plan *plan = plan_of(rig, name);
	const struct counter_event *event = plan ? event_find(plan, name) : NULL;
	json_t *order = order_of(rig, row);
	const char *first = first_that_counts(rig, order, json_object_get(row, "loop") != NULL);
	bool right = !event           ? plan && formula_right(plan)
	             : event->backend ? first && is_source(event, first)
	                              : !first && event->reason[0];
	if (!right)
		printf("# %s: %s\n", name, first ? first : "no source");
	json_decref(order);
	counter_plan_clear(plan);
	return right;
}

static void test_order(struct rig *rig) {
	size_t i;
	const json_t *row;
	int wrong = 0, count = 0;
	json_array_foreach(json_object_get(rig->generic, "events"), i, row) {
		if (!js_bool_or(row, "simulated", false)) {
			wrong += !event_right(rig, row);
			count++;
		}
	}
	ok(wrong == 0 && count > 40, "each of %d events gets the first source that counts, or a reason", count);
	ok(rig->machine->asked > 20 && rig->machine->simulations == 0, "%d questions, none to a simulator",
	   rig->machine->asked);
}

static void test_expected(struct rig *rig) {
	const char *name;
	json_t *source;
	json_object_foreach(json_object_get(rig->machine->json, "expects"), name, source) {
		struct counter_plan *plan = plan_of(rig, name);
		const struct counter_event *event = event_find(plan, name);
		const char *text = json_string_value(source);
		if (!text)
			ok(event && !event->backend && event->reason[0], "%s: none: %s", name, event ? event->reason : "");
		else if (strcmp(text, "formula") == 0)
			ok(!event && plan->metric_count == 1, "%s: %s", name, plan->metric_count ? plan->metrics[0].formula : "");
		else
			ok(event && is_source(event, text), "%s: %s", name, text);
		counter_plan_clear(plan);
	}
}

/* Whether the metric has a value where all that is counted is counted. */
static bool metric_defined(struct rig *rig, const char *group, const char *name, char reason[COUNTER_REASON]) {
	struct counter_plan *plan = plan_of(rig, group);
	double *values = arena_alloc(rig->arena, plan->event_count + 1, sizeof *values), out = 0;
	bool found = false, told = false;
	for (size_t i = 0; i < plan->event_count; i++)
		values[i] = plan->events[i].backend ? 1000 : NAN;
	snprintf(reason, COUNTER_REASON, "%s has no %s", group, name);
	for (size_t i = 0; i < plan->metric_count; i++) {
		if (strcmp(plan->metrics[i].name, name) == 0) {
			found = true;
			told = counter_metric_value(plan, i, values, 0.5, 2, &out, reason);
		}
	}
	counter_plan_clear(plan);
	return found && told && isfinite(out);
}

static void test_metrics(struct rig *rig, const char *list, bool told) {
	size_t i;
	const json_t *row;
	json_array_foreach(json_object_get(rig->machine->json, list), i, row) {
		char group[32], reason[COUNTER_REASON] = "";
		size_t length = strcspn(json_string_value(row), ":");
		snprintf(group, sizeof group, "%.*s", (int)length, json_string_value(row));
		bool is = metric_defined(rig, group, json_string_value(row) + length + 1, reason);
		ok(is == told && (is || strstr(reason, "was not counted")), "%s %s %s", json_string_value(row),
		   told ? "can be told" : "can't:", told ? "" : reason);
	}
}

static bool group_in(const struct counter_plan *plan, const char *group) {
	for (size_t i = 0; i < plan->metric_count; i++)
		if (strcmp(plan->metrics[i].group, group) == 0)
			return true;
	return false;
}

/* `auto` has exactly the groups of which something can be told. */
static void test_auto(struct rig *rig) {
	struct counter_plan *plan = plan_of(rig, "auto");
	json_t *groups = counter_tables_groups(rig->tables);
	size_t i, k;
	const json_t *group, *metric;
	int wrong = 0;
	json_array_foreach(groups, i, group) {
		const char *name = js_string_or(group, "name", "");
		char reason[COUNTER_REASON];
		bool told = strcmp(name, "SOFTWARE") == 0;
		json_array_foreach(json_object_get(group, "metrics"), k, metric) told |=
			strcmp(name, "SIMULATED") != 0 && metric_defined(rig, name, js_string_or(metric, "name", ""), reason);
		wrong += told != group_in(plan, name);
	}
	ok(wrong == 0, "auto: SOFTWARE and the metrics that can be counted here, %zu of them", plan->metric_count);
	json_decref(groups);
	counter_plan_clear(plan);
}

static void test_machine(struct rig *rig, const char *name) {
	printf("# %s\n", name);
	rig->machine = machine_read(name);
	if (ok(rig->machine->json != NULL, "%s is there", name)) {
		test_order(rig);
		test_expected(rig);
		test_metrics(rig, "told", true);
		test_metrics(rig, "untold", false);
		test_auto(rig);
	}
	machine_free(rig->machine);
}

static json_t *families_read(void) {
	char *pattern = mem_printf("%s/data/events/*-*.json", getenv("SRCDIR"));
	json_t *out = json_array();
	glob_t found;
	bool some = glob(pattern, 0, NULL, &found) == 0;
	for (size_t i = 0; some && i < found.gl_pathc; i++)
		json_array_append_new(out, js_load(found.gl_pathv[i], 1 << 20, NULL));
	if (some)
		globfree(&found);
	free(pattern);
	return out;
}

int main(void) {
	struct err err = {0};
	char *path = mem_printf("%s/data/events/generic.json", getenv("SRCDIR"));
	struct rig rig = {.arena = arena_new(),
	                  .tables = machine_tables(&err),
	                  .generic = js_load(path, 1 << 20, NULL),
	                  .families = families_read()};
	if (ok(rig.tables && rig.generic, "the tables load%s%s", err.what[0] ? ": " : "", err.what))
		for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
			test_machine(&rig, machines[i]);
	counter_tables_free(rig.tables);
	json_decref(rig.generic);
	json_decref(rig.families);
	arena_free(rig.arena);
	free(path);
	return tap_done();
}
