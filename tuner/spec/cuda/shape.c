/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Grid, block and shared memory of a configuration, and its document for the worker. */
#include <limits.h>
#include <math.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "tuner/spec/cuda/impl.h"
#include "tuner/spec/slice.h"

/* KernelSpecification.Arguments for CUDA: as for C, with constant memory, sizes as expressions, and files. */
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

/* The same, a whole number from min to max. */
static int cuda_whole(const struct cuda_names *names, const json_t *json, const char *where, double min, double max,
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

/* "sum", "sum:256", "sorted" or "norm" */
static bool verify_word(const char *text) {
	char *end;
	if (strncmp(text, "sum:", 4) == 0 && text[4] >= '1' && text[4] <= '9')
		return strtoul(text + 4, &end, 10) && !*end;
	return strcmp(text, "sum") == 0 || strcmp(text, "sorted") == 0 || strcmp(text, "norm") == 0;
}

/* Verify of an argument, or of KernelSpecification, where it may be a command. */
static int verify_read(const json_t *json, struct arena *arena, struct cuda_argument *argument, struct err *err) {
	const char *word = js_string_or(json, "Verify", NULL);
	if (!word)
		return 0;
	if (!argument->c.output || !verify_word(word))
		return err_set(err, ERR_USAGE, "\"Verify\": \"sum\", \"sum:256\", \"sorted\" or \"norm\" for an output",
		               "Verify \"%.40s\" cannot be used here", word);
	argument->verify = arena_strdup(arena, word);
	return 0;
}

static void verify_rest(const json_t *json, struct arena *arena, struct cuda_kernel *kernel) {
	const char *text = js_string_or(json, "Verify", NULL);
	if (!text)
		return;
	if (!verify_word(text))
		kernel->verify = arena_strdup(arena, text);
	for (size_t i = 0; i < kernel->argument_count; i++) {
		struct cuda_argument *a = &kernel->arguments[i];
		if (a->c.output && !a->verify && !a->reference)
			a->verify = kernel->verify ? "command" : arena_strdup(arena, text);
	}
}

static bool is_made(const struct cuda_argument *a) {
	return a->c.output && !a->reference && !(a->verify && strcmp(a->verify, "command") == 0);
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
		failed = files_read(json, folder, filed, arena, argument, err) || verify_read(json, arena, argument, err);
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
	}
	verify_rest(json, arena, kernel);
	for (size_t i = 0; i < kernel->argument_count; i++)
		kernel->made = kernel->made || is_made(&kernel->arguments[i]);
	if (c_tolerances_read(json, &kernel->arguments->c, kernel->argument_count, sizeof *kernel->arguments, err))
		return -1;
	/* The worker keeps inputs and reference in the host's memory, too. */
	return c_arguments_check(&kernel->arguments->c, kernel->argument_count, sizeof *kernel->arguments,
	                         "use a smaller ProblemSize", err);
}

/* An OpenCL device tells its own limit of a work group. */
static const double THREADS_LARGEST = 1024, ITEMS_LARGEST = 1 << 20, BLOCKS_LARGEST = INT32_MAX,
					GLOBAL_LARGEST = 0x1p50;
static const char *const axes[] = {"X", "Y", "Z"};
static const char *const divisors[] = {"GridDivX", "GridDivY", "GridDivZ"};
const char *const cuda_macros[7] = {"block_size_x", "block_size_y", "block_size_z", "grid_size_x",
                                    "grid_size_y",  "grid_size_z",  "kernel_tuner"};

static bool is_there(const json_t *json) {
	return json && !json_is_null(json);
}

/* {"X": .., "Y": ..} or [.., ..]; an absent member is 1. */
static int three(const struct cuda_names *names, const json_t *json, const char *where, double max, double out[3],
                 struct err *err) {
	for (int i = 0; i < 3; i++) {
		const json_t *one = json_is_object(json)  ? json_object_get(json, axes[i])
		                    : json_is_array(json) ? json_array_get(json, (size_t)i)
		                    : i == 0              ? json
		                                          : NULL;
		char place[64];
		snprintf(place, sizeof place, "%s.%s", where, axes[i]);
		out[i] = 1;
		if (is_there(one) && cuda_whole(names, one, place, 1, max, &out[i], err))
			return -1;
	}
	return 0;
}

static const struct cuda_name *name_find(const struct cuda_names *names, const char *name) {
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->at[i].name, name) == 0)
			return &names->at[i];
	return NULL;
}

static int block_of(const struct cuda_kernel *kernel, const struct cuda_names *names, double block[3],
                    struct err *err) {
	const json_t *local = json_object_get(kernel->json, "LocalSize");
	double most = kernel->opencl ? ITEMS_LARGEST : THREADS_LARGEST;
	if (is_there(local))
		return three(names, local, "LocalSize", most, block, err);
	for (int i = 0; i < 3; i++) {
		const struct cuda_name *name = name_find(names, cuda_macros[i]);
		bool whole = name && name->value.type == VALUE_INT && name->value.as.i > 0;
		if (name && (!whole || (double)name->value.as.i > most))
			return err_set(err, ERR_USAGE, NULL, "%s is not a valid number of threads", cuda_macros[i]);
		if (i == 0 && !name)
			return err_set(err, ERR_USAGE, "\"LocalSize\": {\"X\": \"block_size_x\"}, or a parameter block_size_x",
			               "the size of a block is missing");
		block[i] = name ? (double)name->value.as.i : 1;
	}
	return 0;
}

/* Kernel Tuner's rule: without a list the divisor is the size of the block in that direction, if that is a parameter.
 */
static int divisor_of(const struct cuda_kernel *kernel, const struct cuda_names *names, int axis, double *out,
                      struct err *err) {
	const json_t *list = json_object_get(kernel->json, divisors[axis]);
	const struct cuda_name *name = name_find(names, cuda_macros[axis]);
	size_t count = json_is_array(list) ? json_array_size(list) : is_there(list) ? 1 : 0;
	*out = !is_there(list) && name && name->value.type == VALUE_INT ? (double)name->value.as.i : 1;
	if (count > CUDA_DIVISORS_MAX)
		return err_set(err, ERR_USAGE, NULL, "%s has more than %d members", divisors[axis], CUDA_DIVISORS_MAX);
	for (size_t i = 0; i < count; i++) {
		double one;
		if (cuda_evaluate(names, json_is_array(list) ? json_array_get(list, i) : list, divisors[axis], &one, err))
			return -1;
		*out *= one;
	}
	return *out > 0 ? 0 : err_set(err, ERR_USAGE, NULL, "%s: cannot divide by %g", divisors[axis], *out);
}

static int grid_by_division(const struct cuda_kernel *kernel, const struct cuda_names *names, double grid[3],
                            struct err *err) {
	for (int i = 0; i < 3; i++) {
		double divisor;
		if (divisor_of(kernel, names, i, &divisor, err))
			return -1;
		grid[i] = ceil(kernel->problem[i] / divisor);
	}
	return 0;
}

static int grid_of(const struct cuda_kernel *kernel, const struct cuda_names *names, const double block[3],
                   double grid[3], struct err *err) {
	const json_t *global = json_object_get(kernel->json, "GlobalSize");
	const char *type = js_string_or(kernel->json, "GlobalSizeType", kernel->opencl ? "OpenCL" : "CUDA");
	bool threads = strcasecmp(type, "OpenCL") == 0, divided = !is_there(global);
	for (int i = 0; i < 3; i++)
		divided = divided || is_there(json_object_get(kernel->json, divisors[i]));
	if (divided)
		return grid_by_division(kernel, names, grid, err);
	if (!threads && strcasecmp(type, "CUDA") != 0)
		return err_set(err, ERR_USAGE, "use CUDA (blocks) or OpenCL (threads)", "GlobalSizeType \"%.40s\" is unknown",
		               type);
	if (three(names, global, "GlobalSize", GLOBAL_LARGEST, grid, err))
		return -1;
	for (int i = 0; i < 3 && threads; i++)
		grid[i] = ceil(grid[i] / block[i]);
	return 0;
}

struct cuda_names cuda_names_of(const struct cuda_kernel *kernel, const json_t *config) {
	struct cuda_names names = kernel->names;
	names.at = mem_alloc(kernel->names.count + SPACE_PARAMS_MAX + 1, sizeof *names.at);
	memcpy(names.at, kernel->names.at, kernel->names.count * sizeof *names.at);
	js_members (name, member, config) {
		struct value value;
		if (value_from_json(member, &value) && names.count < kernel->names.count + SPACE_PARAMS_MAX)
			cuda_names_set(&names, name, value);
	}
	return names;
}

int cuda_shape_of(const struct cuda_kernel *kernel, const json_t *config, struct cuda_shape *shape, struct err *err) {
	struct cuda_names names = cuda_names_of(kernel, config);
	const json_t *shared = json_object_get(kernel->json, "SharedMemory");
	shape->shared = 0;
	int failed = block_of(kernel, &names, shape->block, err) || grid_of(kernel, &names, shape->block, shape->grid, err);
	if (!failed && is_there(shared))
		failed = cuda_whole(&names, shared, "SharedMemory", 0, INT32_MAX, &shape->shared, err);
	for (int i = 0; i < 3 && !failed; i++)
		if (!(shape->grid[i] >= 1 && shape->grid[i] <= BLOCKS_LARGEST))
			failed =
				err_set(err, ERR_USAGE, NULL, "a grid of %g blocks in %s cannot be launched", shape->grid[i], axes[i]);
	free(names.at);
	return failed ? -1 : 0;
}

static json_t *three_json(const double at[3]) {
	return json_pack("[I,I,I]", (json_int_t)at[0], (json_int_t)at[1], (json_int_t)at[2]);
}

/* Kernel Tuner defines these macros beside the parameters; they are added if the source has the word. */
static void macros_add(const struct cuda_kernel *kernel, const json_t *config, const struct cuda_shape *shape,
                       json_t *defines) {
	const double values[7] = {
		shape->block[0], shape->block[1], shape->block[2], shape->grid[0], shape->grid[1], shape->grid[2], 1};
	for (int i = 0; i < 7; i++)
		if (kernel->macro[i] && !json_object_get(config, cuda_macros[i]))
			json_array_append_new(defines, json_sprintf("-D%s=%.0f", cuda_macros[i], values[i]));
}

json_t *cuda_config_json(const struct cuda_kernel *kernel, const json_t *config, bool reference, struct err *err) {
	struct cuda_shape shape;
	const char *define;
	if (cuda_shape_of(kernel, config, &shape, err))
		return NULL;
	struct arena *arena = arena_new();
	json_t *defines = json_array();
	js_members (name, member, config) {
		struct value value = value_int(0);
		define = value_from_json(member, &value) ? c_define(arena, name, value, err) : NULL;
		if (!define) {
			json_decref(defines);
			defines = NULL;
			goto done;
		}
		json_array_append_new(defines, json_string(define));
	}
	macros_add(kernel, config, &shape, defines);
done:
	arena_free(arena);
	const json_t *compiler = kernel->compiler ? json_object_get(config, kernel->compiler) : NULL;
	return defines ? json_pack("{s:o,s:o,s:o,s:I,s:b,s:O*}", "defines", defines, "grid", three_json(shape.grid),
	                           "block", three_json(shape.block), "shared", (json_int_t)shape.shared, "reference",
	                           reference, "compiler", compiler)
	               : NULL;
}
