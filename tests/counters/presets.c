/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where PAPI has every preset that its releases have, no plan takes one that counts something else than the processor's
 * own event (presets.tsv, which presets-extract writes). */
#include <glob.h>
#include <stdlib.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "tests/counters/machine.h"
#include "tests/tap.h"

enum { CODES_MAX = 16 };

struct preset {
	char versions[32], cpu[40], name[20], operation[20], codes[CODES_MAX][12];
	size_t count;
};

static bool preset_read(char *line, struct preset *preset) {
	char *rest = NULL, *field = strtok_r(line, "\t\n", &rest);
	char *const to[] = {preset->versions, preset->cpu, preset->name, preset->operation};
	const size_t sizes[] = {sizeof preset->versions, sizeof preset->cpu, sizeof preset->name, sizeof preset->operation};
	preset->count = 0;
	for (size_t i = 0; field && i < 4 + CODES_MAX; i++, field = strtok_r(NULL, "\t\n", &rest))
		snprintf(i < 4 ? to[i] : preset->codes[preset->count++], i < 4 ? sizes[i] : sizeof *preset->codes, "%s", field);
	return preset->count > 0 && preset->versions[0] != '#';
}

static json_t *family_read(const char *cpu) {
	static const char *const vendors[] = {"intel", "amd", "arm", "ibm"};
	json_t *json = NULL;
	for (size_t i = 0; !json && i < sizeof vendors / sizeof *vendors; i++) {
		char *path = mem_printf("%s/data/events/%s-%s.json", getenv("SRCDIR"), vendors[i], cpu);
		json = js_load(path, 1 << 20, NULL);
		free(path);
	}
	return json;
}

/* Are the preset's native events those of our event, all and no other, and added up? */
static bool is_same(const struct preset *preset, const json_t *family, const char *event) {
	size_t ours = 0, found = 0;
	js_each (row, json_object_get(family, "events")) {
		if (strcmp(js_string_or(row, "event", ""), event) != 0 || !json_object_get(row, "code"))
			continue;
		unsigned long code = strtoul(js_string_or(row, "code", "0"), NULL, 16),
					  mask = strtoul(js_string_or(row, "umask", "0"), NULL, 16);
		ours++;
		for (size_t i = 0; i < preset->count; i++) {
			char *end;
			unsigned long its = strtoul(preset->codes[i], &end, 16);
			found += its == code && strtoul(end + 1, NULL, 16) == mask;
		}
	}
	return ours > 0 && ours == found && ours == preset->count &&
	       (ours == 1 || strcmp(preset->operation, "DERIVED_ADD") == 0);
}

/* A machine that has this preset and nothing of ours (raw: perf counts raw events, too). */
static struct machine *machine_with(const struct preset *preset, bool raw) {
	struct machine *machine = mem_alloc(1, sizeof *machine);
	machine->json = json_pack("{s:s, s:{s:{s:n, s:[s]}, s:{s:n, s:b, s:[]}}}", "cpu", preset->cpu, "backends", "papi",
	                          "reason", "events", preset->name, "perf", "reason", "raw", raw, "events");
	return machine;
}

/* Which event would guess this preset. */
static const char *event_of(const json_t *generic, const char *preset) {
	char source[40];
	snprintf(source, sizeof source, "papi:%s", preset);
	js_each (event, json_object_get(generic, "events"))
		js_each (guess, json_object_get(event, "guesses"))
			if (strcmp(json_string_value(guess), source) == 0)
				return js_string_or(event, "name", NULL);
	return NULL;
}

static bool takes_preset(const struct counter_tables *tables, const struct preset *preset, const char *event,
                         bool raw) {
	struct arena *arena = arena_new();
	struct machine *machine = machine_with(preset, raw);
	struct err err = {0};
	struct counter_plan *plan = machine_plan(machine, arena, tables, event, NULL, &err);
	bool takes = false;
	for (size_t i = 0; plan && i < plan->event_count; i++)
		takes = takes || (plan->events[i].backend && strcmp(plan->events[i].backend->name, "papi") == 0);
	counter_plan_clear(plan);
	machine_free(machine);
	arena_free(arena);
	return takes;
}

struct tally {
	int rows, same, other, wrong;
	bool named[5];
};

/* Presets that are known to count something else. */
static const char *const known[][3] = {{"zen4", "PAPI_TLB_DM", "dtlb_misses"},
                                       {"zen5", "PAPI_TLB_DM", "dtlb_misses"},
                                       {"neoverse-v1", "PAPI_STL_ICY", "stalls_frontend"},
                                       {"sapphirerapids", "PAPI_BR_MSP", "branch_misses"},
                                       {"graniterapids", "PAPI_BR_MSP", "branch_misses"}};

static void row_hold(const struct counter_tables *tables, const json_t *generic, const struct preset *preset,
                     struct tally *tally) {
	const char *event = event_of(generic, preset->name);
	json_t *family = family_read(preset->cpu);
	bool same = event && is_same(preset, family, event);
	bool taken = event && (takes_preset(tables, preset, event, true) || takes_preset(tables, preset, event, false));
	tally->rows++;
	tally->same += same;
	tally->other += !same;
	tally->wrong += !family || !event || (taken && !same);
	if (taken && !same)
		printf("# %s %s: %s is taken for %s\n", preset->versions, preset->cpu, preset->name, event);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!same && strcmp(known[i][0], preset->cpu) == 0 && strcmp(known[i][1], preset->name) == 0)
			tally->named[i] = true;
	json_decref(family);
}

/* Nobody knows the presets of a release that is still to come; so a processor with a file takes none of any name. */
static void check_any_release(const struct counter_tables *tables, const json_t *generic) {
	char *pattern = mem_printf("%s/data/events/*-*.json", getenv("SRCDIR"));
	int asked = 0, taken = 0;
	glob_t found;
	bool there = glob(pattern, 0, NULL, &found) == 0;
	for (size_t i = 0; there && i < found.gl_pathc; i++) {
		struct preset preset = {.count = 0};
		json_t *family = js_load(found.gl_pathv[i], 1 << 20, NULL);
		snprintf(preset.cpu, sizeof preset.cpu, "%s", js_string_or(family, "name", ""));
		bool common = js_bool_or(family, "common", false); /* for cores without a file */
		js_each (event, common ? NULL : json_object_get(generic, "events"))
			js_each (guess, json_object_get(event, "guesses"))
				if (sscanf(json_string_value(guess), "papi:%19s", preset.name) == 1 && ++asked)
					taken += takes_preset(tables, &preset, js_string_or(event, "name", ""), false);
		json_decref(family);
	}
	ok(asked > 1000 && taken == 0, "a processor with a file takes no preset of any release: %d of %d", taken, asked);
	globfree(&found);
	free(pattern);
}

int main(void) {
	struct err err = {0};
	struct counter_tables *tables = machine_tables(&err);
	char *path = mem_printf("%s/data/events/generic.json", getenv("SRCDIR")), line[1024];
	char *rows = mem_printf("%s/tests/counters/presets.tsv", getenv("SRCDIR"));
	json_t *generic = js_load(path, 1 << 20, NULL);
	FILE *file = fopen(rows, "re");
	struct tally tally = {0};
	struct preset preset;
	if (ok(tables && generic && file, "tables and presets load%s%s", err.what[0] ? ": " : "", err.what)) {
		while (fgets(line, sizeof line, file))
			if (preset_read(line, &preset))
				row_hold(tables, generic, &preset, &tally);
		ok(tally.rows > 300 && tally.wrong == 0, "none of %d presets is taken that counts something else", tally.rows);
		ok(tally.same > 50 && tally.other > 50, "%d presets count what our events do and %d something else", tally.same,
		   tally.other);
		check_any_release(tables, generic);
		for (size_t i = 0; i < sizeof known / sizeof *known; i++)
			ok(tally.named[i], "%s of %s is not %s", known[i][1], known[i][0], known[i][2]);
	}
	if (file)
		fclose(file);
	json_decref(generic);
	counter_tables_free(tables);
	free(rows);
	free(path);
	return tap_done();
}
