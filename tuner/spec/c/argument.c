/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One of KernelSpecification.Arguments. */
#include <config.h>

#include <float.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "src/base/json/js.h"
#include "src/base/near.h"
#include "tuner/spec/c/impl.h"

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
		return err_hint(err, "inputs from files or generators are not supported for C");
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
	if (!c_is_name(argument->name))
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
