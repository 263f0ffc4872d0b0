/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts a GPU's activity: kernels, copies and fills, with the times that the device itself measured. */
#include <math.h>

#include "counters/cupti/cupti.h"

struct activity {
	const char *const *names;
	size_t count;
	struct gpu *gpu;
	struct cupti_totals totals;
	char reason[COUNTER_REASON]; /* empty: counted */
};

/* Name of an event, and its member of struct cupti_totals. */
#define FIELDS(X)                                                                                                      \
	X(kernel_time, kernel_seconds)                                                                                     \
	X(kernel_launches, launches)                                                                                       \
	X(up_time, copy_seconds[CUPTI_UP])                                                                                 \
	X(up_bytes, copy_bytes[CUPTI_UP])                                                                                  \
	X(up_copies, copies[CUPTI_UP])                                                                                     \
	X(down_time, copy_seconds[CUPTI_DOWN])                                                                             \
	X(down_bytes, copy_bytes[CUPTI_DOWN])                                                                              \
	X(down_copies, copies[CUPTI_DOWN])                                                                                 \
	X(across_time, copy_seconds[CUPTI_ACROSS])                                                                         \
	X(across_bytes, copy_bytes[CUPTI_ACROSS])                                                                          \
	X(across_copies, copies[CUPTI_ACROSS])                                                                             \
	X(peer_time, copy_seconds[CUPTI_PEER])                                                                             \
	X(peer_bytes, copy_bytes[CUPTI_PEER])                                                                              \
	X(peer_copies, copies[CUPTI_PEER])                                                                                 \
	X(set_time, set_seconds)                                                                                           \
	X(set_bytes, set_bytes)                                                                                            \
	X(sets, sets)                                                                                                      \
	X(span_time, span_seconds)

#define FIELD_NAME(name, member) #name,
static const char *const events[] = {FIELDS(FIELD_NAME) NULL};

/* NAN: there is no such event. */
static double value_of(const struct cupti_totals *totals, const char *name) {
#define FIELD_VALUE(event, member)                                                                                     \
	if (strcmp(name, #event) == 0)                                                                                     \
		return (double)totals->member;
	FIELDS(FIELD_VALUE)
	return NAN;
}

static const char *unit_of(const char *name) {
	return strstr(name, "_time") ? "s" : strstr(name, "_bytes") ? "B" : "count";
}

static bool activity_can(const char *event, const struct counter_site *site, char reason[COUNTER_REASON]) {
	static const struct cupti_totals none;
	if (isnan(value_of(&none, event)))
		snprintf(reason, COUNTER_REASON, "cupti-activity does not have an event %.100s", event);
	else if (!site->gpu)
		snprintf(reason, COUNTER_REASON, "it counts on a GPU, but this does not run on one (--device cuda)");
	return !reason[0];
}

static int activity_open(void *state, const struct counter_site *site, const char *const *names, size_t count) {
	struct activity *s = state;
	*s = (struct activity){.names = names, .count = count, .gpu = site->gpu};
	for (size_t i = 0; i < count; i++)
		if (!activity_can(names[i], site, s->reason))
			return -1;
	return 0;
}

static int activity_start(void *state) {
	struct activity *s = state;
	s->reason[0] = '\0';
	gpu_sync(s->gpu);
	cupti_activity_start(s->reason);
	return 0;
}

static int activity_stop(void *state) {
	struct activity *s = state;
	gpu_sync(s->gpu);
	if (!s->reason[0])
		cupti_activity_stop(&s->totals, s->reason);
	return 0;
}

static int activity_read(void *state, struct counter_value *values) {
	const struct activity *s = state;
	for (size_t i = 0; i < s->count; i++) {
		const char *name = s->names[i], *unit = unit_of(name);
		if (s->reason[0])
			counter_value_miss(&values[i], name, unit, "%s", s->reason);
		else
			counter_value_set(&values[i], name, unit, value_of(&s->totals, name));
		if (!s->reason[0] && s->totals.dropped > 0)
			snprintf(values[i].reason, sizeof values[i].reason, "too little: CUPTI dropped %ld records",
			         s->totals.dropped);
	}
	return 0;
}

static void activity_close(void *state) {
	(void)state;
}

static json_t *shape_json(const int shape[3]) {
	return json_pack("[i, i, i]", shape[0], shape[1], shape[2]);
}

static json_t *activity_details(void *state) {
	const struct activity *s = state;
	json_t *rows = json_array();
	for (size_t i = 0; i < s->totals.kernel_count && !s->reason[0]; i++) {
		const struct cupti_kernel *k = &s->totals.kernels[i];
		json_array_append_new(rows, json_pack("{s:s, s:I, s:f, s:i, s:i, s:i, s:o, s:o}", "name", k->name, "launches",
		                                      (json_int_t)k->launches, "seconds", k->seconds, "registers", k->registers,
		                                      "shared_static", k->shared_static, "shared_dynamic", k->shared_dynamic,
		                                      "grid", shape_json(k->grid), "block", shape_json(k->block)));
	}
	return json_pack("{s:o}", "kernels", rows);
}

const struct counter_backend counter_cupti_activity = {
	.name = "cupti-activity",
	.summary = "kernels, copies and fills of NVIDIA GPUs and how long the device took for them",
	.scope = COUNTER_MACHINE,
	.state_size = sizeof(struct activity),
	.events = events,
	.probe = cupti_probe,
	.can = activity_can,
	.open = activity_open,
	.start = activity_start,
	.stop = activity_stop,
	.read = activity_read,
	.details = activity_details,
	.close = activity_close,
};
