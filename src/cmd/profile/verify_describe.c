/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "src/cmd/profile/text.h"
#include "src/cmd/profile/verify.h"
#include "src/show/results.h"

const char *verify_outcome_word(enum verify_outcome outcome) {
	static const char *const words[] = {"not verified", "holds", "no longer", "slower"};
	return words[outcome];
}

size_t verify_count(const struct verify *verify, enum verify_outcome outcome) {
	size_t count = 0;
	for (size_t i = 0; i < verify->done; i++)
		count += verify->rows[i].outcome == outcome;
	return count;
}

json_t *verify_speedup_json(const struct duel_result *duel) {
	const struct paired *paired = &duel->paired;
	if (!paired->count)
		return json_null();
	return json_pack("{s:o,s:[o,o]}", "ratio", js_number(1 / paired->ratio), "ci", js_number(1 / paired->ci[1]),
	                 js_number(1 / paired->ci[0]));
}

static json_t *side_json(const struct verified *row, int side) {
	const json_t *entry = row->entry, *baseline = json_object_get(entry, "baseline");
	bool known = row->duel.paired.count > 0;
	return json_pack("{s:O?,s:o,s:[o,o]}", "config", json_object_get(side ? baseline : entry, "config"), "median",
	                 js_number(known ? row->duel.median[side] : NAN), "ci",
	                 js_number(known ? row->duel.ci[side][0] : NAN), js_number(known ? row->duel.ci[side][1] : NAN));
}

static json_t *row_json(const struct verify *verify, const struct verified *row) {
	json_t *json = profile_text_head(row->entry);
	json_t *recorded = json_pack("{s:O,s:O,s:s}", "speedup", json_object_get(row->entry, "speedup"), "verdict",
	                             json_object_get(row->entry, "verdict"), "measured", profile_entry_date(row->entry));
	json_object_set_new(json, "state", json_string(row->state));
	json_object_set_new(json, "outcome", json_string(verify_outcome_word(row->outcome)));
	json_object_set_new(json, "reason", *row->reason ? json_string(row->reason) : json_null());
	json_object_set_new(json, "recorded", recorded);
	json_object_set_new(json, "recommended", side_json(row, 0));
	json_object_set_new(json, "baseline", side_json(row, 1));
	json_object_set_new(json, "speedup", verify_speedup_json(&row->duel));
	json_object_set_new(json, "pairs", json_integer((json_int_t)row->duel.paired.count));
	json_object_set_new(json, "p", js_number(row->duel.paired.count ? row->duel.paired.p : NAN));
	if (row->load)
		json_object_set(json, "load", row->load);
	if (verify->ci)
		json_object_set_new(json, "regression", verify_ci_json(verify, row));
	return json;
}

static void document_print(const struct verify *verify) {
	json_t *results = json_array();
	const json_t *machine = json_object_get(verify->input.profile, "machine");
	for (size_t i = 0; i < verify->done; i++)
		json_array_append_new(results, row_json(verify, &verify->rows[i]));
	json_t *document = json_pack(
		"{s:s,s:s,s:O,s:O,s:s,s:o,s:b,s:o,s:I,s:I,s:I,s:I}", "schema", "sweetspot-profile-verify/1", "profile",
		verify->input.path, "fingerprint", json_object_get(machine, "fingerprint"), "machine",
		app_machine(verify->app, NULL), "state", profile_origin_word(verify->input.origin), "differs",
		profile_machine_differences(machine, app_machine(verify->app, NULL)), "measured", verify->measured, "results",
		results, "holds", (json_int_t)verify_count(verify, VERIFY_HOLDS), "no_longer",
		(json_int_t)verify_count(verify, VERIFY_NO_LONGER), "slower", (json_int_t)verify_count(verify, VERIFY_SLOWER),
		"not_verified", (json_int_t)verify_count(verify, VERIFY_UNKNOWN));
	js_write(document, stdout);
	json_decref(document);
}

static void row_add(struct table *table, const struct verified *row) {
	char before[64], now[64];
	json_t *speedup = verify_speedup_json(&row->duel);
	char *kernel = profile_text_kernel(row->entry), *problem = profile_text_problem(row->entry);
	char *outcome = mem_printf("%s%s%s", verify_outcome_word(row->outcome), *row->reason ? ": " : "", row->reason);
	profile_text_speedup(json_object_get(row->entry, "speedup"), before, sizeof before);
	profile_text_speedup(speedup, now, sizeof now);
	table_add(table, kernel, problem, before, now, row->state, outcome);
	json_decref(speedup);
	free(kernel);
	free(problem);
	free(outcome);
}

/* Print the first; the others say the same. */
static void busy_print(const struct verify *verify) {
	char *busy = NULL;
	for (size_t i = 0; i < verify->done && !busy; i++)
		busy = results_busy(verify->rows[i].load, verify->rows[i].duel.decided);
	char *line = busy ? mem_printf("%s; verify it again on a quiet machine\n", busy) : mem_strdup("");
	ui_fold(stdout, line);
	free(line);
	free(busy);
}

static void people_print(const struct verify *verify) {
	static const char *const titles[] = {"kernel", "problem", "speedup was", "speedup is [95 %]", "state", "outcome"};
	struct table *table = table_new(sizeof titles / sizeof *titles, titles);
	for (size_t i = 0; i < verify->done; i++)
		row_add(table, &verify->rows[i]);
	table_print(table, app_ui(verify->app), stdout);
	table_free(table);
	printf("%zu hold%s, %zu no longer, %zu slower, %zu not verified\n", verify_count(verify, VERIFY_HOLDS),
	       verify_count(verify, VERIFY_HOLDS) == 1 ? "s" : "", verify_count(verify, VERIFY_NO_LONGER),
	       verify_count(verify, VERIFY_SLOWER), verify_count(verify, VERIFY_UNKNOWN));
	busy_print(verify);
}

static void foreign_print(const struct verify *verify) {
	char *path = profile_text_clean(verify->input.path), *differing = profile_differing(verify->app, &verify->input);
	printf("%s is foreign: it belongs to another machine (%s), so nothing was measured\n", path, differing);
	free(path);
	free(differing);
}

void verify_print(const struct verify *verify) {
	if (opt_has(verify->args, "json"))
		document_print(verify);
	else if (verify->measured)
		people_print(verify);
	else
		foreign_print(verify);
}
