/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recorded machines (machines/NAME.json): the events of each backend there, and which of them count 0. The backends
 * of this file only have names; the machine decides what they can count. */
#ifndef TESTS_COUNTERS_MACHINE_H
#define TESTS_COUNTERS_MACHINE_H
#include "counters/plan/plan.h"

struct machine {
	json_t *json;
	int asked;       /* the questions asked since it was read */
	int simulations; /* of these, of the simulator */
};

struct machine *machine_read(const char *name);
/* One that has all there is. */
struct machine *machine_perfect(const char *cpu);
void machine_free(struct machine *machine);
struct counter_judge machine_judge(struct machine *machine);
/* Does it have this event, and does that count over the loop, if that is asked for? source: BACKEND:EVENT. */
bool machine_counts(const struct machine *machine, const char *source, bool loop);

/* The tables of the sources that are tested. */
struct counter_tables *machine_tables(struct err *err);
/* Like counter_plan_new, for words separated by blanks. */
struct counter_plan *machine_plan(struct machine *machine, struct arena *arena, const struct counter_tables *tables,
                                  const char *words, const struct counter_software *software, struct err *err);

#endif
