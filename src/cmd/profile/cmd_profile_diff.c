/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `sweetspot profile diff`: the changes from one profile to another. */
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/profile/cmd_profile_text.h"
#include "src/cmd/profile/profile_impl.h"
#include "src/show/results.h"

static json_t *side_json(const struct profile_input *input) {
	return json_pack("{s:s,s:O,s:O,s:s}", "path", input->path, "created", json_object_get(input->profile, "created"),
	                 "fingerprint", js_at(input->profile, "machine.fingerprint"), "state",
	                 profile_origin_word(input->origin));
}

static void document_print(const struct profile_input inputs[2], json_t *diff) {
	json_t *document = json_pack("{s:s,s:o,s:o}", "schema", "sweetspot-profile-diff/1", "a", side_json(&inputs[0]), "b",
	                             side_json(&inputs[1]));
	json_object_update(document, diff);
	js_print(document);
}

static char *member_text(const json_t *value) {
	mem_auto char *text = json_is_string(value) ? mem_strdup(json_string_value(value)) : js_canonical(value);
	return text ? profile_text_clean(text) : mem_strdup("-");
}

/* Writes for example "block 16 -> 64". */
static char *settings_text(const json_t *settings) {
	char *text = mem_strdup("");
	js_each (one, settings) {
		mem_auto char *a = member_text(json_object_get(one, "a")), *b = member_text(json_object_get(one, "b"));
		mem_auto char *name = profile_text_clean(js_string_or(one, "name", ""));
		mem_append(&text, "%s%s %s -> %s", *text ? ", " : "", name, a, b);
	}
	return text;
}

static void machine_print(const json_t *differences) {
	js_each (one, differences) {
		js_auto json_t *array = json_pack("[O]", one);
		mem_auto char *text = settings_text(array);
		printf("%s\n", text);
	}
}

static char *changes_text(const json_t *row) {
	json_t *changes = json_object_get(row, "changes");
	char *text = mem_strdup("");
	js_each (change, changes)
		mem_append(&text, "%s%s", *text ? ", " : "", json_string_value(change));
	return text;
}

static void median_text(const json_t *entry, char *text, size_t size) {
	if (json_is_object(entry))
		profile_text_median(entry, text, size);
	else
		snprintf(text, size, "-");
}

static void row_add(struct table *table, const json_t *row) {
	const json_t *a = json_object_get(row, "a"), *b = json_object_get(row, "b"), *any = json_is_object(a) ? a : b;
	double ratio = js_real_or(row, "ratio", NAN);
	char before[64], after[64], times[32] = "-";
	mem_auto char *kernel = profile_text_kernel(any), *problem = profile_text_problem(any),
				  *changes = changes_text(row);
	mem_auto char *settings =
		any == a && json_is_object(b) ? settings_text(json_object_get(row, "config")) : profile_text_config(any);
	median_text(a, before, sizeof before);
	median_text(b, after, sizeof after);
	if (isfinite(ratio))
		snprintf(times, sizeof times, "%.3f", ratio);
	table_add(table, kernel, problem, changes, before, after, times, settings);
}

static void people_print(struct ui *ui, const struct profile_input inputs[2], const json_t *diff) {
	static const char *const titles[] = {"kernel",  "problem", "changed",      "\1before",
	                                     "\1after", "\1ratio", "configuration"};
	struct table *table = table_new(sizeof titles / sizeof *titles, titles);
	size_t same = 0, changed = 0;
	js_each (row, json_object_get(diff, "entries")) {
		bool is_same = json_array_size(json_object_get(row, "changes")) == 0;
		same += is_same;
		changed += !is_same;
		if (!is_same)
			row_add(table, row);
	}
	for (int side = 0; side < 2; side++) {
		mem_auto char *path = profile_text_clean(inputs[side].path);
		const json_t *machine = json_object_get(inputs[side].profile, "machine");
		printf("%s %s, %s, %.19s\n", side ? "after: " : "before:", path,
		       js_string_or(inputs[side].profile, "created", ""), js_string_or(machine, "fingerprint", ""));
	}
	machine_print(json_object_get(diff, "machine"));
	if (changed)
		table_print(table, ui, stdout);
	printf("%zu of %zu recommendations changed\n", changed, changed + same);
	table_free(table);
}

int profile_diff_run(struct app *app, const struct opt_args *args, struct err *err) {
	struct profile_input inputs[2] = {0};
	const char *second = opt_words(args) > 2 ? opt_word(args, 2) : NULL;
	int failed = profile_input_open(&inputs[0], app, args, opt_word(args, 1), err) ||
	                     profile_input_open(&inputs[1], app, args, second, err)
	                 ? -1
	                 : 0;
	js_auto json_t *diff = failed ? NULL : profile_diff(inputs[0].profile, inputs[1].profile);
	if (diff && opt_has(args, "json"))
		document_print(inputs, diff);
	else if (diff)
		people_print(app_ui(app), inputs, diff);
	profile_input_close(&inputs[0]);
	profile_input_close(&inputs[1]);
	return failed;
}
