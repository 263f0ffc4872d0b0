/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the values of another parameter under which a parameter is present. */
#include <config.h>

#include <stdlib.h>

#include "src/base/stop.h"
#include "tuner/record/build_impl.h"

enum { LISTED_MAX = 64 };

/* For each value of `by`: do rows with it have the parameter? If some do and some do not, `by` alone is not a
 * condition. */
enum { HAS = 1, LACKS = 2 };

static bool has_value(const struct raw_row *raw, size_t column) {
	return column < raw->place_count && raw->places[column] != SPACE_ABSENT;
}

static bool find_split(const struct build *build, size_t column, size_t by, unsigned char *seen) {
	for (size_t i = 0; i < build->row_count; i++) {
		const struct raw_row *raw = &build->rows[i];
		bool has = has_value(raw, column);
		if (!has_value(raw, by)) { /* a condition on an absent parameter does not hold */
			if (has)
				return false;
			continue;
		}
		unsigned char *of = &seen[raw->places[by]];
		*of |= has ? HAS : LACKS;
		if (*of == (HAS | LACKS))
			return false;
	}
	return true;
}

static bool is_plain_word(struct value value) {
	return value.type != VALUE_WORD || !strpbrk(value.as.w, "'\"\\");
}

/* NAME in ['a', 2] */
static const char *expression(const struct build *build, size_t by, const unsigned char *seen) {
	const struct column *column = &build->columns[by];
	const char *list = "";
	for (size_t i = 0, listed = 0; i < column->count; i++) {
		struct value value = column->values[i].value;
		char number[64] = "";
		if (seen[i] != HAS)
			continue;
		if (!is_plain_word(value) || listed++ == LISTED_MAX)
			return NULL;
		if (value.type == VALUE_WORD)
			list = arena_printf(build->scratch, "%s%s'%s'", list, *list ? ", " : "", value.as.w);
		else if (value_text(value, number, sizeof number) > 0)
			list = arena_printf(build->scratch, "%s%s%s", list, *list ? ", " : "", number);
	}
	return arena_printf(build->scratch, "%s in [%s]", column->name, list);
}

static size_t lacking(const struct build *build, size_t column) {
	size_t count = 0;
	for (size_t i = 0; i < build->row_count; i++)
		count += !has_value(&build->rows[i], column);
	return count;
}

const char *build_condition(const struct build *build, size_t column) {
	const char *found = NULL;
	size_t lacks = lacking(build, column);
	for (size_t by = 0; by < build->column_count && !found && !stop_asked(); by++) {
		/* Fewer gaps than its own, so that conditions cannot be circular. */
		if (by == column || lacking(build, by) >= lacks)
			continue;
		unsigned char *seen = mem_alloc(build->columns[by].count, 1);
		if (find_split(build, column, by, seen))
			found = expression(build, by, seen);
		free(seen);
	}
	return found;
}
