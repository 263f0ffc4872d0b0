/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Profiles at random, from few kernels, problems, configurations and dates, so that they meet. */
#ifndef TESTS_TUNER_PROFILE_MADE_H
#define TESTS_TUNER_PROFILE_MADE_H
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "tests/tap.h"
#include "tuner/profile/profile.h"

static json_t *made_date(struct rng *rng) {
	char text[32];
	snprintf(text, sizeof text, "2026-0%d-1%dT00:00:00Z", 1 + (int)rng_below(rng, 9), (int)rng_below(rng, 10));
	return json_string(text);
}

static json_t *made_config(struct rng *rng) {
	return json_pack("{s:i,s:s}", "block", 1 << rng_below(rng, 2), "variant", rng_below(rng, 2) ? "a" : "b");
}

static json_t *made_entry(struct rng *rng) {
	static const char *const kernels[] = {"fw", "gol", "synthetic"}, *const objectives[] = {"time", "energy"};
	bool energy = rng_below(rng, 5) == 0;
	double median = 1e-3 * (1 + (double)rng_below(rng, 50));
	json_t *entry =
		json_pack("{s:s,s:s,s:{s:I},s:s,s:o,s:{},s:f,s:[f,f],s:s,s:{s:{s:i},s:f,s:n},s:{s:f,s:[f,f]},s:s,s:f,s:s,"
	              "s:{s:s,s:s,s:s,s:i,s:i,s:o,s:i,s:i}}",
	              "kernel", kernels[rng_below(rng, 3)], "source", rng_below(rng, 4) ? "sha256:1" : "sha256:2",
	              "problem", "n", (json_int_t)(64 << rng_below(rng, 4)), "objective", objectives[energy], "config",
	              made_config(rng), "environment", "median", median, "ci", median * 0.99, median * 1.01, "unit",
	              energy ? "J" : "s", "baseline", "config", "block", 7, "median", 0.1, "ci", "speedup", "ratio",
	              0.1 / median, "ci", 0.09 / median, 0.11 / median, "verdict", "faster", "noise_floor", 0.01, "state",
	              "current", "provenance", "version", "0", "command", "sweetspot tune", "strategy", "auto", "seed", 1,
	              "evaluations", (int)rng_below(rng, 3), "measured", made_date(rng), "session", 1, "search", 1);
	return entry;
}

static json_t *made_range(struct rng *rng, int from, int to) {
	return json_pack("{s:i,s:i,s:o,s:f,s:{}}", "from", from, "to", to, "config", made_config(rng), "loss", 0.0,
	                 "environment");
}

static json_t *made_sizes(struct rng *rng) {
	static const char *const kernels[] = {"fw", "gol"};
	int middle = 100 + (int)rng_below(rng, 2) * 100;
	return json_pack("{s:s,s:s,s:{},s:s,s:s,s:s,s:[],s:[o,o],s:[{s:s,s:[{s:i,s:i,s:f,s:f,s:f}]}],s:n,s:{},s:[]}",
	                 "kernel", kernels[rng_below(rng, 2)], "over", "n", "problem", "objective", "time", "device", "cpu",
	                 "unit", "s", "measured", "thresholds", made_range(rng, 64, middle),
	                 made_range(rng, middle + 40, 512), "laws", "of", "best", "pieces", "from", 64, "to", 512,
	                 "overhead", 1e-6, "factor", 2e-9, "exponent", 2.5, "refused", "leave_one_out", "checked");
}

__attribute__((unused)) static json_t *made_profile(struct rng *rng, const char *fingerprint) {
	json_t *entries = json_array(), *sizes = json_array();
	for (uint64_t left = 1 + rng_below(rng, 6); left > 0; left--)
		json_array_append_new(entries, made_entry(rng));
	for (uint64_t left = rng_below(rng, 2); left > 0; left--)
		json_array_append_new(sizes, made_sizes(rng));
	json_t *profile =
		json_pack("{s:s,s:s,s:o,s:{s:s,s:s,s:i,s:s},s:o,s:o}", "schema", "sweetspot-profile/1", "generator", "test",
	              "created", made_date(rng), "machine", "fingerprint", fingerprint, "cpu", "Made", "threads", 4,
	              "compiler", "gcc (Made 1.0) 12.1.0", "entries", entries, "sizes", sizes);
	struct err err = {0};
	if (!profile || profile_check(profile, &err)) {
		printf("Bail out! a made profile is refused: %s\n", err.what);
		exit(1);
	}
	return profile;
}
#endif
