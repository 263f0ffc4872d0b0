/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests the opening of auto: with a baseline every word of the most decisive parameter is tried around the best so far;
 * without one, or with sources, there is no opening. */
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"
#include "tests/tuner/search/land.h"
#include "tests/tuner/space/help.h"
#include "tuner/search/search.h"

enum { VARIANTS = 5, BUDGET = 40 };

static struct search *begin(const struct strategy_task *task) {
	struct err err = {0};
	struct search *search = search_new(strategy_find("auto"), task, &err);
	if (!search)
		exit(1);
	return search;
}

static size_t variant_of(const struct space *space, uint64_t index) {
	int config[SPACE_PARAMS_MAX];
	space_config(space, index, config);
	return (size_t)config[space_param_find(space, "variant")];
}

/* The number of variants among the first VARIANTS evaluations, the baseline included. */
static size_t variants(const struct land *land, const struct strategy_task *task, char *phase, size_t size) {
	struct search *search = begin(task);
	bool seen[VARIANTS] = {false};
	size_t count = 0;
	uint64_t index = land->start;
	for (size_t i = 0; i < VARIANTS; i++) {
		if (i > 0 && search_ask(search, &index, 1) != 1)
			break;
		size_t variant = variant_of(land->space, index);
		count += !seen[variant];
		seen[variant] = true;
		if (i == 1)
			snprintf(phase, size, "%s", search_phase(search));
		search_tell_value(search, index, STRATEGY_VALUE, land->time[index]);
	}
	search_free(search);
	return count;
}

/* The proposals after all variants must be around the best of them. */
static bool goes_on_from_best(const struct land *land, const struct strategy_task *task) {
	struct search *search = begin(task);
	uint64_t index = land->start, best = index;
	for (size_t i = 0; i < VARIANTS; i++) {
		search_tell_value(search, index, STRATEGY_VALUE, land->time[index]);
		if (land->time[index] < land->time[best])
			best = index;
		if (search_ask(search, &index, 1) != 1)
			break;
	}
	bool same = variant_of(land->space, index) == variant_of(land->space, best);
	search_free(search);
	return same;
}

/* After failures the next words must be tried all the same. */
static bool survives_failures(const struct land *land, const struct strategy_task *task) {
	struct search *search = begin(task);
	uint64_t index;
	size_t asked = 0;
	search_tell_value(search, land->start, STRATEGY_FAILURE, 0);
	while (asked < BUDGET && search_ask(search, &index, 1) == 1) {
		search_tell_value(search, index, STRATEGY_FAILURE, 0);
		asked++;
	}
	search_free(search);
	return asked == BUDGET;
}

int main(void) {
	for (uint64_t shape = 0; shape < 10; shape++) {
		struct land *land = land_fw(shape);
		struct strategy_task task = {.space = land->space, .seed = shape, .start = land->start, .budget = BUDGET};
		char phase[256] = "";
		ok(variants(land, &task, phase, sizeof phase) == VARIANTS, "the baseline and all other variants come first");
		ok(strstr(phase, "opening") && strstr(phase, "variant"), "the phase says that the opening tries variants: %s",
		   phase);
		ok(goes_on_from_best(land, &task), "the next words come with the best variant");
		ok(survives_failures(land, &task), "the opening goes on if nothing works");
		task.start = UINT64_MAX;
		variants(land, &task, phase, sizeof phase);
		ok(!strstr(phase, "opening"), "no opening without a baseline: %s", phase);
		land_free(land);
	}
	return tap_done();
}
