/* SPDX-License-Identifier: BSD-3-Clause */
/* Grid, block and shared memory of a configuration of a GPU's function, and what its compiler is told. */
#include <ctype.h>
#include <math.h>
#include <strings.h>

#include "base/json/js.h"
#include "base/t1/slice.h"
#include "base/t1/t1.h"

/* Expressions over the problem's size, parameters and scalars. */

enum { NAMES_IN_ONE = 64, TEXT_LONGEST = 2048, DIVISORS_MAX = 16 };
static const char SIZE_WORD[] = "ProblemSize";

void t1_names_set(struct t1_names *names, const char *name, struct value value) {
	size_t i = 0;
	while (i < names->count && strcmp(names->at[i].name, name) != 0)
		i++;
	names->at[i] = (struct t1_name){name, value};
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

static int bind(const struct t1_names *names, const struct expr *expr, struct value *values, struct err *err) {
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

static int text_evaluate(const struct t1_launch *launch, const struct t1_names *names, const char *text, double *out,
                         struct err *err) {
	struct value values[NAMES_IN_ONE], result;
	char *plain = strlen(text) > TEXT_LONGEST ? NULL : sized(text, launch->problem, err);
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

int t1_evaluate(const struct t1_launch *launch, const struct t1_names *names, const json_t *json, const char *where,
                double *out, struct err *err) {
	const char *text = json_string_value(json);
	int status = 0;
	if (text)
		status = text_evaluate(launch, names, text, out, err);
	else if (json_is_number(json))
		*out = json_number_value(json);
	else
		status = err_set(err, ERR_USAGE, "write a number, or an expression", "it is not a number");
	if (status == 0 && !isfinite(*out))
		status = err_set(err, ERR_USAGE, NULL, "it is not finite");
	return status && text ? err_prefix(err, "%s \"%.100s\"", where, text) : status ? err_prefix(err, "%s", where) : 0;
}

int t1_whole(const struct t1_launch *launch, const struct t1_names *names, const json_t *json, const char *where,
             double min, double max, double *out, struct err *err) {
	if (t1_evaluate(launch, names, json, where, out, err))
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

bool t1_is_scalar(const json_t *json) {
	return member_is(json, "MemoryType", "Scalar") || member_is(json, "MemType", "Scalar");
}

/* Scalars come first, because sizes may name them. */
static int scalars_name(struct t1_launch *launch, const json_t *array, struct arena *arena, bool texts,
                        struct err *err) {
	for (size_t i = 0; i < json_array_size(array); i++) {
		const json_t *json = json_array_get(array, i), *fill = json_object_get(json, "FillValue");
		const char *name = js_string_or(json, "Name", NULL);
		struct value value;
		double real;
		if (!t1_is_scalar(json) || !name || !t1_is_name(name) ||
		    (texts ? !json_is_string(fill) : !json_is_number(fill)))
			continue;
		if (texts && t1_evaluate(launch, &launch->names, fill, "FillValue", &real, err))
			return err_prefix(err, "Arguments[%zu] %.60s", i, name);
		if (texts)
			value = real == (double)(int64_t)real && real < 0x1p53 && real > -0x1p53 ? value_int((int64_t)real)
			                                                                         : value_real(real);
		else if (!value_from_json(fill, &value))
			continue;
		t1_names_set(&launch->names, arena_strdup(arena, name), value);
	}
	return 0;
}

int t1_problem_read(struct t1_launch *launch, struct err *err) {
	const json_t *size = json_object_get(launch->json, "ProblemSize");
	size_t count = json_is_array(size) ? json_array_size(size) : size && !json_is_null(size) ? 1 : 0;
	if (count > 3)
		return err_set(err, ERR_USAGE, NULL, "ProblemSize has more than three members");
	for (size_t i = 0; i < count; i++)
		if (t1_whole(launch, &launch->names, json_is_array(size) ? json_array_get(size, i) : size, "ProblemSize", 1,
		             COUNT_LARGEST, &launch->problem[i], err))
			return -1;
	return 0;
}

int t1_launch_read(struct t1_launch *launch, const json_t *arguments, struct arena *arena, struct err *err) {
	return scalars_name(launch, arguments, arena, false, err) || t1_problem_read(launch, err) ||
	               scalars_name(launch, arguments, arena, true, err)
	           ? -1
	           : 0;
}

/* An OpenCL device tells its own limit of a work group. */
static const double THREADS_LARGEST = 1024, ITEMS_LARGEST = 1 << 20, BLOCKS_LARGEST = INT32_MAX,
					GLOBAL_LARGEST = 0x1p50;
static const char *const axes[] = {"X", "Y", "Z"};
static const char *const divisors[] = {"GridDivX", "GridDivY", "GridDivZ"};
const char *const t1_macros[7] = {"block_size_x", "block_size_y", "block_size_z", "grid_size_x",
                                  "grid_size_y",  "grid_size_z",  "kernel_tuner"};

static bool is_there(const json_t *json) {
	return json && !json_is_null(json);
}

/* {"X": .., "Y": ..} or [.., ..]; an absent member is 1. */
static int three(const struct t1_launch *launch, const struct t1_names *names, const json_t *json, const char *where,
                 double max, double out[3], struct err *err) {
	for (int i = 0; i < 3; i++) {
		const json_t *one = json_is_object(json)  ? json_object_get(json, axes[i])
		                    : json_is_array(json) ? json_array_get(json, (size_t)i)
		                    : i == 0              ? json
		                                          : NULL;
		char place[64];
		snprintf(place, sizeof place, "%s.%s", where, axes[i]);
		out[i] = 1;
		if (is_there(one) && t1_whole(launch, names, one, place, 1, max, &out[i], err))
			return -1;
	}
	return 0;
}

static const struct t1_name *name_find(const struct t1_names *names, const char *name) {
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->at[i].name, name) == 0)
			return &names->at[i];
	return NULL;
}

static int block_of(const struct t1_launch *launch, const struct t1_names *names, double block[3], struct err *err) {
	const json_t *local = json_object_get(launch->json, "LocalSize");
	double most = launch->opencl ? ITEMS_LARGEST : THREADS_LARGEST;
	if (is_there(local))
		return three(launch, names, local, "LocalSize", most, block, err);
	for (int i = 0; i < 3; i++) {
		const struct t1_name *name = name_find(names, t1_macros[i]);
		bool whole = name && name->value.type == VALUE_INT && name->value.as.i > 0;
		if (name && (!whole || (double)name->value.as.i > most))
			return err_set(err, ERR_USAGE, NULL, "%s is not a valid number of threads", t1_macros[i]);
		if (i == 0 && !name)
			return err_set(err, ERR_USAGE, "\"LocalSize\": {\"X\": \"block_size_x\"}, or a parameter block_size_x",
			               "the size of a block is missing");
		block[i] = name ? (double)name->value.as.i : 1;
	}
	return 0;
}

/* Kernel Tuner's rule: without a list the divisor is the size of the block in that direction, if that is a parameter.
 */
static int divisor_of(const struct t1_launch *launch, const struct t1_names *names, int axis, double *out,
                      struct err *err) {
	const json_t *list = json_object_get(launch->json, divisors[axis]);
	const struct t1_name *name = name_find(names, t1_macros[axis]);
	size_t count = json_is_array(list) ? json_array_size(list) : is_there(list) ? 1 : 0;
	*out = !is_there(list) && name && name->value.type == VALUE_INT ? (double)name->value.as.i : 1;
	if (count > DIVISORS_MAX)
		return err_set(err, ERR_USAGE, NULL, "%s has more than %d members", divisors[axis], DIVISORS_MAX);
	for (size_t i = 0; i < count; i++) {
		double one;
		if (t1_evaluate(launch, names, json_is_array(list) ? json_array_get(list, i) : list, divisors[axis], &one, err))
			return -1;
		*out *= one;
	}
	return *out > 0 ? 0 : err_set(err, ERR_USAGE, NULL, "%s: cannot divide by %g", divisors[axis], *out);
}

static int grid_by_division(const struct t1_launch *launch, const struct t1_names *names, double grid[3],
                            struct err *err) {
	for (int i = 0; i < 3; i++) {
		double divisor;
		if (divisor_of(launch, names, i, &divisor, err))
			return -1;
		grid[i] = ceil(launch->problem[i] / divisor);
	}
	return 0;
}

static int grid_of(const struct t1_launch *launch, const struct t1_names *names, const double block[3], double grid[3],
                   struct err *err) {
	const json_t *global = json_object_get(launch->json, "GlobalSize");
	const char *type = js_string_or(launch->json, "GlobalSizeType", launch->opencl ? "OpenCL" : "CUDA");
	bool threads = strcasecmp(type, "OpenCL") == 0, divided = !is_there(global);
	for (int i = 0; i < 3; i++)
		divided = divided || is_there(json_object_get(launch->json, divisors[i]));
	if (divided)
		return grid_by_division(launch, names, grid, err);
	if (!threads && strcasecmp(type, "CUDA") != 0)
		return err_set(err, ERR_USAGE, "use CUDA (blocks) or OpenCL (threads)", "GlobalSizeType \"%.40s\" is unknown",
		               type);
	if (three(launch, names, global, "GlobalSize", GLOBAL_LARGEST, grid, err))
		return -1;
	for (int i = 0; i < 3 && threads; i++)
		grid[i] = ceil(grid[i] / block[i]);
	return 0;
}

struct t1_names t1_names_of(const struct t1_launch *launch, const json_t *config) {
	struct t1_names names = launch->names;
	names.at = mem_alloc(launch->names.count + json_object_size(config) + 1, sizeof *names.at);
	memcpy(names.at, launch->names.at, launch->names.count * sizeof *names.at);
	js_members (name, member, config) {
		struct value value;
		if (value_from_json(member, &value))
			t1_names_set(&names, name, value);
	}
	return names;
}

int t1_shape_of(const struct t1_launch *launch, const json_t *config, struct t1_shape *shape, struct err *err) {
	struct t1_names names = t1_names_of(launch, config);
	const json_t *shared = json_object_get(launch->json, "SharedMemory");
	shape->shared = 0;
	int failed = block_of(launch, &names, shape->block, err) || grid_of(launch, &names, shape->block, shape->grid, err);
	if (!failed && is_there(shared))
		failed = t1_whole(launch, &names, shared, "SharedMemory", 0, INT32_MAX, &shape->shared, err);
	for (int i = 0; i < 3 && !failed; i++)
		if (!(shape->grid[i] >= 1 && shape->grid[i] <= BLOCKS_LARGEST))
			failed =
				err_set(err, ERR_USAGE, NULL, "a grid of %g blocks in %s cannot be launched", shape->grid[i], axes[i]);
	free(names.at);
	return failed ? -1 : 0;
}

/* Names and values as C has them. */

enum { NAME_LONGEST = 63 };

static bool is_among(const char *text, const char *const *words) {
	while (*words && strcmp(*words, text) != 0)
		words++;
	return *words;
}

static const char *const keywords[] = {
	"auto",     "break",    "case",  "char",     "const",  "continue", "default", "do",     "double",  "else",
	"enum",     "extern",   "float", "for",      "goto",   "if",       "inline",  "int",    "long",    "register",
	"restrict", "return",   "short", "signed",   "sizeof", "static",   "struct",  "switch", "typedef", "typeof",
	"union",    "unsigned", "void",  "volatile", "while",  "asm",      "defined", NULL};

/* A value may be a word of the language, such as "static", "double" or "_Float16", or several: "unsigned int". */
static bool is_value_word(const char *text) {
	char copy[NAME_LONGEST + 1], *rest = copy;
	bool several = strchr(text, ' ') != NULL;
	if (strlen(text) > NAME_LONGEST)
		return false;
	snprintf(copy, sizeof copy, "%s", text);
	for (char *word = strsep(&rest, " "); word; word = strsep(&rest, " ")) {
		if (!(isalpha((unsigned char)*word) || *word == '_') || (several && !is_among(word, keywords)))
			return false;
		for (const char *c = word; *c; c++)
			if (!isalnum((unsigned char)*c) && *c != '_')
				return false;
	}
	return true;
}

bool t1_is_name(const char *text) {
	if (!text || strlen(text) > NAME_LONGEST || !(isalpha((unsigned char)*text) || *text == '_'))
		return false;
	for (const char *c = text; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_')
			return false;
	/* Leading underscores belong to the compiler, ss_t1_ to the generated file. */
	return text[0] != '_' && strncmp(text, "ss_t1_", 6) != 0 && !is_among(text, keywords);
}

/* A real number must stay one in C: 1.0, not 1. */
static const char *number_in_c(struct arena *arena, struct value value) {
	char text[64];
	value_text(value, text, sizeof text);
	bool whole = value.type == VALUE_REAL && !strpbrk(text, ".en");
	return arena_printf(arena, "%s%s", text, whole ? ".0" : "");
}

const char *t1_define(struct arena *arena, const char *name, struct value value, struct err *err) {
	const char *text = value.type == VALUE_WORD ? value.as.w : number_in_c(arena, value);
	if (!t1_is_name(name))
		return err_null(err_set(err, ERR_USAGE, "use letters, digits and _, but no keyword of C",
		                        "parameter %.60s cannot be a C macro", name));
	if (value.type == VALUE_WORD ? !is_value_word(text) : value.type == VALUE_REAL && !isfinite(value.as.r))
		return err_null(err_set(err, ERR_USAGE, "use numbers, or words of letters, digits and _",
		                        "parameter %s: \"%.60s\" cannot be a C token", name, text));
	return arena_printf(arena, "-D%s=%s", name, text);
}

static bool has_word(const char *text, const char *word) {
	for (const char *at = text; (at = strstr(at, word)); at++)
		if ((at == text || !slice_word_char(at[-1])) && !slice_word_char(at[strlen(word)]))
			return true;
	return false;
}

void t1_macros_find(struct t1_launch *launch, const char *source) {
	for (int i = 0; i < 7; i++)
		launch->macro[i] = has_word(source, t1_macros[i]);
}

/* Kernel Tuner defines these macros beside the parameters; they are added if the source has the word. */
static void macros_add(const struct t1_launch *launch, const json_t *config, const struct t1_shape *shape,
                       json_t *defines) {
	const double values[7] = {
		shape->block[0], shape->block[1], shape->block[2], shape->grid[0], shape->grid[1], shape->grid[2], 1};
	for (int i = 0; i < 7; i++)
		if (launch->macro[i] && !json_object_get(config, t1_macros[i]))
			json_array_append_new(defines, json_sprintf("-D%s=%.0f", t1_macros[i], values[i]));
}

json_t *t1_defines(const struct t1_launch *launch, const json_t *config, const struct t1_shape *shape,
                   struct err *err) {
	struct arena *arena = arena_new();
	json_t *defines = json_array();
	js_members (name, member, config) {
		struct value value = value_int(0);
		const char *define = value_from_json(member, &value) ? t1_define(arena, name, value, err) : NULL;
		if (!define)
			goto fail;
		json_array_append_new(defines, json_string(define));
	}
	macros_add(launch, config, shape, defines);
	arena_free(arena);
	return defines;
fail:
	arena_free(arena);
	json_decref(defines);
	return NULL;
}
