/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is lost where the best of one type is used on another: a duel of both on a node of the other, by `compare`. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/js.h"
#include "src/base/mem.h"
#include "src/base/sys.h"
#include "src/fleet_run.h"
#include "src/results.h"
#include "tuner/profile_state.h"

static const double DUEL_SECONDS = 600;

struct losses {
	struct fleet_run *run;
	double begun;
};

static const json_t *best_of(const json_t *result) {
	return json_object_get(json_object_get(result, "best"), "config");
}

/* The result of the same kernel, problem and objective. */
static const json_t *result_find(const json_t *type, const json_t *like) {
	char *wanted = profile_entry_key(like);
	const json_t *found = NULL;
	json_t *result;
	size_t i;
	json_array_foreach(json_object_get(type, "results"), i, result) {
		char *key = profile_entry_key(result);
		if (strcmp(key, wanted) == 0 && best_of(result))
			found = result;
		free(key);
	}
	free(wanted);
	return found;
}

/* As `compare` takes it: a plug-in's by its file. */
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
	char *text = results_config(config, NULL);
	const char *word = arena_strdup(run->arena, text);
	free(text);
	return word;
}

static void compare_line(const struct fleet_run *run, const json_t *a, const json_t *b, struct fleet_line *line) {
	const json_t *problem = json_object_get(b, "problem");
	const char *name;
	json_t *value;
	fleet_line_words(line, (const char *const[]){run->self, "compare", "--json", "--no-store", NULL});
	if (app_device(run->app))
		fleet_line_words(line, (const char *const[]){"--device", app_device(run->app), NULL});
	fleet_line_add(line, kernel_word(run, js_string_or(b, "kernel", "")));
	json_object_foreach((json_t *)problem, name, value) {
		json_t *one = json_pack("{s:O}", name, value);
		fleet_line_add(line, config_word(run, one));
		json_decref(one);
	}
	fleet_line_add(line, config_word(run, best_of(a)));
	fleet_line_add(line, config_word(run, best_of(b)));
}

/* What `compare` can't measure: A's recommendation against the baseline there says it in a roundabout way. */
static void verify_line(const struct fleet_run *run, const json_t *type, const json_t *b, struct fleet_line *line) {
	fleet_line_words(line, (const char *const[]){run->self, "profile", "verify", NULL});
	fleet_line_add(line, js_string_or(type, "profile", ""));
	fleet_line_add(line, "--force");
	if (js_bool_or(b, "program", false))
		fleet_line_add(line, "--programs");
}

static bool is_comparable(const json_t *b) {
	return !js_bool_or(b, "program", false) && strcmp(js_string_or(b, "objective", "time"), "time") == 0;
}

static void outcome(json_t *loss, const char *state, const char *reason) {
	json_object_set_new(loss, "state", json_string(state));
	json_object_set_new(loss, "reason", reason ? json_string(reason) : json_null());
}

/* [low, high], both numbers above 0. */
static bool interval_good(const json_t *ci) {
	return json_array_size(ci) == 2 && json_number_value(json_array_get(ci, 0)) > 0 &&
	       json_number_value(json_array_get(ci, 1)) > 0;
}

static void duel_take(json_t *loss, const char *text) {
	struct err err = {0};
	json_t *duel = js_parse(text, strlen(text), "what compare wrote", &err);
	static const char *const taken[] = {"ratio", "ci", "pairs", "verdict"};
	double ratio = js_real_or(duel, "ratio", NAN);
	const char *verdict = js_string_or(duel, "verdict", NULL);
	if (ratio > 0 && verdict && interval_good(json_object_get(duel, "ci"))) {
		for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
			json_object_set(loss, taken[i], json_object_get(duel, taken[i]));
		json_object_set_new(loss, "loss", js_number(ratio - 1));
		outcome(loss, "measured", NULL);
	} else {
		outcome(loss, "not measured", *err.what ? err.what : "it does not run there");
	}
	json_decref(duel);
}

static void duel_run(struct losses *losses, const struct fleet_line *line, json_t *loss) {
	struct fleet_run *run = losses->run;
	struct fleet_answer answer = {0};
	struct err err = {0};
	if (sys_now() - losses->begun > run->budget) {
		outcome(loss, "not measured", "the budget is used up");
		return;
	}
	if (fleet_ask(line->words, run->wait + DUEL_SECONDS, app_interrupt(run->app), &answer, &err)) {
		outcome(loss, "not measured", err.what);
		return;
	}
	if (*answer.why)
		outcome(loss, "not measured", answer.why);
	else
		duel_take(loss, answer.text);
	fleet_answer_clear(&answer);
}

static void loss_measure(struct losses *losses, const json_t *type, const json_t *a, const json_t *b, json_t *loss) {
	struct fleet_line line = {0};
	fleet_line_srun(&line, losses->run, js_string_or(loss, "node", ""));
	if (is_comparable(b))
		compare_line(losses->run, a, b, &line);
	else
		verify_line(losses->run, type, b, &line);
	char *command = fleet_line_text(&line);
	json_object_set_new(loss, "command", json_string(command));
	if (json_equal(best_of(a), best_of(b)))
		outcome(loss, "same", NULL);
	else if (!is_comparable(b))
		outcome(loss, "not measured", "only times of kernels can be compared on a node");
	else
		duel_run(losses, &line, loss);
	free(command);
	fleet_line_clear(&line);
}

/* How A's best does on B. */
static void pair_add(struct losses *losses, const json_t *type_a, const json_t *type_b, const json_t *b) {
	const json_t *a = result_find(type_a, b);
	const json_t *node = json_array_get(json_object_get(type_b, "measured_on"), 0);
	if (!a || !node)
		return;
	json_t *loss =
		json_pack("{s:O,s:O,s:O,s:O,s:O,s:s}", "profile_of", json_object_get(type_a, "type"), "used_on",
	              json_object_get(type_b, "type"), "kernel", json_object_get(b, "kernel"), "problem",
	              json_object_get(b, "problem"), "node", node, "objective", js_string_or(b, "objective", "time"));
	ui_progress(app_ui(losses->run->app), "types  %s's best on %s", js_string_or(type_a, "type", ""),
	            js_string_or(type_b, "type", ""));
	loss_measure(losses, type_a, a, b, loss);
	json_array_append_new(json_object_get(losses->run->document, "losses"), loss);
}

static void type_against(struct losses *losses, const json_t *type_a, const json_t *type_b) {
	json_t *result;
	size_t i;
	if (type_a == type_b || !fleet_type_done(type_a) || !fleet_type_done(type_b))
		return;
	json_array_foreach(json_object_get(type_b, "results"), i, result) {
		if (best_of(result) && !*app_interrupt(losses->run->app))
			pair_add(losses, type_a, type_b, result);
	}
}

int fleet_losses_measure(struct fleet_run *run, struct err *err) {
	struct losses losses = {.run = run, .begun = sys_now()};
	json_t *types = json_object_get(run->document, "types"), *a, *b;
	size_t i, k;
	json_array_foreach(types, i, a) json_array_foreach(types, k, b) type_against(&losses, a, b);
	ui_progress_end(app_ui(run->app));
	if (*app_interrupt(run->app))
		return err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
	return 0;
}
