/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables that are installed are whole; those of a user come beside or in front of them; bad ones are refused with
 * the file and the member. */
#include <dirent.h>
#include <stdlib.h>

#include "base/expr/expr.h"
#include "base/json/js.h"
#include "base/sys.h"
#include "tests/counters/folder.h"
#include "tests/counters/machine.h"
#include "tests/tap.h"

/* A row: the file, a text in it, its replacement, and the expected message. */
static const char *const wrong[][4] = {
	{"events/generic.json", "sweetspot-events/1", "sweetspot-events/2", "'schema': \"sweetspot-events/2\" is not"},
	{"events/generic.json", "\"schema\"", "\"shema\"", "'schema' is missing"},
	{"events/generic.json", "\"events\": [", "\"events\": 5, \"e\": [", "unknown member 'e'"},
	{"events/generic.json", "\"never_zero\": true", "\"never_zero\": 1", "'never_zero' must be true or false"},
	{"events/generic.json", "never_zero", "never_zer", "'events'[0]: unknown member 'never_zer'"},
	{"events/generic.json", "\"name\": \"b\"", "\"name\": \"seconds\"", "\"seconds\" cannot be a name"},
	{"events/generic.json", "\"name\": \"b\"", "\"name\": \"a\"", "the event \"a\" already exists"},
	{"events/generic.json", "\"name\": \"b\"", "\"name\": \"b c\"",
     "'events'[1]: \"b c\": 'name': \"b c\" cannot be a name"},
	{"events/generic.json", "\"loop\": \"cycles\"", "\"loop\": \"miles\"", "does not promise \"miles\""},
	{"events/generic.json", "\"perf:a\"", "\"perf\"", "'sources'[1]: a source must be"},
	{"events/generic.json", "\"perf:a\"", "\"cachegrind:a\"", "\"a\": 'sources'[1]: cachegrind is a simulator"},
	{"events/generic.json", "1e3 * c", "1e3 * nosuch", "'nosuch' is not an event"},
	{"events/generic.json", "1e3 * c", "1e3 * b", "'b' is not an event"},
	{"events/generic.json", "1e3 * c", "1e3 *", "\"b\": 'formula' \"a + 1e3 *\": "},
	{"events/generic.json", "\"unit\": \"J\"", "\"unit\": \"J\\n\"", "'unit' must be one line"},
	{"events/cpu.json", "\"event\": \"a\"", "\"event\": \"nosuch\"", "\"nosuch\" is not a portable event"},
	{"events/cpu.json", "r01c2", "r01c2x", "\"r01c2x\" is not a raw event"},
	{"events/cpu.json", ", \"vendor\": \"V\"", "", "'events'[0]: \"a\": 'vendor' is missing"},
	{"events/generic.json", "\"papi:G\"", "5", "'guesses'[0]: a source must be"},
	{"events/cpu.json", "0xC2", "C2", "'code' must be a number such as"},
	{"events/cpu.json", "\"0x01\"", "1", "'umask' must be a number such as"},
	{"events/cpu.json", "p_1", "p/1", "'pmu': \"p/1\" is not a name"},
	{"events/cpu.json", "\"uncore\"", "\"socket\"", "'scope' must be \"uncore\""},
	{"events/cpu.json", ", \"pmu\": \"u\"", "", "'scope' must be \"uncore\", with the 'pmu'"},
	{"events/cpu.json", "\"event\": \"c\"", "\"event\": \"a\"", "'scope' differs"},
	{"events/cpu.json", "\"perf\": \"r4\", ", "", "\"c\": 'perf' or 'formula' is missing"},
	{"events/cpu.json", "[\"y\"]", "[5]", "'names': [0] must be a string"},
	{"events/cpu.json", "\"line\": 128", "\"line\": 8", "'line'"},
	{"events/cpu.json", "\"Xx-2-*\"", "2", "'cpus': [1] must be a string"},
	{"events/cpu.json", "sweetspot-cpu-events/1", "sweetspot-group/1", "'schema'"},
	{"groups/g.json", "\"a\", \"b\", ", "\"a\", \"z\", ", "'events'[1]: \"z\" is not an event"},
	{"groups/g.json", "\"a\", \"b\", ", "\"a\", ",
     "'metrics'[0] \"m\": 'formula' \"a / b / seconds\": 'b' is not an event"},
	{"groups/g.json", "a / b / seconds", "a / b / second", "'second' is not an event"},
	{"groups/g.json", "a / b / seconds", "a / 'b'", "quoted words"},
	{"groups/g.json", "a / b / seconds", "a // ", "'formula'"},
	{"groups/g.json", "\"name\": \"G\"", "\"name\": \"rusage\"", "\"rusage\" is taken"},
	{"groups/g.json", "\"name\": \"G\"", "\"name\": \"Own\"", "'name': \"Own\" is an event"},
	{"groups/g.json", "\"name\": \"G\"", "\"name\": \"Auto\"", "\"Auto\" is taken"},
	{"groups/g.json", "\"name\": \"G\"", "\"name\": \"none\"", "\"none\" is taken"},
	{"groups/g.json", "[\"H\"]", "[\"Own\"]", "'aliases': \"Own\" is an event or a group"},
	{"groups/g.json", "[\"H\"]", "[\"g\"]", "'aliases': \"g\" is an event or a group"},
	{"groups/g.json", "[\"H\"]", "[\"perf\"]", "'aliases': [0]: \"perf\" cannot be a group's name"},
	{"groups/g.json", "[\"H\"]", "[7]", "'aliases': [0]"},
	{"groups/g.json", "\"unit\": \"u\", ", "", "'metrics'[0]: \"m\": 'unit' is missing"},
	{"groups/g.json", "\"own\"", "\"a\"", "'events'[2]: the event \"a\" already exists"},
	{"groups/g.json", "\"metrics\": [", "\"metrics\": [[", "not valid JSON"},
};

static char *replaced(const char *text, const char *old, const char *new) {
	const char *at = strstr(text, old);
	return at ? mem_printf("%.*s%s%s", (int)(at - text), text, new, at + strlen(old)) : NULL;
}

static const char *right_text(const char *file) {
	int i = 0;
	while (strcmp(folder_right[i][0], file) != 0)
		i++;
	return folder_right[i][1];
}

static void test_wrong(const char *folder) {
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct err err = {0};
		char *text = replaced(right_text(wrong[i][0]), wrong[i][1], wrong[i][2]);
		char *where = mem_printf("%s/%s", folder, wrong[i][0]);
		folder_put_right(folder);
		folder_put(folder, wrong[i][0], text ? text : "", text ? strlen(text) : 0);
		struct counter_tables *tables = counter_tables_load_from(folder, &err);
		ok(text && !tables && err.code == ERR_USAGE && strncmp(err.what, where, strlen(where)) == 0 &&
		       strstr(err.what, wrong[i][3]),
		   "%s", err.what);
		counter_tables_free(tables);
		free(where);
		free(text);
	}
}

static void test_right(const char *folder) {
	struct err err = {0};
	folder_put_right(folder);
	struct counter_tables *tables = counter_tables_load_from(folder, &err);
	if (!ok(tables != NULL, "a small set of tables%s%s", err.what[0] ? ": " : "", err.what))
		return;
	json_t *groups = counter_tables_groups(tables), *events = counter_tables_events(tables);
	ok(json_array_size(groups) == 1 && json_array_size(events) == 4,
	   "one group, four events, one of them the group's own");
	json_decref(groups);
	json_decref(events);
	counter_tables_free(tables);
}

static bool has_metric(const struct counter_tables *tables, const char *group, const char *metric) {
	json_t *groups = counter_tables_groups(tables);
	size_t i, k;
	const json_t *row, *each;
	bool found = false;
	json_array_foreach(groups, i, row) json_array_foreach(json_object_get(row, "metrics"), k, each) found |=
		strcmp(js_string_or(row, "name", ""), group) == 0 && strcmp(js_string_or(each, "name", ""), metric) == 0;
	json_decref(groups);
	return found;
}

static struct counter_tables *users_tables(const char *folder, const char *group, struct err *err) {
	folder_put(folder, "sweetspot/groups/mine.json", group, strlen(group));
	return counter_tables_load(err);
}

static void test_users(const char *folder) {
	struct err err = {0};
	char *config = mem_printf("%s/sweetspot/groups", folder), *data = mem_printf("%s/data", getenv("SRCDIR"));
	sys_make_dirs(config, NULL);
	setenv("XDG_CONFIG_HOME", folder, 1);
	setenv("SWEETSPOT_DATA", data, 1);
	struct counter_tables *tables = users_tables(
		folder,
		"{\"schema\": \"sweetspot-group/1\", \"name\": \"Mem\", \"summary\": \"\", \"events\": [\"cycles\"], "
		"\"metrics\": [{\"name\": \"mine\", \"unit\": \"\", \"formula\": \"cycles\", \"summary\": \"\"}]}",
		&err);
	ok(tables && has_metric(tables, "Mem", "mine") && !has_metric(tables, "MEM", "read_volume") &&
	       has_metric(tables, "CPU", "IPC"),
	   "a user's group takes the place of an installed one%s%s", err.what[0] ? ": " : "", err.what);
	counter_tables_free(tables);
	tables = users_tables(folder, "{}", &err);
	ok(!tables && strstr(err.what, "/sweetspot/groups/mine.json: 'schema' is missing") && strstr(err.hint, "yours"),
	   "%s", err.what);
	counter_tables_free(tables);
	setenv("SWEETSPOT_DATA", "/nonexistent", 1);
	tables = counter_tables_load(&err);
	ok(!tables && strstr(err.what, "events"), "%s", err.what);
	counter_tables_free(tables);
	free(config);
	free(data);
}

static int formulas_bad(const json_t *rows, size_t *count) {
	size_t i;
	const json_t *row;
	int bad = 0;
	json_array_foreach(rows, i, row) {
		const char *formula = js_string_or(row, "formula", NULL);
		struct expr *expr = formula ? expr_parse(formula, NULL) : NULL;
		bad += formula && !expr;
		*count += formula != NULL;
		expr_free(expr);
	}
	return bad;
}

/* Each file parses, its formulas do, and it will be installed. */
static void test_installed(const char *kind, size_t *formulas) {
	char *folder = mem_printf("%s/data/%s", getenv("SRCDIR"), kind);
	char *list = mem_printf("%s/data/local.mk", getenv("SRCDIR"));
	char *make = sys_read_file(list, 1 << 20, NULL, NULL);
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		char *file = mem_printf("%s/%s", folder, entry->d_name), *name = mem_printf("%s/%s", kind, entry->d_name);
		struct err err = {0};
		if (strstr(entry->d_name, ".json")) {
			json_t *json = js_load(file, 1 << 20, &err);
			int bad = formulas_bad(json_object_get(json, "metrics"), formulas) +
			          formulas_bad(json_object_get(json, "events"), formulas);
			ok(json && bad == 0 && make && strstr(make, name), "%s %s", name, err.what);
			json_decref(json);
		}
		free(file);
		free(name);
	}
	if (dir)
		closedir(dir);
	free(make);
	free(list);
	free(folder);
}

int main(void) {
	struct err err = {0};
	struct counter_tables *tables = machine_tables(&err);
	size_t formulas = 0;
	ok(tables != NULL, "the installed tables load%s%s", err.what[0] ? ": " : "", err.what);
	counter_tables_free(tables);
	test_installed("events", &formulas);
	test_installed("groups", &formulas);
	ok(formulas > 60, "%zu formulas parse", formulas);
	char *folder = folder_new();
	if (ok(folder != NULL, "a folder to work in")) {
		test_right(folder);
		test_wrong(folder);
		test_users(folder);
	}
	folder_free(folder);
	return tap_done();
}
