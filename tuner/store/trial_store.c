/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/store/trial_store.h"

#include <stdlib.h>

#include "base/json/js.h"
#include "base/sys.h"

int trial_store(struct store *store, int64_t search, const char *phase, int block, const json_t *config,
                const struct trial_result *result, struct err *err) {
	char *text = js_canonical(config);
	json_object_del(result->reply, "evidence"); /* it is long, and compared by now */
	const struct store_trial trial = {
		.search = search,
		.phase = phase,
		.block = block,
		.config = text,
		.status = trial_status_word(result->status),
		.value = result->value,
		.samples = result->samples,
		.sample_count = result->sample_count,
		.started = (result->ended > 0 ? result->ended : sys_wall()) - result->elapsed_s,
		.elapsed = result->elapsed_s,
		.disturbed = result->disturbed,
		.message = *result->message ? result->message : NULL,
		.detail = result->reply,
	};
	int failed = store_trial_add(store, &trial, err);
	free(text);
	return failed;
}
