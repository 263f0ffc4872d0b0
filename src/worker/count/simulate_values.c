/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/worker/count/simulate.h"
#include "src/worker/count/simulate_harvest.h"

/* The thread of the team whose mark it has; -1: none. */
static int part_thread(const struct simulate_part *part, int threads) {
	static const char head[] = "Client Request: " SIMULATE_MARK;
	char again[SIMULATE_TRIGGER];
	if (strncmp(part->trigger, head, sizeof head - 1) != 0) {
		return -1;
	}
	int thread = atoi(part->trigger + sizeof head - 1);
	snprintf(again, sizeof again, "%s%d", head, thread);
	return thread >= 0 && thread < threads && strcmp(again, part->trigger) == 0 ? thread : -1;
}

static const struct simulate_part *part_of_thread(const struct simulate_harvest *harvest, int thread, int threads) {
	for (size_t i = 0; i < harvest->count; i++) {
		if (part_thread(&harvest->parts[i], threads) == thread) {
			return &harvest->parts[i];
		}
	}
	return NULL;
}

/* True if this valgrind thread has a mark. */
static bool is_ours(const struct simulate_harvest *harvest, int number, int threads) {
	for (size_t i = 0; i < harvest->count; i++) {
		if (harvest->parts[i].thread == number && part_thread(&harvest->parts[i], threads) >= 0) {
			return true;
		}
	}
	return false;
}

/* Each thread of the team has exactly one file with its mark, and no other thread did anything. */
static const char *harvest_check(const struct simulate_harvest *harvest, int threads) {
	int marks = 0;
	for (size_t i = 0; i < harvest->count; i++) {
		if (harvest->parts[i].thread == 0) {
			return "one belongs to no thread";
		}
		marks += part_thread(&harvest->parts[i], threads) >= 0;
		if (!is_ours(harvest, harvest->parts[i].thread, threads) &&
		    harvest->parts[i].values[cachegrind_column_find("Ir")] > 0) {
			return "the kernel runs threads of its own, which cannot be distinguished from earlier ones";
		}
	}
	return marks == threads ? NULL : "a thread lacks one";
}

bool simulate_values_read(const char *folder, int threads, double *values, char model[SIMULATION_MODEL],
                          char reason[2 * COUNTER_REASON]) {
	struct simulate_harvest harvest = {.count = 0};
	const char *wrong = simulate_harvest_read(folder, "", &harvest);
	wrong = wrong ? wrong : harvest_check(&harvest, threads);
	for (int t = 0; t < threads && !wrong; t++) {
		const struct simulate_part *part = part_of_thread(&harvest, t, threads);
		if (!part) {
			wrong = "a thread has two";
			break;
		}
		memcpy(values + (size_t)t * CACHEGRIND_EVENTS, part->values, sizeof part->values);
		snprintf(model, SIMULATION_MODEL, "I1 %s; D1 %s; LL %s", part->caches[0], part->caches[1], part->caches[2]);
	}
	if (wrong) {
		snprintf(reason, 2 * COUNTER_REASON, "valgrind's files: %s", wrong);
	}
	simulate_harvest_free(&harvest);
	return !wrong;
}
