/* SPDX-License-Identifier: GPL-3.0-or-later */
/* KernelSpecification.Arguments for CUDA: as for C, with constant memory, sizes as expressions, and files. */
#include <config.h>

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "tuner/spec/cuda/impl.h"
#include "tuner/spec/slice.h"

/* Expressions over the problem's size, parameters and scalars. */

enum { NAMES_IN_ONE = 64, TEXT_LONGEST = 2048 };
static const char SIZE_WORD[] = "ProblemSize";

void cuda_names_set(struct cuda_names *names, const char *name, struct value value) {
	size_t i = 0;
	while (i < names->count && strcmp(names->at[i].name, name) != 0)
		i++;
	names->at[i] = (struct cuda_name){name, value};
	names->count += i == names->count;
}

/* The text behind "ProblemSize[i]", with the i; NULL if this is something else. */
static const char *subscript(const char *at, int *i) {
	at += strlen(SIZE_WORD);
	at += strspn(at, " \t");
	if (*at != '[')
		return NULL;
	at += 1 + strspn(at + 1, " \t");
	*i = *at - '0';
	if (*at < '0' || *at > '2')
		return NULL;
	at += 1 + strspn(at + 1, " \t");
	return *at == ']' ? at + 1 : NULL;
}

/* The text with numbers in place of ProblemSize[i]; the caller frees it. */
static char *sized(const char *text, const double problem[3], struct err *err) {
	char *out = mem_alloc(4 * strlen(text) + 32, 1);
	size_t used = 0;
	for (const char *at = text; *at;) {
		bool word = strncmp(at, SIZE_WORD, strlen(SIZE_WORD)) == 0 && (at == text || !slice_word_char(at[-1]));
		int i = 0;
		const char *after = word ? subscript(at, &i) : NULL;
		if (word && !after) {
			err_set(err, ERR_USAGE, "there are ProblemSize[0], ProblemSize[1] and ProblemSize[2]", "at \"%.40s\"", at);
			free(out);
			return NULL;
		}
		if (after)
			used += (size_t)sprintf(out + used, "%.17g", problem[i]);
		else
			out[used++] = *at;
		at = after ? after : at + 1;
	}
	return out;
}

static int bind(const struct cuda_names *names, const struct expr *expr, struct value *values, struct err *err) {
	if (expr_name_count(expr) > NAMES_IN_ONE)
		return err_set(err, ERR_USAGE, NULL, "it has more than %d names", NAMES_IN_ONE);
	for (size_t n = 0; n < expr_name_count(expr); n++) {
		size_t i = 0;
		while (i < names->count && strcmp(names->at[i].name, expr_name(expr, n)) != 0)
			i++;
		if (i == names->count)
			return err_set(err, ERR_USAGE, "use parameters, ProblemSize[i], and scalar arguments with a value",
			               "the name %.60s is unknown", expr_name(expr, n));
		values[n] = names->at[i].value;
	}
	return 0;
}

static int text_evaluate(const struct cuda_names *names, const char *text, double *out, struct err *err) {
	struct value values[NAMES_IN_ONE], result;
	char *plain = strlen(text) > TEXT_LONGEST ? NULL : sized(text, names->problem, err);
	struct expr *expr = plain ? expr_parse(plain, err) : NULL;
	int status = -1;
	if (!plain && strlen(text) > TEXT_LONGEST)
		err_set(err, ERR_USAGE, NULL, "it is too long");
	if (!expr || bind(names, expr, values, err))
		goto done;
	if (!expr_eval(expr, values, &result) || result.type == VALUE_WORD)
		err_set(err, ERR_USAGE, "it divides by zero, or calculates with a word", "it cannot be computed");
	else
		status = 0;
	if (status == 0)
		*out = value_number(result);
done:
	expr_free(expr);
	free(plain);
	return status;
}

int cuda_evaluate(const struct cuda_names *names, const json_t *json, const char *where, double *out, struct err *err) {
	const char *text = json_string_value(json);
	int status = 0;
	if (text)
		status = text_evaluate(names, text, out, err);
	else if (json_is_number(json))
		*out = json_number_value(json);
	else
		status = err_set(err, ERR_USAGE, "write a number, or an expression", "it is not a number");
	if (status == 0 && !isfinite(*out))
		status = err_set(err, ERR_USAGE, NULL, "it is not finite");
	return status && text ? err_prefix(err, "%s \"%.100s\"", where, text) : status ? err_prefix(err, "%s", where) : 0;
}

int cuda_whole(const struct cuda_names *names, const json_t *json, const char *where, double min, double max,
               double *out, struct err *err) {
	if (cuda_evaluate(names, json, where, out, err))
		return -1;
	if (*out == trunc(*out) && *out >= min && *out <= max)
		return 0;
	return err_set(err, ERR_USAGE, "use // to divide whole numbers",
	               "%s is %.17g, not a whole number from %.17g to %.17g", where, *out, min, max);
}

static const double COUNT_LARGEST = 0x1p40;

static bool member_is(const json_t *json, const char *key, const char *word) {
	const char *text = js_string_or(json, key, NULL);
	return text && strcasecmp(text, word) == 0;
}

static bool is_scalar(const json_t *json) {
	return member_is(json, "MemoryType", "Scalar") || member_is(json, "MemType", "Scalar");
}

/* A file of raw elements beside the specification, which must exist and have the right size. */
static int raw_file(const json_t *json, const char *key, const char *folder, struct arena *arena,
                    const struct cuda_argument *argument, const char **out, struct err *err) {
	const char *name;
	char whole[PATH_MAX];
	struct stat file;
	if (js_string(json, key, &name, err))
		return -1;
	const char *path = name[0] == '/' ? name : arena_printf(arena, "%s/%s", folder, name);
	uint64_t size = argument->c.count * argument->c.type->bytes;
	if (!realpath(path, whole) || stat(whole, &file) || !S_ISREG(file.st_mode))
		return err_set(err, ERR_USAGE, "it is relative to the folder of the specification", "%s: %.200s is not a file",
		               key, path);
	if ((uint64_t)file.st_size != size)
		return err_set(err, ERR_USAGE, "it must hold the elements as they are in memory",
		               "%s: %.200s has %jd bytes, not %ju", key, path, (intmax_t)file.st_size, (uintmax_t)size);
	*out = arena_strdup(arena, whole);
	return 0;
}

/* The argument as the reader for C expects it: the extensions are replaced by plain members. */
static json_t *as_c(const struct cuda_kernel *kernel, const json_t *json, bool filed, bool constant, struct err *err) {
	json_t *c = json_copy((json_t *)json), *fill = json_object_get(json, "FillValue");
	double value;
	if (constant || member_is(json, "MemType", "Global"))
		json_object_del(c, "MemType");
	if (filed) {
		json_object_set_new(c, "FillType", json_string("Constant"));
		json_object_del(c, "FillValue");
	}
	if (!is_scalar(json)) {
		if (cuda_whole(&kernel->names, json_object_get(json, "Size"), "Size", 1, COUNT_LARGEST, &value, err))
			goto fail;
		json_object_set_new(c, "Size", json_integer((json_int_t)value));
	}
	if (!filed && json_is_string(fill)) {
		if (cuda_evaluate(&kernel->names, fill, "FillValue", &value, err))
			goto fail;
		json_object_set_new(c, "FillValue", json_real(value));
	}
	return c;
fail:
	json_decref(c);
	return NULL;
}

static int files_read(const json_t *json, const char *folder, bool filed, struct arena *arena,
                      struct cuda_argument *argument, struct err *err) {
	const char *key = json_object_get(json, "DataSource") ? "DataSource" : "FileName";
	if (filed && argument->c.scalar)
		return err_set(err, ERR_USAGE, "give it a FillValue", "a scalar cannot come from a file");
	if (filed && raw_file(json, key, folder, arena, argument, &argument->file, err))
		return -1;
	if (!json_object_get(json, "ReferenceFile"))
		return 0;
	if (!argument->c.output)
		return err_set(err, ERR_USAGE, "add \"Output\": 1", "it has a ReferenceFile but is not an output");
	return raw_file(json, "ReferenceFile", folder, arena, argument, &argument->reference, err);
}

static int argument_read(const struct cuda_kernel *kernel, const json_t *json, size_t at, const char *folder,
                         struct arena *arena, struct cuda_argument *argument, struct err *err) {
	bool filed = member_is(json, "FillType", "BinaryRaw") || member_is(json, "FillType", "DataSource");
	if (!json_is_object(json))
		return err_set(err, ERR_USAGE, NULL, "Arguments[%zu] must be an object", at);
	argument->constant = member_is(json, "MemType", "Constant") || member_is(json, "MemoryType", "Constant");
	json_t *c = as_c(kernel, json, filed, argument->constant, err);
	if (c && member_is(c, "MemoryType", "Constant"))
		json_object_set_new(c, "MemoryType", json_string("Vector"));
	int failed = c ? c_argument_read(c, at, arena, &argument->c, err) : -1;
	json_decref(c);
	if (!failed && argument->constant && argument->c.output)
		failed = err_set(err, ERR_USAGE, "set \"AccessType\": \"ReadOnly\"", "constant memory cannot be written");
	if (!failed)
		failed = files_read(json, folder, filed, arena, argument, err);
	return failed ? err_prefix(err, "Arguments[%zu] %.60s", at, js_string_or(json, "Name", "")) : 0;
}

/* Scalars come first, because sizes may name them. */
static int scalars_name(struct cuda_kernel *kernel, const json_t *array, struct arena *arena, bool texts,
                        struct err *err) {
	for (size_t i = 0; i < json_array_size(array); i++) {
		const json_t *json = json_array_get(array, i), *fill = json_object_get(json, "FillValue");
		const char *name = js_string_or(json, "Name", NULL);
		struct value value;
		double real;
		if (!is_scalar(json) || !name || !c_is_name(name) || (texts ? !json_is_string(fill) : !json_is_number(fill)))
			continue;
		if (texts && cuda_evaluate(&kernel->names, fill, "FillValue", &real, err))
			return err_prefix(err, "Arguments[%zu] %.60s", i, name);
		if (texts)
			value = real == (double)(int64_t)real && real < 0x1p53 && real > -0x1p53 ? value_int((int64_t)real)
			                                                                         : value_real(real);
		else if (!value_from_json(fill, &value))
			continue;
		cuda_names_set(&kernel->names, arena_strdup(arena, name), value);
	}
	return 0;
}

static int problem_read(struct cuda_kernel *kernel, const json_t *json, struct err *err) {
	const json_t *size = json_object_get(json, "ProblemSize");
	size_t count = json_is_array(size) ? json_array_size(size) : size && !json_is_null(size) ? 1 : 0;
	if (count > 3)
		return err_set(err, ERR_USAGE, NULL, "ProblemSize has more than three members");
	for (size_t i = 0; i < count; i++)
		if (cuda_whole(&kernel->names, json_is_array(size) ? json_array_get(size, i) : size, "ProblemSize", 1,
		               COUNT_LARGEST, &kernel->problem[i], err))
			return -1;
	return 0;
}

int cuda_arguments_read(const json_t *json, const char *folder, struct arena *arena, struct cuda_kernel *kernel,
                        struct err *err) {
	json_t *array;
	if (js_array(json, "Arguments", C_ARGUMENTS_MAX, &array, err))
		return -1;
	kernel->argument_count = json_array_size(array);
	kernel->arguments = arena_alloc(arena, kernel->argument_count + 1, sizeof *kernel->arguments);
	if (scalars_name(kernel, array, arena, false, err) || problem_read(kernel, json, err) ||
	    scalars_name(kernel, array, arena, true, err))
		return -1;
	for (size_t i = 0; i < kernel->argument_count; i++) {
		struct cuda_argument *argument = &kernel->arguments[i];
		if (argument_read(kernel, json_array_get(array, i), i, folder, arena, argument, err))
			return -1;
		kernel->resets = kernel->resets || argument->c.access == C_READ_WRITE;
		kernel->made = kernel->made || (argument->c.output && !argument->reference);
	}
	if (c_tolerances_read(json, &kernel->arguments->c, kernel->argument_count, sizeof *kernel->arguments, err))
		return -1;
	/* The worker keeps inputs and reference in the host's memory, too. */
	return c_arguments_check(&kernel->arguments->c, kernel->argument_count, sizeof *kernel->arguments,
	                         "use a smaller ProblemSize", err);
}
