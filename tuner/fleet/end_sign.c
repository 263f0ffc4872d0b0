/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/fleet/end_sign.h"

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

void end_never_started(const char *said, struct worker_loss *loss) {
	const char *last = strrchr(said, '\n');
	while (last && last > said && !last[1])
		last = memrchr(said, '\n', (size_t)(last - said));
	snprintf(loss->reason, sizeof loss->reason, "the worker did not start: %.120s", last ? last + 1 : said);
	loss->reason[strcspn(loss->reason, "\n")] = '\0';
}
