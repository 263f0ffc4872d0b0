/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events in regions: known work gives known counts, and events that cannot be counted say why. */
#include <linux/perf_event.h>

#include "tests/lib/rig.h"
#include "tests/worker/protocol_client.h"

enum { PAGES = 500, SLACK = 150, NO_PMU = 0x7ffffff };

static const struct regions_event events[] = {
	{"page-faults", "count", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1},
	{"no such PMU", "count", NO_PMU, 1, 1},
	{"task-clock", "s", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 1e-9},
	{"context-switches", "count", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 0},
};

static const char *text(const json_t *json, const char *key) {
	const char *value = json_string_value(json_object_get(json, key));
	return value ? value : "";
}

static bool in_range(double value, double low, double high) {
	if (value < low || value > high || isnan(value))
		printf("# %g is not from %g to %g\n", value, low, high);
	return value >= low && value <= high;
}

/* Any of them: counted with a value, or without and with a reason. */
static void check_honest(const struct rig *rig, const char *name) {
	json_t *one, *counters = json_object_get(region(rig, name), "counters");
	bool honest = json_array_size(counters) == rig->count;
	size_t i;
	json_array_foreach(counters, i, one) {
		bool missing = strcmp(text(one, "status"), "unavailable") == 0;
		honest =
			honest && missing == json_is_null(json_object_get(one, "value")) && (!missing || text(one, "reason")[0]);
	}
	ok(honest, "%s: each event has a value or a reason", name);
}

static void check_absent(const struct rig *rig) {
	json_t *absent = counter(rig, "touch", "no such PMU");
	is_text(text(absent, "status"), "unavailable", "an event that no kernel has is not counted");
	ok(strstr(text(absent, "reason"), "No such file"), "the reason of an absent event is the kernel's");
	ok(json_array_size(json_object_get(absent, "per_thread")) > 0 &&
	       json_is_null(json_array_get(json_object_get(absent, "per_thread"), 0)),
	   "an absent event has no value in a thread either");
}

static bool can_count(const struct rig *rig, const char *region_name, const char *event) {
	json_t *found = counter(rig, region_name, event);
	if (strcmp(text(found, "status"), "counted") == 0)
		return true;
	tap_skip(event, text(found, "reason"));
	return false;
}

static void check_pages(struct rig *rig) {
	char number[20];
	snprintf(number, sizeof number, "%d", PAGES);
	rig_run(rig, "pages", number);
	check_honest(rig, "touch");
	check_absent(rig);
	if (can_count(rig, "touch", "page-faults"))
		ok(in_range(json_number_value(json_object_get(counter(rig, "touch", "page-faults"), "value")), 2 * PAGES,
		            2 * (PAGES + SLACK)),
		   "two calls, two times the pages");
	rig_run(rig, "threads", number);
	check_honest(rig, "touch");
	if (!can_count(rig, "touch", "page-faults"))
		return;
	json_t *rows = json_object_get(counter(rig, "touch", "page-faults"), "per_thread"), *row;
	size_t i;
	ok(json_array_size(rows) == 3, "three threads");
	json_array_foreach(rows, i, row) {
		ok(in_range(json_number_value(row), PAGES, PAGES + SLACK), "each counts its own pages");
	}
}

/* A region that is open at a fork goes on in both, each with its own events. */
static void check_forks(struct rig *rig) {
	rig_run(rig, "forks", "2");
	ok(figure(rig, "open", "calls") == 3, "a fork inside a region");
	check_honest(rig, "open");
	for (size_t i = 0; i < rig->count; i++)
		is_text(text(counter(rig, "open", events[i].name), "status"),
		        text(counter(rig, "before", events[i].name), "status"), "a fork takes no event away");
	if (can_count(rig, "open", "task-clock"))
		ok(in_range(json_number_value(json_object_get(counter(rig, "open", "task-clock"), "value")), 1e-6,
		            figure(rig, "open", "seconds") * 1.01 + 0.01),
		   "no thread works longer than its time");
}

static json_t *ask(struct client *client, const char *argv, const char *more) {
	return client_ask(client, "{\"op\":\"program\",\"argv\":[%s],\"samples\":2%s}", argv, more);
}

static void check_worker(struct rig *rig) {
	struct client *client = client_start("sweetspot-worker", 0);
	char *team = mem_printf("\"%s\",\"team\",\"10\"", rig->app);
	json_t *answer = ask(client, team, "");
	is_text(text(answer, "status"), "correct", "the worker runs it");
	ok(!path_get(answer, "regions") && !path_get(answer, "regions_notes"), "no regions unless they are asked for");
	json_decref(answer);
	answer = ask(client, team, ",\"regions\":true");
	json_t *regions = path_get(answer, "regions");
	ok(json_array_size(path_get(answer, "samples")) == 2 && json_array_size(regions) == 2, "two samples, two regions");
	is_text(text(json_array_get(regions, 0), "name"), "around", "regions have their names");
	ok(json_number_value(json_object_get(json_array_get(regions, 1), "calls")) == 30,
	   "calls of a region are those of one run");
	ok(json_array_size(json_object_get(json_array_get(regions, 1), "counters")) > 0, "regions have counters");
	json_decref(answer);
	answer = ask(client, "\"true\"", ",\"regions\":true");
	ok(strcmp(text(answer, "status"), "correct") == 0 && !path_get(answer, "regions") &&
	       !path_get(answer, "regions_notes"),
	   "a program without the library has none");
	json_decref(answer);
	answer = ask(client, "\"sh\",\"-c\",\"test -z $SWEETSPOT_REGIONS\"", ",\"regions\":true");
	ok(strcmp(text(answer, "status"), "correct") == 0 && path_get(answer, "regions_notes"),
	   "a failure of that run is a note, not a failed trial");
	json_decref(answer);
	answer = ask(client, team, ",\"regions\":1");
	ok(path_get(answer, "error"), "\"regions\" takes true or false");
	json_decref(answer);
	client_stop(client);
	free(team);
}

int main(void) {
	struct rig rig;
	rig_open(&rig, events, sizeof events / sizeof *events);
	check_pages(&rig);
	check_forks(&rig);
	check_worker(&rig);
	rig_close(&rig);
	return tap_done();
}
