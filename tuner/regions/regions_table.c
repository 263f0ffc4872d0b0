/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/regions/regions_impl.h"

#include <inttypes.h>

#include "base/mem.h"

static void columns_print(FILE *out, const struct regions_setting *settings, size_t count) {
	for (size_t i = 0; i < count; i++) {
		fprintf(out, " %u", settings[i].threads);
		if (settings[i].kind || settings[i].chunk)
			fprintf(out, ":%d:%u", settings[i].kind, settings[i].chunk);
	}
	fputc('\n', out);
}

static void modules_print(FILE *out, const struct regions_record *record) {
	for (size_t i = 0; i < record->module_count && i < OMP_MODULES; i++)
		fprintf(out, "module %zu %s\n", i, record->modules[i].build_id);
}

static void sizes_print(FILE *out, const struct regions_table *table) {
	for (size_t i = 0; i < table->sizes_count && i < OMP_SEEN; i++) {
		const struct regions_sizes *sizes = &table->sizes[i];
		if (sizes->module_number >= OMP_MODULES)
			continue;
		fprintf(out, "size %u %" PRIx64 " %u", sizes->module_number, sizes->offset, sizes->measure);
		for (unsigned k = 0; k < sizes->count; k++)
			fprintf(out, " %u:%" PRId64, sizes->numbers[k], sizes->upto[k]);
		fputc('\n', out);
	}
}

static void rows_print(FILE *out, const struct regions_table *table, const struct regions_record *record) {
	for (size_t i = 0; i < record->count && i < OMP_REGIONS; i++) {
		if (record->regions[i].module_number >= OMP_MODULES)
			continue;
		fprintf(out, "region %u %" PRIx64, record->regions[i].module_number, record->regions[i].offset);
		if (record->regions[i].facts.size_class)
			fprintf(out, "/%u", record->regions[i].facts.size_class);
		columns_print(out, &table->rows[i * table->columns], table->columns);
	}
}

char *regions_table_text(const struct regions_table *table, const struct regions_record *record) {
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	fputs("sweetspot-omp 1\n", out);
	if (table->stretch_s > 0)
		fprintf(out, "stretch %" PRIu64 " %u %" PRIu64 " %llu\n", (uint64_t)(1e9 * table->stretch_s), table->seed,
		        (uint64_t)(1e9 * table->pause_s), table->calls_most);
	fprintf(out, "%s%s%s%s", table->trace ? "trace\n" : "", table->busy ? "busy\n" : "", table->force ? "force\n" : "",
	        table->learn ? "learn\n" : "");
	if (table->team_count) {
		fputs("teams", out);
		for (size_t i = 0; i < table->team_count; i++)
			fprintf(out, " %u", table->teams[i]);
		fputc('\n', out);
	}
	if (record && (table->sizes_count || !table->any))
		modules_print(out, record);
	sizes_print(out, table);
	if (table->any) {
		fputs("any", out);
		columns_print(out, table->any, table->columns);
	} else if (record) {
		rows_print(out, table, record);
	}
	if (fclose(out)) {
		free(text);
		return mem_strdup("");
	}
	return text;
}
