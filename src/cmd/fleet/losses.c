/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures the loss of using the best configuration of one type on another: `compare` holds a duel of the two best
 * configurations on a node of the other type. */
#include <math.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "src/cmd/fleet/fleet_impl.h"
#include "src/plan/program_plan.h"
#include "src/show/results.h"
#include "tuner/profile/profile.h"

/* A duel between the best configurations of two types, held on a node of one: its command and its result. */
static const double DUEL_SECONDS = 600;

/* One duel, between the results a and b. All members are borrowed. type: the one whose profile contains a;
 * loss: the row of the document that receives the outcome. */
struct fleet_duel {
	json_t *loss;
	const json_t *type, *a, *b;
};

/* The configuration that a result recommends, or NULL. */
static const json_t *fleet_best_of(const json_t *result) {
	return js_at(result, "best.config");
}

/* The kernel as `compare` expects it; a kernel of a plug-in is named with its file. */
static const char *kernel_word(const struct fleet_run *run, const char *kernel) {
	for (size_t i = 1; i < opt_words(run->args); i++) {
		const char *word = opt_word(run->args, i), *slash = strrchr(word, '/'),
				   *colon = strchr(slash ? slash : word, ':');
		size_t length = colon ? (size_t)(colon - word) : strlen(word);
		bool plugin = slash || (length > 3 && strncmp(word + length - 3, ".so", 3) == 0);
		if (plugin)
			return arena_printf(run->arena, "%.*s:%s", (int)length, word, kernel);
	}
	return arena_strdup(run->arena, kernel);
}

static const char *config_word(const struct fleet_run *run, const json_t *config) {
	mem_auto char *text = results_config(config, NULL);
	return arena_strdup(run->arena, text);
}

/* Configurations are passed whole as JSON, so that `compare` does not fill them up with values of the baseline. */
static void program_compare_line(const struct fleet_run *run, const json_t *a, const json_t *b,
                                 struct fleet_line *line) {
	static const struct opt set[] = {{"set", 0, "P=V", NULL, OPT_REPEAT}, {0}};
	const json_t *const sides[] = {fleet_best_of(a), fleet_best_of(b)};
	size_t count;
	fleet_line_words(line, (const char *const[]){run->self, "compare", "--json", "--no-store", NULL});
	fleet_line_options(line, run, program_options);
	fleet_line_options(line, run, set);
	for (size_t i = 0; i < 2; i++) {
		mem_auto char *text = js_canonical(sides[i]);
		fleet_line_add(line, arena_strdup(run->arena, text));
	}
	fleet_line_add(line, "--");
	fleet_line_words(line, (const char *const *)opt_rest(run->args, &count));
}

static void compare_line(const struct fleet_run *run, const json_t *a, const json_t *b, struct fleet_line *line) {
	const json_t *problem = json_object_get(b, "problem");
	fleet_line_words(line, (const char *const[]){run->self, "compare", "--json", "--no-store", NULL});
	if (app_device(run->app))
		fleet_line_words(line, (const char *const[]){"--device", app_device(run->app), NULL});
	fleet_line_add(line, kernel_word(run, js_string_or(b, "kernel", "")));
	js_members (name, value, problem) {
		js_auto json_t *one = json_pack("{s:O}", name, value);
		fleet_line_add(line, config_word(run, one));
	}
	fleet_line_add(line, config_word(run, fleet_best_of(a)));
	fleet_line_add(line, config_word(run, fleet_best_of(b)));
}

/* Shown to the user when `compare` cannot measure the duel: verifying A's profile on the node of B compares A's
 * configuration with the baseline there, which answers the question indirectly. */
static void verify_line(const struct fleet_run *run, const json_t *type, const json_t *b, struct fleet_line *line) {
	fleet_line_words(line, (const char *const[]){run->self, "profile", "verify", NULL});
	fleet_line_add(line, js_string_or(type, "profile", ""));
	fleet_line_add(line, "--force");
	if (js_bool_or(b, "program", false))
		fleet_line_add(line, "--programs");
}

static bool fleet_duel_possible(const struct fleet_run *run, const json_t *b) {
	if (js_bool_or(b, "program", false))
		return opt_dashes(run->args); /* `compare` cannot run a program of a specification */
	return strcmp(js_string_or(b, "objective", "time"), "time") == 0;
}

/* Builds the `compare` command line of the duel; if `compare` cannot measure it, a `profile verify` command instead. */
static void fleet_duel_line(const struct fleet_run *run, const struct fleet_duel *duel, struct fleet_line *line) {
	struct fleet_line command = {0};
	if (!fleet_duel_possible(run, duel->b))
		verify_line(run, duel->type, duel->b, &command);
	else if (js_bool_or(duel->b, "program", false))
		program_compare_line(run, duel->a, duel->b, &command);
	else
		compare_line(run, duel->a, duel->b, &command);
	fleet_line_on(line, run, js_string_or(duel->loss, "node", ""), &command);
}

/* reason may be NULL */
static void fleet_loss_outcome(json_t *loss, const char *state, const char *reason) {
	json_object_set_new(loss, "state", json_string(state));
	json_object_set_new(loss, "reason", reason ? json_string(reason) : json_null());
}

static bool numbers_good(const json_t *duel) {
	struct speedup ratio = speedup_read(duel);
	return ratio.ratio > 0 && verdict_said(duel, NULL) && js_int_or(duel, "pairs", 0) > 0 &&
	       json_array_size(json_object_get(duel, "ci")) == 2 && speedup_has_interval(ratio);
}

/* The numbers of a comparison. */
static void numbers_copy(json_t *to, const json_t *from) {
	static const char *const keys[] = {"ratio", "ci", "pairs", VERDICT_MEMBER};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		json_object_set(to, keys[i], json_object_get(from, keys[i]));
}

/* measured, and all its numbers are valid */
static bool fleet_loss_measured(const json_t *loss) {
	return strcmp(js_string_or(loss, "state", ""), "measured") == 0 && numbers_good(loss);
}

static void duel_record(json_t *loss, const char *text) {
	struct err err = {0};
	js_auto json_t *duel = js_parse(text, strlen(text), "the output of compare", &err);
	double ratio = js_real_or(duel, "ratio", NAN);
	if (numbers_good(duel)) {
		numbers_copy(loss, duel);
		json_object_set_new(loss, "loss", js_number(ratio - 1));
		fleet_loss_outcome(loss, "measured", NULL);
	} else {
		fleet_loss_outcome(loss, "not measured", *err.what ? err.what : "it does not run on that node");
	}
}

static void fleet_duel_run(struct fleet_run *run, const struct fleet_duel *duel) {
	json_t *loss = duel->loss;
	struct fleet_answer answer = {0};
	struct fleet_line line = {0};
	struct err err = {0};
	fleet_duel_line(run, duel, &line);
	if (fleet_ask(line.words, run->wait + DUEL_SECONDS, app_interrupt(run->app), &answer, &err))
		fleet_loss_outcome(loss, "not measured", err.what);
	else if (*answer.why)
		fleet_loss_outcome(loss, "not measured", answer.why);
	else
		duel_record(loss, answer.text);
	fleet_answer_clear(&answer);
	fleet_line_clear(&line);
}

struct losses {
	struct fleet_run *run;
	json_t *kept;             /* losses of an earlier run */
	struct fleet_duel *duels; /* duels that still have to be held */
	size_t count, room;
};

/* The result of the type for the same kernel, problem and objective as `other`. */
static const json_t *result_find(const json_t *type, const json_t *other) {
	mem_auto char *wanted = profile_entry_key(other);
	const json_t *found = NULL;
	js_each (result, json_object_get(type, "results")) {
		mem_auto char *key = profile_entry_key(result);
		if (strcmp(key, wanted) == 0 && fleet_best_of(result))
			found = result;
	}
	return found;
}

/* The same duel of an earlier run, unless a type has been tuned again since. */
static const json_t *kept_find(const struct losses *losses, const json_t *loss) {
	static const char *const keys[] = {"fingerprints", "kernel", "problem", "objective", "configs", "tuned", NULL};
	js_each (kept, losses->kept)
		if (fleet_loss_measured(kept) && js_same(loss, kept, keys))
			return kept;
	return NULL;
}

static void kept_restore(json_t *loss, const json_t *kept) {
	numbers_copy(loss, kept);
	json_object_set_new(loss, "loss", js_number(js_real_or(kept, "ratio", 0) - 1));
	fleet_loss_outcome(loss, "measured", NULL);
}

static void duel_add(struct losses *losses, const struct fleet_duel *duel) {
	losses->duels = mem_room(losses->duels, losses->count, &losses->room, sizeof *losses->duels);
	losses->duels[losses->count++] = *duel;
	fleet_loss_outcome(duel->loss, "not measured", "interrupted before it was measured");
}

static void loss_begin(struct losses *losses, const struct fleet_duel *duel) {
	struct fleet_line line = {0};
	const json_t *kept = kept_find(losses, duel->loss);
	fleet_duel_line(losses->run, duel, &line);
	mem_auto char *command = fleet_line_text(&line);
	json_object_set_new(duel->loss, "command", json_string(command));
	if (json_equal(fleet_best_of(duel->a), fleet_best_of(duel->b)))
		fleet_loss_outcome(duel->loss, "same", NULL);
	else if (!fleet_duel_possible(losses->run, duel->b))
		fleet_loss_outcome(duel->loss, "not measured", "`compare` measures only times of kernels and programs");
	else if (kept)
		kept_restore(duel->loss, kept);
	else
		duel_add(losses, duel);
	fleet_line_clear(&line);
}

/* Adds the loss of A's best on B, for the problem of the result b. */
static void pair_add(struct losses *losses, const json_t *type_a, const json_t *type_b, const json_t *b) {
	const json_t *a = result_find(type_a, b);
	const json_t *node = js_at(type_b, "measured_on.0");
	if (!a || !node)
		return;
	json_t *loss = json_pack(
		"{s:O,s:O,s:O,s:O,s:O,s:s,s:[O,O],s:[O,O],s:[O?,O?]}", "profile_of", json_object_get(type_a, "type"), "used_on",
		json_object_get(type_b, "type"), "kernel", json_object_get(b, "kernel"), "problem",
		json_object_get(b, "problem"), "node", node, "objective", js_string_or(b, "objective", "time"), "fingerprints",
		json_object_get(type_a, "fingerprint"), json_object_get(type_b, "fingerprint"), "configs", fleet_best_of(a),
		fleet_best_of(b), "tuned", json_object_get(type_a, "tuned"), json_object_get(type_b, "tuned"));
	if (!loss)
		return;
	json_array_append_new(json_object_get(losses->run->document, "losses"), loss);
	loss_begin(losses, &(struct fleet_duel){.loss = loss, .type = type_a, .a = a, .b = b});
}

static void type_against(struct losses *losses, const json_t *type_a, const json_t *type_b) {
	if (type_a == type_b || !fleet_type_done(type_a) || !fleet_type_done(type_b))
		return;
	js_each (result, json_object_get(type_b, "results"))
		if (fleet_best_of(result))
			pair_add(losses, type_a, type_b, result);
}

/* Saves after each duel, because duels take long and may be interrupted. */
static int duels_run(struct losses *losses, struct err *err) {
	struct fleet_run *run = losses->run;
	double begun = sys_now();
	for (size_t i = 0; i < losses->count && !*app_interrupt(run->app); i++) {
		json_t *loss = losses->duels[i].loss;
		ui_progress(app_ui(run->app), "types  %s's best on %s", js_string_or(loss, "profile_of", ""),
		            js_string_or(loss, "used_on", ""));
		if (sys_now() - begun > run->budget)
			fleet_loss_outcome(loss, "not measured", "the budget is used up");
		else
			fleet_duel_run(run, &losses->duels[i]);
		if (fleet_loss_measured(loss) && fleet_state_save(run, err))
			return -1;
	}
	return 0;
}

int fleet_losses_measure(struct fleet_run *run, struct err *err) {
	const json_t *types = json_object_get(run->document, "types");
	struct losses losses = {.run = run, .kept = json_incref(json_object_get(run->document, "losses"))};
	json_object_set_new(run->document, "losses", json_array());
	js_each (a, types)
		js_each (b, types)
			type_against(&losses, a, b);
	int failed = duels_run(&losses, err);
	ui_progress_end(app_ui(run->app));
	json_decref(losses.kept);
	free(losses.duels);
	if (!failed && *app_interrupt(run->app))
		return err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
	return failed;
}
