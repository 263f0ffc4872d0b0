/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables that were changed anywhere, by bytes and by whole fields, do no harm. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/sys.h"
#include "tests/tap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROUNDS = 250, CHANGES = 4 };
static const char *const files[] = {"gol", "kmeans-first-touch", "cc-iterations", "fw-cuda-factor-counters",
                                    "lists-64-threads"};
enum { FILES = sizeof files / sizeof *files };
static const char *const pieces[] = {",",
                                     "\"",
                                     "\n",
                                     "\r\n",
                                     ";",
                                     "\t",
                                     "#",
                                     "1e308",
                                     "-1",
                                     "0",
                                     "nan",
                                     "1e-320",
                                     "time_s",
                                     "GB/s",
                                     "threads",
                                     "n",
                                     "\xef\xbb\xbf",
                                     "\xff",
                                     "# problem: n,\n",
                                     "# machine: cores=0\n",
                                     "64K",
                                     "99999999999999999999",
                                     "/s",
                                     "ns/"};
enum { PIECES = sizeof pieces / sizeof *pieces };

static bool run(const char *text, size_t size) {
	/* Of its own size, so that a sanitizer sees a step behind it. */
	uint8_t *copy = mem_alloc(size + !size, 1);
	memcpy(copy, text, size);
	bool read = LLVMFuzzerTestOneInput(copy, size) == 0;
	free(copy);
	return read;
}

static char *changed(const char *text, size_t *size, struct rng *rng) {
	char *copy = mem_alloc(*size + CHANGES * 64, 1);
	memcpy(copy, text, *size);
	for (size_t i = rng_below(rng, CHANGES) + 1; i > 0; i--) {
		const char *piece = pieces[rng_below(rng, PIECES)];
		size_t at = rng_below(rng, *size), gone = rng_below(rng, 8), length = strlen(piece);
		gone = gone < *size - at ? gone : *size - at;
		memmove(copy + at + length, copy + at + gone, *size - at - gone);
		memcpy(copy + at, piece, length);
		*size += length - gone;
		if (*size == 0)
			break;
	}
	return copy;
}

static void file_run(const char *name) {
	char *path = mem_printf("%s/tests/explain/tables/%s.csv", getenv("SRCDIR") ? getenv("SRCDIR") : ".", name);
	size_t size, read = 0;
	struct rng rng;
	char *text = sys_read_file(path, 1 << 20, &size, NULL);
	ok(text && run(text, size), "%s is read as it is", name);
	rng_split(&rng, 1, name);
	for (int i = 0; text && i < ROUNDS; i++) {
		size_t own = size;
		char *other = changed(text, &own, &rng);
		read += run(other, own);
		free(other);
	}
	ok(read > 0 && read < ROUNDS, "%s changed: %zu of %d read, the others refused", name, read, ROUNDS);
	for (size_t cut = 0; text && cut < size; cut += 7)
		run(text, cut);
	ok(true, "%s cut anywhere", name);
	free(text);
	free(path);
}

int main(void) {
	for (size_t i = 0; i < FILES; i++)
		file_run(files[i]);
	return tap_done();
}
