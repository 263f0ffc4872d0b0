/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <string.h>

#include "base/json/js.h"
#include "tuner/profile/profile_program.h"
#include "tuner/program/command.h"

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
	js_members (name, value, json_object_get(entry, "environment"))
		if (foreign_name_check(entry, name, named, err))
			return -1;
	js_each (value, json_object_get(entry, "unset"))
		if (foreign_name_check(entry, json_string_value(value), named, err))
			return -1;
	return 0;
}
