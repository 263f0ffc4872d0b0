/* SPDX-License-Identifier: BSD-3-Clause */
/* Hardware metrics of a GPU. Some take several passes, for which the same work is run again (`more`). The clock is left
 * alone. A refusal in the middle of a trial becomes the reason of its values, and the trial goes on. */
#include "counters/cupti/cupti.h"

#include <math.h>

static const char *const events[] = {CUPTI_LAUNCH_TIME,
                                     "sm__warps_active.avg.pct_of_peak_sustained_active",
                                     "smsp__cycles_active.avg.pct_of_peak_sustained_elapsed",
                                     "smsp__inst_executed.sum",
                                     "dram__bytes.sum",
                                     NULL};

struct cupti_state {
	const char *const *names;
	size_t count;
	struct gpu *gpu;
	struct cupti_chip *chip;
	struct cupti_range *range; /* NULL: refused for `reason` */
	char reason[COUNTER_REASON];
};

/* Fails only if fewer events might be counted together; other refusals become reasons. */
static int cupti_open(void *state, const struct counter_site *site, const char *const *names, size_t count) {
	struct cupti_state *s = state;
	*s = (struct cupti_state){.names = names, .count = count, .gpu = site->gpu};
	s->chip = cupti_site_chip(site, s->reason);
	return s->chip && cupti_chip_passes(s->chip, names, count, s->reason) == 0 && count > 1 ? -1 : 0;
}

static size_t cupti_passes(const struct counter_site *site, const char *const *names, size_t count) {
	char reason[COUNTER_REASON];
	struct cupti_chip *chip = cupti_site_chip(site, reason);
	return chip ? cupti_chip_passes(chip, names, count, reason) : 0;
}

static void cupti_close(void *state) {
	struct cupti_state *s = state;
	cupti_range_free(s->range);
	s->range = NULL;
}

static void give_up(struct cupti_state *s) {
	if (!s->reason[0])
		snprintf(s->reason, sizeof s->reason, "the GPU failed during the run");
	cupti_close(s);
}

/* The device is idle before and after, so the range contains only this work. */
static int cupti_start(void *state) {
	struct cupti_state *s = state;
	if (s->reason[0])
		return 0;
	gpu_sync(s->gpu);
	if (!s->range)
		s->range = cupti_range_new(s->chip, gpu_context(s->gpu), s->names, s->count, s->reason);
	if (s->range && !cupti_range_begin(s->range, s->reason))
		give_up(s);
	return 0;
}

static int cupti_stop(void *state) {
	struct cupti_state *s = state;
	bool fine = s->range && cupti_range_end(s->range, s->reason);
	if (s->gpu)
		gpu_sync(s->gpu);
	if (s->range && !(fine && cupti_range_settle(s->range, s->reason)))
		give_up(s);
	return 0;
}

static bool cupti_more(void *state) {
	const struct cupti_state *s = state;
	return s->range && cupti_range_more(s->range);
}

static int cupti_read(void *state, struct counter_value *values) {
	struct cupti_state *s = state;
	double raw[COUNTER_OPEN_MAX];
	bool told = s->range && cupti_range_values(s->range, raw, s->reason);
	for (size_t i = 0; i < s->count; i++) {
		double scale = 1;
		const char *unit = s->chip ? cupti_chip_unit(s->chip, s->names[i], &scale) : "count";
		if (told && isfinite(raw[i]))
			counter_value_set(&values[i], s->names[i], unit, raw[i] * scale);
		else
			counter_value_miss(&values[i], s->names[i], unit, "%s", told ? "CUPTI did not return a value" : s->reason);
	}
	return 0;
}

const struct counter_backend counter_cupti = {
	.name = "cupti",
	.summary = "hardware metrics of NVIDIA GPUs, in as many runs as CUPTI needs passes",
	.scope = COUNTER_MACHINE,
	.state_size = sizeof(struct cupti_state),
	.events = events,
	.probe = cupti_probe,
	.can = cupti_site_can,
	.open = cupti_open,
	.start = cupti_start,
	.stop = cupti_stop,
	.more = cupti_more,
	.passes = cupti_passes,
	.read = cupti_read,
	.close = cupti_close,
};
