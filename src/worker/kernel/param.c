/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "src/worker/kernel/param.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/base/value.h"
#include "src/worker/kernel/word.h"

enum { TEXT_MAX = 4096 }; /* bytes: as long as a file name can be */

static const char *type_text(enum ss_type type) {
	static const char *const texts[] = {
		[SS_INT] = "a whole number", [SS_REAL] = "a number", [SS_WORD] = "a word", [SS_TEXT] = "a text"};
	return texts[type];
}

static int type_error(const struct ss_param *param, struct value value, struct err *err) {
	char text[128];
	value_text(value, text, sizeof text);
	return err_set(err, ERR_USAGE, NULL, "%s takes %s, not \"%s\"", param->name, type_text(param->type), text);
}

static int bounds_check(const struct ss_param *param, double r, struct err *err) {
	if ((param->min == 0 && param->max == 0) || (r >= param->min && r <= param->max)) {
		return 0;
	}
	return err_set(err, ERR_USAGE, NULL, "%s is %.17g, but it goes from %.17g to %.17g", param->name, r, param->min,
	               param->max);
}

static int word_error(struct arena *arena, const struct ss_param *param, const char *word, struct err *err) {
	size_t count;
	const char *const *words = word_split(arena, param->values, &count);
	char *what = arena_printf(arena, "%s has no value \"%.100s\"", param->name, word);
	return word_unknown(word, words, count, what, err);
}

/* Compare the text, because words may look like numbers ("4"). */
static int word_read(struct arena *arena, const struct ss_param *param, struct value value, struct ss_value *out,
                     struct err *err) {
	char number[64];
	const char *word = value.as.w;
	if (value.type != VALUE_WORD) {
		value_text(value, number, sizeof number);
		word = number;
	}
	size_t count;
	const char *const *words = word_split(arena, param->values, &count);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(words[i], word) == 0) {
			*out = (struct ss_value){.i = (int64_t)i, .r = (double)i, .w = words[i]};
			return 0;
		}
	}
	return word_error(arena, param, word, err);
}

/* A text that looks like a number stays a text. */
static int text_read(struct arena *arena, const struct ss_param *param, struct value value, struct ss_value *out,
                     struct err *err) {
	char number[64];
	const char *text = value.as.w;
	if (value.type != VALUE_WORD) {
		value_text(value, number, sizeof number);
		text = number;
	}
	size_t most = param->max > 0 ? (size_t)param->max : TEXT_MAX;
	if (strlen(text) > most) {
		return err_set(err, ERR_USAGE, NULL, "%s is a text of more than %zu bytes", param->name, most);
	}
	*out = (struct ss_value){.w = arena_strdup(arena, text)};
	return 0;
}

static int int_read(const struct ss_param *param, struct value value, struct ss_value *out, struct err *err) {
	if (value.type == VALUE_REAL && fabs(value.as.r) <= 0x1p53 && value.as.r == trunc(value.as.r)) {
		value = value_int((int64_t)value.as.r);
	}
	if (value.type != VALUE_INT) {
		return type_error(param, value, err);
	}
	*out = (struct ss_value){.i = value.as.i, .r = (double)value.as.i};
	return 0;
}

static int real_read(const struct ss_param *param, struct value value, struct ss_value *out, struct err *err) {
	double r = value_number(value);
	if (value.type == VALUE_WORD) {
		return type_error(param, value, err);
	}
	if (!isfinite(r)) {
		return err_set(err, ERR_USAGE, NULL, "%s is not a finite number", param->name);
	}
	*out = (struct ss_value){.r = r};
	return 0;
}

static int value_read(struct arena *arena, const struct ss_param *param, struct value value, struct ss_value *out,
                      struct err *err) {
	switch (param->type) {
	case SS_WORD:
		return word_read(arena, param, value, out, err);
	case SS_TEXT:
		return text_read(arena, param, value, out, err);
	case SS_REAL:
		return real_read(param, value, out, err);
	default:
		return int_read(param, value, out, err);
	}
}

int param_read(struct arena *arena, const struct ss_param *param, const json_t *json, struct ss_value *out,
               struct err *err) {
	struct value value;
	if (json_is_boolean(json)) {
		value = value_word(json_is_true(json) ? "true" : "false");
	} else if (!value_from_json(json, &value)) {
		return err_set(err, ERR_USAGE, NULL, "%s takes %s", param->name, type_text(param->type));
	}
	if (value_read(arena, param, value, out, err) != 0) {
		return -1;
	}
	return param->type == SS_WORD || param->type == SS_TEXT ? 0 : bounds_check(param, out->r, err);
}

int param_initial(struct arena *arena, const struct ss_param *param, struct ss_value *out, struct err *err) {
	if (!param->initial) {
		return err_set(err, ERR_USAGE, NULL, "%s has no initial value and must be given", param->name);
	}
	return value_read(arena, param, value_parse(param->initial), out, err);
}

static int name_error(const struct ss_param *const *tables, size_t count, const char *name, const char *where,
                      struct err *err) {
	struct arena *arena = arena_new();
	size_t all = 0;
	for (size_t t = 0; t < count; t++) {
		for (const struct ss_param *p = tables[t]; p && p->name; p++) {
			all++;
		}
	}
	const char **names = arena_alloc(arena, all + 1, sizeof *names);
	all = 0;
	for (size_t t = 0; t < count; t++) {
		for (const struct ss_param *p = tables[t]; p && p->name; p++) {
			names[all++] = p->name;
		}
	}
	word_unknown(name, names, all, arena_printf(arena, "%s has no parameter \"%.100s\"", where, name), err);
	arena_free(arena);
	return -1;
}

int param_check_names(const struct ss_param *const *tables, size_t count, const json_t *object, const char *where,
                      struct err *err) {
	const char *name;
	json_t *json;
	json_object_foreach((json_t *)object, name, json) {
		bool found = false;
		for (size_t t = 0; t < count && !found; t++) {
			for (const struct ss_param *p = tables[t]; p && p->name && !found; p++) {
				found = strcmp(p->name, name) == 0;
			}
		}
		if (!found) {
			return name_error(tables, count, name, where, err);
		}
	}
	return 0;
}
