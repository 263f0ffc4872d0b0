/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of this process. */
#include <stdio.h>

#include "lib/omp/omp_impl.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct omp_table *loaded;

static void load(void) {
	const char *path = omp_word(OMP_WORD_TABLE);
	loaded = path ? omp_memory(sizeof *loaded) : NULL;
	if (loaded && !omp_table_read(path, loaded))
		loaded = NULL;
}

/* At the first region there may be little stack, and another root folder. */
__attribute__((constructor)) static void start(void) {
	if (omp_is_asked())
		pthread_once(&once, load);
}

static void complain(void) {
	const char *path = omp_word(OMP_WORD_TABLE);
	if (path && !loaded)
		fprintf(stderr, "sweetspot: the region settings in %s cannot be read; the program runs without them\n", path);
}

const struct omp_table *omp_table_get(void) {
	static pthread_once_t complained = PTHREAD_ONCE_INIT;
	pthread_once(&once, load);
	if (!loaded)
		pthread_once(&complained, complain);
	return loaded;
}
