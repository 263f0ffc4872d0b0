/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/profile/profile_program.h"

#include <ctype.h>
#include <string.h>

#include "base/json/js.h"
#include "tuner/program/environment.h"
#include "tuner/program/program.h"
#include "tuner/program/command.h"

enum { WORDS_MAX = 4096, TEXT_MAX = 128 << 10 /* the kernel's limit of one argument */, MEMBERS_MAX = 1024 };

/* Is it the name of a variable, and not one that makes programs load or run something else, such as LD_PRELOAD, PATH or
 * OMP_TOOL_LIBRARIES? A profile may come from anyone, and its variables end up in the environment of programs. */
static bool profile_variable_is_harmless(const char *name) {
	static const char *const starts[] = {"LD_",   "DYLD_", "OMP_TOOL",      "GCONV_",        "BASH_",  "PYTHON",
	                                     "PERL5", "RUBY",  "NODE_",         "JAVA_",         "_JAVA_", "JDK_",
	                                     "LUA_",  "GIT_",  "OMPI_MCA_mca_", "CUDA_INJECTION"};
	static const char *const names[] = {"PATH",      "IFS",       "ENV",           "HOME",    "SHELL",
	                                    "SHELLOPTS", "CDPATH",    "PS4",           "PERLLIB", "PROMPT_COMMAND",
	                                    "MAKEFLAGS", "MAKEFILES", "GLIBC_TUNABLES"};
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (strncmp(name, starts[i], strlen(starts[i])) == 0)
			return false;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0)
			return false;
	return template_is_identifier(name);
}

/* These steer Sweetspot itself; SWEETSPOT_KERNEL_PARAM are settings of a kernel. */
static bool is_own(const char *name) {
	static const char *const names[] = {"WORKER",        "DATA",      "PROFILE", "CACHEGRIND",
	                                    "OMP_RECORD",    "OMP_TABLE", "REGIONS", "REGION_EVENTS",
	                                    "CEILINGS_PART", "BUILD",     "TEST"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* Settings of OpenMP that affect speed, and those of our kernels. */
static bool is_known(const char *name) {
	static const char *const openmp[] = {"OMP_NUM_THREADS", "OMP_PROC_BIND",   "OMP_PLACES",     "OMP_SCHEDULE",
	                                     "OMP_DYNAMIC",     "OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"};
	for (size_t i = 0; i < sizeof openmp / sizeof *openmp; i++)
		if (strcmp(name, openmp[i]) == 0)
			return true;
	size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	return strncmp(name, "SWEETSPOT_", 10) == 0 && length > 10 && !name[length] && !is_own(name + 10);
}

bool profile_may_set(const char *name, const json_t *program) {
	if (is_known(name) || !program)
		return is_known(name);
	const char *channel = json_string_value(json_object_get(json_object_get(program, "params"), name));
	return channel && strcmp(channel, "environment") == 0 && profile_variable_is_harmless(name);
}

static bool is_capital(const char *name) {
	return !name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")];
}

/* SWEETSPOT_KERNEL_PARAM: tuner/program/environment.c */
static bool is_of_kernel(const char *name, const char *kernel) {
	if (strncmp(name, "SWEETSPOT_", 10) != 0 || is_own(name + 10))
		return false;
	for (name += 10; *kernel; kernel++, name++) {
		int c = (unsigned char)*kernel;
		if (*name != (isascii(c) && isalnum(c) ? toupper(c) : '_'))
			return false;
	}
	return *name == '_';
}

static bool is_listed(const json_t *entry, const char *name) {
	static const char *const starts[] = {"OMP_", "KMP_", "GOMP_"};
	static const char *const names[] = {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "BLIS_NUM_THREADS",
	                                    "BLIS_JC_NT",           "BLIS_IC_NT",       "BLIS_JR_NT",
	                                    "BLIS_IR_NT",           "MKL_NUM_THREADS",  "MKL_DOMAIN_NUM_THREADS"};
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (strncmp(name, starts[i], strlen(starts[i])) == 0)
			return is_capital(name) && profile_variable_is_harmless(name);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return !json_object_get(entry, "program") && is_capital(name) &&
	       is_of_kernel(name, js_string_or(entry, "kernel", ""));
}

/* Nobody else's variables are set or left out, except for those that the user names. */
static int foreign_name_check(const json_t *entry, const char *name, const char *const *named, struct err *err) {
	bool good = is_listed(entry, name);
	for (const char *const *one = named; !good && one && *one; one++)
		good = strcmp(*one, name) == 0;
	if (good)
		return 0;
	err_set(err, ERR_USAGE, NULL, "%.64s is not a variable that a profile from a file may set by itself", name);
	return err_hint(err, "if it is yours, name it: --param %.64s", name);
}

int profile_check_foreign(const json_t *entry, const char *const *named, struct err *err) {
	const char *name;
	json_t *value;
	size_t i;
	json_object_foreach(json_object_get(entry, "environment"), name, value) {
		if (foreign_name_check(entry, name, named, err))
			return -1;
	}
	json_array_foreach(json_object_get(entry, "unset"), i, value) {
		if (foreign_name_check(entry, json_string_value(value), named, err))
			return -1;
	}
	return 0;
}

static int refuse(struct err *err, const char *name, const char *what) {
	err_set(err, ERR_USAGE, "tune the program again: `sweetspot tune -- PROGRAM`", "%s", what);
	return err_prefix(err, "%.64s", name);
}

static bool is_text(const json_t *json) {
	return json_is_string(json) && json_string_length(json) <= TEXT_MAX;
}

static int check_argv(const json_t *argv, struct err *err) {
	size_t count = json_array_size(argv);
	if (!json_is_array(argv) || count < 1 || count > WORDS_MAX)
		return refuse(err, "argv", "must be a list of words, at least one");
	for (size_t i = 0; i < count; i++)
		if (!is_text(json_array_get(argv, i)))
			return refuse(err, "argv", "must hold words of at most 128 KiB only");
	return *json_string_value(json_array_get(argv, 0)) ? 0 : refuse(err, "argv", "does not name a program");
}

static int check_params(const json_t *params, struct err *err) {
	static const char *const channels[] = {"argument", "build", "setup", "environment", "openmp"};
	if (!json_is_object(params) || json_object_size(params) > MEMBERS_MAX)
		return refuse(err, "params", "must be an object with at most 1024 members");
	js_members (name, channel, params) {
		const char *word = json_is_string(channel) ? json_string_value(channel) : "";
		bool known = false;
		for (size_t i = 0; i < sizeof channels / sizeof *channels; i++)
			known = known || strcmp(word, channels[i]) == 0;
		if (!*name || !known)
			return refuse(err, "params", "must say argument, build, setup, environment or openmp for each parameter");
	}
	return 0;
}

static bool is_word(const json_t *json, const char *word) {
	return json_is_string(json) && strcmp(json_string_value(json), word) == 0;
}

/* Members that may be absent or null. */
static int check_optional(const json_t *program, struct err *err) {
	static const char *const texts[] = {"folder",      "cwd",      "input",  "build",         "built",
	                                    "before_each", "verify",   "metric", "line",          "baseline_line",
	                                    "setup",       "teardown", "ready",  "energy_command"};
	const json_t *expect = json_object_get(program, "expect_output"), *files = json_object_get(program, "expect_files");
	static const char *const flags[] = {"shell", "openmp", "maximize"};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		const json_t *text = json_object_get(program, texts[i]);
		if (text && !json_is_null(text) && !is_text(text))
			return refuse(err, texts[i], "must be a string of at most 128 KiB, or null");
	}
	if (expect && !json_is_null(expect) && !is_word(expect, "same") && !is_word(expect, "any"))
		return refuse(err, "expect_output", "must be same, any, or null");
	if (files && !json_is_null(files) && !is_word(files, "same"))
		return refuse(err, "expect_files", "must be same, or null");
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
		const json_t *flag = json_object_get(program, flags[i]);
		if (flag && !json_is_boolean(flag))
			return refuse(err, flags[i], "must be true or false");
	}
	return 0;
}

int profile_program_check(const json_t *program, struct err *err) {
	if (!json_is_object(program))
		return err_set(err, ERR_USAGE, NULL, "must be an object");
	return check_argv(json_object_get(program, "argv"), err) || check_params(json_object_get(program, "params"), err) ||
	               check_optional(program, err)
	           ? -1
	           : 0;
}

json_t *profile_program(const json_t *program) {
	json_t *copy = json_copy((json_t *)program);
	json_object_del(copy, "environment");
	return copy;
}

json_t *profile_program_environment(const json_t *program) {
	json_t *kept = json_object();
	js_members (name, value, json_object_get(program, "environment"))
		if (json_is_string(value) && profile_may_set(name, program))
			json_object_set(kept, name, value);
	return kept;
}

/* A variable that is set today, and should not be. */
static const char *left_out(const char *name, const json_t *config, const json_t *today) {
	const json_t *before = json_object_get(today, name);
	bool is_default = strcmp(js_string_or(config, name, ""), "default") == 0;
	return is_default && before && !json_equal(before, json_object_get(config, name)) ? config_variable(name) : NULL;
}

json_t *profile_program_unset(const json_t *program, const json_t *config, const json_t *today) {
	json_t *names = json_array();
	js_members (name, way, json_object_get(program, "params"))
		if (strcmp(js_string_or(config, name, ""), PROGRAM_UNSET) == 0 && profile_may_set(name, program))
			json_array_append_new(names, json_string(name));
		else if (json_is_string(way) && strcmp(json_string_value(way), "openmp") == 0 && left_out(name, config, today))
			json_array_append_new(names, json_string(left_out(name, config, today)));
	return names;
}
