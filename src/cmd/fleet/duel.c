/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A duel between the best configurations of two types, held on a node of one: its command and its result. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "src/cmd/fleet/launcher.h"
#include "src/plan/program_plan.h"
#include "src/show/results.h"

static const double DUEL_SECONDS = 600;

const json_t *fleet_best_of(const json_t *result) {
	return json_object_get(json_object_get(result, "best"), "config");
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
	char *text = results_config(config, NULL);
	const char *word = arena_strdup(run->arena, text);
	free(text);
	return word;
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
		char *text = js_canonical(sides[i]);
		fleet_line_add(line, arena_strdup(run->arena, text));
		free(text);
	}
	fleet_line_add(line, "--");
	fleet_line_words(line, (const char *const *)opt_rest(run->args, &count));
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

bool fleet_duel_possible(const struct fleet_run *run, const json_t *b) {
	if (js_bool_or(b, "program", false))
		return opt_dashes(run->args); /* `compare` cannot run a program of a specification */
	return strcmp(js_string_or(b, "objective", "time"), "time") == 0;
}

void fleet_duel_line(const struct fleet_run *run, const struct fleet_duel *duel, struct fleet_line *line) {
	struct fleet_line command = {0};
	if (!fleet_duel_possible(run, duel->b))
		verify_line(run, duel->type, duel->b, &command);
	else if (js_bool_or(duel->b, "program", false))
		program_compare_line(run, duel->a, duel->b, &command);
	else
		compare_line(run, duel->a, duel->b, &command);
	fleet_line_on(line, run, js_string_or(duel->loss, "node", ""), &command);
}

void fleet_loss_outcome(json_t *loss, const char *state, const char *reason) {
	json_object_set_new(loss, "state", json_string(state));
	json_object_set_new(loss, "reason", reason ? json_string(reason) : json_null());
}

/* Tells whether ci is [low, high] with two numbers above 0. */
static bool interval_good(const json_t *ci) {
	return json_array_size(ci) == 2 && json_number_value(json_array_get(ci, 0)) > 0 &&
	       json_number_value(json_array_get(ci, 1)) > 0;
}

static bool numbers_good(const json_t *duel) {
	return js_real_or(duel, "ratio", NAN) > 0 && js_string_or(duel, "verdict", NULL) &&
	       js_int_or(duel, "pairs", 0) > 0 && interval_good(json_object_get(duel, "ci"));
}

bool fleet_loss_measured(const json_t *loss) {
	return strcmp(js_string_or(loss, "state", ""), "measured") == 0 && numbers_good(loss);
}

static void duel_record(json_t *loss, const char *text) {
	struct err err = {0};
	json_t *duel = js_parse(text, strlen(text), "the output of compare", &err);
	static const char *const keys[] = {"ratio", "ci", "pairs", "verdict"};
	double ratio = js_real_or(duel, "ratio", NAN);
	if (numbers_good(duel)) {
		for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
			json_object_set(loss, keys[i], json_object_get(duel, keys[i]));
		json_object_set_new(loss, "loss", js_number(ratio - 1));
		fleet_loss_outcome(loss, "measured", NULL);
	} else {
		fleet_loss_outcome(loss, "not measured", *err.what ? err.what : "it does not run on that node");
	}
	json_decref(duel);
}

void fleet_duel_run(struct fleet_run *run, const struct fleet_duel *duel) {
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
