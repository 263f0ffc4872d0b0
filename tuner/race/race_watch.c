/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/race/race.h"

#include <math.h>

#include "base/json/js.h"

/* Whatever the time allows: a comparison ends. */
enum { TIMES_MAX = 20 };
/* A verdict with more disturbed blocks than this was decided on a busy machine. */
static const double BUSY_SHARE = 0.25;

void race_watch_begin(struct race_watch *watch) {
	if (watch && watch->busy)
		busy_mark(watch->busy);
}

/* The repetition takes as long as the blocks did. */
static bool may_repeat(const struct race_watch *watch, double seconds) {
	return watch->times < TIMES_MAX && watch->spent + seconds <= fmin(watch->seconds, busy_patience(watch->busy));
}

static void repeat(struct race_watch *watch, int pending, double seconds) {
	watch->times++;
	watch->repeated += pending;
	watch->spent += seconds;
	watch->spent += busy_wait(watch->busy, fmin(seconds, watch->seconds - watch->spent), watch->interrupt);
	busy_mark(watch->busy);
}

static void keep(struct race_watch *watch, int pending, enum busy_answer answer) {
	watch->blocks += pending;
	watch->disturbed += answer == BUSY_OTHERS ? pending : 0;
}

enum race_watch_answer race_watch_ask(struct race_watch *watch, int pending, bool at_once) {
	double seconds;
	if (!watch || !watch->busy || pending == 0)
		return RACE_WATCH_KEEP;
	enum busy_answer answer = busy_since(watch->busy, at_once, &seconds);
	if (answer == BUSY_LATER)
		return RACE_WATCH_LATER;
	if (answer == BUSY_OTHERS && may_repeat(watch, seconds)) {
		repeat(watch, pending, seconds);
		return RACE_WATCH_REPEAT;
	}
	keep(watch, pending, answer);
	return RACE_WATCH_KEEP;
}

void race_watch_end(struct race_watch *watch, int pending) {
	double seconds;
	if (watch && watch->busy && pending > 0)
		keep(watch, pending, busy_since(watch->busy, true, &seconds));
}

bool race_watch_is_busy(const struct race_watch *watch) {
	return watch->disturbed > BUSY_SHARE * watch->blocks;
}

json_t *race_watch_json(const struct race_watch *watch) {
	json_t *json = watch->busy ? busy_json(watch->busy) : json_null();
	if (!json_is_object(json))
		return json;
	json_object_set_new(json, "blocks", json_integer(watch->blocks));
	json_object_set_new(json, "disturbed", json_integer(watch->disturbed));
	json_object_set_new(json, "repeated", json_integer(watch->repeated));
	if (json_array_size(watch->pairs))
		json_object_set(json, "repeated_pairs", watch->pairs);
	if (race_watch_is_busy(watch))
		json_object_set_new(json, "busy", json_true());
	return json;
}
