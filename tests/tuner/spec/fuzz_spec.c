/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes are either refused with a message or are a specification whose baseline is valid and whose configurations
 * are numbered. The test `errors` calls this with mutated specifications, `make fuzz` runs it as a target of
 * libFuzzer, where the numbering is interrupted after a third of a millisecond: a condition on two parameters with
 * 10,000 values each takes half a minute. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/stop.h"
#include "tests/fuzz.h"
#include "tuner/spec/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
	if (!condition)
		abort();
}

static void check_spec(const struct spec *spec) {
	const struct space *space = spec_space(spec);
	int config[SPACE_PARAMS_MAX];
	uint64_t index, back;
	require(space_valid(space) >= 1 && (double)space_valid(space) <= space_cartesian(space));
	require(space_config_read(space, spec_baseline(spec), NULL, &index, NULL) == 0 && index < space_valid(space));
	for (uint64_t i = 0; i < space_valid(space) && i < 100; i++) {
		space_config(space, i, config);
		require(space_index(space, config, &back) && back == i);
	}
	require(spec_name(spec)[0] && spec_language_word(spec) && json_is_object(spec_kernel(spec)));
	json_t *json = space_json(space);
	require(json != NULL);
	json_decref(json);
}

static volatile int late;

static void interrupt(int number) {
	(void)number;
	late = 1;
}

/* Counts the time that passes, because a timer of processor time comes with a tick of the kernel, up to ten
 * milliseconds late; not by SIGALRM, which is libFuzzer's. 0 stops the timer. */
static void interrupt_after(int microseconds) {
	static timer_t timer;
	static bool made;
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGVTALRM};
	if (!made) {
		stop_watch(&late);
		signal(SIGVTALRM, interrupt);
		require(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
		made = true;
	}
	timer_settime(timer, 0, &(struct itimerspec){.it_value.tv_nsec = microseconds * 1000L}, NULL);
	late = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct err err = {0};
	if (fuzz_is_long)
		interrupt_after(333);
	struct spec *spec = spec_parse((const char *)data, size, "input.json", &err);
	bool interrupted = err.code == ERR_INTERRUPTED && late;
	if (fuzz_is_long)
		interrupt_after(0);
	if (spec)
		check_spec(spec);
	else
		require(interrupted || (err.code == ERR_USAGE && strncmp(err.what, "input.json", 10) == 0));
	spec_free(spec);
	return 0;
}
