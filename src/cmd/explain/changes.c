/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares the diagnoses before and after a probe, and prints the difference. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/text.h"
#include "src/cmd/explain/probe.h"
#include "src/show/results.h"

static bool is_same(const json_t *a, const json_t *b) {
	return strcmp(js_string_or(a, "name", ""), js_string_or(b, "name", "")) == 0 &&
	       json_equal(json_object_get(a, "about"), json_object_get(b, "about"));
}

static const json_t *find(const json_t *result, const json_t *finding) {
	size_t i;
	json_t *one;
	json_array_foreach(json_object_get(result, "diagnoses"), i, one) {
		if (is_same(one, finding))
			return one;
	}
	return NULL;
}

/* The same kernel, device and objective; the problem may differ because a probe can change which one was tuned last. */
static const json_t *result_matching(const json_t *results, const json_t *wanted) {
	static const char *const keys[] = {"kernel", "device", "objective"};
	size_t i;
	json_t *one;
	json_array_foreach((json_t *)results, i, one) {
		bool same = true;
		for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
			same = same && json_equal(json_object_get(one, keys[k]), json_object_get(wanted, keys[k]));
		if (same)
			return one;
	}
	return NULL;
}

static json_t *confidence_of(const json_t *finding) {
	return finding ? json_string(js_string_or(finding, "confidence", "low")) : json_null();
}

static void change_add(json_t *changed, const json_t *result, const json_t *before, const json_t *after) {
	const json_t *one = after ? after : before;
	json_t *was = confidence_of(before), *is = confidence_of(after);
	if (!json_equal(was, is))
		json_array_append_new(changed, json_pack("{s:O,s:s,s:O?,s:O,s:O}", "kernel", json_object_get(result, "kernel"),
		                                         "diagnosis", js_string_or(one, "name", "?"), "about",
		                                         json_object_get(one, "about"), "before", was, "after", is));
	json_decref(was);
	json_decref(is);
}

void explain_probe_changes(json_t *probe, const json_t *before, const json_t *after) {
	json_t *changed = json_array(), *result, *finding;
	size_t i, k;
	json_array_foreach((json_t *)after, i, result) {
		const json_t *old = result_matching(before, result);
		json_array_foreach(json_object_get(result, "diagnoses"), k, finding)
			change_add(changed, result, find(old, finding), finding);
		json_array_foreach(json_object_get(old, "diagnoses"), k, finding) {
			if (!find(result, finding))
				change_add(changed, result, finding, NULL);
		}
	}
	json_object_set_new(probe, "changed", changed);
}

static void line_print(FILE *out, char *line) {
	ui_wrap(out, 2, 4, line);
	free(line);
}

static void change_print(const json_t *change, FILE *out) {
	const char *before = js_string_or(change, "before", NULL), *after = js_string_or(change, "after", NULL);
	char *about = results_config(json_object_get(change, "about"), NULL);
	char *what = mem_printf("%s: %s%s%s", js_string_or(change, "kernel", "?"), js_string_or(change, "diagnosis", "?"),
	                        *about ? " for " : "", about);
	if (!before)
		line_print(out, mem_printf("%s: new (%s confidence)", what, after));
	else if (!after)
		line_print(out, mem_printf("%s: no longer found (was: %s confidence)", what, before));
	else
		line_print(out, mem_printf("%s: %s confidence (was: %s)", what, after, before));
	free(what);
	free(about);
}

void explain_probe_print(struct ui *ui, const json_t *probe, FILE *out) {
	const json_t *changed = json_object_get(probe, "changed"), *left = json_object_get(probe, "left");
	size_t i, ran = json_array_size(json_object_get(probe, "ran"));
	json_t *one;
	fprintf(out, "%sprobe: %zu experiment%s in %.0f s%s\n", ui_style(ui, UI_BOLD), ran, ran == 1 ? "" : "s",
	        js_real_or(probe, "elapsed_s", 0), ui_style(ui, UI_PLAIN));
	json_array_foreach(json_object_get(probe, "ran"), i, one) {
		const char *message = js_string_or(one, "message", "");
		line_print(out, mem_printf("%s (%s%s%s)", js_string_or(one, "command", "?"), js_string_or(one, "state", "?"),
		                           *message ? ": " : "", message));
	}
	if (json_array_size(left))
		fprintf(out, "  %zu more did not fit into %.0f s: raise --budget to run them\n", json_array_size(left),
		        js_real_or(probe, "budget_s", 0));
	if (json_array_size(changed) == 0)
		fputs("  no diagnosis changed\n", out);
	json_array_foreach((json_t *)changed, i, one) change_print(one, out);
	fputc('\n', out);
}
