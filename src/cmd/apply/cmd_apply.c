/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "base/json/js.h"
#include "src/cmd/apply/apply_impl.h"
#include "src/cmd/inside/inside_cmd.h"
#include "src/cmd/profile/input.h"
#include "src/cmd/regions/regions.h"
#include "tuner/program/program_json.h"

/* A command may evaluate its words a second time (`sh -c`, eval, ssh), where no quoting of ours reaches. */
static const char PLAIN[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 _.,:=/+@%-";
static const char BETWEEN[] = " \t\n'\";|&(){}`";

static bool is_evaluator(const char *word, size_t size) {
	static const char *const names[] = {"eval",   "sh",    "bash",    "dash",  "zsh",      "ksh",   "mksh", "ash",
	                                    "fish",   "csh",   "tcsh",    "ssh",   "rsh",      "su",    "make", "gmake",
	                                    "awk",    "gawk",  "mawk",    "watch", "parallel", "pdsh",  "let",  "declare",
	                                    "python", "perl",  "ruby",    "node",  "lua",      "php",   "[[",   "typeset",
	                                    "tclsh",  "julia", "Rscript", "trap",  "script",   "octave"};
	while (size > 1 && strchr("0123456789.", word[size - 1])) /* python3.11 */
		size--;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strlen(names[i]) == size && memcmp(names[i], word, size) == 0)
			return true;
	return false;
}

/* The name without its folder of a program in the text that evaluates text, or NULL. */
static const char *evaluator_in(const char *text, size_t *size) {
	while (*(text += strspn(text, BETWEEN))) {
		size_t length = strcspn(text, BETWEEN);
		const char *slash = memrchr(text, '/', length), *name = slash ? slash + 1 : text;
		*size = length - (size_t)(name - text);
		if (is_evaluator(name, *size))
			return name;
		text += length;
	}
	return NULL;
}

static bool is_filled_in(const struct apply_request *request, const char *name) {
	mem_auto char *hole = mem_printf("{%s}", name);
	bool found = false;
	for (size_t i = 0; i < request->count; i++)
		found = found || strstr(request->words[i], hole);
	return found;
}

/* Refuses values of somebody else's profile that a command like `sh -c` would evaluate, unless the user names them. */
static int apply_nested_check(const json_t *config, const struct apply_request *request, struct err *err) {
	const char *evaluator = NULL;
	size_t size = 0;
	for (size_t i = 0; i < request->count && !evaluator; i++)
		evaluator = evaluator_in(request->words[i], &size);
	js_members (name, value, config) {
		const char *text = json_is_string(value) ? json_string_value(value) : "";
		if (!evaluator || !text[strspn(text, PLAIN)] || text_is_listed(name, request->params) ||
		    !is_filled_in(request, name))
			continue;
		err_set(err, ERR_USAGE, NULL,
		        "the value of {%.64s} comes from a file and holds characters that %.*s would evaluate", name, (int)size,
		        evaluator);
		return err_hint(err, "if you trust the file: --param %.64s", name);
	}
	return 0;
}

/* Prepares the environment and the words of a command, and runs it. */
/* A profile recommends what it changes. What else is set in the environment stays, as it did when it was measured. */
static bool governs_openmp(const struct profile_entry *entry) {
	const json_t *program = entry->program, *environment = entry->environment;
	bool some = false;
	for (size_t i = 0; program_governed(i); i++)
		some = some || json_object_get(environment, program_governed(i));
	return some && (!program || js_bool_or(program, "openmp", false));
}

/* Variables of the user's own that are best left out. */
static void without_read(struct launch *launch) {
	js_each (name, launch->choice.entry.unset)
		if (!json_object_get(launch->set, json_string_value(name)))
			json_array_append(launch->unset, name);
}

static int environment_read(struct launch *launch, struct err *err) {
	const struct profile_entry *entry = &launch->choice.entry;
	js_members (name, value, entry->environment) {
		const char *text = json_string_value(value);
		mem_auto char *clean = launch_shown(mem_strdup(text));
		if (strcmp(clean, text) != 0)
			return err_set(err, ERR_USAGE, "tune again", "the recommended %s contains control characters", name);
		json_object_set(launch->set, name, value);
	}
	without_read(launch);
	const json_t *config = entry->config, *today = entry->baseline.config;
	bool governs = governs_openmp(entry);
	for (size_t i = 0; governs && program_governed(i); i++)
		if (!json_object_get(launch->set, program_governed(i)) && config_governs(program_governed(i), config, today))
			json_array_append_new(launch->unset, json_string(program_governed(i)));
	return 0;
}

/* program_recorded_fill with a line for a shell. NULL and ERR_USAGE if a value would be in a place where no quoting is
 * safe. */
static char *apply_shell_fill(const char *line, const json_t *program, const json_t *config, struct err *err) {
	struct template_names names = program_recorded_names(program, config);
	const char *missing = NULL;
	char *filled = template_shell_check(line, &names, err)
	                   ? NULL
	                   : template_fill(line, &names, program_recorded_value, config, true, &missing);
	if (missing)
		err_set(err, ERR_USAGE, "only a whole number can stand inside $((..))",
		        "the recommended value of {%.100s} cannot stand there", missing);
	free((void *)names.list);
	return filled;
}

static void line_print(const struct launch *launch) {
	mem_auto char *prefix = program_env_prefix(launch->unset, launch->set);
	mem_auto char *words = program_join((const char *const *)launch->argv, true);
	printf("%s%s%s%s\n", launch->before ? launch->before : "", prefix, words, launch->behind ? launch->behind : "");
}

static void launch_print(const struct launch *launch, bool json) {
	if (!json) {
		line_print(launch);
		return;
	}
	json_t *argv = json_array();
	for (char **word = launch->argv; *word; word++)
		json_array_append_new(argv, value_json(value_word(*word)));
	const json_t *entry = launch->choice.entry.json;
	json_t *document = json_object();
	json_object_set_new(document, "argv", argv);
	json_object_set(document, "environment", launch->set);
	json_object_set(document, "unset", launch->unset);
	json_object_set_new(document, "kernel", entry ? json_incref(json_object_get(entry, "kernel")) : json_null());
	json_object_set_new(document, "problem", entry ? json_incref(json_object_get(entry, "problem")) : json_null());
	js_print(document);
}

static int shell_fill(struct launch *launch, const struct apply_request *request, struct err *err) {
	const json_t *program = launch->choice.entry.program;
	mem_auto char *line = program_join((const char *const *)request->words, false);
	char *filled = program ? apply_shell_fill(line, program, launch->config, err) : mem_strdup(line);
	launch->argv[0] = mem_strdup("/bin/sh");
	launch->argv[1] = mem_strdup("-c");
	launch->argv[2] = filled;
	return filled ? 0 : -1;
}

/* Copies the words and replaces {NAME} by the recommended value. */
static int words_fill(struct launch *launch, const struct apply_request *request, struct err *err) {
	const json_t *program = launch->choice.entry.program;
	const json_t *argv = json_object_get(program, "argv");
	bool completes = launch->choice.fit == APPLY_FIT_BARE && !launch->kept;
	size_t count = completes ? json_array_size(argv) : request->count;
	launch->argv = mem_alloc(count + 4, sizeof *launch->argv);
	if (request->shell)
		return shell_fill(launch, request, err);
	for (size_t i = 0; i < count; i++) {
		const char *word = completes ? json_string_value(json_array_get(argv, i)) : request->words[i];
		launch->argv[i] = program ? program_recorded_fill(word, false, program, launch->config) : mem_strdup(word);
	}
	if (launch->program) {
		free(launch->argv[0]);
		launch->argv[0] = mem_strdup(launch->program);
	}
	return 0;
}

struct filling {
	const json_t *program, *config;
};

static char *around_fill(const void *ctx, const char *text, bool shell) {
	const struct filling *filling = ctx;
	return program_recorded_fill(text, shell, filling->program, filling->config);
}

/* The commands around the program. Those of a file from elsewhere are not run. */
static void around_read(struct launch *launch) {
	const struct filling filling = {launch->choice.entry.program, launch->config};
	if (!filling.program || launch->choice.foreign)
		return;
	struct arena *arena = arena_new();
	const struct program_spec spec = program_recorded(arena, filling.program, NULL);
	struct program_around around = program_around(&spec, around_fill, &filling);
	launch->before = around.before;
	launch->behind = around.behind;
	arena_free(arena);
}

/* A shell runs them in that order, and ends with the status of the program. */
static void around_run(struct launch *launch) {
	bool ends = launch->behind && *launch->behind;
	if (!ends && !(launch->before && *launch->before))
		return;
	size_t count = 0;
	while (launch->argv[count])
		count++;
	char **argv = mem_alloc(count + 4, sizeof *argv);
	argv[0] = mem_strdup("/bin/sh");
	argv[1] = mem_strdup("-c");
	argv[2] = ends ? mem_printf("%s\"$0\" \"$@\"; status=$?%s; exit $status", launch->before, launch->behind)
	               : mem_printf("%sexec \"$0\" \"$@\"", launch->before);
	memcpy(argv + 3, launch->argv, count * sizeof *argv);
	free(launch->argv);
	launch->argv = argv;
}

/* Prepares the launch from launch->choice. ERR_USAGE if a recommended value must not be put into an environment. */
static int launch_make(struct ui *ui, struct launch *launch, const struct apply_request *request, struct err *err) {
	launch->set = json_object();
	launch->unset = json_array();
	const struct profile_entry *entry = &launch->choice.entry;
	launch->kept = entry->json && !request->anyway ? profile_use_why(entry->json) : NULL;
	launch->config = json_copy((json_t *)(launch->kept ? entry->baseline.config : entry->config));
	if (launch->choice.foreign && apply_nested_check(launch->config, request, err))
		return -1;
	if (!launch->kept && /* else the program runs as the user would run it: nothing is set */
	    ((launch->choice.foreign && profile_check_foreign(entry->json, request->params, err)) ||
	     (entry->json && environment_read(launch, err)) || launch_build_choose(ui, launch, request, err)))
		return -1;
	around_read(launch);
	return words_fill(launch, request, err);
}

static void launch_clear(struct launch *launch) {
	for (char **word = launch->argv; word && *word; word++)
		free(*word);
	free(launch->argv);
	free(launch->program);
	free(launch->before);
	free(launch->behind);
	json_decref(launch->config);
	json_decref(launch->set);
	json_decref(launch->unset);
}

static const struct opt options[] = {
	OPT_GROUP("What to run"),
	{"regions", 0, NULL, "use the settings found by tune --regions", 0},
	{"shell", 0, NULL, "run the command through sh", 0},
	{"print", 0, NULL, "print the command instead of running it", 0},
	{"learn", 0, "[2%]", "try other values inside the run, in this share of its time", OPT_MAYBE},
	{"or-as-is", 0, NULL, "run it as it is if nothing is known of it", 0},
	OPT_GROUP("Which recommendation"),
	{"size", 's', "K=V,..", "problem size of KERNEL (the last tuned)", OPT_REPEAT},
	{"profile", 0, "FILE", "profile, or folder of profiles, instead of the store", 0},
	{"param", 0, "NAME", "variable that the profile may also set", OPT_REPEAT},
	{"anyway", 0, NULL, "use the best setting found even if it is not proven", 0},
	{0},
};

static json_t *profile_of_file(struct app *app, const char *path, struct err *err) {
	if (strcmp(path, "-") == 0)
		return err_null(err_set(err, ERR_USAGE, "write the profile to a file",
		                        "--profile cannot read stdin, which belongs to the program"));
	return profile_at(path, app_fingerprint(app, err), err);
}

static bool is_set(const char *variable) {
	const char *value = getenv(variable);
	return value && *value;
}

/* Keeps the profile if one of its recommendations fits. */
static int choose_from(json_t *found, bool foreign, const struct apply_request *request, json_t **profile,
                       struct apply_choice *choice, struct err *err) {
	if (found && apply_choose(found, request, choice, err) == 0) {
		choice->foreign = foreign;
		if (foreign && choice->fit == APPLY_FIT_BARE) /* words of a file from elsewhere are not run */
			choice->fit = APPLY_FIT_NAME;
		*profile = found;
		return 0;
	}
	json_decref(found);
	return -1;
}

/* Tries --profile or, if it is not given, $SWEETSPOT_PROFILE as libsweetspot does. Otherwise tries the store, and then
 * the folders in which libsweetspot searches. */
static int choose_any(struct app *app, const struct opt_args *args, const struct apply_request *request,
                      json_t **profile, struct apply_choice *choice, struct err *err) {
	const char *file = opt_get(args, "profile", NULL);
	if (file)
		return choose_from(profile_of_file(app, file, err), true, request, profile, choice, err);
	if (!opt_has(args, "store") && is_set("SWEETSPOT_PROFILE"))
		return choose_from(profile_find(app_fingerprint(app, err), err), true, request, profile, choice, err);
	if (choose_from(profile_input_store(app, args, NULL, err), false, request, profile, choice, err) == 0)
		return 0;
	struct err second = {0};
	if (err->code != ERR_NOTHING || opt_has(args, "store") ||
	    choose_from(profile_find(app_fingerprint(app, &second), &second), true, request, profile, choice, &second))
		return -1;
	*err = (struct err){0};
	return 0;
}

/* Without options, `tune` takes the OpenMP settings of a program that has any, and tells for another what to add. */
static int tune_first(const struct apply_request *request, struct err *err) {
	mem_auto char *line = program_join((const char *const *)request->words, !request->shell);
	err_hint(err, "tune it first: sweetspot tune %s-- %s", request->shell ? "--shell " : "", line);
	return -1;
}

static int choose(struct app *app, const struct opt_args *args, const struct apply_request *request, json_t **profile,
                  struct apply_choice *choice, struct err *err) {
	if (choose_any(app, args, request, profile, choice, err) == 0)
		return 0;
	if (err->code != ERR_NOTHING)
		return -1;
	if (json_object_size(request->contexts) ||
	    opt_has(args, "learn")) { /* its contexts are known, and nothing around them */
		*err = (struct err){0};
		return 0;
	}
	bool of_file = opt_has(args, "profile") || is_set("SWEETSPOT_PROFILE"); /* whose own faults have their own hints */
	if (!opt_has(args, "or-as-is"))
		return request->kernel || (of_file && *err->hint) ? -1 : tune_first(request, err);
	ui_warn(app_ui(app), NULL, "%s: running the program unchanged", err->what);
	*err = (struct err){0};
	return 0;
}

static int request_read(const struct opt_args *args, struct apply_request *request, struct err *err) {
	static const char hint[] = "sweetspot apply [KERNEL] -- ./app in.dat";
	request->words = opt_rest(args, &request->count);
	request->shell = opt_has(args, "shell");
	request->as_is = opt_has(args, "or-as-is");
	request->anyway = opt_has(args, "anyway");
	request->kernel = opt_word(args, 0);
	if (!opt_dashes(args))
		return err_set(err, ERR_USAGE, hint, "write -- before the program");
	if (!request->count || !*request->words[0])
		return err_set(err, ERR_USAGE, hint, "give a program after --");
	if (opt_words(args) > 1)
		return err_set(err, ERR_USAGE, hint, "%s: give at most one kernel before --", opt_word(args, 1));
	if (opt_has(args, "size") && !request->kernel)
		return err_set(err, ERR_USAGE, "sweetspot apply fw --size n=1024 -- ./app", "--size needs a kernel");
	for (size_t i = 0; i < opt_count(args, "size"); i++)
		if (!strchr(opt_at(args, "size", i), '='))
			return err_set(err, ERR_USAGE, "write NAME=VALUE", "--size %s does not give a value",
			               opt_at(args, "size", i));
	return 0;
}

static int learn(struct app *app, const struct opt_args *args, const struct launch *launch, struct err *err) {
	struct inside_kokkos kokkos;
	inside_kokkos_open(app, args, &kokkos);
	int failed = launch_learn(app, args, launch, &kokkos, err);
	inside_kokkos_clear(&kokkos);
	return failed;
}

/* Kokkos loads our library where something is known for its kernels. */
static void kokkos_add(struct app *app, const struct opt_args *args, const struct apply_request *request, json_t *set) {
	struct inside_kokkos kokkos;
	if (!json_object_size(request->contexts) || opt_has(args, "learn"))
		return;
	inside_kokkos_open(app, args, &kokkos);
	json_object_update(set, kokkos.using);
	inside_kokkos_clear(&kokkos);
}

static int apply(struct app *app, const struct opt_args *args, const struct apply_request *request,
                 struct launch *launch, struct err *err) {
	if (launch_make(app_ui(app), launch, request, err))
		return -1;
	json_object_update(launch->set, (json_t *)request->contexts);
	kokkos_add(app, args, request, launch->set);
	launch_warn(app_ui(app), launch);
	if (!opt_has(args, "print")) {
		around_run(launch);
		return opt_has(args, "learn") ? learn(app, args, launch, err) : launch_run(app, launch, err);
	}
	launch_print(launch, opt_has(args, "json"));
	return 0;
}

/* A profile has a recommendation for the program that may be used. */
static bool is_proven(struct app *app, const struct opt_args *args, const struct apply_request *request) {
	struct apply_choice choice = {0};
	struct err none = {0};
	js_auto json_t *profile = NULL;
	return choose_any(app, args, request, &profile, &choice, &none) == 0 &&
	       (request->anyway || ssp_use_of(choice.entry.json) == SSP_PROVEN);
}

/* The values of an option that may be repeated, NULL-terminated. The caller frees the list. */
static const char **values_of(const struct opt_args *args, const char *option) {
	size_t count = opt_count(args, option);
	const char **values = mem_alloc(count + 1, sizeof *values);
	for (size_t i = 0; i < count; i++)
		values[i] = opt_at(args, option, i);
	return values;
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	if (opt_has(args, "json") && !opt_has(args, "print"))
		return err_set(err, ERR_USAGE, "add --print", "--json needs --print, because stdout belongs to the program");
	if (opt_has(args, "regions") && opt_has(args, "learn"))
		return err_set(err, ERR_USAGE, "leave --regions out", "--learn is for contexts, and not for --regions");
	if (opt_has(args, "regions"))
		return regions_command_apply(app, args, err);
	struct apply_request request = {0};
	struct launch launch = {0};
	js_auto json_t *profile = NULL;
	mem_auto const char **size = values_of(args, "size"), **params = values_of(args, "param");
	request.size = size;
	request.params = params;
	int failed = request_read(args, &request, err);
	bool plain = !failed && !request.kernel && !opt_has(args, "profile");
	js_auto json_t *contexts = plain ? inside_command_environment(app, args) : NULL;
	request.contexts = contexts;
	bool by_region = !failed && !opt_has(args, "learn") && !request.kernel && !opt_has(args, "profile") &&
	                 !opt_has(args, "shell") && regions_command_known(app, args) && !is_proven(app, args, &request);
	failed = failed || (by_region ? regions_command_apply(app, args, err)
	                              : choose(app, args, &request, &profile, &launch.choice, err) ||
	                                    apply(app, args, &request, &launch, err));
	launch_clear(&launch);
	return failed ? -1 : 0;
}

const struct cmd cmd_apply = {
	.name = "apply",
	.summary = "run a program with the settings recommended for it",
	.usage = "apply [OPTION...] -- PROGRAM [ARG...]\n"
			 "apply [OPTION...] KERNEL -- PROGRAM [ARG...]",
	.options = (const struct opt *const[]){options, cmd_store_options, NULL},
	.notes = "Uses the recommendation for the same command line, or else for the same program;\n"
			 "with KERNEL, the recommendation for that kernel. {NAME} becomes the recommended\n"
			 "value of a tuned argument. What is not proven to be faster is not used: the\n"
			 "program then runs as it is. The exit status is that of the program.",
	.examples = "sweetspot apply -- ./app in.dat\n"
				"sweetspot apply fw --print -- ./app",
	.becomes_program = true,
	.run = run,
};
