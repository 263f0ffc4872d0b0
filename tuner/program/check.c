/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"
#include "tuner/program/impl.h"
#include "base/proc/path.h"

static int metric_check(const struct program_spec *spec, struct err *err) {
	if (!spec->metric)
		return spec->maximize ? err_set(err, ERR_USAGE, "name the rate in the program's output with --metric",
		                                "nothing can be maximized without --metric: the time is always minimized")
		                      : 0;
	if (spec->maximize && strncmp(spec->metric, "kernel:", 7) == 0)
		return err_set(err, ERR_USAGE, "leave --maximize out", "the time of a kernel is always minimized");
	regex_t regex;
	char why[160];
	if (pattern_compile(&regex, spec->metric, why, sizeof why)) {
		regfree(&regex);
		return 0;
	}
	return err_set(err, ERR_USAGE, "use a POSIX extended regular expression, as for `grep -E`",
	               "bad expression \"%s\" for the metric: %s", spec->metric, why);
}

/* Text must be UTF-8, because it reaches the worker as JSON. */
static int utf8_check(const char *text, struct err *err) {
	json_t *json = text ? json_string(text) : json_null();
	if (!json)
		return err_set(err, ERR_USAGE, "rename the file, or run it through a script", "\"%s\" is not UTF-8", text);
	json_decref(json);
	return 0;
}

/* Checks that the program exists, unless it is built first or its name contains a parameter. */
static int executable_check(const struct program *program, struct err *err) {
	const char *name = program->spec.argv[0];
	bool has_slash = strchr(name, '/');
	for (size_t i = 0; i < program->names.count; i++)
		if (template_mentions(name, program->names.list[i]))
			return 0;
	if (program->spec.shell || (has_slash && program->spec.build && *name != '/'))
		return 0;
	char *path = program_path(name, program->cwd, err);
	bool found = path;
	free(path);
	return found ? 0 : -1;
}

static bool build_is_used(const struct program_spec *spec) {
	for (const char *const *word = spec->argv; *word; word++)
		if (template_mentions(*word, "BUILD"))
			return true;
	return template_mentions(spec->before_each, "BUILD");
}

static int names_check(const struct program *program, struct err *err) {
	const struct program_spec *spec = &program->spec;
	for (size_t i = 0; i < program->params.count; i++) {
		const char *name = program->params.list[i];
		if (strcmp(name, "SOURCE") == 0 || strcmp(name, "BUILD") == 0)
			return err_set(err, ERR_USAGE, "choose another name", "{%s} is a folder and can't be a parameter", name);
		if (program_is_variable(program, name) && !template_is_identifier(name))
			return err_set(err, ERR_USAGE, "write it in braces into the command, or rename it",
			               "parameter %s does not occur in the command and is not a valid name for a variable", name);
		if (template_expands(spec->build, name) && program_is_variable(program, name)) {
			err_set(err, ERR_USAGE, NULL, "the build cannot see parameter %s as a variable", name);
			return err_hint(err, "write {%s} into the build command", name);
		}
	}
	if (!spec->build && (build_is_used(spec) || template_mentions(spec->verify, "BUILD")))
		return err_set(err, ERR_USAGE, "give --build", "the folder {BUILD} needs a build command");
	if (spec->build && spec->cwd && !build_is_used(spec))
		return err_set(err, ERR_USAGE, "name the program as {BUILD}/NAME, or leave --cwd out to run in that folder",
		               "the program in %s is not the one that is built for each configuration", spec->cwd);
	return 0;
}

static int templates_check(const struct program *program, struct err *err) {
	const struct program_spec *spec = &program->spec;
	const char *const others[] = {spec->build, spec->verify, spec->before_each, spec->cwd, spec->input, spec->metric};
	enum { TEMPLATES = 3 };
	for (const char *const *word = spec->argv; *word; word++)
		if (utf8_check(*word, err) || template_check(*word, &program->names, err) ||
		    (spec->shell && template_shell_check(*word, &program->names, err)))
			return -1;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		if (others[i] && !*others[i])
			return err_set(err, ERR_USAGE, "omit the option", "a command, file or expression is empty");
		if (utf8_check(others[i], err) || (i < TEMPLATES && (template_check(others[i], &program->names, err) ||
		                                                     template_shell_check(others[i], &program->names, err))))
			return -1;
	}
	return 0;
}

/* Messages name the places as they were given, unless these are relative to another folder. */
static int places_check(const struct program *program, struct err *err) {
	return program->spec.folder ? program_places_check(program->cwd, program->input, err)
	                            : program_places_check(program->spec.cwd, program->spec.input, err);
}

int program_check(const struct program *program, struct err *err) {
	if (!program->spec.argv[0] || !*program->spec.argv[0])
		return err_set(err, ERR_USAGE, "write it after --", "the program to tune is missing");
	if (metric_check(&program->spec, err) || templates_check(program, err) || names_check(program, err) ||
	    places_check(program, err) || executable_check(program, err))
		return -1;
	return 0;
}
