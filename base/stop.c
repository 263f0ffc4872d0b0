/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/stop.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>

#include "base/opt.h"

static const volatile int never;
const volatile int *stop_flag = &never;
static volatile sig_atomic_t at_once;

void stop_watch(const volatile int *flag) {
	stop_flag = flag ? flag : &never;
}

void stop_at_once(bool yes) {
	at_once = yes;
}

bool stop_is_at_once(void) {
	return at_once;
}

int stop_fail(struct err *err, const char *doing) {
	return err_set(err, ERR_INTERRUPTED, NULL, "interrupted %s", doing);
}

int quiet_seconds(double *seconds, struct err *err) {
	static const char NAME[] = "SWEETSPOT_WAIT";
	const char *text = getenv(NAME);
	*seconds = INFINITY;
	if (!text || !*text || opt_seconds(text, NAME, seconds, NULL) == 0)
		return 0;
	return err_set(err, ERR_USAGE, "for example SWEETSPOT_WAIT=0, or 30s", "%s must be a duration, not '%.60s'", NAME,
	               text);
}
