/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a file of tables are either refused with a message that names the file, or make tables of which all can
 * be asked for. The first byte says which file. The test `tables_fuzz` calls this with mutated files, `make fuzz` runs
 * it as a target of libFuzzer. */
#include <config.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "counters/plan/tables.h"
#include "tests/counters/folder.h"
#include "tests/counters/machine.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	if (size == 0)
		return 0;
	const char *const *right = folder_right[data[0] % FOLDER_RIGHT];
	struct err err = {0};
	if (!folder)
		folder_begin();
	if (wrong && wrong != right)
		require(folder_put(folder, wrong[0], wrong[1], strlen(wrong[1])) == 0);
	wrong = right;
	require(folder_put(folder, right[0], data + 1, size - 1) == 0);
	struct counter_tables *tables = counter_tables_load_from(folder, &err);
	if (tables) {
		plan_all(tables, "");
		plan_all(tables, "Xx-1-7");
	} else {
		require(err.code == ERR_USAGE && strncmp(err.what, folder, strlen(folder)) == 0 && strstr(err.what, ".json"));
	}
	counter_tables_free(tables);
	return 0;
}
