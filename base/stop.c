/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/stop.h"

#include <signal.h>

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
