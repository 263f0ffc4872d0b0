/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/proc/path.h"
#include "base/sys.h"
#include "lib/inside/format.h"
#include "src/app/lock.h"
#include "src/cmd/inside/inside_cmd.h"
#include "src/plan/openmp.h"
#include "src/plan/program_plan.h"
#include "src/show/results.h"
#include "tuner/race/numbers.h"

enum { KEY = 12 };

/* Beside the store, as all that is learned. */
static char *facts_path(const struct opt_args *args, const char *program) {
	const char *store = opt_get(args, "store", NULL);
	mem_auto char *data = store ? NULL : sys_data_dir(NULL);
	mem_auto char *folder = store ? mem_printf("%s.kokkos", store) : data ? mem_printf("%s/kokkos", data) : NULL;
	if (!folder || sys_make_dirs(folder, NULL))
		return NULL;
	char hash[SHA256_TEXT];
	mem_auto char *real = realpath(folder, NULL);
	sha256_text(program, strlen(program), hash);
	const char *key = strchr(hash, ':') ? strchr(hash, ':') + 1 : hash;
	return real ? mem_printf("%s/%s-%.*s", real, text_base_name(program), KEY, key) : NULL;
}

static json_t *variables(const struct inside_kokkos *kokkos, const char *asks) {
	json_t *set = json_copy(kokkos->using);
	json_object_set_new(set, "SWEETSPOT_KOKKOS", json_string(asks));
	json_object_set_new(set, "SWEETSPOT_KOKKOS_FACTS", json_string(kokkos->facts));
	return set;
}

void inside_kokkos_open(struct app *app, const struct opt_args *args, struct inside_kokkos *kokkos) {
	size_t count;
	char *const *words = opt_rest(args, &count);
	*kokkos = (struct inside_kokkos){.using = json_object()};
	kokkos->tool = kokkos_tool_find(app_ui(app), (const char *const *)words, count, opt_get(args, "cwd", NULL), true);
	if (kokkos->tool.program != KOKKOS_PROGRAM_TUNED || !kokkos->tool.library)
		return;
	json_object_set_new(kokkos->using, kokkos->tool.variable, json_string(kokkos->tool.library));
	json_object_set_new(kokkos->using, "KOKKOS_TUNE_INTERNALS", json_string("1"));
	kokkos->facts = facts_path(args, kokkos->tool.file);
	if (kokkos->facts) {
		kokkos->watching = variables(kokkos, "look");
		kokkos->learning = variables(kokkos, "ask");
	}
}

static bool is_set(void) {
	const char *own = getenv("KOKKOS_TOOLS_LIBS"), *old = getenv("KOKKOS_PROFILE_LIBRARY");
	return (own && *own) || (old && *old);
}

void inside_kokkos_tell_own(struct app *app, const struct opt_args *args) {
	size_t count;
	char *const *words = opt_rest(args, &count);
	if (!is_set() || !opt_dashes(args))
		return;
	struct kokkos_tool tool =
		kokkos_tool_find(app_ui(app), (const char *const *)words, count, opt_get(args, "cwd", NULL), false);
	free(tool.library);
	free(tool.file);
}

void inside_kokkos_tell(struct ui *ui, const struct inside_kokkos *kokkos) {
	mem_auto char *version = kokkos->facts ? kokkos_seen_broken(kokkos->facts) : NULL;
	if (version)
		ui_inform(ui, "tiles stay as they are: Kokkos %s computes wrong results with those that a tool chooses",
		          version);
}

void inside_kokkos_clear(struct inside_kokkos *kokkos) {
	json_decref(kokkos->using);
	json_decref(kokkos->watching);
	json_decref(kokkos->learning);
	free(kokkos->tool.library);
	free(kokkos->tool.file);
	free(kokkos->facts);
}

/* ---- which programs ---- */

/* Any other option asks for something that contexts cannot give. */
static bool is_plain(const struct opt_args *args, const struct opt *const *tables) {
	static const char *const allowed[] = {"budget",       "seed",    "json",        "store",    "timeout",
	                                      "verify",       "cwd",     "input",       "quiet",    "expect-output",
	                                      "expect-files", "verbose", "before-each", "no-store", NULL};
	return !opt_other(args, tables, allowed) && opt_dashes(args) && opt_words(args) == 0;
}

/* A program that links the library has its symbol, one that contains it the variable, and a script the module. */
static bool has_contexts(const char *path) {
	static const char *const signs[] = {"sweetspot_context_open", "sweetspot_kernel_open", INSIDE_RING,
	                                    "sweetspot.context", "sweetspot.autotune"};
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (openmp_file_has(path, signs[i], NULL) == 1)
			return true;
	return false;
}

/* Launchers and interpreters come first. */
bool inside_command_suits(const struct opt_args *args, const struct opt *const *tables) {
	size_t count;
	char *const *words = opt_rest(args, &count);
	if (!is_plain(args, tables))
		return false;
	for (size_t i = 0; i < count; i++) {
		mem_auto char *path = words[i][0] == '-' ? NULL : program_path(words[i], NULL, NULL);
		const char *file = path ? path : access(words[i], R_OK) == 0 ? words[i] : NULL;
		if (file && has_contexts(file))
			return true;
	}
	return !is_set() &&
	       kokkos_program_find((const char *const *)words, count, opt_get(args, "cwd", NULL)) == KOKKOS_PROGRAM_TUNED;
}

/* ---- the store ---- */

static struct store *store_of(const struct opt_args *args, enum store_mode mode, struct err *err) {
	return store_open(opt_get(args, "store", NULL), mode, err);
}

int inside_command_recall(struct app *app, const struct opt_args *args, struct inside_session *session,
                          struct err *err) {
	struct err none = {0};
	struct store *store = store_of(args, STORE_READ, &none);
	if (!store && none.code == ERR_NOTHING)
		return 0;
	if (!store) {
		*err = none;
		return -1;
	}
	const char *fingerprint = app_fingerprint(app, err);
	int failed = fingerprint ? inside_session_recall(session, store, fingerprint, err) : -1;
	store_close(store);
	return failed;
}

int inside_command_keep(struct app *app, const struct opt_args *args, struct inside_session *session,
                        int64_t *store_session, const json_t *proof, struct err *err) {
	if (!inside_session_is_new(session) && !proof)
		return 0;
	struct store *store = store_of(args, STORE_WRITE, err);
	struct store_session begun = {.fingerprint = app_fingerprint(app, err),
	                              .machine = app_machine(app, err),
	                              .command = app_command_line(app),
	                              .started = sys_wall()};
	int failed = store && begun.fingerprint && begun.machine ? 0 : -1;
	if (!failed && !*store_session)
		failed = store_session_begin(store, &begun, err);
	*store_session = *store_session ? *store_session : begun.id;
	failed = failed || inside_session_keep(session, store, *store_session, proof, err) ||
	         store_session_end(store, *store_session, "done", NAN, err);
	store_close(store);
	return failed ? -1 : 0;
}

/* A line of the table is for a program of that name. */
static bool table_names(const char *table, const char *word) {
	mem_auto char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	fputc('\n', out);
	ssi_text_write(out, text_base_name(word));
	ssi_text_write(out, ":");
	fclose(out);
	return strstr(table, text);
}

/* The table may be about other programs. */
static bool concerns(const char *table, const struct opt_args *args) {
	static const struct opt *const none[] = {NULL};
	size_t count;
	char *const *words = opt_rest(args, &count);
	for (size_t i = 0; table && i < count; i++)
		if (table_names(table, words[i]))
			return true;
	return table && inside_command_suits(args, none);
}

json_t *inside_command_environment(struct app *app, const struct opt_args *args) {
	json_t *set = json_object();
	struct err none = {0};
	struct inside_session *session = inside_session_new(0);
	mem_auto char *table = NULL;
	if (inside_command_recall(app, args, session, &none) == 0)
		table = inside_session_table(session, true);
	if (concerns(table, args))
		json_object_set_new(set, INSIDE_TABLE, json_string(table));
	inside_session_free(session);
	return set;
}

/* ---- tune ---- */

static void progress(void *ctx, const char *phase, int run, size_t trials) {
	ui_progress(ctx, "contexts  %s, run %d, %zu trials", phase, run, trials);
}

static int options_read(struct app *app, const struct opt_args *args, struct inside_options *options, struct err *err) {
	options->worker = app_worker(app, err);
	options->interrupt = app_interrupt(app);
	options->progress = progress;
	options->progress_ctx = app_ui(app);
	return options->worker
	           ? program_run_read(args, &options->program, &options->seed, &options->budget_s, &options->timeout_s, err)
	           : -1;
}

static void verdict_print(struct ui *ui, const json_t *result) {
	if (js_int_or(result, "changed", 0))
		results_runs_print(ui, result, "");
	else
		printf("%sno change%s: no context is clearly faster with other values\n", ui_style(ui, UI_BOLD),
		       ui_style(ui, UI_PLAIN));
}

static void context_row(struct table *table, const json_t *context) {
	const json_t *baseline = js_at(context, "baseline.config"), *config = js_at(context, "best.config");
	mem_auto char *problem = results_config(json_object_get(context, "problem"), NULL),
				  *today = results_config(baseline, config), *best = results_config(config, baseline);
	char calls[24], tried[24], gain[32];
	bool changed = !json_equal(baseline, config);
	snprintf(calls, sizeof calls, "%lld", (long long)js_int_or(context, "calls", 0));
	snprintf(tried, sizeof tried, "%lld", (long long)js_int_or(context, "tried", 0));
	gain[0] = '\0';
	if (changed)
		snprintf(gain, sizeof gain, "%.2fx", js_real_or(context, "gain", NAN));
	table_add(table, js_string_or(context, "name", "?"), problem, calls, tried, changed ? today : "",
	          changed ? best : "no change",
	          js_bool_or(context, "withheld", false)  ? "left out"
	          : js_bool_or(context, "jointly", false) ? "jointly"
	                                                  : gain);
}

static void result_print(struct ui *ui, const json_t *result, const char *command) {
	struct table *table = table_titled("context", "problem", "\1calls", "\1tried", "today", "best", "\1gain", NULL);
	long long runs = js_int_or(result, "runs", 0), pairs = js_int_or(result, "pairs", 0);
	mem_auto char *how = verdict_checked(result);
	verdict_print(ui, result);
	if (how)
		ui_wrap(stdout, 0, 2, "checked: %s", how);
	results_other_work_print(result, stdout);
	printf("%lld run%s of the program, %lld pair%s among them\n\n", runs, runs == 1 ? "" : "s", pairs,
	       pairs == 1 ? "" : "s");
	bool withheld = false, jointly = false, priced = false;
	js_each (price, json_object_get(result, "worth"))
		priced = priced || js_real_or(price, "ratio", 0) > 0;
	js_each (context, json_object_get(result, "contexts")) {
		context_row(table, context);
		withheld = withheld || js_bool_or(context, "withheld", false);
		jointly = jointly || js_bool_or(context, "jointly", false);
	}
	table_end(table, ui, stdout);
	if (priced || withheld || jointly)
		putchar('\n');
	if (priced)
		results_worth_print(result, stdout);
	if (withheld)
		printf("left out: its own calls are faster, but whole runs are not shown to be\n");
	if (jointly)
		printf("jointly: chosen for the sum of the contexts, as they influence each other\n");
	if (verdict_of(result) == VERDICT_FASTER)
		printf("\nrun it with: sweetspot apply -- %s\n", command);
	else if (js_int_or(result, "changed", 0))
		printf("\napply leaves the program as it is, because these values are not proven to be faster%s\n",
		       pairs < RACE_PAIRS_LEAST ? ";\na proof takes 3 pairs or more, for which a larger --budget has time"
		                                : "");
}

static int show(struct app *app, const struct opt_args *args, json_t *result, struct err *err) {
	size_t count;
	char *const *words = opt_rest(args, &count);
	mem_auto char *line = program_join((const char *const *)words, true);
	json_object_set_new(result, "kernel", json_string(text_base_name(words[0])));
	json_object_set_new(result, "problem", json_pack("{s:s}", "command", line));
	if (!opt_has(args, "json")) {
		result_print(app_ui(app), result, line);
		return 0;
	}
	const json_t *machine = app_machine(app, err);
	return machine ? js_print(json_pack("{s:s,s:O,s:n,s:[O]}", "schema", "sweetspot-tune/1", "machine", machine,
	                                    "noise_floor", "results", result))
	               : -1;
}

struct keeping {
	struct app *app;
	const struct opt_args *args;
	struct inside_session *session;
	int64_t store_session;
};

/* Before the proof nothing is proven; if the store cannot be written, the end of the command says so. */
static void keep(void *ctx) {
	struct keeping *keeping = ctx;
	js_auto json_t *open = json_object();
	struct err none = {0};
	verdict_set(open, VERDICT_UNDECIDED);
	if (inside_session_is_new(keeping->session))
		inside_command_keep(keeping->app, keeping->args, keeping->session, &keeping->store_session, open, &none);
}

int inside_command_tune(struct app *app, const struct opt_args *args, struct err *err) {
	struct inside_kokkos kokkos;
	inside_kokkos_open(app, args, &kokkos);
	struct inside_options options = {.watching = kokkos.watching, .learning = kokkos.learning};
	js_auto json_t *result = NULL;
	struct keeping keeping = {.app = app, .args = args};
	struct inside_session *session = NULL;
	int failed = options_read(app, args, &options, err);
	if (!failed)
		session = keeping.session = inside_session_new(options.seed);
	options.keep = opt_has(args, "no-store") ? NULL : keep;
	options.keep_ctx = &keeping;
	failed = failed || inside_command_recall(app, args, session, err);
	int lock = failed ? -1 : lock_take(app_ui(app), app_interrupt(app), err);
	if (lock >= 0) {
		result = inside_tune(session, &options, err);
		lock_release(lock);
	}
	ui_progress_end(app_ui(app));
	inside_kokkos_tell(app_ui(app), &kokkos);
	failed =
		!result ||
		(!opt_has(args, "no-store") && inside_command_keep(app, args, session, &keeping.store_session, result, err)) ||
		show(app, args, result, err);
	inside_session_free(session);
	inside_kokkos_clear(&kokkos);
	return failed ? -1 : 0;
}
