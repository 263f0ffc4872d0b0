/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker/worker_impl.h"

#include <math.h>
#include <time.h>

#include "worker/kernel/crash.h"
#include "worker/kernel/word.h"

enum { BATCH_MAX = 1 << 24, BATCH_GROWTH = 100, RETAKES = 3, CLOCK_STRIDE = 16 };
#define SHORTEST         0.8  /* times min_sample_s: target of the batch */
#define OVERRUN          10   /* times min_sample_s: a longer batch is cut */
#define HOPELESS         3    /* times limit_s: a run that took longer cannot win any more */
#define CUTS             2    /* batches that the host's time cuts, until that is believed */
#define SHORTEST_OVERRUN 1e-3 /* for requests with a min_sample_s near 0 */
#define AT_ONCE          10   /* times settles_s: a first run that took longer is the sample */
#define HEALTH_AGE_S     0.2  /* seconds: GPU trials that end within this time share one health reading */

enum outcome outcome_of(enum ss_status status) {
	switch (status) {
	case SS_OK:
		return OUTCOME_CORRECT;
	case SS_INVALID:
		return OUTCOME_CONSTRAINTS;
	case SS_INCORRECT:
		return OUTCOME_CORRECTNESS;
	case SS_COMPILE:
		return OUTCOME_COMPILE;
	default:
		return OUTCOME_RUNTIME;
	}
}

static int64_t now_ns(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Runs of a batch: at most `most`, and none after `longest_ns`. The batch was sized in a quiet moment; if something
 * else takes the processors afterwards, all of it could last a thousand times the requested time. */
struct batch {
	int64_t most, longest_ns;
	double cut_s; /* ends the process if a single run takes longer; 0: never */
	bool flush_l2;
	int64_t done, total_ns; /* outcome */
};

/* Runs one after another; the clock stands still during reset. */
static enum ss_status batch_with_reset(struct state *state, struct batch *batch) {
	enum ss_status status = SS_OK;
	while (status == SS_OK && batch->done < batch->most && batch->total_ns < batch->longest_ns) {
		state->kernel->reset(state->memory, &state->call);
		crash_cut_begin(batch->cut_s);
		int64_t start = now_ns();
		status = state->kernel->run(state->memory, &state->call);
		batch->total_ns += now_ns() - start;
		crash_cut_end();
		batch->done++;
	}
	return status;
}

/* Reads the clock once in several runs, to keep its cost out of the timed part. */
static enum ss_status batch_bare(struct state *state, struct batch *batch) {
	enum ss_status status = SS_OK;
	crash_cut_begin(batch->cut_s);
	int64_t start = now_ns();
	while (status == SS_OK && batch->done < batch->most && batch->total_ns < batch->longest_ns) {
		int64_t stride = batch->most - batch->done < CLOCK_STRIDE ? batch->most - batch->done : CLOCK_STRIDE;
		for (int64_t i = 0; i < stride && status == SS_OK; i++) {
			status = state->kernel->run(state->memory, &state->call);
			batch->done++;
		}
		batch->total_ns = now_ns() - start;
	}
	crash_cut_end();
	return status;
}

/* Timed by the device's own clock. A reset or an L2 flush between runs keeps them apart, and then the host's time
 * counts against the batch, too: for a kernel of 2 us, waiting between runs takes 50 times as long with some OpenCL
 * drivers. */
static enum ss_status batch_on_device(struct state *state, struct batch *batch) {
	struct gpu *gpu = state->call.gpu;
	void (*reset)(void *, const struct ss_call *) = state->kernel->reset;
	enum ss_status status = SS_OK;
	int64_t start = now_ns();
	while (status == SS_OK && batch->done < batch->most && batch->total_ns < batch->longest_ns &&
	       (batch->done == 0 || now_ns() - start < batch->longest_ns)) {
		int64_t runs = reset || batch->flush_l2 ? 1 : batch->most;
		if (reset)
			reset(state->memory, &state->call);
		if (batch->flush_l2)
			gpu_flush_l2(gpu);
		gpu_clock_start(gpu);
		for (int64_t i = 0; i < runs && status == SS_OK; i++)
			status = state->kernel->run(state->memory, &state->call);
		batch->total_ns += (int64_t)fmax(gpu_clock_stop(gpu) * 1e9, 0);
		batch->done += runs;
		status = status == SS_OK ? cuda_status(&state->call) : status;
	}
	return status;
}

/* Sets *run_s to the mean of the batch, in seconds, and false with the outcome when the kernel failed. */
static bool batch_run(struct state *state, const struct request *request, int64_t most, struct measurement *out,
                      double *run_s) {
	double longest_s = request->min_sample_s > SHORTEST_OVERRUN ? request->min_sample_s : SHORTEST_OVERRUN;
	struct batch batch = {.most = most,
	                      .longest_ns = (int64_t)(OVERRUN * longest_s * 1e9),
	                      .cut_s = most == 1 ? request->cut_s : 0,
	                      .flush_l2 = request->flush_l2};
	out->status = (state->call.gpu        ? batch_on_device
	               : state->kernel->reset ? batch_with_reset
	                                      : batch_bare)(state, &batch);
	*run_s = state->run_s = (double)batch.total_ns * 1e-9 / (double)(batch.done > 0 ? batch.done : 1);
	out->runs = batch.done;
	out->outcome = outcome_of(out->status);
	return out->status == SS_OK;
}

/* Is a run of this length so long that one sample tells enough? */
static bool settles(const struct request *request, double run_s) {
	return request->settles_s > 0 && run_s >= request->settles_s;
}

/* False, with the outcome, if a run of this length cannot win any more. Runs shorter than a sample prove nothing,
 * because the first ones mostly wake threads, touch pages and read the clock. */
static bool within_limit(const struct request *request, double run_s, int64_t runs, struct measurement *out) {
	double most_s = (settles(request, run_s) ? 1 : HOPELESS) * request->limit_s;
	if (request->limit_s <= 0 || run_s <= most_s || run_s * (double)runs < request->min_sample_s)
		return true;
	out->outcome = OUTCOME_CENSORED;
	snprintf(out->message, sizeof out->message, "a run took %.6g s, over the limit of %.6g s", run_s, most_s);
	if (settles(request, run_s) && out->sample_count == 0)
		out->samples[out->sample_count++] = run_s;
	return false;
}

/* Disturbances of threads do not disturb a device. */
static void team_noise_read(const struct state *state, const struct team *team, struct noise *noise) {
	*noise = (struct noise){.involuntary = 0};
	if (!state->call.gpu)
		noise_read(team, noise);
}

/* The first run of a configuration. It is the sample if it is long, and has otherwise warmed up what there is to warm.
 */
static bool first_run(struct state *state, const struct request *request, const struct team *team,
                      struct measurement *out, double *run_s) {
	struct noise before, after;
	team_noise_read(state, team, &before);
	if (!batch_run(state, request, 1, out, run_s))
		return false;
	team_noise_read(state, team, &after);
	out->noise = noise_since(&before, &after);
	if (!state->call.gpu && settles(request, *run_s / AT_ONCE)) {
		out->samples[0] = *run_s;
		out->sample_count = 1;
		out->runs_sampled = 1;
	}
	return true;
}

/* A run that can no longer win need not be right. */
static bool verify(struct state *state, const struct request *request, const struct team *team,
                   struct measurement *out) {
	double run_s;
	int64_t start;
	if (request->verify == VERIFY_NEVER || (request->verify == VERIFY_ONCE && state->verified))
		return true;
	if (!first_run(state, request, team, out, &run_s) ||
	    (settles(request, run_s) && !within_limit(request, run_s, 1, out)))
		return false;
	start = now_ns();
	if (state->call.gpu) /* the host computes references, and has nothing else to do */
		omp_set_num_threads(omp_get_num_procs());
	out->status = state->kernel->verify ? state->kernel->verify(state->memory, &state->call) : SS_OK;
	if (state->call.gpu)
		omp_set_num_threads(team_threads(team));
	out->verify_s = (double)(now_ns() - start) * 1e-9;
	out->answer_s = state_answer_take(state);
	out->outcome = outcome_of(out->status);
	state->verified = out->status == SS_OK;
	return state->verified && within_limit(request, run_s, 1, out);
}

/* Grows the batch until it lasts long enough. The last try counts as a warm-up. */
static bool batch_find(struct state *state, const struct request *request, struct measurement *out) {
	double wanted = request->min_sample_s, run_s;
	int64_t batch = state->batch_min_s == wanted && state->batch > 0 ? state->batch : 1, longest = 1;
	int cuts = 0;
	for (;;) {
		if (!batch_run(state, request, batch, out, &run_s) || !within_limit(request, run_s, batch, out))
			return false;
		double took = run_s * (double)batch;
		if (took >= wanted || batch >= BATCH_MAX)
			break;
		if (out->runs < batch) { /* the host's time was over; once more, because it may have been a hiccup */
			longest = out->runs > longest ? out->runs : longest;
			if (++cuts == CUTS) {
				batch = longest;
				break;
			}
			continue;
		}
		double factor = took > 0 ? 1.2 * wanted / took : BATCH_GROWTH;
		factor = factor > BATCH_GROWTH ? BATCH_GROWTH : factor;
		batch = (int64_t)((double)batch * factor) + 1;
		batch = batch > BATCH_MAX ? BATCH_MAX : batch;
	}
	state->batch = batch;
	state->batch_min_s = wanted;
	return true;
}

/* A single run of the last batch was long enough for a sample. */
static bool is_alone(const struct state *state, const struct request *request) {
	return state->batch <= 1 && settles(request, state->run_s) && state->run_s >= request->min_sample_s;
}

static bool warm_up(struct state *state, const struct request *request, struct measurement *out) {
	int left = request->warmup;
	double run_s;
	if (is_alone(state, request)) {
		state->batch = 1;
		state->batch_min_s = request->min_sample_s;
		left = 0;
	} else if (state->batch == 0 || state->batch_min_s != request->min_sample_s) {
		if (!batch_find(state, request, out))
			return false;
		left--;
	}
	for (; left > 0; left--)
		if (!batch_run(state, request, state->batch, out, &run_s) || !within_limit(request, run_s, state->batch, out))
			return false;
	return true;
}

/* True if the median of all samples is bound to exceed the limit, whatever the remaining ones are. */
static bool median_lost(const struct request *request, int samples, struct measurement *out) {
	int over = 0;
	double least = 0;
	for (size_t i = 0; i < out->sample_count; i++) {
		if (out->samples[i] > request->limit_s) {
			least = over == 0 || out->samples[i] < least ? out->samples[i] : least;
			over++;
		}
	}
	if (request->limit_s <= 0 || 2 * over <= samples)
		return false;
	out->outcome = OUTCOME_CENSORED;
	snprintf(out->message, sizeof out->message, "%d of %d samples were over the limit of %.6g s, by %.3g times or more",
	         over, samples, request->limit_s, least / request->limit_s);
	return true;
}

/* The GPU's energy so far. It is read around whole samples only, because reading takes a while. */
static double energy_now(const struct state *state, const struct request *request) {
	struct gpu_health health = {.energy_j = NAN};
	if (request->energy)
		gpu_health(state->call.gpu, &health);
	return health.energy_j;
}

/* False if a sample came out too short for its batch, which was sized under a disturbance. */
static bool take_samples(struct state *state, const struct request *request, bool retake, struct measurement *out) {
	double run_s;
	int samples = is_alone(state, request) && request->samples > 1 ? 1 : request->samples;
	out->sample_count = 0;
	out->runs_sampled = 0;
	for (int i = 0; i < samples; i++) {
		double before = energy_now(state, request);
		if (!batch_run(state, request, state->batch, out, &run_s))
			return true;
		out->runs_sampled += out->runs;
		if (retake && run_s * (double)state->batch < SHORTEST * request->min_sample_s && state->batch < BATCH_MAX)
			return false;
		if (request->energy)
			out->energies[out->sample_count] = (energy_now(state, request) - before) / (double)out->runs;
		out->samples[out->sample_count++] = run_s;
		if (median_lost(request, samples, out))
			return true;
	}
	return true;
}

static void measure_samples(struct state *state, const struct request *request, const struct team *team,
                            struct measurement *out) {
	struct noise before, after;
	for (int attempt = 0;; attempt++) {
		team_noise_read(state, team, &before);
		if (state->call.gpu)
			gpu_launches_forget(state->call.gpu); /* setup and verify are not timed */
		if (take_samples(state, request, attempt < RETAKES, out))
			break;
		if (!batch_find(state, request, out))
			return;
	}
	if (state->call.gpu)
		gpu_health_lately(state->call.gpu, HEALTH_AGE_S, &out->health); /* while its clocks are still up */
	team_noise_read(state, team, &after);
	out->noise = noise_since(&before, &after);
}

void measure_state(struct arena *arena, struct state *state, const struct request *request, const struct team *team,
                   struct measurement *out) {
	*out = (struct measurement){.outcome = OUTCOME_CORRECT, .health = {NAN, NAN, NAN, NAN, NAN, 0, NAN}};
	out->samples = arena_alloc(arena, (size_t)request->samples + 1, sizeof *out->samples);
	out->energies = request->energy ? arena_alloc(arena, (size_t)request->samples + 1, sizeof *out->energies) : NULL;
	state->message[0] = '\0';
	if (verify(state, request, team, out) && out->sample_count == 0 && warm_up(state, request, out))
		measure_samples(state, request, team, out);
	out->verified = state->verified;
	if (out->status != SS_OK) {
		memcpy(out->message, state->message, sizeof out->message);
		word_clean(out->message, sizeof out->message);
	}
}
