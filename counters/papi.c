/* SPDX-License-Identifier: BSD-3-Clause */
/* PAPI's presets and native events, per thread and without multiplexing. */
#include <stdio.h>
#include <string.h>

#include "counters/papi/papi.h"

static const char *const events[] = {"PAPI_TOT_CYC", "PAPI_TOT_INS", "PAPI_BR_INS", "PAPI_BR_MSP", "PAPI_L1_DCM",
                                     "PAPI_L2_DCM",  "PAPI_L3_TCM",  "PAPI_TLB_DM", NULL};

/* When asked for such a name, libsde promises the event for later and returns -1 until then. */
static bool software_defined(const char *event, char reason[COUNTER_REASON]) {
	if (strncmp(event, "sde:::", strlen("sde:::")) != 0)
		return false;
	snprintf(reason, COUNTER_REASON, "software-defined events are counted by papi-sde");
	return true;
}

static bool papi_can(const char *event, const struct counter_site *site, char reason[COUNTER_REASON]) {
	(void)site;
	if (software_defined(event, reason) || papi_library_enter(reason))
		return false;
	bool can = papi_word_can(event, reason);
	papi_library_leave();
	return can;
}

static int papi_open(void *state, const struct counter_site *site, const char *const *names, size_t count) {
	char reason[COUNTER_REASON];
	if (papi_library_enter(reason))
		return -1;
	int rc = papi_counting_open(state, site, names, count);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = software_defined(names[i], reason) ? -1 : papi_counting_add(state, i, names[i], false);
	papi_library_leave();
	return rc;
}

static void papi_close(void *state) {
	char reason[COUNTER_REASON];
	if (papi_library_enter(reason))
		return;
	papi_counting_close(state);
	papi_library_leave();
}

const struct counter_backend counter_papi = {
	.name = "papi",
	.summary = "hardware and other PAPI events, for each thread",
	.state_size = sizeof(struct papi_counting),
	.events = events,
	.probe = papi_probe,
	.can = papi_can,
	.open = papi_open,
	.start = papi_counting_start,
	.stop = papi_counting_stop,
	.read = papi_counting_read,
	.close = papi_close,
};
