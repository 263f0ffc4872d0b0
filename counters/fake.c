/* SPDX-License-Identifier: BSD-3-Clause */
/* The template for new backends, without hardware. Its values are always the same, one for each status, and it refuses
 * calls in the wrong order. */
#include <string.h>

#include "counters/backend/counter.h"

enum phase { CLOSED, OPEN, RUNNING, STOPPED };

struct fake {
	enum phase phase;
	const char *const *names;
	size_t count;
};

static const char *const events[] = {"fake-counted", "fake-scaled", "fake-simulated", "fake-unavailable", NULL};

static void fake_probe(struct counter_probe *probe) {
	*probe = (struct counter_probe){.usable = true, .reason = "constants, to test the readers of counters"};
}

static int fake_step(struct fake *fake, bool allowed, enum phase next) {
	if (!allowed)
		return -1;
	fake->phase = next;
	return 0;
}

static int fake_open(void *state, const struct counter_site *site, const char *const *names, size_t count) {
	struct fake *fake = state;
	(void)site;
	fake->names = names;
	fake->count = count;
	return fake_step(fake, fake->phase == CLOSED, OPEN);
}

static int fake_start(void *state) {
	struct fake *fake = state;
	return fake_step(fake, fake->phase == OPEN || fake->phase == STOPPED, RUNNING);
}

static int fake_stop(void *state) {
	struct fake *fake = state;
	return fake_step(fake, fake->phase == RUNNING, STOPPED);
}

static void fake_value(struct counter_value *value, const char *name) {
	int status = COUNTER_COUNTED;
	while (status < COUNTER_UNAVAILABLE && strcmp(events[status], name) != 0)
		status++;
	counter_value_set(value, name, "count", 1000.0 * (status + 1));
	value->status = (enum counter_status)status;
	if (status == COUNTER_UNAVAILABLE)
		counter_value_miss(value, name, "count", "never counted by design");
}

static int fake_read(void *state, struct counter_value *values) {
	const struct fake *fake = state;
	if (fake->phase != STOPPED)
		return -1;
	for (size_t i = 0; i < fake->count; i++)
		fake_value(&values[i], fake->names[i]);
	return 0;
}

static void fake_close(void *state) {
	struct fake *fake = state;
	fake->phase = CLOSED;
}

const struct counter_backend counter_fake = {
	.name = "fake",
	.summary = "constants, for tests and as a template",
	.state_size = sizeof(struct fake),
	.events = events,
	.probe = fake_probe,
	.open = fake_open,
	.start = fake_start,
	.stop = fake_stop,
	.read = fake_read,
	.close = fake_close,
};
