/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tuner/store/db.h"

/* Reads a JSON number of at most 15 digits before the point. Returns its end, or NULL for anything else. */
static const char *real_read(const char *text, double *value) {
	const char *at = text + (*text == '-'), *digits = at;
	char *end;
	at += strspn(at, "0123456789");
	bool whole = *at != '.' && *at != 'e' && *at != 'E', good = at > digits && at - digits <= 15;
	good = good && (*digits != '0' || at == digits + 1);
	if (*at == '.') {
		size_t count = strspn(++at, "0123456789");
		good = good && count > 0;
		at += count;
	}
	if (!whole && (*at == 'e' || *at == 'E')) {
		at += 1 + (at[1] == '+' || at[1] == '-');
		size_t count = strspn(at, "0123456789");
		good = good && count > 0;
		at += count;
	}
	*value = good ? strtod(text, &end) : NAN;
	return good && end == at && isfinite(*value) ? at : NULL;
}

/* Reads "[1.5,2]", the usual form of samples, without a JSON parser, because a store has many trials. False for any
 * other form. */
static bool reals_read(const char *text, double *samples, size_t *count) {
	bool more = text[0] == '[' && text[1] != ']';
	*count = 0;
	if (!more)
		return strcmp(text, "[]") == 0;
	while (more) {
		text += text[1] == ' ' ? 2 : 1;
		text = real_read(text, &samples[(*count)++]);
		if (!text)
			return false;
		more = *text == ',';
	}
	return strcmp(text, "]") == 0;
}

static size_t commas(const char *text) {
	size_t count = 0;
	for (; *text; text++)
		count += *text == ',';
	return count;
}

int store_column_reals(const struct store *store, sqlite3_stmt *stmt, int column, double **samples, size_t *count,
                       struct err *err) {
	const char *text = store_column(stmt, column);
	*samples = mem_alloc(commas(text) + 1, sizeof **samples);
	if (sqlite3_column_bytes(stmt, column) == (int)strlen(text) && reals_read(text, *samples, count))
		return 0;
	free(*samples);
	*samples = NULL;
	json_t *array = store_column_json(store, stmt, column, "a trial's samples", err);
	if (!array)
		return -1;
	*count = json_array_size(array);
	*samples = mem_alloc(*count + 1, sizeof **samples);
	for (size_t i = 0; i < *count; i++) {
		const json_t *sample = json_array_get(array, i);
		(*samples)[i] = json_is_number(sample) ? json_number_value(sample) : NAN;
	}
	json_decref(array);
	return 0;
}
