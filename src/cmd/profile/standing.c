/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of entries on this machine, which depends on the present kernels and programs. */
#include "base/json/js.h"
#include "base/proc/path.h"
#include "src/cmd/profile/profile_impl.h"
#include "src/plan/params.h"
#include "tuner/program/program_json.h"

/* Finds the kernel that --kernel names. Returns NULL with err, or without it for a name that only the profile may know.
 */
static const struct kernel_desc *named(struct app *app, const char *word, struct err *err) {
	const struct kernel_desc *kernel = app_kernel(app, word, err);
	if (!kernel && err->code == ERR_USAGE && !strchr(word, '/') && !text_ends_with(word, ".so"))
		*err = (struct err){0};
	return kernel;
}

int profile_input_pick(struct profile_input *input, struct app *app, const struct opt_args *args, struct err *err) {
	size_t count = opt_count(args, "kernel");
	mem_auto const char **names = mem_alloc(count + 1, sizeof *names);
	int failed = 0;
	for (size_t i = 0; i < count && !failed; i++) {
		const struct kernel_desc *kernel = named(app, opt_at(args, "kernel", i), err);
		names[i] = kernel ? kernel->name : opt_at(args, "kernel", i);
		failed = err->code != ERR_OK;
	}
	failed = failed || profile_pick(input->profile, names, err) ? -1 : 0;
	if (failed && err->code == ERR_NOTHING)
		err_hint(err, "`sweetspot profile show` lists the kernels");
	return failed;
}

/* Finds the present kernel of an entry, among those of --kernel and the built-in ones; NULL if it is unknown. */
static const struct kernel_desc *profile_kernel(struct app *app, const struct opt_args *args, const json_t *entry) {
	const char *name = js_string_or(entry, "kernel", "");
	char kind[32];
	for (size_t i = 0; i < opt_count(args, "kernel"); i++) {
		struct err unknown = {0};
		const struct kernel_desc *kernel = app_kernel(app, opt_at(args, "kernel", i), &unknown);
		if (kernel && strcmp(kernel->name, name) == 0)
			return kernel;
	}
	profile_device_kind(entry, kind, sizeof kind);
	const struct kernel_list *kernels = app_kernels(app, NULL);
	return kernels ? kernel_list_find(kernels, name, kind, NULL) : NULL;
}

/* The folder in which a program was tuned, if it is still there; else NULL: the current one. A profile from a file may
 * be that of another checkout, so its programs are those of the current folder. */
static const char *profile_folder(const struct profile_input *input, const json_t *program) {
	const char *folder = input->from_file ? NULL : js_string_or(program, "folder", NULL);
	return folder && program_places_check(folder, NULL, NULL) == 0 ? folder : NULL;
}

/* Where the program of an entry runs: NULL: in the current folder. The caller frees it. */
static char *folder_of(const struct profile_input *input, const json_t *program) {
	const char *cwd = js_string_or(program, "cwd", NULL), *folder = profile_folder(input, program);
	if (!folder || !cwd || *cwd == '/')
		return cwd ? mem_strdup(cwd) : folder ? mem_strdup(folder) : NULL;
	return mem_printf("%s/%s", folder, cwd);
}

/* Returns the source of the entry if what it runs has not changed, the present hash if it has, or NULL if the program
 * is more than a single file. */
static const char *program_hash(const struct profile_input *input, const json_t *entry) {
	const json_t *program = json_object_get(entry, "program");
	const char *name = json_string_value(js_at(program, "argv.0"));
	if (js_bool_or(program, "shell", false) || js_string_or(program, "build", NULL) || strchr(name, '{'))
		return NULL;
	mem_auto char *cwd = folder_of(input, program), *line = js_canonical(json_object_get(program, "argv"));
	mem_auto char *key = mem_printf("%s %s", cwd ? cwd : "", line);
	const char *source = js_string_or(entry, "source", "");
	if (!json_object_get(input->hashes, key)) {
		struct program_hashes hashes = program_hashes_recorded(json_object_get(program, "argv"), cwd);
		json_object_set_new(input->hashes, key, json_pack("[s,s]", hashes.work, hashes.first));
	}
	const json_t *hashes = json_object_get(input->hashes, key);
	const char *work = json_string_value(json_array_get(hashes, 0)),
			   *first = json_string_value(json_array_get(hashes, 1));
	return strcmp(first, source) == 0 ? first : *work ? work : NULL;
}

const char *profile_state_here(struct app *app, const struct opt_args *args, const struct profile_input *input,
                               const json_t *entry) {
	const json_t *program = json_object_get(entry, "program");
	if (program)
		return profile_entry_state(input->origin, entry, program_hash(input, entry));
	const struct kernel_desc *kernel = profile_kernel(app, args, entry);
	return profile_entry_state(input->origin, entry, kernel ? kernel->source : NULL);
}

char *profile_differing(struct app *app, const struct profile_input *input) {
	json_t *there = json_object_get(input->profile, "machine");
	js_auto json_t *differences = profile_machine_differences(there, app_machine(app, NULL));
	char *text = mem_strdup("");
	js_each (one, differences)
		mem_append(&text, "%s%s", *text ? ", " : "", js_string_or(one, "name", ""));
	if (!*text) {
		free(text);
		text = mem_strdup("fingerprint");
	}
	text_clean(text, false);
	return text;
}

/* Verifies the recommendation for a program, by running it as `tune` did according to its entry. */
static const double SAMPLE_SECONDS = 4e-3;
/* Somebody waits for the answer, so only what can be repeated in this time is. */
static const double REPEAT_SECONDS = 10;

/* Always returns 0 */
static int verify_skip(struct verified *row, const char *reason) {
	row->outcome = VERIFY_UNKNOWN;
	snprintf(row->reason, sizeof row->reason, "%s", reason);
	text_clean(row->reason, false);
	return 0;
}

struct progress {
	struct verify *verify;
	const char *kernel;
};

static int on_trial(void *ctx, const char *phase, int block, const json_t *config, const struct trial_result *result,
                    struct err *err) {
	const struct progress *progress = ctx;
	const struct verify *verify = progress->verify;
	(void)phase, (void)config, (void)result;
	ui_progress(app_ui(verify->app), "verify %zu/%zu  %s  pair %d of at most %d", verify->done + 1, verify->count,
	            progress->kernel, block + 1, verify->options.pairs_max);
	return *app_interrupt(verify->app) ? err_set(err, ERR_INTERRUPTED, NULL, "interrupted") : 0;
}

/* An entry that was a tie, or undecided, holds as long as it is not slower. */
static enum verify_outcome outcome_of(enum verdict recorded, const struct duel_result *duel) {
	if (duel->verdict == PAIRED_SLOWER)
		return recorded == VERDICT_SLOWER ? VERIFY_HOLDS : VERIFY_SLOWER;
	return duel->verdict == PAIRED_TIE && recorded == VERDICT_FASTER ? VERIFY_NO_LONGER : VERIFY_HOLDS;
}

static void judge(struct verified *row) {
	const struct duel_result *duel = &row->duel;
	row->outcome = outcome_of(row->entry.verdict, duel);
	if (duel->verdict != PAIRED_FASTER && row->entry.verdict == VERDICT_UNDECIDED)
		snprintf(row->reason, sizeof row->reason, "still not proven to be faster");
	for (int side = 1; side >= 0; side--)
		if (duel->failed[side] != TRIAL_CORRECT)
			snprintf(row->reason, sizeof row->reason, "%s %s", side ? "the baseline" : "it",
			         trial_status_text(duel->failed[side]));
	if (duel->failed[0] != TRIAL_CORRECT)
		row->outcome = VERIFY_NO_LONGER;
}

/* Runs the duel and derives the outcome. The request has kernel, problem, device and so on. */
static int verify_duel(struct verify *verify, struct verified *row, struct runner *runner,
                       struct trial_request *request, struct err *err) {
	mem_auto char *kernel = profile_text_kernel(row->entry.json);
	struct progress progress = {verify, kernel};
	const struct race_observer observer = {.ctx = &progress, .trial = on_trial};
	request->seed = verify->options.seed;
	request->min_sample_s = SAMPLE_SECONDS;
	request->timeout_s = verify->timeout_s;
	struct race_watch watch = {.busy = busy_new(), .seconds = REPEAT_SECONDS, .interrupt = app_interrupt(verify->app)};
	struct duel_options options = verify->options;
	options.watch = &watch;
	int failed =
		duel_run(runner, request, row->entry.config, row->entry.baseline.config, &options, &observer, &row->duel, err);
	row->load = race_watch_json(&watch);
	busy_free(watch.busy);
	json_decref(watch.pairs);
	if (!failed)
		judge(row);
	if (!failed || err->code != ERR_NOTHING)
		return failed;
	verify_skip(row, err->what);
	*err = (struct err){0};
	return 0;
}

/* Checks the values of a profile like those that a user types, because a profile may come from anyone. */
static int settings_check(const struct params *params, const json_t *settings, bool problem, struct err *err) {
	js_auto json_t *read = json_object();
	int failed = 0;
	js_members (name, value, settings) {
		struct value one;
		char text[512] = "";
		if (failed || !value_from_json(value, &one))
			continue;
		int length =
			one.type == VALUE_WORD ? snprintf(text, sizeof text, "%s", one.as.w) : value_text(one, text, sizeof text);
		mem_auto char *word = mem_printf("%s=%s", name, text);
		failed = length < 0 || (size_t)length >= sizeof text
		             ? err_set(err, ERR_USAGE, NULL, "%s is too long", name)
		             : params_word(params, word, problem ? read : NULL, problem ? NULL : read, err);
	}
	return failed;
}

static int entry_check(struct verify *verify, const struct kernel_desc *kernel, const struct profile_entry *entry,
                       struct err *err) {
	struct params params = {0};
	struct topo *topo = app_topo(verify->app, err);
	if (!topo)
		return -1;
	params_init(&params, kernel, topo, true);
	int failed = settings_check(&params, entry->problem, true, err) ||
	             settings_check(&params, entry->config, false, err) ||
	             settings_check(&params, entry->baseline.config, false, err);
	params_clear(&params);
	return failed ? -1 : 0;
}

static int verify_kernel(struct verify *verify, struct verified *row, struct err *err) {
	const struct kernel_desc *kernel = profile_kernel(verify->app, verify->args, row->entry.json);
	struct worker *worker = app_worker(verify->app, err);
	struct err why = {0};
	enum trial_objective objective;
	char kind[32];
	profile_device_kind(row->entry.json, kind, sizeof kind);
	if (!worker || !app_gpu(verify->app, err))
		return -1;
	if (!kernel)
		return verify_skip(row, "unknown kernel; name one of a plug-in with --kernel ./FILE.so:NAME");
	if (strcmp(kind, app_device_kind(verify->app)) != 0)
		return verify_skip(row, "it is for another device, see --device");
	if (!trial_objective_find(row->entry.objective, &objective))
		return verify_skip(row, "unknown objective");
	if (entry_check(verify, kernel, &row->entry, &why))
		return verify_skip(row, why.what);
	struct runner runner = worker_runner(worker);
	struct trial_request request = {
		.kernel = kernel->name,
		.library = kernel->library,
		.device = app_device(verify->app),
		.problem = row->entry.problem,
		.objective = objective,
		.warmup = 1,
	};
	return verify_duel(verify, row, &runner, &request, err);
}

static int program_meet(struct verify *verify, struct verified *row, struct program *program, struct err *err) {
	struct runner runner = program_runner(program);
	struct trial_request request = {
		.kernel = row->entry.kernel,
		.problem = row->entry.problem,
		.whole_program = true,
	};
	int failed = verify_duel(verify, row, &runner, &request, err);
	if (!failed || err->code == ERR_INTERRUPTED)
		return failed;
	/* A baseline that fails, or prints something else each time, must not keep the other entries from being verified.
	 */
	verify->unrun = true;
	verify_skip(row, err->what);
	*err = (struct err){0};
	return 0;
}

/* Fill in outcome, reason and duel. Return -1 if nothing more can be measured at all. */
static int verify_program(struct verify *verify, struct verified *row, struct err *err) {
	const json_t *program = row->entry.program;
	if (verify->input.from_file && !opt_has(verify->args, "programs"))
		return verify_skip(row, "programs named in a file only run with --programs");
	if (!app_worker(verify->app, err))
		return -1;
	struct arena *arena = arena_new();
	struct program_spec spec = program_recorded(arena, program, row->entry.baseline.config);
	spec.folder = profile_folder(&verify->input, program);
	struct err why = {0};
	struct program *opened = program_new(&spec, app_worker(verify->app, &why), &why);
	verify->unrun = verify->unrun || !opened;
	int failed = opened ? program_meet(verify, row, opened, err) : verify_skip(row, why.what);
	program_free(opened);
	arena_free(arena);
	return failed;
}

/* The interval of the present value over the recorded one; false if one of them is unknown. */
static bool ratio_of(const struct verified *row, int side, double ratio[2]) {
	double low = side ? row->entry.baseline.low : row->entry.low;
	double high = side ? row->entry.baseline.high : row->entry.high;
	const double *now = row->duel.ci[side];
	if (!(low > 0 && high > 0 && now[0] > 0 && now[1] > 0))
		return false;
	if (js_bool_or(row->entry.program, "maximize", false)) { /* it has rates, and the duel their inverse */
		double swap = 1 / low;
		low = 1 / high;
		high = swap;
	}
	ratio[0] = now[0] / high;
	ratio[1] = now[1] / low;
	return true;
}

/* Compares a duel with the record. Gives the reason where it is slower and --ci was given. */
static void verify_ci_judge(const struct verify *verify, struct verified *row) {
	double now[2], baseline[2];
	row->recorded = REGRESSION_UNDECIDED;
	if (!row->duel.paired.count || !ratio_of(row, 0, now))
		return;
	row->against[0] = now[0];
	row->against[1] = now[1];
	row->recorded = regression_judge(now[0], now[1], verify->limit);
	if (!verify->ci || row->recorded != REGRESSION_SLOWER || *row->reason)
		return;
	bool both =
		ratio_of(row, 1, baseline) && regression_judge(baseline[0], baseline[1], verify->limit) == REGRESSION_SLOWER;
	snprintf(row->reason, sizeof row->reason, "takes %.2f to %.2f of the recorded time%s", now[0], now[1],
	         both ? ", and so does its baseline: the program, its input or the machine became slower" : "");
}

int verify_row(struct verify *verify, struct verified *row, struct err *err) {
	if (!row->entry.baseline.json)
		return verify_skip(row, "the baseline is missing");
	if (row->entry.keeps) {
		verify_skip(row, "it is the baseline");
		row->outcome = VERIFY_HOLDS;
		return 0;
	}
	int failed = row->entry.program ? verify_program(verify, row, err) : verify_kernel(verify, row, err);
	verify_ci_judge(verify, row);
	return failed;
}
