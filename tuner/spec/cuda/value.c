/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Expressions over the problem's size, parameters and scalars. */
#include <config.h>

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/spec/cuda/impl.h"
#include "tuner/spec/slice.h"

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
