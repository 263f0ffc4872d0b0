/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/fleet/end_sign_impl.h"

#include <stdio.h>
#include <string.h>

bool end_sign_find(const struct end_sign *signs, const char *text, char *reason, size_t size) {
	for (; signs->words; signs++) {
		const char *at = strstr(text, signs->words);
		if (!at)
			continue;
		at += signs->rest ? strlen(signs->words) : strlen(at);
		snprintf(reason, size, "%s%.*s", signs->reason, (int)strcspn(at, "\n"), at);
		return true;
	}
	return false;
}

/* The worker's own error tells more than what follows it: its hint, and the launcher's words about its end. */
void end_never_started(const char *said, struct worker_loss *loss) {
	static const char own[] = "sweetspot-worker: error: ";
	const char *last = strrchr(said, '\n'), *error = strstr(said, own);
	while (last && last > said && !last[1])
		last = memrchr(said, '\n', (size_t)(last - said));
	snprintf(loss->reason, sizeof loss->reason, "the worker did not start: %.120s",
	         error  ? error + sizeof own - 1
	         : last ? last + 1
	                : said);
	loss->reason[strcspn(loss->reason, "\n")] = '\0';
}
