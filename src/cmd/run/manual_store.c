/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cmd/run/run_impl.h"

#include <math.h>

#include "base/json/js.h"
#include "base/sys.h"

int manual_store_begin(struct manual_store *kept, struct manual *manual, const struct opt_args *args, struct err *err) {
	kept->manual = manual;
	if (opt_has(args, "no-store"))
		return 0;
	struct store_session session = {.machine = app_machine(manual->app, err),
	                                .fingerprint = app_fingerprint(manual->app, err),
	                                .command = app_command_line(manual->app),
	                                .seed = manual->seed,
	                                .started = sys_wall()};
	if (!session.machine)
		return -1;
	kept->store = store_open(opt_get(args, "store", NULL), STORE_WRITE, err);
	if (!kept->store || store_session_begin(kept->store, &session, err))
		return -1;
	kept->session = session.id;
	return 0;
}

static int search_of(struct manual_store *kept, const json_t *problem, struct err *err) {
	char *text = js_canonical(problem);
	if (kept->search && strcmp(text, kept->problem) == 0) {
		free(text);
		return 0;
	}
	struct store_search search = {.session = kept->session,
	                              .kernel = kept->manual->kernel->name,
	                              .source = kept->manual->kernel->source,
	                              .problem = text,
	                              .objective = "time",
	                              .strategy = kept->strategy,
	                              .seed = kept->manual->seed,
	                              .space_hash = "",
	                              .cartesian = kept->total,
	                              .valid = (uint64_t)kept->total,
	                              .baseline = "{}"};
	if (kept->search && store_search_end(kept->store, kept->search, "done", NULL, err)) {
		free(text);
		return -1;
	}
	free(kept->problem);
	kept->problem = text;
	int failed = store_search_begin(kept->store, &search, err);
	kept->search = search.id;
	return failed;
}

int manual_store_trial(struct manual_store *kept, const char *phase, int block, const json_t *problem,
                       const json_t *config, const struct trial_result *result, struct err *err) {
	if (!kept->store)
		return 0;
	if (search_of(kept, problem, err))
		return -1;
	return trial_store(kept->store, kept->search, phase, block, config, result, err);
}

int manual_store_end(struct manual_store *kept, bool failed, struct err *err) {
	struct err second = {0};
	const char *state = failed ? "interrupted" : "done";
	if (kept->search && store_search_end(kept->store, kept->search, state, NULL, &second) && !failed)
		*err = second;
	if (kept->session && store_session_end(kept->store, kept->session, state, NAN, &second) && !failed)
		*err = second;
	store_close(kept->store);
	free(kept->problem);
	return second.code == ERR_OK ? 0 : -1;
}
