/* SPDX-License-Identifier: GPL-3.0-or-later */
/* KernelSpecification of language "C". Its texts end up in C code and on a command line, so that names must be
 * identifiers, and numbers are parsed and printed again. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <sys/stat.h>

#include "base/json/js.h"
#include "base/text.h"
#include "base/sys.h"
#include "tuner/space/space.h"
#include "tuner/spec/c/impl.h"

/* One of KernelSpecification.Arguments. */
/* Tolerance: how far outputs may be from the reference. */

static const char HINT[] = "\"Tolerance\": 1e-3, or {\"Absolute\": 1e-3, \"Relative\": 1e-5, \"Share\": 0.01}";

static int member_read(const char *key, const json_t *value, struct c_tolerance *tolerance, struct err *err) {
	const struct {
		const char *key;
		double *to, most;
	} members[] = {{"Absolute", &tolerance->absolute, HUGE_VAL},
	               {"Relative", &tolerance->relative, HUGE_VAL},
	               {"Share", &tolerance->share, 1}};
	for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
		double number = json_number_value(value);
		if (strcmp(key, members[i].key) != 0)
			continue;
		if (!json_is_number(value) || !(number >= 0 && number <= members[i].most) || isinf(number))
			return err_set(err, ERR_USAGE, HINT, "Tolerance: %s is not a number from 0%s", key,
			               members[i].most == 1 ? " to 1" : "");
		*members[i].to = number;
		tolerance->given = tolerance->given || members[i].to != &tolerance->share;
		return 0;
	}
	return err_set(err, ERR_USAGE, HINT, "Tolerance: \"%.40s\" is unknown", key);
}

/* The member Tolerance of an argument, or of KernelSpecification, which is the rule for arguments without their own. */
static int c_tolerance_read(const json_t *json, struct c_tolerance *tolerance, struct err *err) {
	json_t *member = json_object_get(json, "Tolerance");
	*tolerance = (struct c_tolerance){.given = false};
	if (!member || json_is_null(member))
		return 0;
	if (json_is_number(member))
		return member_read("Absolute", member, tolerance, err);
	if (!json_is_object(member))
		return err_set(err, ERR_USAGE, HINT, "Tolerance is neither a number nor an object");
	js_members (key, value, member)
		if (member_read(key, value, tolerance, err))
			return -1;
	return 0;
}

static bool is_given(const struct c_tolerance *tolerance) {
	return tolerance->given || tolerance->share > 0;
}

int c_tolerances_read(const json_t *kernel, struct c_argument *first, size_t count, size_t stride, struct err *err) {
	struct c_tolerance common;
	if (c_tolerance_read(kernel, &common, err))
		return -1;
	for (size_t i = 0; i < count; i++) {
		struct c_argument *argument = (struct c_argument *)(void *)((char *)first + i * stride);
		if (!argument->output && is_given(&argument->tolerance))
			return err_set(err, ERR_USAGE, "add \"Output\": 1", "argument %s has a Tolerance but is not an output",
			               argument->name);
		if (argument->output && !is_given(&argument->tolerance))
			argument->tolerance = common;
	}
	return 0;
}

static const struct c_type types[] = {
#define C_TYPE(name, in_c, kind, bytes) {name, in_c, C_##kind, bytes},
	C_TYPES(C_TYPE)
#undef C_TYPE
};
enum { TYPES = sizeof types / sizeof *types };
static const uint64_t COUNT_MAX = UINT64_C(1) << 40;

static int type_read(const json_t *json, struct c_argument *argument, struct err *err) {
	const char *word, *names[TYPES];
	if (js_string(json, "Type", &word, err))
		return -1;
	for (size_t i = 0; i < TYPES; i++) {
		names[i] = types[i].name;
		if (strcmp(word, names[i]) == 0)
			argument->type = &types[i];
	}
	if (argument->type)
		return 0;
	const char *near = near_word(word, names, TYPES);
	err_set(err, ERR_USAGE, "use int8 to int64, uint8 to uint64, int, uint, float or double",
	        "Type \"%.60s\" is not supported", word);
	return near ? err_hint(err, "did you mean %s?", near) : -1;
}

/* The place of the member's word among `words`; `fallback` where the member is absent; -1 and err for another word. */
static int word_read(const json_t *json, const char *key, const char *const *words, int count, int fallback,
                     struct err *err) {
	const json_t *member = json_object_get(json, key);
	const char *word = json_string_value(member);
	if (!member)
		return fallback;
	for (int i = 0; word && i < count; i++)
		if (strcasecmp(word, words[i]) == 0)
			return i;
	return err_set(err, ERR_USAGE, NULL, "%s is \"%.60s\", not %s%s%s%s%s", key, word ? word : "?", words[0],
	               count > 2 ? ", " : "", count > 2 ? words[1] : "", " or ", words[count - 1]);
}

static int count_read(const json_t *json, struct c_argument *argument, struct err *err) {
	const json_t *member = json_object_get(json, "Size");
	const char *text = json_string_value(member);
	struct value value;
	argument->count = 1;
	if (argument->scalar)
		return 0;
	if (text)
		value = value_parse(text);
	else if (!value_from_json(member, &value))
		value = value_int(0);
	if (value.type != VALUE_INT || value.as.i < 1 || (uint64_t)value.as.i > COUNT_MAX)
		return err_set(err, ERR_USAGE, "give the number of elements", "Size is not a whole number from 1 to 2^40");
	argument->count = (uint64_t)value.as.i;
	return 0;
}

/* Is the whole number within the bounds of its type? */
static bool fits(const struct c_type *type, double value) {
	double range = ldexp(1, (int)(8 * type->bytes));
	return type->kind == C_SIGNED ? value >= -range / 2 && value < range / 2 : value >= 0 && value < range;
}

static int fill_value(struct c_argument *argument, struct value value, struct err *err) {
	const struct c_type *type = argument->type;
	double real = value_number(value);
	if (value.type == VALUE_WORD || !isfinite(real) || (type->bytes == 4 && fabs(real) > FLT_MAX))
		return err_set(err, ERR_USAGE, NULL, "FillValue is not a number that a %s can hold", type->name);
	argument->real = real;
	if (type->kind == C_REAL)
		return 0;
	if (real != trunc(real) || !fits(type, real))
		return err_set(err, ERR_USAGE, NULL, "FillValue %g is not a valid %s", real, type->name);
	if (argument->random && real < 0)
		return err_set(err, ERR_USAGE, "random whole numbers go from 0 to FillValue", "FillValue is negative");
	argument->whole = value.type == VALUE_INT ? (uint64_t)value.as.i
	                  : real < 0              ? (uint64_t)(int64_t)real
	                                          : (uint64_t)real;
	return 0;
}

static int fill_read(const json_t *json, struct c_argument *argument, struct err *err) {
	static const char *const words[] = {"Constant", "Random"};
	const json_t *member = json_object_get(json, "FillValue");
	struct value value;
	int place = word_read(json, "FillType", words, 2, 0, err);
	if (place < 0)
		return err_hint(err, "generators are not supported for C");
	argument->random = place == 1;
	if (argument->random && argument->scalar)
		return err_set(err, ERR_USAGE, "give it a Constant", "a scalar cannot be random");
	if (!member)
		value = argument->random ? value_int(argument->type->kind == C_REAL ? 1 : 100) : value_int(0);
	else if (!json_is_number(member) || !value_from_json(member, &value))
		return err_set(err, ERR_USAGE, NULL, "FillValue is not a number");
	return fill_value(argument, value, err);
}

/* true, or any number other than 0 */
static bool is_set(const json_t *member) {
	return json_is_true(member) || (json_is_number(member) && json_number_value(member) != 0);
}

static int access_read(const json_t *json, struct c_argument *argument, struct err *err) {
	static const char *const words[] = {"ReadOnly", "WriteOnly", "ReadWrite"};
	const json_t *output = json_object_get(json, "Output");
	int place = word_read(json, "AccessType", words, 3, argument->scalar ? C_READ_ONLY : C_READ_WRITE, err);
	if (place < 0)
		return -1;
	argument->access = (enum c_access)place;
	argument->output = output && !json_is_null(output) ? is_set(output) : argument->access != C_READ_ONLY;
	if (argument->output && argument->access == C_READ_ONLY && !argument->scalar)
		argument->access = C_READ_WRITE;
	if (argument->scalar && (argument->output || argument->access != C_READ_ONLY))
		return err_set(err, ERR_USAGE, "make it a Vector of Size 1",
		               "a scalar is passed by value and cannot be written");
	return 0;
}

int c_argument_read(const json_t *json, size_t at, struct arena *arena, struct c_argument *argument, struct err *err) {
	static const char *const words[] = {"Vector", "Scalar"};
	const char *name = js_string_or(json, "Name", NULL);
	*argument = (struct c_argument){.name = name ? arena_strdup(arena, name) : arena_printf(arena, "argument_%zu", at)};
	if (!json_is_object(json))
		return err_set(err, ERR_USAGE, NULL, "Arguments[%zu] must be an object", at);
	if (!t1_is_name(argument->name))
		return err_set(err, ERR_USAGE, "a name has letters, digits and _", "Arguments[%zu]: Name must be an identifier",
		               at);
	const char *key = json_object_get(json, "MemType") ? "MemType" : "MemoryType";
	int place = word_read(json, key, words, 2, 0, err);
	argument->scalar = place == 1;
	if (place < 0 || type_read(json, argument, err) || count_read(json, argument, err) ||
	    fill_read(json, argument, err) || access_read(json, argument, err) ||
	    c_tolerance_read(json, &argument->tolerance, err))
		return err_prefix(err, "argument %s", argument->name);
	return 0;
}

/* Outputs: what they are compared with, and how. */

int c_raw_file(const json_t *json, const char *key, const char *folder, struct arena *arena,
               const struct c_argument *argument, const char **out, struct err *err) {
	const char *name;
	char whole[PATH_MAX];
	struct stat file;
	if (js_string(json, key, &name, err))
		return -1;
	const char *path = name[0] == '/' ? name : arena_printf(arena, "%s/%s", folder, name);
	uint64_t size = argument->count * argument->type->bytes;
	if (!realpath(path, whole) || stat(whole, &file) || !S_ISREG(file.st_mode))
		return err_set(err, ERR_USAGE, "it is relative to the folder of the specification", "%s: %.200s is not a file",
		               key, path);
	if ((uint64_t)file.st_size != size)
		return err_set(err, ERR_USAGE, "it must hold the elements as they are in memory",
		               "%s: %.200s has %jd bytes, not %ju", key, path, (intmax_t)file.st_size, (uintmax_t)size);
	*out = arena_strdup(arena, whole);
	return 0;
}

/* "sum", "sum:256", "sorted" or "norm" */
static bool verify_word(const char *text) {
	char *end;
	if (strncmp(text, "sum:", 4) == 0 && text[4] >= '1' && text[4] <= '9')
		return strtoul(text + 4, &end, 10) && !*end;
	return strcmp(text, "sum") == 0 || strcmp(text, "sorted") == 0 || strcmp(text, "norm") == 0;
}

int c_verify_read(const json_t *json, const char *folder, struct arena *arena, struct c_argument *argument,
                  struct err *err) {
	const char *word = js_string_or(json, "Verify", NULL);
	bool filed = json_object_get(json, "ReferenceFile");
	if (filed && !argument->output)
		return err_set(err, ERR_USAGE, "add \"Output\": 1", "it has a ReferenceFile but is not an output");
	if (word && (!argument->output || !verify_word(word)))
		return err_set(err, ERR_USAGE, "\"Verify\": \"sum\", \"sum:256\", \"sorted\" or \"norm\" for an output",
		               "Verify \"%.40s\" cannot be used here", word);
	argument->verify = word ? arena_strdup(arena, word) : NULL;
	return filed ? c_raw_file(json, "ReferenceFile", folder, arena, argument, &argument->reference, err) : 0;
}

const char *c_verify_rest(const json_t *json, struct arena *arena, struct c_argument *first, size_t count,
                          size_t stride) {
	const char *text = js_string_or(json, "Verify", NULL), *own = text ? arena_strdup(arena, text) : NULL;
	bool command = text && !verify_word(text);
	for (size_t i = 0; i < count && text; i++) {
		struct c_argument *a = (struct c_argument *)(void *)((char *)first + i * stride);
		if (a->output && !a->verify && !a->reference)
			a->verify = command ? "command" : own;
	}
	return command ? own : NULL;
}

/* Checks that C and CUDA kernels share. */

int c_space_check(struct arena *arena, const struct space *space, const char *kernel, struct err *err) {
	for (size_t p = 0; space && p < space_params(space); p++) {
		const char *name = space_param_name(space, p);
		if (strcmp(name, kernel) == 0)
			return err_set(err, ERR_USAGE, "rename one of them", "a parameter has the kernel's name %s", name);
		for (size_t v = 0; v < space_param_values(space, p); v++)
			if (!t1_define(arena, name, space_param_value(space, p, v), err))
				return -1;
	}
	return 0;
}

int c_arguments_check(const struct c_argument *first, size_t count, size_t stride, const char *remedy,
                      struct err *err) {
	double total = 0, memory = (double)sys_memory_total();
	bool output = false;
	for (size_t i = 0; i < count; i++) {
		const struct c_argument *argument = (const struct c_argument *)((const char *)first + i * stride);
		total += (double)argument->count * (double)argument->type->bytes;
		output = output || argument->output;
	}
	if (memory > 0 && 2 * total > memory)
		return err_set(err, ERR_USAGE, remedy, "the arguments need %.3g GiB, but the machine has %.3g GiB",
		               total / 0x1p30, memory / 0x1p30);
	return output ? 0
	              : err_set(err, ERR_USAGE, "mark the arguments that the kernel writes: \"AccessType\": \"WriteOnly\"",
	                        "none of the arguments is an output, so that nothing can be verified");
}

int c_file_check(const char *path, const struct stat *was, struct err *err) {
	struct stat now;
	if (stat(path, &now) == 0 && now.st_size == was->st_size && now.st_mtim.tv_sec == was->st_mtim.tv_sec &&
	    now.st_mtim.tv_nsec == was->st_mtim.tv_nsec)
		return 0;
	return err_set(err, ERR_USAGE, "start again: results of two versions must not be mixed",
	               "%s changed during the search", path);
}

int c_baseline_failed(const json_t *baseline, const char *how, const char *message, struct err *err) {
	mem_auto char *config = js_canonical(baseline);
	err_set(err, ERR_FAILED, "set the Defaults to a configuration that works: the others are compared with it",
	        "the baseline %.150s %s: %.240s", config, how, message);
	return -1;
}

int c_file_read(const json_t *json, const char *key, const char *folder, struct arena *arena, const char **file,
                struct err *err) {
	const char *name;
	char whole[PATH_MAX];
	struct stat stat_of;
	if (js_string(json, key, &name, err))
		return -1;
	const char *path = name[0] == '/' ? name : arena_printf(arena, "%s/%s", folder, name);
	if (!realpath(path, whole) || stat(whole, &stat_of) || !S_ISREG(stat_of.st_mode))
		return err_set(err, ERR_USAGE, "it is relative to the folder of the specification", "%s: %.200s is not a file",
		               key, path);
	if (!t1_is_plain(whole) || strpbrk(whole, "\"\\"))
		return err_set(err, ERR_USAGE, "move it to a path without quotes and backslashes",
		               "%s: the path %.200s cannot be included in C", key, whole);
	*file = arena_strdup(arena, whole);
	return 0;
}
