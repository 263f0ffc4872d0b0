/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cost of a trial beyond the kernel's own runs, in a live worker: the time from request to answer less the
 * samples, median over 1000 trials. Prints one JSON object for each case; a benchmark, not a test. */
#include <stdio.h>
#include <stdlib.h>

#include "base/stats.h"
#include "base/sys.h"
#include "tests/worker/protocol_client.h"

enum { TRIALS = 1000, WARM = 20 };

#define TRIAL                                                                                                          \
	"{\"op\":\"trial\",\"id\":%d,\"kernel\":\"synthetic\",\"problem\":{\"n\":1},\"samples\":1,"                        \
	"\"warmup\":0,\"min_sample_s\":0,\"config\":{\"threads\":%d,\"places\":\"cores\",\"proc_bind\":\"close\",\"x\":%"  \
	"d}}"

static double own_time(json_t *answer) {
	json_t *sample;
	size_t i;
	double total = 0;
	json_array_foreach(path_get(answer, "samples"), i, sample) {
		total += json_real_value(sample);
	}
	return total;
}

/* alternate: configurations whose x differs, so that each has a state of its own. */
static void overhead(const char *name, int threads_a, int threads_b, int alternate) {
	struct client *client = client_start("sweetspot-worker", 0);
	double *beyond = calloc(TRIALS, sizeof *beyond);
	for (int i = -WARM; beyond && i < TRIALS; i++) {
		int odd = (i + WARM) % 2;
		double start = sys_now();
		json_t *answer = client_ask(client, TRIAL, i, odd ? threads_b : threads_a, alternate ? odd : 0);
		double took = sys_now() - start;
		if (!answer)
			exit(1);
		if (i >= 0)
			beyond[i] = took - own_time(answer);
		json_decref(answer);
	}
	printf("{\"case\":\"%s\",\"trials\":%d,\"overhead_ms\":%.4f,\"p95_ms\":%.4f}\n", name, TRIALS,
	       stats_median(beyond, TRIALS) * 1e3, stats_quantile(beyond, TRIALS, 0.95) * 1e3);
	free(beyond);
	client_stop(client);
}

int main(void) {
	overhead("1 thread, same configuration", 1, 1, 0);
	overhead("1 thread, alternating configurations", 1, 1, 1);
	overhead("2 threads, same configuration", 2, 2, 0);
	overhead("2 threads, alternating configurations", 2, 2, 1);
	overhead("1 and 2 threads in turn", 1, 2, 0);
	return 0;
}
