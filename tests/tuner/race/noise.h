/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A simulated runner: configuration {"i": k} has a true mean, observed through the noise of a shared machine. It can
 * fail, lie or be interrupted on demand. */
#ifndef TESTS_TUNER_RACE_NOISE_H
#define TESTS_TUNER_RACE_NOISE_H
#include <jansson.h>
#include <math.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tuner/trial/trial.h"

struct noise {
	const char *name;
	double sigma;   /* log-normal, per sample */
	double tails;   /* share of samples that take up to 1.5 times as long */
	double student; /* scale of Student's t with 3 degrees of freedom */
	double drift;   /* change of the logarithm over 100 samples: a slow wave of four times that height */
	double bursts;  /* chance that a burst of +30 % begins at a sample; it lasts 8 samples on average, whoever runs */
	double modes;   /* chance that a sample takes 1.3 times as long: a program with two speeds */
	double second;  /* of the logarithm, for each second sample: what runs later finds warm caches */
	double quantum; /* step of the clock, seconds; the usual mean is 0.1 */
};

static const struct noise noises[] = {
	{.name = "log-normal 1 %", .sigma = 0.01},
	{.name = "log-normal 2 %", .sigma = 0.02},
	{.name = "1 % and drift", .sigma = 0.01, .drift = 0.05},
	{.name = "1 % and bursts", .sigma = 0.01, .bursts = 0.02},
	{.name = "1 % and spikes", .sigma = 0.01, .tails = 0.1},
	{.name = "Student's t, 1 %", .student = 0.01},
	{.name = "1 % in steps of 1 %", .sigma = 0.01, .quantum = 0.001},
	{.name = "2 %, drift, bursts and spikes", .sigma = 0.02, .drift = 0.05, .bursts = 0.02, .tails = 0.05},
	{.name = "log-normal 3 %", .sigma = 0.03},
};
enum { NOISES = sizeof noises / sizeof *noises, ENTRIES_MAX = 16, TWO_PERCENT = NOISES - 1 /* the models up to 2 % */ };

struct sim {
	struct rng rng;
	struct noise noise;
	double means[ENTRIES_MAX];
	/* From its fail_from-th trial on, every fail_every-th trial (0: none) of a configuration fails with this status;
	 * with CORRECT it lies. */
	enum trial_status fail[ENTRIES_MAX];
	int fail_from[ENTRIES_MAX], fail_every[ENTRIES_MAX];
	double lie;       /* the sample that a lying trial reports */
	int lie_count;    /* and how many samples it claims to have */
	int interrupt_at; /* this trial is interrupted; 0: none */
	int trials, first, runs[ENTRIES_MAX];
	int burst;
	struct trial_request last;
};

static double sim_seconds(struct sim *sim, int i) {
	const struct noise *noise = &sim->noise;
	double z[4], log_time = noise->drift * 4 * sin(sim->trials * 6.28 / 2500), time;

	for (int k = 0; k < 4; k++)
		z[k] = rng_normal(&sim->rng);
	log_time += noise->sigma * z[0];
	if (noise->student > 0)
		log_time += noise->student * z[0] / sqrt((z[1] * z[1] + z[2] * z[2] + z[3] * z[3]) / 3);
	if (rng_unit(&sim->rng) < noise->tails)
		log_time += log(1 + rng_unit(&sim->rng) / 2);
	if (noise->modes > 0 && rng_unit(&sim->rng) < noise->modes)
		log_time += log(1.3);
	log_time += (sim->trials - sim->first) % 2 ? 0 : noise->second;
	if (sim->burst == 0 && rng_unit(&sim->rng) < noise->bursts)
		sim->burst = 1 + (int)rng_below(&sim->rng, 15);
	if (sim->burst > 0) {
		sim->burst--;
		log_time += log(1.3);
	}
	time = sim->means[i] * exp(log_time);
	return noise->quantum > 0 ? fmax(1, round(time / noise->quantum)) * noise->quantum : time;
}

static int sim_run(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	struct sim *sim = ctx;
	int i = (int)json_integer_value(json_object_get(request->config, "i"));
	bool bad;

	sim->last = *request;
	sim->trials++;
	sim->runs[i]++;
	if (sim->trials == sim->interrupt_at)
		return err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
	bad = sim->fail_every[i] > 0 && sim->runs[i] >= sim->fail_from[i] &&
	      (sim->runs[i] - sim->fail_from[i]) % sim->fail_every[i] == 0;
	result->status = bad ? sim->fail[i] : TRIAL_CORRECT;
	if (result->status != TRIAL_CORRECT)
		return 0;
	result->sample_count = bad ? (size_t)sim->lie_count : 1;
	result->samples = mem_alloc(result->sample_count, sizeof *result->samples);
	for (size_t k = 0; k < result->sample_count; k++)
		result->samples[k] = bad ? sim->lie : sim_seconds(sim, i);
	result->value = bad ? sim->lie : result->samples[0];
	return 0;
}

static struct sim sim_new(const struct noise *noise, uint64_t seed) {
	struct sim sim = {.noise = *noise, .lie_count = 1};

	rng_split(&sim.rng, seed, "sim");
	sim.trials = sim.first = (int)rng_below(&sim.rng, 2500); /* anywhere on the wave */
	for (int i = 0; i < ENTRIES_MAX; i++)
		sim.means[i] = 0.1;
	return sim;
}

#endif
