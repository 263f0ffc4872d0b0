/* SPDX-License-Identifier: BSD-3-Clause */
/* Hardware metrics by function of a GPU: of each function and size of its launches some are counted by themselves, the
 * first, the second, the fourth and so on, because each of them costs milliseconds. Those of a size represent all of
 * that size: without sizes, a function that is launched in turn on a narrow strip and on the rest would be judged by
 * its strips. Rates count by the time that launches take. The device runs nothing else meanwhile, so functions that
 * overlap otherwise do not here. A refusal becomes the reason of the values, and the trial goes on. */
#include <math.h>
#include <stdlib.h>

#include "counters/cupti/cupti.h"
#include "lib/cuda/format.h"

enum { FUNCTIONS = 64, LAUNCHES = 256, LAUNCHES_EACH = 8 };

struct function {
	const char *name; /* lives as long as the gpu */
	int64_t launches[CUDA_SIZES];
	int counted[CUDA_SIZES];
};

/* A launch that was counted. */
struct launch {
	unsigned char function, size;
};

struct functions {
	const char *const *names;
	size_t count;
	struct gpu *gpu;
	struct gpu_watcher watcher;
	struct cupti_chip *chip;
	struct cupti_range *range; /* NULL: refused for `reason` */
	bool inside;               /* a launch that is counted */
	struct function functions[FUNCTIONS];
	size_t function_count, launch_count;
	struct launch launches[LAUNCHES]; /* those that were counted */
	double *values;                   /* of each of them, its metrics in our units; NULL: none */
	char reason[COUNTER_REASON];
};

static const char *const events[] = {CUPTI_LAUNCH_TIME, "sm__throughput.avg.pct_of_peak_sustained_elapsed",
                                     "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
                                     "sm__warps_active.avg.pct_of_peak_sustained_active", NULL};

static struct function *function_find(struct functions *s, const char *name) {
	for (size_t i = 0; i < s->function_count; i++)
		if (strcmp(s->functions[i].name, name) == 0)
			return &s->functions[i];
	if (s->function_count == FUNCTIONS)
		return NULL;
	s->functions[s->function_count] = (struct function){.name = name};
	return &s->functions[s->function_count++];
}

static void give_up(struct functions *s) {
	cupti_range_free(s->range);
	s->range = NULL;
}

static size_t size_of(const struct gpu_shape *shape) {
	double threads = 1;
	for (size_t i = 0; i < 3; i++)
		threads *= (double)shape->grid[i] * shape->block[i];
	return cuda_launch_size(threads);
}

static void launch_before(void *ctx, const char *name, const struct gpu_shape *shape) {
	struct functions *s = ctx;
	struct function *function = function_find(s, name);
	if (!function)
		return;
	size_t size = size_of(shape);
	int64_t n = ++function->launches[size];
	if (!s->range || (n & (n - 1)) != 0 || function->counted[size] == LAUNCHES_EACH ||
	    s->launch_count == cupti_launches_room(s->range))
		return;
	s->inside = cupti_launch_begin(s->range, s->reason);
	if (!s->inside) {
		give_up(s);
		return;
	}
	function->counted[size]++;
	s->launches[s->launch_count++] = (struct launch){(unsigned char)(function - s->functions), (unsigned char)size};
}

static void launch_after(void *ctx) {
	struct functions *s = ctx;
	if (s->inside && !cupti_launch_end(s->range, s->reason))
		give_up(s);
	s->inside = false;
}

static int functions_open(void *state, const struct counter_site *site, const char *const *names, size_t count) {
	struct functions *s = state;
	*s = (struct functions){.names = names, .count = count, .gpu = site->gpu};
	s->watcher = (struct gpu_watcher){launch_before, launch_after, s};
	s->chip = cupti_site_chip(site, s->reason);
	return s->chip && cupti_chip_passes(s->chip, names, count, s->reason) == 0 && count > 1 ? -1 : 0;
}

static int functions_start(void *state) {
	struct functions *s = state;
	if (!s->chip)
		return 0;
	gpu_sync(s->gpu);
	s->function_count = s->launch_count = 0;
	s->reason[0] = '\0';
	s->range = cupti_launches_new(s->chip, gpu_context(s->gpu), s->names, s->count, LAUNCHES, s->reason);
	gpu_watch(s->gpu, &s->watcher);
	return 0;
}

/* In our units, as the host's interface describes them. */
static void values_scale(struct functions *s) {
	for (size_t m = 0; m < s->count; m++) {
		double scale;
		cupti_chip_unit(s->chip, s->names[m], &scale);
		for (size_t i = 0; i < s->launch_count; i++)
			s->values[i * s->count + m] *= scale;
	}
}

static int functions_stop(void *state) {
	struct functions *s = state;
	if (!s->chip)
		return 0;
	gpu_watch(s->gpu, NULL);
	gpu_sync(s->gpu);
	free(s->values);
	s->values = s->range ? calloc(s->launch_count * s->count + 1, sizeof *s->values) : NULL;
	if (s->values && s->launch_count > 0 && cupti_launches_values(s->range, s->values, s->reason)) {
		values_scale(s);
	} else {
		if (!s->reason[0])
			snprintf(s->reason, sizeof s->reason, "no launch could be counted: those of graphs can't be");
		free(s->values);
		s->values = NULL;
	}
	give_up(s);
	return 0;
}

/* One run is enough, and no other may follow: the backend decides itself which launches are repeated. */
static bool functions_more(void *state) {
	(void)state;
	return false;
}

struct spread {
	double least, sum, weight, most;
	size_t count;
};

/* Launches that this one represents, times its seconds if the metric is a rate and the seconds are known. */
static double weight_of(const struct functions *s, size_t launch, size_t metric) {
	const struct function *function = &s->functions[s->launches[launch].function];
	size_t size = s->launches[launch].size;
	double weight = (double)function->launches[size] / function->counted[size];
	for (size_t m = 0; m < s->count && !cupti_is_amount(s->names[metric]); m++)
		if (strcmp(s->names[m], CUPTI_LAUNCH_TIME) == 0)
			weight *= s->values[launch * s->count + m];
	return weight;
}

/* function SIZE_MAX: all launches. */
static struct spread spread_of(const struct functions *s, size_t function, size_t metric) {
	struct spread spread = {.least = INFINITY, .most = -INFINITY};
	for (size_t i = 0; s->values && i < s->launch_count; i++) {
		double value = s->values[i * s->count + metric], weight = weight_of(s, i, metric);
		if ((function != SIZE_MAX && s->launches[i].function != function) || !isfinite(value) || !(weight > 0))
			continue;
		spread.least = fmin(spread.least, value);
		spread.most = fmax(spread.most, value);
		spread.sum += weight * value;
		spread.weight += weight;
		spread.count++;
	}
	return spread;
}

static int functions_read(void *state, struct counter_value *values) {
	const struct functions *s = state;
	for (size_t m = 0; m < s->count; m++) {
		double scale;
		const char *unit = s->chip ? cupti_chip_unit(s->chip, s->names[m], &scale) : "count";
		struct spread all = spread_of(s, SIZE_MAX, m);
		if (all.count > 0)
			counter_value_set(&values[m], s->names[m], unit, all.sum / all.weight);
		else
			counter_value_miss(&values[m], s->names[m], unit, "%s",
			                   s->reason[0] ? s->reason : "CUPTI did not return a value");
		if (all.count > 0)
			snprintf(values[m].reason, sizeof values[m].reason, "estimated from %zu launches that were counted",
			         all.count);
	}
	return 0;
}

static json_t *metrics_json(const struct functions *s, size_t function) {
	json_t *rows = json_array();
	for (size_t m = 0; m < s->count; m++) {
		struct spread spread = spread_of(s, function, m);
		double scale;
		if (spread.count > 0)
			json_array_append_new(rows, json_pack("{s:s, s:s, s:f, s:f, s:f}", "name", s->names[m], "unit",
			                                      cupti_chip_unit(s->chip, s->names[m], &scale), "least", spread.least,
			                                      "mean", spread.sum / spread.weight, "most", spread.most));
	}
	return rows;
}

static json_t *functions_details(void *state) {
	const struct functions *s = state;
	json_t *rows = json_array();
	for (size_t f = 0; s->values && f < s->function_count; f++) {
		json_int_t launches = 0, counted = 0;
		for (size_t size = 0; size < CUDA_SIZES; size++) {
			launches += s->functions[f].launches[size];
			counted += s->functions[f].counted[size];
		}
		json_array_append_new(rows, json_pack("{s:s, s:I, s:I, s:o}", "name", s->functions[f].name, "launches",
		                                      launches, "counted", counted, "counters", metrics_json(s, f)));
	}
	return json_pack("{s:o}", "functions", rows);
}

static void functions_close(void *state) {
	struct functions *s = state;
	if (s->gpu && s->chip)
		gpu_watch(s->gpu, NULL);
	give_up(s);
	free(s->values);
	s->values = NULL;
}

const struct counter_backend counter_cupti_functions = {
	.name = "cupti-functions",
	.summary = "hardware metrics of NVIDIA GPUs by function, of some launches of each",
	.scope = COUNTER_MACHINE,
	.state_size = sizeof(struct functions),
	.events = events,
	.probe = cupti_probe,
	.can = cupti_site_can,
	.open = functions_open,
	.start = functions_start,
	.stop = functions_stop,
	.more = functions_more,
	.read = functions_read,
	.details = functions_details,
	.close = functions_close,
};
