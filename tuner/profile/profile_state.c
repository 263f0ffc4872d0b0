/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/text.h"
#include "tuner/profile/profile.h"
#include "tuner/program/command.h"
#include "tuner/result/result.h"

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
	return !text_is_one_of(name, names) && template_is_identifier(name);
}

/* These steer Sweetspot itself; SWEETSPOT_KERNEL_PARAM are settings of a kernel. */
static bool is_own(const char *name) {
	static const char *const names[] = {"WORKER",        "DATA",      "PROFILE", "CACHEGRIND",
	                                    "OMP_RECORD",    "OMP_TABLE", "REGIONS", "REGION_EVENTS",
	                                    "CEILINGS_PART", "BUILD",     "TEST"};
	return text_is_one_of(name, names);
}

/* Settings of OpenMP that affect speed, and those of our kernels. */
static bool is_known(const char *name) {
	static const char *const openmp[] = {"OMP_NUM_THREADS", "OMP_PROC_BIND",   "OMP_PLACES",     "OMP_SCHEDULE",
	                                     "OMP_DYNAMIC",     "OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"};
	if (text_is_one_of(name, openmp))
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
	if (text_is_one_of(name, names))
		return true;
	return !json_object_get(entry, "program") && is_capital(name) &&
	       is_of_kernel(name, js_string_or(entry, "kernel", ""));
}

/* Nobody else's variables are set or left out, except for those that the user names. */
static int foreign_name_check(const json_t *entry, const char *name, const char *const *named, struct err *err) {
	if (is_listed(entry, name) || text_is_listed(name, named))
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

/* Members that describe how programs are compiled on a machine, not the machine itself. */
static const char *const compiled[] = {"compiler", "cflags", "openmp", "nvrtc"};

/* NVRTC is a compiler, although it is among the members of the GPU. */
static json_t *plain(const json_t *machine) {
	json_t *copy = json_is_object(machine) ? json_copy((json_t *)machine) : json_object();
	const json_t *gpu = json_object_get(copy, "gpu"), *nvrtc = json_object_get(gpu, "nvrtc");
	json_object_del(copy, "fingerprint");
	json_object_del(copy, "schema"); /* of a document that `machine --json` printed */
	if (nvrtc) {
		json_t *rest = json_copy((json_t *)gpu);
		json_object_del(rest, "nvrtc");
		json_object_set(copy, "nvrtc", (json_t *)nvrtc);
		json_object_set_new(copy, "gpu", rest);
	}
	return copy;
}

static void difference_add(json_t *array, const char *name, const json_t *a, const json_t *b) {
	json_array_append_new(array, json_pack("{s:s,s:O?,s:O?}", "name", name, "a", a, "b", b));
}

/* [{"name": "compiler", "a": .., "b": ..}], of two objects and of two machines, without the fingerprint. New reference.
 */
static json_t *profile_differences(const json_t *a, const json_t *b) {
	json_t *array = json_array();
	js_members (name, value, a)
		if (!json_equal(value, json_object_get(b, name)))
			difference_add(array, name, value, json_object_get(b, name));
	js_members (name, value, b)
		if (!json_object_get(a, name))
			difference_add(array, name, NULL, value);
	return array;
}

json_t *profile_machine_differences(const json_t *a, const json_t *b) {
	js_auto json_t *left = plain(a), *right = plain(b);
	return profile_differences(left, right);
}

/* The version is the last number with a point: "gcc (Debian 14.2.0-19) 14.2.0". */
static const char *version_of(const char *text) {
	const char *found = NULL;
	for (const char *c = text; *c; c += *c != '\0') {
		size_t length = strspn(c, "0123456789.");
		if (isdigit((unsigned char)*c) && memchr(c, '.', length))
			found = c;
		c += length;
		if (!*c)
			break;
	}
	return found;
}

static bool is_older(const char *a, const char *b) {
	size_t name = strcspn(a, " -");
	const char *left = version_of(a), *right = version_of(b);
	if (!left || !right || name == 0 || strcspn(b, " -") != name || strncmp(a, b, name) != 0)
		return false;
	for (;;) {
		char *left_end, *right_end;
		unsigned long x = strtoul(left, &left_end, 10), y = strtoul(right, &right_end, 10);
		if (x != y)
			return x < y;
		if (*left_end != '.' || *right_end != '.' || !isdigit((unsigned char)left_end[1]) ||
		    !isdigit((unsigned char)right_end[1]))
			return false;
		left = left_end + 1;
		right = right_end + 1;
	}
}

static enum profile_origin origin_of(const json_t *differences, const json_t *here, const json_t *there) {
	js_each (one, differences)
		if (!text_is_one_of(js_string_or(one, "name", ""), compiled))
			return PROFILE_FOREIGN;
	/* A fingerprint that differs although the members are equal belongs to an unknown machine. */
	if (!json_array_size(differences))
		return PROFILE_FOREIGN;
	return is_older(js_string_or(there, "compiler", ""), js_string_or(here, "compiler", "")) ? PROFILE_OLDER_COMPILER
	                                                                                         : PROFILE_OTHER_COMPILER;
}

enum profile_origin profile_origin(const json_t *here, const json_t *there) {
	const char *ours = js_string_or(here, "fingerprint", ""), *theirs = js_string_or(there, "fingerprint", "");
	if (*ours && strcmp(ours, theirs) == 0)
		return PROFILE_HERE;
	js_auto json_t *differences = profile_machine_differences(there, here);
	return origin_of(differences, here, there);
}

const char *profile_origin_word(enum profile_origin origin) {
	static const char *const words[] = {"current", "other compiler", "older compiler", "foreign"};
	return words[origin];
}

const char *profile_entry_state(enum profile_origin origin, const json_t *entry, const char *source) {
	bool stale = source ? strcmp(source, js_string_or(entry, "source", "")) != 0
	                    : strcmp(js_string_or(entry, "state", ""), "stale") == 0;
	return origin != PROFILE_FOREIGN && stale ? "stale" : profile_origin_word(origin);
}

/* Smaller differences do not count, however certain they are. */
static const double MARGIN = 0.01;
/* An interval that reaches further from 1 decides nothing, as of pairs (paired_is_vague). */
static const double VAGUE = 1.3;

/* {"key": entry} */
static json_t *by_key(const json_t *profile) {
	json_t *found = json_object();
	js_each (entry, json_object_get(profile, "entries")) {
		mem_auto char *key = profile_entry_key(entry);
		const json_t *known = json_object_get(found, key);
		if (!known || strcmp(profile_entry_date(entry), profile_entry_date(known)) >= 0)
			json_object_set(found, key, entry);
	}
	return found;
}

static double ratio_of(const struct profile_entry *a, const struct profile_entry *b) {
	return profile_entry_comparable(a->json, b->json) && a->median > 0 ? b->median / a->median : NAN;
}

/* The interval of a ratio from those of its two parts, on the logarithms: G. Zou and A. Donner, "Construction of
 * confidence limits about effect measures: a general approach" (2008), the method of variance estimates recovery. NAN
 * where one is unknown. */
static void interval_of(const struct profile_entry *a, const struct profile_entry *b, double ci[2]) {
	double from = log(a->median), from_low = fmin(a->low, a->high), from_high = fmax(a->low, a->high);
	double to = log(b->median), to_low = fmin(b->low, b->high), to_high = fmax(b->low, b->high);
	bool known = profile_entry_comparable(a->json, b->json) && isfinite(a->low + a->high + b->low + b->high);
	ci[0] = known ? exp(to - from - hypot(to - log(to_low), log(from_high) - from)) : NAN;
	ci[1] = known ? exp(to - from + hypot(log(to_high) - to, from - log(from_low))) : NAN;
}

/* A higher rate is faster. False: nobody knows. */
static bool verdict_take(const struct profile_entry *a, const struct profile_entry *b, enum verdict *verdict) {
	double ci[2], margin = log1p(fmax(MARGIN, fmax(a->noise_floor, b->noise_floor)));
	bool rate = js_bool_or(a->program, "maximize", false);
	interval_of(a, b, ci);
	if (!(ci[0] > 0) || !isfinite(ci[1]))
		return false;
	if (log(ci[1]) < -margin)
		*verdict = rate ? VERDICT_SLOWER : VERDICT_FASTER;
	else if (log(ci[0]) > margin)
		*verdict = rate ? VERDICT_FASTER : VERDICT_SLOWER;
	else
		*verdict = ci[0] >= 1 / VAGUE && ci[1] <= VAGUE ? VERDICT_TIE : VERDICT_UNDECIDED;
	return true;
}

static bool is_time_changed(const struct profile_entry *a, const struct profile_entry *b) {
	enum verdict verdict;
	return verdict_take(a, b, &verdict) && (verdict == VERDICT_FASTER || verdict == VERDICT_SLOWER);
}

static json_t *interval_json(const struct profile_entry *a, const struct profile_entry *b) {
	double ci[2];
	interval_of(a, b, ci);
	return isfinite(ci[0] + ci[1]) ? json_pack("[f,f]", ci[0], ci[1]) : json_null();
}

static json_t *changes_of(const struct profile_entry *a, const struct profile_entry *b) {
	const struct {
		const char *word;
		bool changed;
	} all[] = {
		{"configuration", !json_equal(a->config, b->config)},
		{"time", is_time_changed(a, b)},
		{VERDICT_MEMBER, a->verdict != b->verdict},
		{"source", strcmp(a->source, b->source) != 0},
		{"baseline", !json_equal(a->baseline.config, b->baseline.config)},
	};
	json_t *changes = json_array();
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i].changed)
			json_array_append_new(changes, json_string(all[i].word));
	return changes;
}

static json_t *row_new(const json_t *a, const json_t *b) {
	const struct profile_entry from = profile_entry_read(a), to = profile_entry_read(b), *any = a ? &from : &to;
	bool both = a && b;
	enum verdict verdict;
	return json_pack("{s:s,s:O,s:s,s:s,s:O?,s:O?,s:o,s:o,s:o,s:o,s:s?}", "kernel", any->kernel, "problem", any->problem,
	                 "objective", any->objective, "device", any->device, "a", a, "b", b, "changes",
	                 both ? changes_of(&from, &to) : json_pack("[s]", a ? "removed" : "added"), "config",
	                 both ? profile_differences(from.config, to.config) : json_array(), "ratio",
	                 js_number(both ? ratio_of(&from, &to) : NAN), "ci", both ? interval_json(&from, &to) : json_null(),
	                 VERDICT_MEMBER, both && verdict_take(&from, &to, &verdict) ? verdict_word(verdict) : NULL);
}

json_t *profile_diff(const json_t *a, const json_t *b) {
	js_auto json_t *left = by_key(a), *right = by_key(b);
	json_t *rows = json_array();
	js_members (key, entry, left)
		json_array_append_new(rows, row_new(entry, json_object_get(right, key)));
	js_members (key, entry, right)
		if (!json_object_get(left, key))
			json_array_append_new(rows, row_new(NULL, entry));
	return json_pack("{s:o,s:o}", "machine",
	                 profile_machine_differences(json_object_get(a, "machine"), json_object_get(b, "machine")),
	                 "entries", rows);
}
