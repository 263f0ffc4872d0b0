/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces libsde if configure did not find it. */
#include <stdio.h>

#include "counters/papi/papi.h"

int sde_export_start(char reason[COUNTER_REASON]) {
	snprintf(reason, COUNTER_REASON, "built without PAPI's libsde; kernel reads the same events instead");
	return -1;
}

bool sde_export_has(const char *event) {
	(void)event;
	return false;
}

struct sde_page *sde_export_open(const struct counter_software *software, int event, int thread, char word[SDE_WORD]) {
	(void)software, (void)event, (void)thread;
	word[0] = '\0';
	return NULL;
}

void sde_export_close(struct sde_page *page) {
	(void)page;
}
