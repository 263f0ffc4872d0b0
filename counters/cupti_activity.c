/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts a GPU's activity: kernels, copies and fills, with the times that the device itself measured. */
#include "counters/cupti/cupti.h"
#include "gpu/open.h"

struct activity {
	const char *const *names;
	size_t count;
	struct gpu *gpu;
	struct cupti_totals totals;
	char reason[COUNTER_REASON]; /* empty: counted */
};

enum field {
	KERNEL_TIME,
	KERNEL_LAUNCHES,
	UP_TIME,
	UP_BYTES,
	UP_COPIES,
	DOWN_TIME,
	DOWN_BYTES,
	DOWN_COPIES,
	ACROSS_TIME,
	ACROSS_BYTES,
	ACROSS_COPIES,
	PEER_TIME,
	PEER_BYTES,
	PEER_COPIES,
	SET_TIME,
	SET_BYTES,
	SETS,
	SPAN_TIME,
	FIELDS
};

static const char *const events[] = {
	[KERNEL_TIME] = "kernel_time",
	[KERNEL_LAUNCHES] = "kernel_launches",
	[UP_TIME] = "up_time",
	[UP_BYTES] = "up_bytes",
	[UP_COPIES] = "up_copies",
	[DOWN_TIME] = "down_time",
	[DOWN_BYTES] = "down_bytes",
	[DOWN_COPIES] = "down_copies",
	[ACROSS_TIME] = "across_time",
	[ACROSS_BYTES] = "across_bytes",
	[ACROSS_COPIES] = "across_copies",
	[PEER_TIME] = "peer_time",
	[PEER_BYTES] = "peer_bytes",
	[PEER_COPIES] = "peer_copies",
	[SET_TIME] = "set_time",
	[SET_BYTES] = "set_bytes",
	[SETS] = "sets",
	[SPAN_TIME] = "span_time",
	[FIELDS] = NULL,
};

static double copy_value(const struct cupti_totals *totals, enum field field) {
	enum cupti_copy way = (enum cupti_copy)((field - UP_TIME) / 3);
	switch ((field - UP_TIME) % 3) {
	case 0:
		return totals->copy_seconds[way];
	case 1:
		return totals->copy_bytes[way];
	default:
		return (double)totals->copies[way];
	}
}

static double book_value(const struct cupti_totals *totals, enum field field) {
	switch (field) {
	case KERNEL_TIME:
		return totals->kernel_seconds;
	case KERNEL_LAUNCHES:
		return (double)totals->launches;
	case SET_TIME:
		return totals->set_seconds;
	case SET_BYTES:
		return totals->set_bytes;
	case SETS:
		return (double)totals->sets;
	case SPAN_TIME:
		return totals->span_seconds;
	default:
		return copy_value(totals, field);
	}
}

static const char *unit_of(const char *name) {
	return strstr(name, "_time") ? "s" : strstr(name, "_bytes") ? "B" : "count";
}

static enum field field_of(const char *name) {
	int field = 0;
	while (field < FIELDS && strcmp(events[field], name) != 0)
		field++;
	return (enum field)field;
}

static bool activity_can(const char *event, const struct counter_site *site, char reason[COUNTER_REASON]) {
	if (field_of(event) == FIELDS)
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
			counter_value_set(&values[i], name, unit, book_value(&s->totals, field_of(name)));
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
