/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `list counters`, `list metrics` and `list params`. */
#pragma once
#include "base/json/js.h"
#include "src/app/cmd.h"

static inline const char *list_text(const json_t *object, const char *key) {
	return js_string_or(object, key, "");
}

/* Sources, as the worker describes them; new reference. NULL and err if the worker does not answer. */
json_t *list_counters(struct app *app, struct err *err);
/* Groups with their metrics, then single events: {"name","summary","kind": "group|event", "metrics"?, "events"?,
 * "unit"?, "sources"?, "known_as"?}. */
json_t *list_metrics(struct app *app, struct err *err);
/* Leaves the groups and events whose name, whose metric's name or whose name in PAPI or perf begins with `prefix`. New
 * reference. */
json_t *list_metrics_matching(const json_t *rows, const char *prefix);
void list_counters_print(struct ui *ui, const json_t *rows, FILE *out);
void list_metrics_print(struct ui *ui, const json_t *rows, FILE *out);

/* Shows the parameters of the kernel in word 1, or of the specification of --spec. */
int list_params(struct app *app, const struct opt_args *args, struct err *err);
