/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of this process. */
#include <pthread.h>
#include <stdio.h>

#include "lib/omp/omp.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct omp_table loaded;
static bool usable;

static void load(void) {
	const char *path = omp_word(OMP_WORD_TABLE);
	if (!path)
		return;
	usable = omp_table_read(path, &loaded);
	if (!usable)
		fprintf(stderr, "sweetspot: the region settings in %s cannot be read; the program runs without them\n", path);
}

const struct omp_table *omp_table_get(void) {
	pthread_once(&once, load);
	return usable ? &loaded : NULL;
}
