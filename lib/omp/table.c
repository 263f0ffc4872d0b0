/* SPDX-License-Identifier: BSD-3-Clause */
/* The table is text:
 *
 *     sweetspot-omp 1
 *     stretch 5000000 7 90000 8  a column holds for 5 ms or 8 calls; seed 7; after all of them the first one for 90 us
 *     trace | busy | force | learn  options, a line each
 *     teams 1 2 4                sizes whose changes are timed at the first region
 *     module 0 BUILDID|-         modules are numbered from 0
 *     size 0 1a2b 3 1:40 2:9000  module, offset, measure, and classes NUMBER:LIMIT of its calls
 *     region 0 1a2b 1 2:2:16 4   module, offset[/class], and columns THREADS[:KIND[:CHUNK]]
 *     any 2                      columns of every other region
 *
 * Lines that cannot be understood make the whole table unusable: half of a plan may be slower than none. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/omp/omp_impl.h"

enum { LINE_MAX_BYTES = 1024, THREADS_MOST = 4096 };

static bool number_read(char **text, int base, uint64_t most, uint64_t *number) {
	char *end;
	if (!isxdigit((unsigned char)**text))
		return false;
	errno = 0;
	unsigned long long value = strtoull(*text, &end, base);
	if (errno || end == *text || value > most)
		return false;
	*number = value;
	*text = end;
	return true;
}

static bool setting_read(char *word, struct omp_setting *setting) {
	uint64_t threads, kind = 0, chunk = 0;
	if (!number_read(&word, 10, THREADS_MOST, &threads))
		return false;
	if (*word == ':' && (word++, !number_read(&word, 10, OMP_KIND_AUTO, &kind)))
		return false;
	if (*word == ':' && (word++, !number_read(&word, 10, 1u << 30, &chunk)))
		return false;
	*setting = (struct omp_setting){.threads = (uint16_t)threads, .kind = (uint8_t)kind, .chunk = (uint32_t)chunk};
	return *word == '\0';
}

static bool columns_read(char *rest, struct omp_table *table, uint32_t module, uint64_t offset, uint64_t size_class) {
	char *save, *word = strtok_r(rest, " ", &save);
	if (table->row_count == OMP_REGIONS || !word)
		return false;
	struct omp_row *row = &table->rows[table->row_count++];
	*row = (struct omp_row){.module = module, .offset = offset, .size_class = (uint32_t)size_class};
	for (; word; word = strtok_r(NULL, " ", &save))
		if (row->count == OMP_SETTINGS || !setting_read(word, &row->columns[row->count++]))
			return false;
	if (row->count > table->column_count)
		table->column_count = row->count;
	return true;
}

static bool place_read(char **rest, const struct omp_table *table, uint64_t *module, uint64_t *offset) {
	return number_read(rest, 10, OMP_MODULES - 1, module) && *module < table->module_count && *(*rest)++ == ' ' &&
	       number_read(rest, 16, UINT64_MAX, offset);
}

static bool region_read(char *rest, struct omp_table *table) {
	uint64_t module, offset, size_class = 0;
	if (!place_read(&rest, table, &module, &offset))
		return false;
	if (*rest == '/' && (rest++, !number_read(&rest, 10, OMP_CLASSES, &size_class)))
		return false;
	return *rest++ == ' ' && columns_read(rest, table, (uint32_t)module, offset, size_class);
}

static bool class_read(char *word, struct omp_sizes *sizes) {
	uint64_t number, upto;
	if (sizes->count == OMP_CLASSES || !number_read(&word, 10, OMP_CLASSES, &number) || number == 0 || *word++ != ':' ||
	    !number_read(&word, 10, INT64_MAX, &upto) || *word)
		return false;
	if (sizes->count && (int64_t)upto <= sizes->upto[sizes->count - 1])
		return false;
	sizes->numbers[sizes->count] = (uint32_t)number;
	sizes->upto[sizes->count++] = (int64_t)upto;
	return true;
}

static bool size_read(char *rest, struct omp_table *table) {
	uint64_t module, offset, measure;
	if (table->sizes_count == OMP_SEEN || !place_read(&rest, table, &module, &offset) || *rest++ != ' ' ||
	    !number_read(&rest, 10, OMP_MEASURES - 1, &measure) || *rest++ != ' ')
		return false;
	struct omp_sizes *sizes = &table->sizes[table->sizes_count++];
	*sizes = (struct omp_sizes){.module = (uint32_t)module, .offset = offset, .measure = (uint32_t)measure};
	char *save;
	for (char *word = strtok_r(rest, " ", &save); word; word = strtok_r(NULL, " ", &save))
		if (!class_read(word, sizes))
			return false;
	return sizes->count > 0;
}

static bool module_read(char *rest, struct omp_table *table) {
	uint64_t number;
	if (!number_read(&rest, 10, OMP_MODULES - 1, &number) || number != table->module_count || *rest++ != ' ' ||
	    strlen(rest) >= OMP_BUILD_ID)
		return false;
	strcpy(table->build_ids[table->module_count++], rest);
	return true;
}

static bool teams_read(char *rest, struct omp_table *table) {
	uint64_t team;
	while (*rest) {
		if (table->team_count == OMP_TEAMS || !number_read(&rest, 10, THREADS_MOST, &team) || team == 0)
			return false;
		table->teams[table->team_count++] = (uint32_t)team;
		while (*rest == ' ')
			rest++;
	}
	return true;
}

static bool stretch_read(char *rest, struct omp_table *table) {
	uint64_t seed;
	if (!number_read(&rest, 10, UINT64_MAX / 2, &table->stretch_ns) || *rest++ != ' ' ||
	    !number_read(&rest, 10, UINT32_MAX, &seed))
		return false;
	table->seed = (uint32_t)seed;
	if (*rest == ' ' && (rest++, !number_read(&rest, 10, UINT64_MAX / 2, &table->pause_ns)))
		return false;
	if (*rest == ' ' && (rest++, !number_read(&rest, 10, UINT64_MAX / 2, &table->calls_most)))
		return false;
	return *rest == '\0';
}

static bool line_read(char *line, struct omp_table *table) {
	char *rest = strchr(line, ' ');
	if (rest)
		*rest++ = '\0';
	else
		rest = line + strlen(line);
	if (strcmp(line, "region") == 0)
		return region_read(rest, table);
	if (strcmp(line, "size") == 0)
		return size_read(rest, table);
	if (strcmp(line, "module") == 0)
		return module_read(rest, table);
	if (strcmp(line, "any") == 0)
		return columns_read(rest, table, UINT32_MAX, 0, 0);
	if (strcmp(line, "teams") == 0)
		return teams_read(rest, table);
	if (strcmp(line, "stretch") == 0)
		return stretch_read(rest, table);
	if (*rest)
		return false;
	if (strcmp(line, "trace") == 0)
		return table->trace = true;
	if (strcmp(line, "busy") == 0)
		return table->busy = true;
	if (strcmp(line, "learn") == 0)
		return table->learn = true;
	return strcmp(line, "force") == 0 && (table->force = true);
}

bool omp_table_read(const char *path, struct omp_table *table) {
	char line[LINE_MAX_BYTES];
	bool good = false;
	FILE *file = fopen(path, "re");
	if (file && fgets(line, sizeof line, file) && strcmp(line, "sweetspot-omp 1\n") == 0) {
		good = true;
		while (good && fgets(line, sizeof line, file)) {
			char *end = strchr(line, '\n');
			good = end != NULL;
			if (good) {
				*end = '\0';
				good = line_read(line, table);
			}
		}
	}
	if (file)
		fclose(file);
	return good;
}
