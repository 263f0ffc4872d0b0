/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plans of all processors that data/events/ describes: each event has the code that the kernel is given, each
 * formula names only what is counted, and all names of a processor give one plan. */
#include <ctype.h>
#include <glob.h>
#include <stdlib.h>

#include "base/json/js.h"
#include "tests/counters/machine.h"
#include "tests/tap.h"

static json_t *plan_of(const struct counter_tables *tables, const char *cpu, struct err *err) {
	*err = (struct err){0};
	return counter_tables_elsewhere(tables, cpu, NULL, "", err);
}

/* The code and mask in a number that the kernel is given, by the rules of each vendor's PMU. */
static bool number_right(const json_t *row, const char *vendor) {
	unsigned long long config = strtoull(js_string_or(row, "perf", "r0") + 1, NULL, 16);
	unsigned long long code = strtoull(js_string_or(row, "code", "x"), NULL, 16);
	const char *mask = js_string_or(row, "umask", NULL), *pmu = js_string_or(row, "pmu", "");
	if (strcmp(pmu, "arm_cmn") == 0)
		return (config >> 16) == code && (config & 0xffff) == 5; /* its home nodes */
	if (strcmp(pmu, "nvidia_scf_pmu") == 0)
		return config == code && code > 0xff && !mask;
	if (strcmp(vendor, "intel") != 0 && strcmp(vendor, "amd") != 0)
		return config == code && !mask;
	if (strcmp(vendor, "amd") == 0)
		return ((config & 0xff) | (config >> 24 & 0xf00)) == code && mask &&
		       (config >> 8 & 0xff) == strtoull(mask, NULL, 16);
	return (config & 0xff) == code && mask &&
	       ((config >> 8 & 0xff) | (config >> 32 & 0xff00)) == strtoull(mask, NULL, 16);
}

static bool is_counted(const json_t *events, const char *name, size_t length) {
	js_each (row, events) {
		const char *event = js_string_or(row, "name", "");
		if (strlen(event) == length && strncmp(event, name, length) == 0)
			return true;
	}
	return (length == 7 && (strncmp(name, "seconds", 7) == 0 || strncmp(name, "threads", 7) == 0));
}

/* Does the formula name only events of its group? */
static bool formula_closed(const char *text, const json_t *events) {
	while (*text) {
		size_t length = 0;
		while (isalnum((unsigned char)text[length]) || text[length] == '_' || text[length] == '.')
			length++;
		if (length && isalpha((unsigned char)*text) && !is_counted(events, text, length) &&
		    !((length == 3 && (strncmp(text, "min", 3) == 0 || strncmp(text, "max", 3) == 0))))
			return false;
		text += length ? length : 1;
	}
	return true;
}

static int groups_wrong(const json_t *plan) {
	int wrong = 0;
	js_members (name, group, json_object_get(plan, "groups")) {
		js_each (formula, json_object_get(group, "formulas")) {
			bool closed = formula_closed(js_string_or(formula, "text", "?"), json_object_get(group, "events"));
			if (!closed)
				printf("# %s: %s\n", name, js_string_or(formula, "text", "?"));
			wrong += !closed;
		}
		js_each (row, json_object_get(group, "events")) {
			bool core = strcmp(js_string_or(row, "scope", ""), "uncore") != 0;
			wrong += !core && !json_object_get(row, "pmu");
			wrong += strcmp(js_string_or(row, "source", ""), "perf") == 0 && json_object_get(row, "vendor") &&
			         !json_is_string(json_object_get(row, "code"));
		}
	}
	return wrong;
}

/* Is this row of the file in the plan of some group? */
static bool is_planned(const json_t *plan, const json_t *row) {
	js_members (name, group, json_object_get(plan, "groups")) {
		(void)name;
		js_each (planned, json_object_get(group, "events"))
			if (strcmp(js_string_or(planned, "name", ""), js_string_or(row, "event", "?")) == 0 &&
			    json_equal(json_object_get(planned, "code"), json_object_get(row, "code")) &&
			    json_equal(json_object_get(planned, "umask"), json_object_get(row, "umask")))
				return true;
	}
	return false;
}

/* Part of a formula that takes the place of another PMU's rows where that PMU is absent, which no plan shows? */
static bool is_substitute(const json_t *family, const json_t *row) {
	js_each (other, json_object_get(family, "events"))
		if (strstr(js_string_or(other, "formula", ""), js_string_or(row, "event", "?")))
			js_each (same, json_object_get(family, "events"))
				if (same != other && strcmp(js_string_or(same, "event", ""), js_string_or(other, "event", "?")) == 0)
					return true;
	return false;
}

static bool names_agree(const struct counter_tables *tables, const json_t *family, const json_t *plan) {
	struct err err;
	bool same = true;
	js_each (name, json_object_get(family, "names")) {
		json_t *other = plan_of(tables, json_string_value(name), &err);
		const char *whose = js_string_or(json_object_get(other, "cpu"), "name", "");
		bool shared = strcmp(whose, js_string_or(family, "name", "")) != 0; /* libpfm4 has one table for several */
		same =
			same && other && (shared || json_equal(json_object_get(other, "groups"), json_object_get(plan, "groups")));
		json_decref(other);
	}
	return same;
}

static void test_family(const struct counter_tables *tables, const char *path) {
	const char *file = strrchr(path, '/') + 1;
	json_t *family = js_load(path, 1 << 20, NULL);
	char vendor[16];
	struct err err;
	snprintf(vendor, sizeof vendor, "%.*s", (int)strcspn(file, "-"), file);
	json_t *plan = plan_of(tables, js_string_or(family, "name", ""), &err);
	int numbers = 0, unused = 0, count = 0;
	js_each (row, json_object_get(family, "events")) {
		if (!json_object_get(row, "perf"))
			continue;
		count++;
		numbers += !number_right(row, vendor);
		unused += !is_planned(plan, row) && !is_substitute(family, row);
	}
	ok(plan && count >= 10 && numbers == 0, "%s: %d events are given to the kernel by their codes", file, count);
	ok(unused == 0, "%s: each event is used by a group, but for %d", file, unused);
	ok(groups_wrong(plan) == 0, "%s: formulas name what is counted, and rows say where", file);
	ok(names_agree(tables, family, plan), "%s: all its names give one plan", file);
	json_decref(plan);
	json_decref(family);
}

static void test_forms(const struct counter_tables *tables) {
	static const struct {
		const char *cpu, *name;
		bool known;
	} forms[] = {
		{"6-8F", "sapphirerapids", true},
		{"6-8f", "sapphirerapids", true},
		{"06-ad", "graniterapids", true},
		{"25-90", "zen4", true},
		{"23-1", "zen1", true},
		{"23-01", "zen1", true},
		{"23-31", "zen2", true},
		{"26-44", "zen5", true},
		{"41-d40", "neoverse-v1", true},
		{"41-D4F", "neoverse-v2", true},
		{"46-001", "a64fx", true},
		{"61-022", "apple", true},
		{"POWER10", "power10", true},
		{"gnr", "graniterapids", true},
		{"Zen5", "zen5", true},
		{"GenuineIntel-6-C6", "arrowlake", true},
		{"0x6-0x8f", "sapphirerapids", true},
		{"0x41-0xd40", "neoverse-v1", true},
		{"Sapphire Rapids", "sapphirerapids", true},
		{"zen 4", "zen4", true},
		{"GENOA", "zen4", true},
		{"Graviton 3", "neoverse-v1", true},
		{"Cascade Lake", "skylakex", true},
		{"4e-010", "olympus", true},
		{"c0-ac3", "ampereone", true},
		{"arm-41-d49", "neoverse-n2", true},
		{"41-fff", "armv8", false},
		{"6-2A", "unknown", false},
		{"61-999", "unknown", false},
		{"15-2", "unknown", false},
	};
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		struct err err;
		json_t *plan = plan_of(tables, forms[i].cpu, &err), *cpu = json_object_get(plan, "cpu");
		ok(plan && strcmp(js_string_or(cpu, "name", ""), forms[i].name) == 0 &&
		       js_bool_or(cpu, "known", false) == forms[i].known,
		   "%s is %s: %s", forms[i].cpu, forms[i].name, js_string_or(cpu, "name", err.what));
		json_decref(plan);
	}
}

static void test_refused(const struct counter_tables *tables) {
	static const char *const wrong[] = {"",       "-",      "6-",   "-8F",  "nosuch", "saphirerapids",
	                                    "6-8F-1", "%s%s%n", "6_8F", "6-8G", "6-143",  "0x-8F"};
	char many[4000];
	memset(many, 'x', sizeof many - 1);
	many[sizeof many - 1] = '\0';
	for (size_t i = 0; i <= sizeof wrong / sizeof *wrong; i++) {
		const char *cpu = i < sizeof wrong / sizeof *wrong ? wrong[i] : many;
		struct err err;
		json_t *plan = plan_of(tables, cpu, &err);
		ok(!plan && err.code == ERR_USAGE && strstr(err.hint, "6-8F"), "\"%.20s\" is refused: %.60s", cpu, err.what);
		json_decref(plan);
	}
	struct err err = {0};
	json_t *misspelt = plan_of(tables, "millan", &err);
	ok(!misspelt && strstr(err.hint, "did you mean milan"), "a nearly right code name is suggested: %s", err.hint);
	json_decref(misspelt);
	err = (struct err){0};
	ok(!counter_tables_elsewhere(tables, "6-8F", "new", "", &err) && strstr(err.what, "not a version"), "%s", err.what);
}

int main(void) {
	struct err err = {0};
	struct counter_tables *tables = machine_tables(&err);
	char *pattern = mem_printf("%s/data/events/*-*.json", getenv("SRCDIR"));
	glob_t found;
	if (ok(tables && glob(pattern, 0, NULL, &found) == 0, "the tables load%s%s", err.what[0] ? ": " : "", err.what)) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			test_family(tables, found.gl_pathv[i]);
		ok(found.gl_pathc >= 45, "%zu kinds of processors have a file", found.gl_pathc);
		globfree(&found);
		test_forms(tables);
		test_refused(tables);
	}
	counter_tables_free(tables);
	free(pattern);
	return tap_done();
}
