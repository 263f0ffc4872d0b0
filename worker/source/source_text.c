/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "base/json/js.h"
#include "worker/source/source.h"

static const size_t SIZE_LARGEST = (size_t)1 << 40;

enum ss_status source_fail(const struct ss_call *call, enum ss_status status, const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	vsnprintf(call->message, call->message_size, format, ap);
	va_end(ap);
	return status;
}

size_t source_size(const struct source_argument *argument) {
	return argument->bytes * argument->count;
}

static int word_read(const json_t *json, const char *key, const char *const *words, int count, int *out,
                     struct err *err) {
	const char *word;
	if (js_string(json, key, &word, err) != 0)
		return -1;
	for (*out = 0; *out < count; (*out)++)
		if (strcmp(words[*out], word) == 0)
			return 0;
	return err_set(err, ERR_USAGE, NULL, "%s is \"%.40s\"", key, word);
}

static const char *text_or_null(struct arena *arena, const json_t *json, const char *key) {
	const char *text = js_string_or(json, key, NULL);
	return text ? arena_strdup(arena, text) : NULL;
}

static int texts_read(struct arena *arena, const json_t *json, const char *key, const char *const **out, size_t *count,
                      struct err *err) {
	json_t *array;
	if (js_array(json, key, SOURCE_OPTIONS_MAX, &array, err) != 0)
		return -1;
	const char **texts = arena_alloc(arena, json_array_size(array) + 1, sizeof *texts);
	js_each (item, array) {
		if (!json_is_string(item) || json_string_value(item)[0] != '-')
			return err_set(err, ERR_USAGE, NULL, "%s must be a list of options", key);
		texts[item_at] = arena_strdup(arena, json_string_value(item));
	}
	*out = texts;
	*count = json_array_size(array);
	return 0;
}

static int words_read(const json_t *json, struct source_argument *a, struct err *err) {
	static const char *const kinds[] = {"signed", "unsigned", "real"};
	static const char *const accesses[] = {"ReadOnly", "WriteOnly", "ReadWrite"};
	static const char *const memories[] = {"Vector", "Scalar", "Constant"};
	int kind, access, memory;
	if (word_read(json, "kind", kinds, 3, &kind, err) != 0 ||
	    word_read(json, "access", accesses, 3, &access, err) != 0 ||
	    word_read(json, "memory", memories, 3, &memory, err) != 0)
		return -1;
	a->kind = (enum source_kind)kind;
	a->access = (enum source_access)access;
	a->memory = (enum source_memory)memory;
	return 0;
}

static bool size_fits(const struct source_argument *a) {
	bool bytes = a->bytes == 4 || a->bytes == 8 || (a->kind != SOURCE_REAL && (a->bytes == 1 || a->bytes == 2));
	return bytes && a->count <= SIZE_LARGEST / a->bytes && (a->memory != SOURCE_SCALAR || a->count == 1);
}

static int tolerance_read(const json_t *json, struct source_tolerance *tolerance, struct err *err) {
	json_t *object;
	*tolerance = (struct source_tolerance){.given = false};
	if (!json_object_get(json, "tolerance"))
		return 0;
	return js_object(json, "tolerance", &object, err) || js_bool(object, "given", &tolerance->given, err) ||
	               js_real(object, "absolute", 0, HUGE_VAL, &tolerance->absolute, err) ||
	               js_real(object, "relative", 0, HUGE_VAL, &tolerance->relative, err) ||
	               js_real(object, "share", 0, 1, &tolerance->share, err)
	           ? -1
	           : 0;
}

/* "sum", "sum:256", "sorted", "norm", "command" */
static int verify_read(const json_t *json, struct source_argument *a, struct err *err) {
	static const char *const words[] = {
		[SOURCE_SUM] = "sum", [SOURCE_SORTED] = "sorted", [SOURCE_NORM] = "norm", [SOURCE_COMMAND] = "command"};
	const char *word = js_string_or(json, "verify", NULL);
	a->columns = 1;
	if (!word)
		return 0;
	size_t length = strcspn(word, ":");
	for (int i = SOURCE_SUM; i <= SOURCE_COMMAND; i++)
		if (strlen(words[i]) == length && strncmp(words[i], word, length) == 0)
			a->by = (enum source_verified)i;
	if (a->by == SOURCE_SUM && word[length])
		a->columns = strtoul(word + length + 1, NULL, 10);
	return a->by && a->columns >= 1 && a->columns <= a->count
	           ? 0
	           : err_set(err, ERR_USAGE, NULL, "verify is \"%.40s\"", word);
}

static int argument_read(struct arena *arena, const json_t *json, struct source_argument *a, struct err *err) {
	const char *name;
	int64_t bytes, count, whole;
	if (js_string(json, "name", &name, err) != 0 || words_read(json, a, err) != 0 ||
	    js_int(json, "bytes", 1, 8, &bytes, err) != 0 ||
	    js_int(json, "count", 1, (int64_t)SIZE_LARGEST, &count, err) != 0 ||
	    js_bool(json, "random", &a->random, err) != 0 || js_bool(json, "output", &a->output, err) != 0 ||
	    js_real(json, "real", -HUGE_VAL, HUGE_VAL, &a->real, err) != 0 ||
	    js_int(json, "whole", INT64_MIN, INT64_MAX, &whole, err) != 0 || tolerance_read(json, &a->tolerance, err) != 0)
		return -1;
	a->name = arena_strdup(arena, name);
	a->bytes = (size_t)bytes;
	a->count = (size_t)count;
	a->whole = (uint64_t)whole;
	a->file = text_or_null(arena, json, "file");
	a->reference = text_or_null(arena, json, "reference");
	if (verify_read(json, a, err))
		return -1;
	bool written = a->output || a->access != SOURCE_READ_ONLY;
	if (!size_fits(a) || (a->output && a->access == SOURCE_READ_ONLY) || (written && a->memory != SOURCE_VECTOR))
		return err_set(err, ERR_USAGE, NULL, "argument %.60s has an invalid size or use", a->name);
	return 0;
}

static int problem_members(struct arena *arena, const json_t *json, struct source_problem *problem, struct err *err) {
	json_t *array;
	size_t options;
	const char *file, *function;
	if (js_string(json, "file", &file, err) != 0 || js_string(json, "function", &function, err) != 0 ||
	    texts_read(arena, json, "options", &problem->options, &options, err) != 0 ||
	    js_array(json, "arguments", SOURCE_ARGUMENTS_MAX, &array, err) != 0)
		return -1;
	problem->file = arena_strdup(arena, file);
	problem->function = arena_strdup(arena, function);
	problem->command = text_or_null(arena, json, "command");
	problem->folder = text_or_null(arena, json, "folder");
	problem->count = json_array_size(array);
	problem->arguments = arena_alloc(arena, problem->count + 1, sizeof *problem->arguments);
	for (size_t i = 0; i < problem->count; i++)
		if (argument_read(arena, json_array_get(array, i), &problem->arguments[i], err) != 0)
			return -1;
	return 0;
}

int source_problem_read(struct arena *arena, const char *text, struct source_problem *problem, struct err *err) {
	js_auto json_t *json = js_parse(text, strlen(text), "the problem", err);
	return json ? problem_members(arena, json, problem, err) : -1;
}

static int three_read(const json_t *json, const char *key, unsigned out[3], struct err *err) {
	json_t *array;
	if (js_array(json, key, 3, &array, err) != 0)
		return -1;
	for (size_t i = 0; i < 3; i++) {
		json_t *number = json_array_get(array, i);
		json_int_t value = json_integer_value(number);
		if (!json_is_integer(number) || value < 1 || value > INT32_MAX)
			return err_set(err, ERR_USAGE, NULL, "%s must be three whole numbers", key);
		out[i] = (unsigned)value;
	}
	return 0;
}

static int config_members(struct arena *arena, const json_t *json, struct source_config *config, struct err *err) {
	int64_t shared;
	size_t defines;
	if (texts_read(arena, json, "defines", &config->defines, &defines, err) != 0 ||
	    three_read(json, "grid", config->shape.grid, err) != 0 ||
	    three_read(json, "block", config->shape.block, err) != 0 ||
	    js_int(json, "shared", 0, INT32_MAX, &shared, err) != 0 ||
	    js_bool(json, "reference", &config->reference, err) != 0)
		return -1;
	config->shape.shared = (unsigned)shared;
	config->dump = text_or_null(arena, json, "dump");
	const char *compiler = js_string_or(json, "compiler", NULL);
	if (compiler && strcmp(compiler, "nvcc") != 0 && strcmp(compiler, "nvrtc") != 0)
		return err_set(err, ERR_USAGE, NULL, "compiler is \"%.40s\", not nvcc or nvrtc", compiler);
	config->compiler = compiler ? arena_printf(arena, "--compiler=%s", compiler) : NULL;
	return 0;
}

int source_config_read(struct arena *arena, const char *text, struct source_config *config, struct err *err) {
	js_auto json_t *json = js_parse(text, strlen(text), "the configuration", err);
	return json ? config_members(arena, json, config, err) : -1;
}

void source_guard_set(struct gpu *gpu, gpu_ptr guard) {
	gpu_fill8(gpu, guard, SOURCE_GUARD_BYTE, SOURCE_GUARD);
}
