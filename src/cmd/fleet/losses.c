/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures the loss of using the best configuration of one type on another: `compare` holds a duel of the two best
 * configurations on a node of the other type. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/sys.h"
#include "src/cmd/fleet/run.h"
#include "tuner/profile/state.h"

struct losses {
	struct fleet_run *run;
	json_t *kept;             /* losses of an earlier run */
	struct fleet_duel *duels; /* duels that still have to be held */
	size_t count, room;
};

/* The result of the type for the same kernel, problem and objective as `other`. */
static const json_t *result_find(const json_t *type, const json_t *other) {
	char *wanted = profile_entry_key(other);
	const json_t *found = NULL;
	json_t *result;
	size_t i;
	json_array_foreach(json_object_get(type, "results"), i, result) {
		char *key = profile_entry_key(result);
		if (strcmp(key, wanted) == 0 && fleet_best_of(result))
			found = result;
		free(key);
	}
	free(wanted);
	return found;
}

static bool is_same(const json_t *loss, const json_t *kept, const char *key) {
	return json_equal(json_object_get(loss, key), json_object_get(kept, key));
}

/* The same duel of an earlier run, unless a type has been tuned again since. */
static const json_t *kept_find(const struct losses *losses, const json_t *loss) {
	static const char *const keys[] = {"fingerprints", "kernel", "problem", "objective", "configs", "tuned"};
	json_t *kept;
	size_t i;
	json_array_foreach(losses->kept, i, kept) {
		bool same = fleet_loss_measured(kept);
		for (size_t k = 0; k < sizeof keys / sizeof *keys && same; k++)
			same = is_same(loss, kept, keys[k]);
		if (same)
			return kept;
	}
	return NULL;
}

static void kept_restore(json_t *loss, const json_t *kept) {
	static const char *const keys[] = {"ratio", "ci", "pairs", "verdict"};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		json_object_set(loss, keys[i], json_object_get(kept, keys[i]));
	json_object_set_new(loss, "loss", js_number(js_real_or(kept, "ratio", 0) - 1));
	fleet_loss_outcome(loss, "measured", NULL);
}

static void duel_add(struct losses *losses, const struct fleet_duel *duel) {
	if (losses->count == losses->room) {
		losses->room = losses->room ? 2 * losses->room : 16;
		losses->duels = mem_grow(losses->duels, losses->room, sizeof *losses->duels);
	}
	losses->duels[losses->count++] = *duel;
	fleet_loss_outcome(duel->loss, "not measured", "interrupted before it was measured");
}

static void loss_begin(struct losses *losses, const struct fleet_duel *duel) {
	struct fleet_line line = {0};
	const json_t *kept = kept_find(losses, duel->loss);
	fleet_duel_line(losses->run, duel, &line);
	char *command = fleet_line_text(&line);
	json_object_set_new(duel->loss, "command", json_string(command));
	if (json_equal(fleet_best_of(duel->a), fleet_best_of(duel->b)))
		fleet_loss_outcome(duel->loss, "same", NULL);
	else if (!fleet_duel_possible(losses->run, duel->b))
		fleet_loss_outcome(duel->loss, "not measured", "`compare` measures only times of kernels and programs");
	else if (kept)
		kept_restore(duel->loss, kept);
	else
		duel_add(losses, duel);
	free(command);
	fleet_line_clear(&line);
}

/* Adds the loss of A's best on B, for the problem of the result b. */
static void pair_add(struct losses *losses, const json_t *type_a, const json_t *type_b, const json_t *b) {
	const json_t *a = result_find(type_a, b);
	const json_t *node = json_array_get(json_object_get(type_b, "measured_on"), 0);
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
	json_t *result;
	size_t i;
	if (type_a == type_b || !fleet_type_done(type_a) || !fleet_type_done(type_b))
		return;
	json_array_foreach(json_object_get(type_b, "results"), i, result) {
		if (fleet_best_of(result))
			pair_add(losses, type_a, type_b, result);
	}
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
	json_t *a, *b;
	size_t i, k;
	json_object_set_new(run->document, "losses", json_array());
	json_array_foreach((json_t *)types, i, a) json_array_foreach((json_t *)types, k, b) type_against(&losses, a, b);
	int failed = duels_run(&losses, err);
	ui_progress_end(app_ui(run->app));
	json_decref(losses.kept);
	free(losses.duels);
	if (!failed && *app_interrupt(run->app))
		return err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
	return failed;
}
