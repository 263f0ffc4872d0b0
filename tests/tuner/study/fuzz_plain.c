/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever people type becomes a text whose lines keep their numbers, so that messages name the right one; and that is
 * read, or refused with a line. The test `mutated_plain` calls this with changed tables, `make fuzz` runs it as a
 * target of libFuzzer. -1: refused. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tuner/study/study_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
	if (!condition)
		abort();
}

static size_t lines_of(const char *text, size_t size) {
	size_t lines = size && text[size - 1] != '\n';
	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n';
	return lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct err err = {0};
	size_t plain_size = 0;
	char *text = mem_alloc(size + 1, 1);
	memcpy(text, data, size);
	char *plain = table_text_plain(text, size, &plain_size);
	require(plain && lines_of(plain, plain_size) == lines_of(text, size));
	struct csv *csv = csv_read(plain, plain_size, "input.csv", &err);
	require(csv || (err.code == ERR_USAGE && *err.what));
	if (csv) {
		const char *noted = NULL;
		table_cells_rewrite(csv, true, &noted);
		require(csv->columns > 0 && csv->rows <= CSV_ROWS_MAX);
		for (size_t i = 0; i < csv->rows * csv->columns; i++)
			require(csv->cells[i] != NULL);
	}
	csv_free(csv);
	free(plain);
	free(text);
	return csv ? 0 : -1;
}
