/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `sweetspot profile verify`: compares each recommendation with its baseline again, on this machine. */
#include <config.h>

#include "src/cmd/profile/verify.h"

#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "src/app/lock.h"
#include "src/cmd/profile/verb.h"

static int options_read(struct verify *verify, struct err *err) {
	const struct opt_args *args = verify->args;
	const char *timeout = opt_get(args, "timeout", NULL);
	struct duel_options *options = &verify->options;
	long long least, most, seed;
	*options = duel_defaults;
	options->phase = "verify";
	verify->timeout_s = 600;
	if (opt_int(args, "pairs", 21, 100000, options->pairs_min, &least, err) ||
	    opt_int(args, "max-pairs", 21, 100000, least > options->pairs_max ? least : options->pairs_max, &most, err) ||
	    opt_int(args, "seed", 0, INT64_MAX, 1, &seed, err) ||
	    (timeout && opt_limit(timeout, "timeout", &verify->timeout_s, err)))
		return -1;
	options->pairs_min = (int)least;
	options->pairs_max = (int)(most > least ? most : least);
	options->seed = (uint64_t)seed;
	return verify_ci_read(verify, err);
}

static int open_rows(struct verify *verify, struct err *err) {
	const char *path = opt_words(verify->args) > 1 ? opt_word(verify->args, 1) : NULL;
	if (profile_input_open(&verify->input, verify->app, verify->args, path, err) ||
	    profile_input_pick(&verify->input, verify->app, verify->args, err))
		return -1;
	const json_t *entries = json_object_get(verify->input.profile, "entries");
	verify->count = json_array_size(entries);
	verify->rows = mem_alloc(verify->count + 1, sizeof *verify->rows);
	for (size_t i = 0; i < verify->count; i++) {
		struct verified *row = &verify->rows[i];
		row->entry = json_array_get(entries, i);
		row->state = profile_state_here(verify->app, verify->args, &verify->input, row->entry);
	}
	return 0;
}

static int row_verify(struct verify *verify, struct verified *row, struct err *err) {
	const json_t *baseline = json_object_get(row->entry, "baseline");
	if (!json_is_object(baseline))
		return verify_skip(row, "the baseline is missing");
	if (json_equal(json_object_get(baseline, "config"), json_object_get(row->entry, "config"))) {
		verify_skip(row, "it is the baseline");
		row->outcome = VERIFY_HOLDS;
		return 0;
	}
	int failed =
		json_object_get(row->entry, "program") ? verify_program(verify, row, err) : verify_kernel(verify, row, err);
	verify_ci_judge(verify, row);
	return failed;
}

/* Warns before measuring, because the table comes only afterwards. */
static void warn(const struct verify *verify) {
	struct ui *ui = app_ui(verify->app);
	size_t stale = 0;
	for (size_t i = 0; i < verify->count; i++)
		stale += strcmp(verify->rows[i].state, "stale") == 0;
	if (verify->input.origin != PROFILE_HERE)
		ui_warn(ui, NULL, "%s was made on %s", verify->input.path,
		        verify->input.origin == PROFILE_FOREIGN ? "another machine" : "this machine with another compiler");
	if (stale)
		ui_warn(ui, NULL, "%zu of its kernels have changed since they were tuned", stale);
}

static int measure(struct verify *verify, struct err *err) {
	struct ui *ui = app_ui(verify->app);
	warn(verify);
	int lock = lock_take(ui, app_interrupt(verify->app), err), failed = lock < 0 ? -1 : 0;
	verify->measured = true;
	for (; verify->done < verify->count && !failed; verify->done += !failed)
		failed = row_verify(verify, &verify->rows[verify->done], err);
	lock_release(lock);
	ui_progress_end(ui);
	return failed;
}

static int refuse_foreign(const struct verify *verify, struct err *err) {
	bool gpu = json_object_get(json_object_get(verify->input.profile, "machine"), "gpu") && !app_device(verify->app);
	return err_set(err, ERR_NOTHING,
	               gpu ? "for the GPU here, add --device; --force measures in any case"
	                   : "tune on this machine; --force measures in any case",
	               "%s comes from another machine", verify->input.path);
}

static const char *reason_hint(const struct verify *verify) {
	if (!verify->unrun)
		return "the table gives the reasons";
	return verify->input.from_file ? "programs run in the current folder: change to the one where they were tuned"
	                               : "programs run where they were tuned, or in the current folder if that is gone";
}

static int verdict(const struct verify *verify, struct err *err) {
	size_t gone = verify_count(verify, VERIFY_NO_LONGER) + verify_count(verify, VERIFY_SLOWER);
	size_t holding = verify_count(verify, VERIFY_HOLDS), failing = 0;
	for (size_t i = 0; i < verify->done; i++)
		failing += verify_ci_fails(verify, &verify->rows[i]);
	if (gone)
		return err_set(err, ERR_FAILED, "tune these again: sweetspot tune KERNEL",
		               "%zu of %zu recommendations no longer hold%s", gone, gone + holding, gone == 1 ? "s" : "");
	if (failing)
		return err_set(err, ERR_FAILED,
		               "the program, its input or the machine may have changed; tune again to update the record",
		               "%zu of %zu recommendations %s slower than recorded by more than %.4g %%", failing, holding,
		               failing == 1 ? "is" : "are", verify->limit * 100);
	if (!holding)
		return err_set(err, ERR_NOTHING, reason_hint(verify), "none of %zu recommendations could be verified",
		               verify->count);
	return 0;
}

static int run(struct verify *verify, struct err *err) {
	if (options_read(verify, err) || open_rows(verify, err))
		return -1;
	if (verify->input.origin == PROFILE_FOREIGN && !opt_has(verify->args, "force")) {
		verify_print(verify);
		return refuse_foreign(verify, err);
	}
	int failed = measure(verify, err);
	if (verify->done || !failed)
		verify_print(verify);
	return failed || verify_junit(verify, err) ? -1 : verdict(verify, err);
}

int profile_verify(struct app *app, const struct opt_args *args, struct err *err) {
	struct verify verify = {.app = app, .args = args};
	int failed = run(&verify, err);
	for (size_t i = 0; i < verify.count; i++) {
		duel_result_clear(&verify.rows[i].duel);
		json_decref(verify.rows[i].load);
	}
	free(verify.rows);
	profile_input_close(&verify.input);
	return failed;
}
