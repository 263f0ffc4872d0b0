/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json/js.h"
#include "src/cmd/tune/tune_impl.h"

/* A kernel whose source is compiled later has no counters of its own yet. */
static struct counters_subject subject_of(const struct tune_item *item) {
	if (item->task.whole_programs)
		return (struct counters_subject){.program = true};
	if (item->made_by_open)
		return (struct counters_subject){.device = item->task.device};
	return (struct counters_subject){.kernel = item->kernel ? item->kernel : item->task.kernel,
	                                 .library = item->task.library,
	                                 .device = item->task.device};
}

/* Turns the error into a note if the user did not ask for counters, except for an interruption. */
static int excuse(struct app *app, struct trial_counters *counters, const struct err *bad, struct err *err) {
	if (!counters->optional || bad->code == ERR_INTERRUPTED) {
		*err = *bad;
		return -1;
	}
	ui_note(app_ui(app), "nothing will be counted: %s", bad->what);
	*counters = (struct trial_counters){.optional = true};
	return 0;
}

/* CUPTI counts the kernels of a program where a kernel's time is the metric, and where nothing else counts what was
 * asked for. */
static json_t *item_ask(const struct tune_session *session, struct tune_item *item, bool *slow, struct err *err) {
	struct counters_subject subject = subject_of(item);
	const char *const *asked = item->counters.asked;
	bool kernel = strncmp(opt_get(session->args, "metric", ""), "kernel:", 7) == 0, usable = false;
	json_t *answer = NULL;
	for (int turn = 0; turn < (subject.program ? 2 : 1) && !usable; turn++) {
		bool watch = subject.program && kernel == (turn == 0);
		subject.device = watch ? "cuda" : subject.program ? NULL : subject.device;
		json_t *one = counters_ask(session->app, &subject, asked, slow, err);
		usable = one && worker_counters_usable(one, slow) > 0;
		if (answer && !usable) {
			json_decref(one);
			break;
		}
		json_decref(answer);
		answer = one;
		item->counters.watch = watch;
	}
	return answer;
}

/* Returns the number of events that can be counted, or -1. *answer is replaced by the worker's answer; the caller owns
 * it. */
static int item_check(const struct tune_session *session, struct tune_item *item, json_t **answer, struct err *err) {
	struct err bad = {0};
	bool slow = false;
	item->counters = session->settings.counters;
	json_t *one = item_ask(session, item, &slow, &bad);
	if (!one)
		return excuse(session->app, &item->counters, &bad, err);
	item->counters.slow = slow;
	json_decref(*answer);
	*answer = one;
	return (int)worker_counters_usable(one, &slow);
}

int tune_counters_check(const struct tune_session *session, struct err *err) {
	const struct trial_counters *counters = &session->settings.counters;
	json_t *answer = NULL;
	int usable = 0;
	for (size_t i = 0; counters->asked && i < session->count; i++) {
		int one = item_check(session, session->items[i], &answer, err);
		usable = one < 0 ? -1 : usable + one;
		if (usable < 0)
			break;
	}
	for (size_t i = 0; usable > 0 && i < session->count; i++) {
		if (session->items[i]->counters.slow) {
			counters_slow_warn(session->app);
			break;
		}
	}
	if (usable == 0 && counters->asked && !counters->optional)
		usable = counters_unavailable(counters->asked, json_object_get(answer, "events"), err);
	json_decref(answer);
	return usable < 0 ? -1 : 0;
}
