/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command `sweetspot` without further words. */
#include <config.h>

#include "src/cmd/status/state.h"

#include "base/json/js.h"

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	const char *store = opt_get(args, "store", NULL);
	json_t *machine = state_machine(app, err);
	if (!machine)
		return -1;
	json_t *state = json_pack("{s:s,s:o}", "schema", "sweetspot-state/1", "machine", machine);
	state_store(state, store);
	state_ceilings(state);
	state_next(state, store);
	if (opt_has(args, "json"))
		js_write(state, stdout);
	else
		state_print(app_ui(app), state, stdout);
	json_decref(state);
	return 0;
}

static const struct opt *const tables[] = {cmd_store_options, NULL};

const struct cmd cmd_state = {
	.name = "",
	.summary = "this machine, what is tuned on it, and what to do next",
	.usage = "[OPTION...]",
	.options = tables,
	.only_reads = true,
	.run = run,
};
