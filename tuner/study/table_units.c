/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells that are a time, "1m12.3s" or "1:12", or the sides of a square, "64x64". */
#include <ctype.h>

#include "tuner/study/study_impl.h"

static size_t digits(const char *at) {
	return strspn(at, "0123456789");
}

size_t table_side(const char *text, size_t *length) {
	size_t side = digits(text), at = side, times = 1;
	while (side && side < 10 && (text[at] == 'x' || text[at] == 'X') && digits(text + at + 1) == side &&
	       strncmp(text, text + at + 1, side) == 0) {
		at += side + 1;
		times++;
	}
	*length = at;
	return times > 1 && !isalnum((unsigned char)text[at]) ? side : 0;
}

/* "1m12.271s", as bash prints it, and "1h2m3s". */
static bool letters_read(const char *cell, double *seconds) {
	static const char *const units[] = {"h", "min", "m", "s"};
	static const double scale[] = {3600, 60, 60, 1};
	size_t next = 0, parts = 0;
	*seconds = 0;
	while (*cell) {
		char copy[CSV_FIELD_MAX + 1], *end;
		size_t length = strspn(cell, "0123456789.,"), unit = next;
		snprintf(copy, sizeof copy, "%.*s", (int)length, cell);
		copy[strcspn(copy, ",")] = copy[strcspn(copy, ",")] ? '.' : '\0';
		cell += length + strspn(cell + length, " ");
		while (unit < 4 && strncmp(cell, units[unit], strlen(units[unit])) != 0)
			unit++;
		if (!length || unit == 4)
			return false;
		*seconds += scale[unit] * strtod(copy, &end);
		if (*end || isalpha((unsigned char)cell[strlen(units[unit])]))
			return false;
		cell += strlen(units[unit]);
		cell += strspn(cell, " ");
		next = unit == 1 ? 3 : unit + 1;
		parts++;
	}
	return parts > 1;
}

bool table_clock(const char *cell, double *seconds) {
	char copy[CSV_FIELD_MAX + 1], *at = copy, *end;
	size_t colons = 0;
	if (letters_read(cell, seconds))
		return true;
	snprintf(copy, sizeof copy, "%s", cell);
	for (*seconds = 0; digits(at) && at[digits(at)] == ':'; at += digits(at) + 1, colons++) {
		if (colons && digits(at) != 2)
			return false;
		*seconds = 60 * (*seconds + strtod(at, NULL));
	}
	if (colons == 0 || colons > 2 || digits(at) != 2)
		return false;
	if (at[2] == ',')
		at[2] = '.';
	*seconds += strtod(at, &end);
	return *end == '\0';
}
