/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/apply.h"
#include "src/base/js.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/cmd.h"
#include "tuner/profile.h"
#include "tuner/store.h"

static const struct opt options[] = {
	{"size", 's', "K=V,..", "of the kernel's problem; the newest if not given", OPT_REPEAT},
	{"shell", 0, NULL, "the words after -- are a line for sh -c", 0},
	{"profile", 0, "FILE", "take this profile instead of the store", 0},
	{"print", 0, NULL, "print the command line instead of running it", 0},
	{"or-as-is", 0, NULL, "without a recommendation run it as it is", 0},
	{0},
};

/* What OpenMP's parameters govern: a default among them is one only where the variable is gone. */
static const char *const governed[] = {"OMP_NUM_THREADS",
                                       "OMP_PROC_BIND",
                                       "OMP_PLACES",
                                       "OMP_SCHEDULE",
                                       "OMP_WAIT_POLICY",
                                       "OMP_DYNAMIC",
                                       "GOMP_SPINCOUNT",
                                       "KMP_BLOCKTIME",
                                       "GOMP_CPU_AFFINITY",
                                       "KMP_AFFINITY",
                                       NULL};

/* What is to be run, and how. */
struct launch {
	char **argv;                /* NULL-terminated, owned */
	json_t *set, *unset;        /* {"NAME": "value"}, ["NAME"] */
	struct apply_choice choice; /* entry NULL: as it is */
	json_t *profile;
};

static const char *source_of(void *ctx, const char *kernel) {
	const struct kernel_desc *found = kernel_list_find(ctx, kernel, NULL);
	return found ? found->source : NULL;
}

static json_t *profile_of_store(struct app *app, const struct opt_args *args, struct err *err) {
	struct store *store = store_open(opt_get(args, "store", NULL), STORE_READ, err);
	const char *fingerprint = store ? app_fingerprint(app, err) : NULL;
	json_t *profile = NULL;
	if (fingerprint)
		profile = profile_from_store(store, fingerprint, NULL, source_of, (void *)app_kernels(app, err), err);
	store_close(store);
	return profile;
}

static json_t *profile_of_file(struct app *app, const char *path, struct err *err) {
	if (strcmp(path, "-") == 0) {
		err_set(err, ERR_USAGE, "write it to a file", "--profile -: stdin belongs to the program");
		return NULL;
	}
	json_t *profile = profile_load(path, err);
	const char *here = profile ? app_fingerprint(app, err) : NULL;
	const char *there = js_string_or(json_object_get(profile, "machine"), "fingerprint", "");
	if (here && strcmp(here, there) == 0)
		return profile;
	if (here)
		err_set(err, ERR_NOTHING, "tune on this machine; `sweetspot machine` shows what makes it another",
		        "%s was made on another machine", path);
	json_decref(profile);
	return NULL;
}

static int choose(struct app *app, const struct opt_args *args, const struct apply_request *request,
                  struct launch *launch, struct err *err) {
	const char *file = opt_get(args, "profile", NULL);
	launch->profile = file ? profile_of_file(app, file, err) : profile_of_store(app, args, err);
	if (launch->profile && apply_choose(launch->profile, request, &launch->choice, err) == 0)
		return 0;
	if (err->code != ERR_NOTHING || !opt_has(args, "or-as-is"))
		return -1;
	ui_warn(app_ui(app), NULL, "%s: it runs as it is", err->what);
	*err = (struct err){0};
	return 0;
}

/* Of the profile and of the command line, for people. Caller frees. */
static char *shown(char *text) {
	text_clean(text, false);
	return text;
}

static void warn_of_arguments(struct ui *ui, const struct launch *launch) {
	const json_t *program = json_object_get(launch->choice.entry, "program");
	if (launch->choice.fit == APPLY_FIT_NAME) {
		char *tuned = shown(apply_template_line(program, NULL));
		ui_warn(ui, NULL, "tuned with other arguments: %s", tuned);
		free(tuned);
	} else if (launch->choice.fit == APPLY_FIT_OPEN) {
		char *best = shown(apply_template_line(program, json_object_get(launch->choice.entry, "config")));
		ui_warn(ui, NULL, "the arguments are not the recommended ones: %s", best);
		free(best);
	}
}

static void warn_of_age(struct ui *ui, const struct launch *launch) {
	const json_t *entry = launch->choice.entry;
	char *name = shown(mem_strdup(js_string_or(entry, "kernel", "?")));
	char *again =
		shown(mem_printf("tune it again: %s", js_string_or(json_object_get(entry, "provenance"), "command", "")));
	if (launch->choice.rebuilt)
		ui_warn(ui, again, "%s was rebuilt since it was tuned", name);
	else if (strcmp(js_string_or(entry, "state", ""), "stale") == 0)
		ui_warn(ui, again, "%s has changed since it was tuned", name);
	free(again);
	free(name);
}

/* A profile sets no variable that decides what is loaded or run, even if that was tuned. */
static void warn_of_variables(struct ui *ui, const struct launch *launch) {
	const json_t *entry = launch->choice.entry;
	const char *name;
	json_t *way;
	json_object_foreach(json_object_get(json_object_get(entry, "program"), "params"), name, way) {
		if (strcmp(json_string_value(way), "environment") != 0 ||
		    !json_object_get(json_object_get(entry, "config"), name) || json_object_get(launch->set, name))
			continue;
		char *plain = shown(mem_strdup(name));
		ui_warn(ui, "set it yourself; `sweetspot export` shows its value",
		        "%s was tuned, but is no variable to take over", plain);
		free(plain);
	}
}

/* OpenMP's settings are recommended together or, where those of today are best, not at all. */
static bool governs_openmp(const json_t *entry) {
	const json_t *program = json_object_get(entry, "program"), *environment = json_object_get(entry, "environment");
	bool some = false;
	for (size_t i = 0; governed[i]; i++)
		some = some || json_object_get(environment, governed[i]);
	return some && (!program || js_bool_or(program, "openmp", false));
}

static int environment_read(struct launch *launch, struct err *err) {
	const json_t *entry = launch->choice.entry;
	const char *name;
	json_t *value;
	json_object_foreach(json_object_get(entry, "environment"), name, value) {
		const char *text = json_string_value(value);
		char *clean = shown(mem_strdup(text));
		bool same = strcmp(clean, text) == 0;
		free(clean);
		if (!same)
			return err_set(err, ERR_USAGE, "tune again", "the recommended %s holds control characters", name);
		json_object_set(launch->set, name, value);
	}
	for (size_t i = 0; governs_openmp(entry) && governed[i]; i++)
		if (!json_object_get(launch->set, governed[i]))
			json_array_append_new(launch->unset, json_string(governed[i]));
	return 0;
}

/* {NAME} among the words as given becomes the recommended value. */
static void words_take(struct launch *launch, const struct apply_request *request) {
	const json_t *program = json_object_get(launch->choice.entry, "program");
	const json_t *config = json_object_get(launch->choice.entry, "config");
	launch->argv = mem_alloc(request->count + 4, sizeof *launch->argv);
	for (size_t i = 0; i < request->count; i++)
		launch->argv[i] = program ? apply_template_fill(request->words[i], request->shell, program, config)
		                          : mem_strdup(request->words[i]);
	if (!request->shell)
		return;
	char *line = apply_words_line(launch->argv);
	for (size_t i = 0; i < request->count; i++)
		free(launch->argv[i]);
	memset(launch->argv, 0, (request->count + 4) * sizeof *launch->argv);
	launch->argv[0] = mem_strdup("/bin/sh");
	launch->argv[1] = mem_strdup("-c");
	launch->argv[2] = line;
}

static void word_print(const char *text, const char *before) {
	char *word = apply_quote(text);
	printf("%s%s", before, word);
	free(word);
}

static void line_print(const struct launch *launch) {
	const char *name, *between = "";
	json_t *value;
	size_t i;
	if (json_object_size(launch->set) || json_array_size(launch->unset)) {
		fputs("env", stdout);
		between = " ";
	}
	json_array_foreach(launch->unset, i, value) printf(" -u %s", json_string_value(value));
	json_object_foreach(launch->set, name, value) {
		printf(" %s=", name);
		word_print(json_string_value(value), "");
	}
	for (char **word = launch->argv; *word; word++, between = " ")
		word_print(*word, between);
	putchar('\n');
}

static void launch_print(const struct launch *launch, bool json) {
	if (!json) {
		line_print(launch);
		return;
	}
	json_t *argv = json_array();
	for (char **word = launch->argv; *word; word++)
		json_array_append_new(argv, value_json(value_word(*word)));
	json_t *entry = (json_t *)launch->choice.entry, *document = json_object();
	json_object_set_new(document, "argv", argv);
	json_object_set(document, "environment", launch->set);
	json_object_set(document, "unset", launch->unset);
	json_object_set_new(document, "kernel", entry ? json_incref(json_object_get(entry, "kernel")) : json_null());
	json_object_set_new(document, "problem", entry ? json_incref(json_object_get(entry, "problem")) : json_null());
	js_write(document, stdout);
	json_decref(document);
}

static int fail_exec(const struct launch *launch, int why, struct err *err) {
	const json_t *program = json_object_get(launch->choice.entry, "program");
	const char *build = js_string_or(program, "build", NULL), *cwd = js_string_or(program, "cwd", NULL);
	bool absent = why == ENOENT || why == ENOTDIR;
	err_set(err, absent ? ERR_ABSENT : ERR_BARRED, "is the path right, and the file executable?", "can't run %s: %s",
	        launch->argv[0], strerror(why));
	if (absent && build) {
		char *line = apply_template_fill(build, true, program, json_object_get(launch->choice.entry, "config"));
		err_hint(err, "build it first: %s", line);
		free(line);
	} else if (absent && cwd) {
		err_hint(err, "it was tuned in %s", cwd);
	}
	return -1;
}

/* Returns only where the program can't be run. */
static int become(struct app *app, const struct launch *launch, struct err *err) {
	const char *name;
	json_t *value;
	size_t i;
	json_array_foreach(launch->unset, i, value) {
		ui_note(app_ui(app), "unset %s", json_string_value(value));
		unsetenv(json_string_value(value));
	}
	json_object_foreach(launch->set, name, value) {
		ui_note(app_ui(app), "%s=%s", name, json_string_value(value));
		setenv(name, json_string_value(value), 1);
	}
	app_release(app);
	fflush(stderr);
	execvp(launch->argv[0], launch->argv);
	return fail_exec(launch, errno, err);
}

static int request_read(const struct opt_args *args, struct apply_request *request, struct err *err) {
	static const char hint[] = "sweetspot apply [KERNEL] -- ./app in.dat";
	request->words = opt_rest(args, &request->count);
	request->shell = opt_has(args, "shell");
	request->kernel = opt_word(args, 0);
	if (!opt_dashes(args))
		return err_set(err, ERR_USAGE, hint, "write -- before the program");
	if (!request->count || !*request->words[0])
		return err_set(err, ERR_USAGE, hint, "there is no program after --");
	if (opt_words(args) > 1)
		return err_set(err, ERR_USAGE, hint, "%s: at most one kernel before --", opt_word(args, 1));
	if (opt_has(args, "size") && !request->kernel)
		return err_set(err, ERR_USAGE, "sweetspot apply fw --size n=1024 -- ./app", "--size needs a kernel");
	if (opt_has(args, "json") && !opt_has(args, "print"))
		return err_set(err, ERR_USAGE, "add --print", "stdout belongs to the program: --json goes with --print");
	for (size_t i = 0; i < opt_count(args, "size"); i++)
		if (!strchr(opt_at(args, "size", i), '='))
			return err_set(err, ERR_USAGE, "write NAME=VALUE", "--size %s names no value", opt_at(args, "size", i));
	return 0;
}

static int launch_run(struct app *app, const struct opt_args *args, const struct apply_request *request,
                      struct launch *launch, struct err *err) {
	if (choose(app, args, request, launch, err) || (launch->choice.entry && environment_read(launch, err)))
		return -1;
	words_take(launch, request);
	if (launch->choice.entry) {
		warn_of_arguments(app_ui(app), launch);
		warn_of_age(app_ui(app), launch);
		warn_of_variables(app_ui(app), launch);
	}
	if (!opt_has(args, "print"))
		return become(app, launch, err);
	launch_print(launch, opt_has(args, "json"));
	return 0;
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	struct apply_request request = {0};
	struct launch launch = {.set = json_object(), .unset = json_array()};
	size_t count = opt_count(args, "size");
	const char **size = mem_alloc(count + 1, sizeof *size);
	for (size_t i = 0; i < count; i++)
		size[i] = opt_at(args, "size", i);
	request.size = size;
	int failed = request_read(args, &request, err) || launch_run(app, args, &request, &launch, err) ? -1 : 0;
	for (char **word = launch.argv; word && *word; word++)
		free(*word);
	free(launch.argv);
	free(size);
	json_decref(launch.set);
	json_decref(launch.unset);
	json_decref(launch.profile);
	return failed;
}

static const struct opt *const tables[] = {options, cmd_store_options, NULL};

const struct cmd cmd_apply = {
	.name = "apply",
	.summary = "run a program with the settings recommended for it",
	.usage = "[KERNEL] [OPTION...] -- PROGRAM [ARG...]",
	.options = tables,
	.notes =
		"The recommendation is that of the same command line, else of the same program, on this machine; with KERNEL\n"
		"that kernel's. {NAME} among the words becomes the recommended value. The exit status is the program's; 127\n"
		"if it is not found, 126 if it can't be run.",
	.becomes_program = true,
	.run = run,
};
