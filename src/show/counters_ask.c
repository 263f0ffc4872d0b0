/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/show/counters_ask.h"

#include "base/json/js.h"
#include "base/mem.h"

/* Warns about GPU metrics that do not fit into one run. */
static void passes_warn(struct app *app, const json_t *answer) {
	js_members (source, passes, json_object_get(answer, "passes")) {
		if (json_integer_value(passes) > 1)
			ui_warn(app_ui(app), "the group GPU needs only one run", "%.40s needs %lld runs to count these once",
			        source, (long long)json_integer_value(passes));
	}
}

json_t *counters_ask(struct app *app, const struct counters_subject *subject, const char *const *asked, bool *slow,
                     struct err *err) {
	struct worker *worker = app_worker(app, err);
	json_t *answer = worker ? worker_counters(worker, subject, asked, err) : NULL;
	if (answer) {
		worker_counters_usable(answer, slow);
		passes_warn(app, answer);
	}
	return answer;
}

void counters_slow_warn(struct app *app) {
	ui_warn(app_ui(app), NULL, "simulated counts take 30 to 600 times as long as the run itself");
}

int counters_unavailable(const char *const *asked, const json_t *rows, struct err *err) {
	mem_auto char *words = trial_counters_words(asked);
	const char *reason = js_string_or(json_array_get(rows, 0), "reason", "");
	err_set(err, ERR_UNAVAILABLE, "run `sweetspot doctor` to see what can be counted here and how to enable the rest",
	        "%.100s: cannot be counted on this machine%s%.250s", words, *reason ? ": " : "", reason);
	return -1;
}
