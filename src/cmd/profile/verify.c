/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `sweetspot profile verify`: compares each recommendation with its baseline again, on this machine. */
#include <math.h>

#include "base/json/js.h"
#include "src/app/lock.h"
#include "src/cmd/profile/profile_impl.h"
#include "src/show/measured.h"
#include "src/show/results.h"

static const char *verify_outcome_word(enum verify_outcome outcome) {
	static const char *const words[] = {"not verified", "holds", "no longer", "slower"};
	return words[outcome];
}

static size_t verify_count(const struct verify *verify, enum verify_outcome outcome) {
	size_t count = 0;
	for (size_t i = 0; i < verify->done; i++)
		count += verify->rows[i].outcome == outcome;
	return count;
}

/* The speedup as in the profile: time of the baseline over time of the configuration. */
static struct speedup speedup_now(const struct duel_result *duel) {
	const struct paired *paired = &duel->paired;
	return paired->count ? speedup_inverse(paired->ratio, paired->ci) : (struct speedup){NAN, NAN, NAN};
}

static json_t *side_json(const struct verified *row, int side) {
	bool known = row->duel.paired.count > 0;
	return json_pack("{s:O?,s:o,s:[o,o]}", "config", side ? row->entry.baseline.config : row->entry.config, "median",
	                 js_number(known ? row->duel.median[side] : NAN), "ci",
	                 js_number(known ? row->duel.ci[side][0] : NAN), js_number(known ? row->duel.ci[side][1] : NAN));
}

static json_t *verify_ci_json(const struct verify *verify, const struct verified *row);

static json_t *row_json(const struct verify *verify, const struct verified *row) {
	json_t *json = profile_text_head(row->entry.json);
	size_t pairs = row->duel.paired.count;
	json_object_update_new(
		json, json_pack("{s:s,s:s,s:s?,s:{s:O,s:O,s:s},s:o,s:o,s:o?,s:I,s:o,s:O*,s:o*}", "state", row->state, "outcome",
	                    verify_outcome_word(row->outcome), "reason", *row->reason ? row->reason : NULL, "recorded",
	                    "speedup", json_object_get(row->entry.json, "speedup"), VERDICT_MEMBER,
	                    json_object_get(row->entry.json, VERDICT_MEMBER), "measured", row->entry.measured,
	                    "recommended", side_json(row, 0), "baseline", side_json(row, 1), "speedup",
	                    pairs ? speedup_json(speedup_now(&row->duel)) : NULL, "pairs", (json_int_t)pairs, "p",
	                    js_number(pairs ? row->duel.paired.p : NAN), "load", row->load, "regression",
	                    verify->ci ? verify_ci_json(verify, row) : NULL));
	return json;
}

static void document_print(const struct verify *verify) {
	json_t *results = json_array();
	const json_t *machine = json_object_get(verify->input.profile, "machine");
	for (size_t i = 0; i < verify->done; i++)
		json_array_append_new(results, row_json(verify, &verify->rows[i]));
	js_print(json_pack("{s:s,s:s,s:O,s:O,s:s,s:o,s:b,s:o,s:I,s:I,s:I,s:I}", "schema", "sweetspot-profile-verify/1",
	                   "profile", verify->input.path, "fingerprint", json_object_get(machine, "fingerprint"), "machine",
	                   app_machine(verify->app, NULL), "state", profile_origin_word(verify->input.origin), "differs",
	                   profile_machine_differences(machine, app_machine(verify->app, NULL)), "measured",
	                   verify->measured, "results", results, "holds", (json_int_t)verify_count(verify, VERIFY_HOLDS),
	                   "no_longer", (json_int_t)verify_count(verify, VERIFY_NO_LONGER), "slower",
	                   (json_int_t)verify_count(verify, VERIFY_SLOWER), "not_verified",
	                   (json_int_t)verify_count(verify, VERIFY_UNKNOWN)));
}

static void row_add(struct table *table, const struct verified *row) {
	mem_auto char *kernel = profile_text_kernel(row->entry.json), *problem = profile_text_problem(row->entry.json);
	mem_auto char *outcome =
		mem_printf("%s%s%s", verify_outcome_word(row->outcome), *row->reason ? ": " : "", row->reason);
	table_add(table, kernel, problem, speedup_text(row->entry.speedup).text, speedup_text(speedup_now(&row->duel)).text,
	          row->state, outcome);
}

/* Print the first; the others say the same. */
static void busy_print(const struct verify *verify) {
	mem_auto char *busy = NULL;
	for (size_t i = 0; i < verify->done && !busy; i++)
		busy = results_busy(verify->rows[i].load, verify->rows[i].duel.decided);
	mem_auto char *line = busy ? mem_printf("%s; verify it again on a quiet machine\n", busy) : mem_strdup("");
	ui_fold(stdout, line);
}

static void people_print(const struct verify *verify) {
	struct table *table =
		table_titled("kernel", "problem", "speedup was", "speedup is [95 %]", "state", "outcome", NULL);
	for (size_t i = 0; i < verify->done; i++)
		row_add(table, &verify->rows[i]);
	table_end(table, app_ui(verify->app), stdout);
	printf("%zu hold%s, %zu no longer, %zu slower, %zu not verified\n", verify_count(verify, VERIFY_HOLDS),
	       verify_count(verify, VERIFY_HOLDS) == 1 ? "s" : "", verify_count(verify, VERIFY_NO_LONGER),
	       verify_count(verify, VERIFY_SLOWER), verify_count(verify, VERIFY_UNKNOWN));
	busy_print(verify);
}

static void foreign_print(const struct verify *verify) {
	mem_auto char *path = profile_text_clean(verify->input.path),
				  *differing = profile_differing(verify->app, &verify->input);
	printf("%s is foreign: it belongs to another machine (%s), so nothing was measured\n", path, differing);
}

static void verify_print(const struct verify *verify) {
	if (opt_has(verify->args, "json"))
		document_print(verify);
	else if (verify->measured)
		people_print(verify);
	else
		foreign_print(verify);
}

/* `profile verify --ci`: is a recommendation slower than it was when it was recorded? The recorded samples are not
 * paired with the present ones, so the two intervals are divided, which is on the safe side. */
static const double LIMIT = 0.05;

static int verify_ci_read(struct verify *verify, struct err *err) {
	const struct opt_args *args = verify->args;
	verify->ci = opt_has(args, "ci");
	verify->limit = LIMIT;
	verify->junit = opt_get(args, "junit", NULL);
	if (!verify->ci && opt_has(args, "fail-slower"))
		return err_set(err, ERR_USAGE, "add --ci", "--fail-slower needs --ci");
	return opt_share(args, "fail-slower", &verify->limit, err);
}

static bool verify_ci_fails(const struct verify *verify, const struct verified *row) {
	return row->outcome == VERIFY_NO_LONGER || row->outcome == VERIFY_SLOWER ||
	       (verify->ci && row->recorded == REGRESSION_SLOWER);
}

/* a new reference */
static json_t *verify_ci_json(const struct verify *verify, const struct verified *row) {
	bool known = row->against[1] > 0;
	return json_pack("{s:f,s:s,s:[o,o]}", "limit", verify->limit, "outcome", regression_word(row->recorded), "ci",
	                 js_number(known ? row->against[0] : NAN), js_number(known ? row->against[1] : NAN));
}

static void case_add(struct junit *junit, const struct verify *verify, const struct verified *row) {
	mem_auto char *kernel = profile_text_kernel(row->entry.json), *problem = profile_text_problem(row->entry.json);
	mem_auto char *name = mem_printf("%s %s", kernel, problem);
	bool time = row->duel.paired.count && strcmp(row->entry.unit, "s") == 0;
	enum junit_result result = verify_ci_fails(verify, row)     ? JUNIT_FAILED
	                           : row->outcome == VERIFY_UNKNOWN ? JUNIT_SKIPPED
	                                                            : JUNIT_PASSED;
	mem_auto char *message =
		mem_printf("%s%s%s; speedup over the baseline %s", verify_outcome_word(row->outcome), *row->reason ? ": " : "",
	               row->reason, speedup_text(speedup_now(&row->duel)).text);
	junit_add(junit, kernel, name, time ? row->duel.median[0] : NAN, result, message);
}

static int verify_junit(const struct verify *verify, struct err *err) {
	if (!verify->junit)
		return 0;
	struct junit *junit = junit_new("sweetspot profile verify");
	for (size_t i = 0; i < verify->done; i++)
		case_add(junit, verify, &verify->rows[i]);
	int failed = junit_write(junit, verify->junit, err);
	junit_free(junit);
	return failed;
}

static int options_read(struct verify *verify, struct err *err) {
	const struct opt_args *args = verify->args;
	struct duel_options *options = &verify->options;
	long long least, most, seed;
	*options = duel_defaults;
	options->phase = "verify";
	verify->timeout_s = 600;
	if (opt_int(args, "pairs", 21, 100000, options->pairs_min, &least, err) ||
	    opt_int(args, "max-pairs", 21, 100000, least > options->pairs_max ? least : options->pairs_max, &most, err) ||
	    opt_int(args, "seed", 0, INT64_MAX, 1, &seed, err) || opt_limit(args, "timeout", &verify->timeout_s, err))
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
	verify->rows = mem_alloc(json_array_size(entries) + 1, sizeof *verify->rows);
	js_each (entry, entries) {
		struct verified *row = &verify->rows[verify->count++];
		row->entry = profile_entry_read(entry);
		row->state = profile_state_here(verify->app, verify->args, &verify->input, entry);
	}
	return 0;
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
		failed = verify_row(verify, &verify->rows[verify->done], err);
	lock_release(lock);
	ui_progress_end(ui);
	return failed;
}

static int refuse_foreign(const struct verify *verify, struct err *err) {
	bool gpu = js_at(verify->input.profile, "machine.gpu") && !app_device(verify->app);
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

static int verify_run(struct app *app, const struct opt_args *args, struct err *err) {
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

const struct cmd_verb verb_profile_verify = {
	"verify",
	"sweetspot profile verify [FILE]",
	0,
	1,
	verify_run,
	{"kernel", "store", "force", "programs", "pairs", "max-pairs", "timeout", "seed", "ci", "fail-slower", "junit"}};
