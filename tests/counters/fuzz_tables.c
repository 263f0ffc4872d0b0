/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a file of tables are either refused with a message that names the file, or make tables of which all can
 * be asked for. The first byte says which file. The test `tables_fuzz` calls this with mutated files, `make fuzz` runs
 * it as a target of libFuzzer, where one input in 64 is written to a file: reading that takes longer than all the rest.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "counters/plan/plan_impl.h"
#include "base/json/js.h"
#include "tests/counters/folder.h"
#include "tests/counters/machine.h"
#include "tests/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
	if (!condition)
		abort();
}

/* Everything there is, asked for by its name. */
static void plan_all(const struct counter_tables *tables, const char *cpu) {
	const char *asked[TABLE_EVENTS_MAX + TABLE_GROUPS_MAX + 2] = {"auto"};
	struct machine *machine = machine_perfect(cpu);
	struct arena *arena = arena_new();
	struct err err = {0};
	const struct counter_judge judge = machine_judge(machine);
	size_t count = 1;
	for (size_t i = 0; i < tables->group_count; i++)
		asked[count++] = tables->groups[i].name;
	for (size_t i = 0; i < tables->event_count; i++)
		asked[count++] = tables->events[i].name;
	struct counter_plan *plan = counter_plan_new(arena, tables, asked, NULL, &judge, &err);
	require(plan || err.code == ERR_USAGE);
	counter_plan_clear(plan);
	arena_free(arena);
	machine_free(machine);
}

static char *folder;             /* kept from input to input, because writing it takes longer than reading it */
static const char *const *wrong; /* the file of it that the last input replaced; NULL: none */

static void folder_end(void) {
	folder_free(folder);
}

static void folder_begin(void) {
	folder = folder_new();
	require(folder != NULL && atexit(folder_end) == 0);
	folder_put_right(folder);
}

static struct counter_tables *read_files(const char *const *right, const uint8_t *data, size_t size, struct err *err) {
	if (!folder)
		folder_begin();
	if (wrong && wrong != right)
		require(folder_put(folder, wrong[0], wrong[1], strlen(wrong[1])) == 0);
	wrong = right;
	require(folder_put(folder, right[0], data, size) == 0);
	struct counter_tables *tables = counter_tables_load_from(folder, err);
	require(tables || strncmp(err->what, folder, strlen(folder)) == 0);
	return tables;
}

/* The same without files. */
static struct counter_tables *read_texts(size_t kind, const uint8_t *data, size_t size, struct err *err) {
	static json_t *all[FOLDER_RIGHT];
	const char *const *right = folder_right[kind];
	json_t *json = js_parse((const char *)data, size, right[0], err);
	if (!json)
		return NULL;
	struct counter_tables *tables = counter_tables_new();
	int rc = 0;
	for (size_t i = 0; i < FOLDER_RIGHT; i++) {
		const char *file = folder_right[i][0];
		if (!all[i])
			all[i] = js_parse(folder_right[i][1], strlen(folder_right[i][1]), file, err);
		json_t *one = i == kind ? json_incref(json) : json_incref(all[i]);
		if (rc == 0)
			rc = counter_tables_add(tables, file, one, *file == 'e' ? TABLE_EVENTS : TABLE_GROUPS, err);
		else
			json_decref(one);
	}
	json_decref(json);
	return counter_tables_checked(tables, rc, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	if (size == 0)
		return 0;
	size_t kind = data[0] % FOLDER_RIGHT;
	struct err err = {0};
	struct counter_tables *tables = fuzz_one_in(64, data, size)
	                                    ? read_files(folder_right[kind], data + 1, size - 1, &err)
	                                    : read_texts(kind, data + 1, size - 1, &err);
	require(tables || (err.code == ERR_USAGE && strstr(err.what, ".json")));
	if (tables) {
		plan_all(tables, "");
		plan_all(tables, "Xx-1-7");
	}
	counter_tables_free(tables);
	return 0;
}
