/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/proc/proc.h"
#include "base/sys.h"
#include "src/cmd/explain/explain_probe_impl.h"
#include "tuner/fleet/fleet_words.h"

/* Suggested commands contain names from a store, which cannot be trusted. Therefore no shell sees them, and only
 * commands that measure a built-in kernel are run. */
enum { WORDS_CAP = 256 };

static const char *const allowed[] = {"sweep", "compare", "run", "machine", NULL};
static const char *const with_value[] = {"--over",      "--counters", "--size",   "--set",  "--samples", "--pairs",
                                         "--max-pairs", "--store",    "--device", "--seed", NULL};
static const char *const without_value[] = {"--ceilings", NULL};

static bool is_among(const char *word, const char *const *list) {
	for (; *list; list++)
		if (strcmp(word, *list) == 0)
			return true;
	return false;
}

/* NULL also for too many words; there is room for two more. */
static char **split(const char *command) {
	char **words = words_split(command, NULL);
	size_t count = 0;
	while (words && words[count])
		count++;
	if (count <= WORDS_CAP)
		return words ? mem_grow(words, count + 3, sizeof *words) : NULL;
	words_free(words);
	return NULL;
}

static bool is_setting(const char *word) {
	return *word != '-' && strchr(word, '=') && *word != '=';
}

/* Checks the arguments that follow the command and the kernel. */
static bool arguments_fit(char *const *words) {
	for (; *words; words++) {
		bool valued = is_among(*words, with_value);
		if (valued && (!words[1] || *words[1] == '-'))
			return false;
		if (!valued && !is_among(*words, without_value) && !is_setting(*words))
			return false;
		words += valued;
	}
	return true;
}

static bool is_built_in(struct app *app, const char *name) {
	const struct kernel_list *kernels = app_kernels(app, NULL);
	return kernels && kernel_list_find(kernels, name, app_device_kind(app), NULL);
}

/* Turns "run K P=V .." into "sweep K .. --over P=V", because only stored results can be explained. */
static void run_to_sweep(char **words) {
	char **setting = NULL;
	size_t count = 0;
	for (; words[count]; count++)
		if (count > 1 && is_setting(words[count]) && !is_among(words[count - 1], with_value) &&
		    (!setting || strncmp(words[count], "threads=", 8) == 0))
			setting = &words[count];
	if (!setting)
		return;
	char *over = *setting;
	memmove(setting, setting + 1, (size_t)(&words[count] - setting) * sizeof *words);
	words[count - 1] = mem_strdup("--over");
	words[count] = over;
	words[count + 1] = NULL;
	free(words[0]);
	words[0] = mem_strdup("sweep");
}

char **explain_words(struct app *app, const char *command, struct err *err) {
	char **words = split(command);
	bool good = words && words[0] && strcmp(words[0], "sweetspot") == 0 && words[1] && is_among(words[1], allowed);
	bool kernel = good && strcmp(words[1], "machine") != 0;
	if (good && kernel)
		good = words[2] && is_built_in(app, words[2]) && arguments_fit(words + 3);
	else if (good)
		good = arguments_fit(words + 2);
	if (!good) {
		words_free(words);
		err_set(err, ERR_USAGE, NULL, "a probe does not run this command");
		return NULL;
	}
	free(words[0]);
	for (char **word = words; *word; word++)
		word[0] = word[1];
	if (strcmp(words[0], "run") == 0)
		run_to_sweep(words);
	return words;
}

enum { WORDS_MAX = 320, COMMANDS_MAX = 32 };
static const char CEILING_SAMPLES[] = "3";   /* enough for one round */
static const double BUDGET = 60, GRACE = 10; /* seconds; GRACE lets a trial that has begun finish */

struct probing {
	struct app *app;
	const struct opt_args *args;
	double begun, budget;
	char self[PATH_MAX];
	json_t *probe;
};

static double left(const struct probing *probing) {
	return probing->budget - (sys_now() - probing->begun);
}

static bool is_in(const json_t *list, const char *text) {
	js_each (one, list)
		if (strcmp(json_string_value(one), text) == 0)
			return true;
	return false;
}

static void command_add(json_t *list, const char *command) {
	if (command && !is_in(list, command) && json_array_size(list) < COMMANDS_MAX)
		json_array_append_new(list, json_string(command));
}

static bool is_ceilings(const char *command) {
	return strncmp(command, "sweetspot machine ", 18) == 0;
}

/* Ceilings run last because they take long and leave nothing behind if the budget cuts them short. */
static json_t *ceilings_last(json_t *list) {
	json_t *sorted = json_array();
	for (int pass = 0; pass < 2; pass++) {
		js_each (one, list)
			if (is_ceilings(json_string_value(one)) == (pass == 1))
				json_array_append(sorted, one);
	}
	json_decref(list);
	return sorted;
}

static json_t *commands_of(const json_t *results) {
	json_t *list = json_array();
	js_each (result, results) {
		js_each (finding, json_object_get(result, "diagnoses"))
			command_add(list, js_string_or(finding, "next", NULL));
		js_each (finding, json_object_get(result, "experiments"))
			command_add(list, js_string_or(finding, "next", NULL));
		command_add(list, js_string_or(json_object_get(result, "roofline"), "next", NULL));
	}
	return ceilings_last(list);
}

static bool has_word(char *const *words, const char *word) {
	for (; *words; words++)
		if (strcmp(*words, word) == 0)
			return true;
	return false;
}

/* Runs this same program quietly, on the same device and with the same store. */
static void argv_make(const struct probing *probing, char *const *words, const char **argv) {
	const char *device = app_device(probing->app), *store = opt_get(probing->args, "store", NULL);
	size_t count = 0;
	argv[count++] = probing->self;
	for (; *words; words++)
		argv[count++] = *words;
	argv[count++] = "--quiet";
	words -= count - 2;
	if (strcmp(words[0], "machine") == 0 && !has_word(words, "--samples")) {
		argv[count++] = "--samples";
		argv[count++] = CEILING_SAMPLES;
	}
	if (device && !has_word(words, "--device")) {
		argv[count++] = "--device";
		argv[count++] = device;
	}
	if (store && strcmp(words[0], "machine") != 0 && !has_word(words, "--store")) {
		argv[count++] = "--store";
		argv[count++] = store;
	}
	argv[count] = NULL;
}

static const char *last_line(const char *text, char line[256]) {
	const char *error = strstr(text, "error: ");
	snprintf(line, 256, "%.250s", error ? error + 7 : text);
	line[strcspn(line, "\n")] = '\0';
	return line;
}

/* Discards the output, because the measurements go to the store. */
static const char *wait_for(struct probing *probing, struct proc *proc, char message[256], struct err *err) {
	const volatile int *interrupt = app_interrupt(probing->app);
	enum proc_read got = PROC_LINE;
	char *line;
	size_t size;
	while (got == PROC_LINE || got == PROC_FLOOD) {
		double seconds = left(probing);
		got = proc_read(proc, seconds > 0 ? seconds : 0, interrupt, &line, &size);
	}
	if (got != PROC_EOF)
		kill(proc_pid(proc), SIGINT);
	last_line(proc_stderr(proc), message);
	int status = proc_stop(proc, GRACE);
	if (got == PROC_INTERRUPTED)
		err_set(err, ERR_INTERRUPTED, NULL, "interrupted; the measurements so far are kept");
	if (got == PROC_TIMEOUT)
		snprintf(message, 256, "the budget is used up");
	if (got != PROC_EOF)
		return "cut short";
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return "done";
	if (!*message)
		proc_status_text(status, message, 256);
	return "failed";
}

static void ran_add(struct probing *probing, const char *command, double seconds, const char *state,
                    const char *message) {
	json_t *one = json_pack("{s:s,s:o,s:s}", "command", command, "seconds", js_number(seconds), "state", state);
	if (*message && strcmp(state, "done") != 0)
		json_object_set_new(one, "message", json_string(message));
	json_array_append_new(json_object_get(probing->probe, "ran"), one);
}

static int run_one(struct probing *probing, const char *command, struct err *err) {
	const char *argv[WORDS_MAX], *state;
	char message[256] = "";
	struct err bad = {0};
	double begun = sys_now();
	char **words = explain_words(probing->app, command, &bad);
	if (!words) {
		ran_add(probing, command, 0, "refused", bad.what);
		return 0;
	}
	argv_make(probing, words, argv);
	const struct proc_spec spec = {.argv = argv};
	struct proc *proc = proc_start(&spec, &bad);
	state = proc ? wait_for(probing, proc, message, err) : "failed";
	ran_add(probing, command, sys_now() - begun, state, proc ? message : bad.what);
	words_free(words);
	return err->code == ERR_INTERRUPTED ? -1 : 0;
}

static int run_all(struct probing *probing, const json_t *commands, struct err *err) {
	size_t count = json_array_size(commands);
	int failed = 0;
	js_each (one, commands) {
		const char *command = json_string_value(one);
		if (failed || left(probing) <= 0) {
			json_array_append(json_object_get(probing->probe, "left"), one);
			continue;
		}
		ui_progress(app_ui(probing->app), "probe  %zu of %zu, %.0f s left  %s", one_at + 1, count, left(probing),
		            command);
		failed = run_one(probing, command, err);
	}
	ui_progress_end(app_ui(probing->app));
	return failed;
}

json_t *explain_probe(struct app *app, const struct opt_args *args, const json_t *results, struct err *err) {
	struct probing probing = {.app = app, .args = args, .begun = sys_now(), .budget = BUDGET};
	const char *budget = opt_get(args, "budget", NULL);
	if (budget && opt_seconds(budget, "budget", &probing.budget, err))
		return NULL;
	if (sys_self_path(probing.self, sizeof probing.self, err))
		return NULL;
	probing.probe = json_pack("{s:f,s:[],s:[]}", "budget_s", probing.budget, "ran", "left");
	js_auto json_t *commands = commands_of(results);
	int failed = run_all(&probing, commands, err);
	json_object_set_new(probing.probe, "elapsed_s", js_number(sys_now() - probing.begun));
	if (!failed)
		return probing.probe;
	json_decref(probing.probe);
	return NULL;
}
