/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/counters/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"

static const char *const rusage_events[] = {"user-time", "minor-faults", NULL}, *const none[] = {NULL},
						 *const simulated[] = {"sim_instructions", NULL};

static const struct counter_backend papi = {.name = "papi", .events = none}, perf = {.name = "perf", .events = none},
									rusage = {.name = "rusage", .events = rusage_events},
									uncore = {.name = "uncore", .events = none, .scope = COUNTER_MACHINE},
									rapl = {.name = "rapl", .events = none, .scope = COUNTER_MACHINE},
									sde = {.name = "papi-sde", .events = none, .software = true},
									kernel = {.name = "kernel", .events = none, .software = true},
									cupti = {.name = "cupti", .events = none},
									cachegrind = {.name = "cachegrind", .events = simulated, .scope = COUNTER_RERUN};

const struct counter_backend *const counter_registry[] = {&papi, &sde,        &kernel, &perf,   &rusage,
                                                          &rapl, &cachegrind, &cupti,  &uncore, NULL};

const struct counter_backend *counter_find(const char *name) {
	for (size_t i = 0; counter_registry[i]; i++)
		if (strcmp(counter_registry[i]->name, name) == 0)
			return counter_registry[i];
	return NULL;
}

size_t counter_event_count(const struct counter_backend *backend) {
	size_t count = 0;
	while (backend->events[count])
		count++;
	return count;
}

struct machine *machine_read(const char *name) {
	struct machine *machine = mem_alloc(1, sizeof *machine);
	char *path = mem_printf("%s/tests/counters/machines/%s.json", getenv("SRCDIR"), name);
	struct err err = {0};
	machine->json = js_load(path, 1 << 20, &err);
	if (!machine->json)
		printf("# %s\n", err.what);
	free(path);
	return machine;
}

struct machine *machine_perfect(const char *cpu) {
	struct machine *machine = mem_alloc(1, sizeof *machine);
	machine->json = json_pack("{s:s, s:b}", "cpu", cpu, "perfect", true);
	return machine;
}

void machine_free(struct machine *machine) {
	json_decref(machine->json);
	free(machine);
}

static bool is_in(const json_t *list, const char *text) {
	for (size_t i = 0; i < json_array_size(list); i++)
		if (strcmp(json_string_value(json_array_get(list, i)), text) == 0)
			return true;
	return false;
}

/* "r01c2", "cpu_core/r01c2/", and several of these. */
static bool is_raw(const char *event) {
	while (*event) {
		const char *slash = strchr(event, '/'), *raw = slash && slash < event + strcspn(event, ",") ? slash + 1 : event;
		size_t digits = raw[0] == 'r' ? strspn(raw + 1, "0123456789abcdef") : 0;
		event = raw + 1 + digits + (raw > event);
		if (digits == 0 || (*event && *event++ != ','))
			return false;
	}
	return true;
}

static bool answer(const struct machine *machine, const char *backend, const char *event, bool loop, char *reason) {
	const json_t *there = json_object_get(json_object_get(machine->json, "backends"), backend);
	const char *why = js_string_or(there, "reason", NULL);
	reason[0] = '\0';
	if (js_bool_or(machine->json, "perfect", false))
		return true;
	if (!there || why)
		snprintf(reason, COUNTER_REASON, "%s", why ? why : "not there");
	else if (!is_in(json_object_get(there, "events"), event) && !(js_bool_or(there, "raw", false) && is_raw(event)))
		snprintf(reason, COUNTER_REASON, "%s has no %s here", backend, event);
	else if (loop && is_in(json_object_get(there, "zero"), event))
		snprintf(reason, COUNTER_REASON, "counts 0 over the loop");
	return !reason[0];
}

bool machine_counts(const struct machine *machine, const char *source, bool loop) {
	char backend[16], reason[COUNTER_REASON];
	size_t length = strcspn(source, ":");
	snprintf(backend, sizeof backend, "%.*s", (int)length, source);
	return answer(machine, backend, source + length + 1, loop, reason);
}

static bool good(void *ctx, const struct counter_backend *backend, const char *event, const struct counter_loop *loop,
                 char reason[COUNTER_REASON]) {
	struct machine *machine = ctx;
	machine->asked++;
	machine->simulations += backend->scope == COUNTER_RERUN;
	return answer(machine, backend->name, event, loop->word, reason);
}

struct counter_judge machine_judge(struct machine *machine) {
	return (struct counter_judge){machine, js_string_or(machine->json, "cpu", ""), good,
	                              js_string_or(machine->json, "device", NULL)};
}

struct counter_tables *machine_tables(struct err *err) {
	char *folder = mem_printf("%s/data", getenv("SRCDIR"));
	struct counter_tables *tables = counter_tables_load_from(folder, err);
	free(folder);
	return tables;
}

struct counter_plan *machine_plan(struct machine *machine, struct arena *arena, const struct counter_tables *tables,
                                  const char *words, const struct counter_software *software, struct err *err) {
	const char *asked[64] = {NULL};
	const struct counter_judge judge = machine_judge(machine);
	char *rest = arena_strdup(arena, words);
	for (size_t i = 0; i < 63 && *(rest += strspn(rest, " ")); i++) {
		asked[i] = rest;
		rest += strcspn(rest, " ");
		if (*rest)
			*rest++ = '\0';
	}
	return counter_plan_new(arena, tables, asked, software, &judge, err);
}
