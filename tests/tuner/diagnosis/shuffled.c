/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures how often reasons are found in shuffled tables: whole rows, and the labels of the column that carries the
 * mechanism. SWEETSPOT_SEEDS=100 makes more tables of each kind than the usual 40. */
#include <stdlib.h>

#include "tests/tuner/diagnosis/mechanisms.h"
#include "tests/tap.h"

/* Counts findings of any kind. */
static int rows_shuffled(const struct mechanism *mechanism, int seeds) {
	int found = 0;
	for (uint64_t seed = 0; seed < (uint64_t)seeds; seed++) {
		struct made *made = mechanism->make(seed, true);
		made_shuffle_rows(made);
		json_t *findings = made_findings(made);
		found += json_array_size(findings) > 0;
		json_decref(findings);
		made_free(made);
	}
	return found;
}

/* Counts findings of this kind, because other columns still act as before. */
static int column_shuffled(const struct mechanism *mechanism, const char *column, bool within, int seeds) {
	int found = 0;
	for (uint64_t seed = 0; seed < (uint64_t)seeds; seed++) {
		struct made *made = mechanism->make(seed, true);
		made_shuffle_column(made, column, within);
		found += made_finds(made, mechanism->diagnosis, mechanism->key, mechanism->value) > 0;
		made_free(made);
	}
	return found;
}

int main(void) {
	const char *given = getenv("SWEETSPOT_SEEDS");
	int seeds = given && atoi(given) > 0 ? atoi(given) : 40, tables = 0, found = 0, column_tables = 0, column_found = 0;
	for (size_t i = 0; i < MECHANISMS; i++) {
		if (mechanisms[i].columns[0]) { /* otherwise the evidence is in a single row, wherever that goes */
			int rows = rows_shuffled(&mechanisms[i], seeds);
			printf("# %s: %d of %d with rows shuffled\n", mechanisms[i].diagnosis, rows, seeds);
			tables += seeds;
			found += rows;
		}
		for (int c = 0; c < 4 && mechanisms[i].columns[c]; c++)
			for (int within = 0; within < 2; within++) {
				int count = column_shuffled(&mechanisms[i], mechanisms[i].columns[c], within, seeds);
				printf("# %s: %d of %d with %s shuffled%s\n", mechanisms[i].diagnosis, count, seeds,
				       mechanisms[i].columns[c], within ? " among rows that agree in all else" : "");
				ok(count <= seeds / 10, "%s without %s", mechanisms[i].diagnosis, mechanisms[i].columns[c]);
				column_tables += seeds;
				column_found += count;
			}
	}
	printf("# false positives: rows %d of %d, columns %d of %d\n", found, tables, column_found, column_tables);
	ok(found * 20 < tables, "rows shuffled: %.2f %%", 100.0 * found / tables);
	ok(column_found * 20 < column_tables, "a column shuffled: %.2f %%", 100.0 * column_found / column_tables);
	return tap_done();
}
