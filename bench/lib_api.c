/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lib_api FILE KERNEL: the time of opening a profile, and of looking a kernel up in it at random sizes. A line each:
 * name, nanoseconds (the median of rounds). */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lib/sweetspot.h"
#include "base/rng.h"
#include "base/stats.h"

enum { ROUNDS = 101, LOOKUPS = 10000, SIZES = 1024 };

static double now(void) {
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static double open_once(const char *path) {
	char why[SWEETSPOT_MESSAGE];
	double start = now();
	sweetspot_profile *profile = sweetspot_open(path, why, sizeof why);
	double end = now();
	if (!profile) {
		fprintf(stderr, "%s\n", why);
		exit(1);
	}
	sweetspot_close(profile);
	return end - start;
}

/* Of one look-up with the reading of a setting. */
static double lookup_some(const sweetspot_profile *profile, const char *kernel, const double *sizes, long long *sum) {
	struct sweetspot_match match;
	double start = now();
	for (int i = 0; i < LOOKUPS; i++) {
		struct sweetspot_value n = {"n", sizes[i % SIZES], NULL};
		*sum += sweetspot_int(sweetspot_lookup(profile, kernel, NULL, &n, 1, &match), "block", 0) + match.status;
	}
	return (now() - start) / LOOKUPS;
}

int main(int argc, char **argv) {
	double times[ROUNDS], sizes[SIZES];
	struct rng rng;
	long long sum = 0;
	if (argc != 3)
		return 2;
	rng_seed(&rng, 1);
	for (int i = 0; i < SIZES; i++)
		sizes[i] = exp2(4 + 12 * (double)rng_below(&rng, 1 << 20) / (1 << 20));
	for (int i = 0; i < ROUNDS; i++)
		times[i] = open_once(argv[1]);
	printf("open %.6g\n", stats_median(times, ROUNDS));
	sweetspot_profile *profile = sweetspot_open(argv[1], NULL, 0);
	for (int i = 0; i < ROUNDS; i++)
		times[i] = lookup_some(profile, argv[2], sizes, &sum);
	printf("lookup %.6g\n", stats_median(times, ROUNDS));
	printf("sum %lld\n", sum); /* so that it is computed */
	sweetspot_close(profile);
	return 0;
}
