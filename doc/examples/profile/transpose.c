/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that takes its block size and its OpenMP settings from the profile of the machine that it runs on, as tuned
 * with the plug-in beside it, and does without where there is none. transpose [N] */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <sweetspot.h>

static double seconds(void) {
	struct timespec now;
	timespec_get(&now, TIME_UTC);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void transpose(size_t n, size_t block, const double *from, double *to) {
#pragma omp parallel for schedule(runtime)
	for (size_t ib = 0; ib < n; ib += block)
		for (size_t jb = 0; jb < n; jb += block)
			for (size_t i = ib; i < ib + block && i < n; i++)
				for (size_t j = jb; j < jb + block && j < n; j++)
					to[j * n + i] = from[i * n + j];
}

/* What the profile says of this size, on stdout; what speaks against using it, on stderr. */
static size_t block_choose(const sweetspot_profile *profile, size_t n) {
	struct sweetspot_value problem = {"n", (double)n, NULL};
	struct sweetspot_match match;
	char why[SWEETSPOT_MESSAGE];
	const sweetspot_config *config = sweetspot_lookup(profile, "transpose", NULL, &problem, 1, &match);
	printf("status %s, predicted %g %s\n", sweetspot_status_word(match.status), match.predicted, match.unit);
	if (match.status == SWEETSPOT_NONE || match.status == SWEETSPOT_FOREIGN || match.status == SWEETSPOT_STALE)
		return 64;
	if (sweetspot_apply(config, 0, why, sizeof why) < 0 || *why)
		fprintf(stderr, "transpose: %s\n", why);
	long long block = sweetspot_int(config, "block", 64);
	return block > 0 ? (size_t)block : 64;
}

static size_t errors(size_t n, const double *from, const double *to) {
	size_t wrong = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			wrong += to[j * n + i] != from[i * n + j];
	return wrong;
}

int main(int argc, char **argv) {
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1024;
	char why[SWEETSPOT_MESSAGE];
	sweetspot_profile *profile = sweetspot_open(NULL, why, sizeof why);
	if (*why)
		fprintf(stderr, "transpose: %s\n", why);
	size_t block = block_choose(profile, n);
	sweetspot_close(profile);
	if (n < 1 || n > 1 << 16)
		return 2;
	double *from = malloc(n * n * sizeof *from), *to = malloc(n * n * sizeof *to);
	for (size_t i = 0; from && to && i < n * n; i++)
		from[i] = to[i] = (double)i;
	if (!from || !to)
		return 1;
	double start = seconds();
	transpose(n, block, from, to);
	printf("block %zu, took %g s, %zu errors\n", block, seconds() - start, errors(n, from, to));
	free(from);
	free(to);
	return 0;
}
