/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "counters/plan.h"

#include <string.h>

#include "src/base/expr.h"
#include "src/base/near.h"

enum { PLAN_EVENTS_MAX = 256, PLAN_WORDS_MAX = 64 };

static int unknown(const char *word, struct err *err) {
	const char *known[PLAN_WORDS_MAX];
	size_t count = 0;
	while (count < PLAN_WORDS_MAX && counter_registry[count]) {
		known[count] = counter_registry[count]->name;
		count++;
	}
	const char *near = near_word(word, known, count);
	err_set(err, ERR_USAGE, "`sweetspot list counters` shows them", "there are no counters \"%.100s\"", word);
	return near ? err_hint(err, "did you mean %s?", near) : -1;
}

static void backend_add(struct counter_plan *plan, const struct counter_backend *backend,
                        const struct counter_judge *judge) {
	for (size_t i = 0; backend->events[i] && plan->event_count < PLAN_EVENTS_MAX; i++) {
		struct counter_event *event = &plan->events[plan->event_count++];
		*event = (struct counter_event){.name = backend->events[i], .event = backend->events[i]};
		if (judge->good(judge->ctx, backend, event->event, 0, event->reason))
			event->backend = backend;
	}
}

struct counter_plan *counter_plan_new(struct arena *arena, const struct counter_tables *tables,
                                      const char *const *asked, const struct counter_software *software,
                                      const struct counter_judge *judge, struct err *err) {
	struct counter_plan *plan = arena_alloc(arena, 1, sizeof *plan);
	(void)tables;
	(void)software;
	plan->events = arena_alloc(arena, PLAN_EVENTS_MAX, sizeof *plan->events);
	for (; *asked; asked++) {
		const struct counter_backend *backend = counter_find(*asked);
		if (!backend) {
			unknown(*asked, err);
			return NULL;
		}
		backend_add(plan, backend, judge);
	}
	return plan;
}

void counter_plan_clear(struct counter_plan *plan) {
	for (size_t i = 0; plan && i < plan->metric_count; i++)
		expr_free(plan->metrics[i].expr);
}
