/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/cmd/apply/apply.h"
#include "base/json/js.h"
#include "base/mem.h"
#include "src/app/cmd.h"
#include "src/cmd/regions/regions.h"
#include "tuner/profile/profile.h"
#include "tuner/profile/folder.h"
#include "tuner/profile/use.h"
#include "tuner/program/program.h"
#include "tuner/store/store.h"

static const struct opt options[] = {
	OPT_GROUP("What to run"),
	{"regions", 0, NULL, "use the settings found by tune --regions", 0},
	{"shell", 0, NULL, "run the command through sh", 0},
	{"print", 0, NULL, "print the command instead of running it", 0},
	{"or-as-is", 0, NULL, "run it as it is if nothing is known of it", 0},
	OPT_GROUP("Which recommendation"),
	{"size", 's', "K=V,..", "problem size of KERNEL (the last tuned)", OPT_REPEAT},
	{"profile", 0, "FILE", "profile, or folder of profiles, instead of the store", 0},
	{"param", 0, "NAME", "variable that the profile may also set", OPT_REPEAT},
	{"anyway", 0, NULL, "use the best setting found even if it is not proven", 0},
	{0},
};

static const char *source_of(void *ctx, const char *kernel) {
	const struct kernel_desc *found = kernel_list_find(ctx, kernel, "cpu", NULL);
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
		err_set(err, ERR_USAGE, "write the profile to a file",
		        "--profile cannot read stdin, which belongs to the program");
		return NULL;
	}
	const char *here = app_fingerprint(app, err);
	return here ? profile_at(path, here, err) : NULL;
}

/* Searches the folders in which libsweetspot searches. */
static json_t *profile_of_places(struct app *app, struct err *err) {
	const char *here = app_fingerprint(app, err);
	return here ? profile_find(here, err) : NULL;
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
		return choose_from(profile_of_places(app, err), true, request, profile, choice, err);
	if (choose_from(profile_of_store(app, args, err), false, request, profile, choice, err) == 0)
		return 0;
	struct err second = {0};
	if (err->code != ERR_NOTHING || opt_has(args, "store") ||
	    choose_from(profile_of_places(app, &second), true, request, profile, choice, &second))
		return -1;
	*err = (struct err){0};
	return 0;
}

/* Without options, `tune` takes the OpenMP settings of a program that has any, and tells for another what to add. */
static int tune_first(const struct apply_request *request, struct err *err) {
	char *line = program_join((const char *const *)request->words, !request->shell);
	err_hint(err, "tune it first: sweetspot tune %s-- %s", request->shell ? "--shell " : "", line);
	free(line);
	return -1;
}

static int choose(struct app *app, const struct opt_args *args, const struct apply_request *request, json_t **profile,
                  struct apply_choice *choice, struct err *err) {
	if (choose_any(app, args, request, profile, choice, err) == 0)
		return 0;
	if (err->code != ERR_NOTHING)
		return -1;
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

static int apply(struct app *app, const struct opt_args *args, const struct apply_request *request,
                 struct launch *launch, struct err *err) {
	if (launch_make(app_ui(app), launch, request, err))
		return -1;
	launch_warn(app_ui(app), launch);
	if (!opt_has(args, "print"))
		return launch_run(app, launch, err);
	launch_print(launch, opt_has(args, "json"));
	return 0;
}

/* A profile has a recommendation for the program that may be used. */
static bool is_proven(struct app *app, const struct opt_args *args, const struct apply_request *request) {
	struct apply_choice choice = {0};
	struct err none = {0};
	json_t *profile = NULL;
	bool proven = choose_any(app, args, request, &profile, &choice, &none) == 0 &&
	              (request->anyway || ssp_use_of(choice.entry) == SSP_PROVEN);
	json_decref(profile);
	return proven;
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
	if (opt_has(args, "regions"))
		return regions_command_apply(app, args, err);
	struct apply_request request = {0};
	struct launch launch = {0};
	json_t *profile = NULL;
	const char **size = values_of(args, "size"), **params = values_of(args, "param");
	request.size = size;
	request.params = params;
	int failed = request_read(args, &request, err);
	bool by_region = !failed && !request.kernel && !opt_has(args, "profile") && !opt_has(args, "shell") &&
	                 regions_command_known(app, args) && !is_proven(app, args, &request);
	failed = failed || (by_region ? regions_command_apply(app, args, err)
	                              : choose(app, args, &request, &profile, &launch.choice, err) ||
	                                    apply(app, args, &request, &launch, err));
	launch_clear(&launch);
	json_decref(profile);
	free(size);
	free(params);
	return failed ? -1 : 0;
}

static const struct opt *const tables[] = {options, cmd_store_options, NULL};

const struct cmd cmd_apply = {
	.name = "apply",
	.summary = "run a program with the settings recommended for it",
	.usage = "apply [OPTION...] -- PROGRAM [ARG...]\n"
			 "apply [OPTION...] KERNEL -- PROGRAM [ARG...]",
	.options = tables,
	.notes = "Uses the recommendation for the same command line, or else for the same program;\n"
			 "with KERNEL, the recommendation for that kernel. {NAME} becomes the recommended\n"
			 "value of a tuned argument. What is not proven to be faster is not used: the\n"
			 "program then runs as it is. The exit status is that of the program.",
	.examples = "sweetspot apply -- ./app in.dat\n"
				"sweetspot apply fw --print -- ./app",
	.becomes_program = true,
	.run = run,
};
