/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers, sides and times of day as the cells of tables have them. */
#include <ctype.h>
#include <math.h>

#include "tuner/study/study_impl.h"

bool table_number(const struct csv *csv, const char *cell, bool sizes, double *number) {
	static const char prefixes[] = "KMGT";
	char copy[CSV_FIELD_MAX + 1], *end;
	snprintf(copy, sizeof copy, "%s", cell);
	if (csv->delimiter == ';' && !strchr(copy, '.') && strchr(copy, ','))
		*strchr(copy, ',') = '.';
	if (!strchr("+-.0123456789", *copy) || !*copy || strpbrk(copy, "xX"))
		return false;
	*number = strtod(copy, &end);
	const char *prefix = sizes && *end ? strchr(prefixes, *end == 'k' ? 'K' : *end) : NULL;
	if (prefix) {
		*number *= pow(1024, (double)(prefix - prefixes + 1));
		end += 1 + (end[1] == 'i');
		end += *end == 'B';
	}
	return *end == '\0' && isfinite(*number);
}

size_t table_side(const char *text, size_t *length) {
	size_t side = table_digits(text), at = side, times = 1;
	while (side && side < 10 && (text[at] == 'x' || text[at] == 'X') && table_digits(text + at + 1) == side &&
	       strncmp(text, text + at + 1, side) == 0) {
		at += side + 1;
		times++;
	}
	bool square = strncmp(text + at, "\xc2\xb2", 2) == 0, cube = strncmp(text + at, "\xc2\xb3", 2) == 0;
	if (times == 1 && (square || cube) && side > 1 &&
	    (side > 2 || strncmp(text, "10", 2) != 0)) { /* not powers of 10 */
		at += 2;
		times++;
	}
	*length = at;
	return times > 1 && !isalnum((unsigned char)text[at]) ? side : 0;
}

/* "1m12.271s", as bash prints it, "1h2m3s", and "4 minutes and 3 seconds". */
static bool letters_read(const char *cell, double *seconds) {
	static const char *const units[] = {"h hour hours", "m min mins minute minutes", "s sec secs second seconds"};
	static const double scale[] = {3600, 60, 1};
	size_t unit = 0, parts = 0;
	for (*seconds = 0; *cell; unit++, parts++) {
		char copy[CSV_FIELD_MAX + 1], *end;
		size_t length = strspn(cell, "0123456789.,"), word = 0;
		snprintf(copy, sizeof copy, "%.*s", (int)length, cell);
		copy[strcspn(copy, ",")] = copy[strcspn(copy, ",")] ? '.' : '\0';
		cell += length + strspn(cell + length, " ");
		while (isalpha((unsigned char)cell[word]))
			word++;
		while (unit < 3 && !table_among(cell, word, units[unit]))
			unit++;
		if (!length || unit == 3)
			return false;
		*seconds += scale[unit] * strtod(copy, &end);
		if (*end)
			return false;
		cell += word;
		cell += strspn(cell, " ");
		cell += strncmp(cell, "and ", 4) == 0 ? 4 : 0;
	}
	return parts > 1;
}

bool table_clock(const char *cell, double *seconds) {
	char copy[CSV_FIELD_MAX + 1], *at = copy, *end;
	size_t colons = 0;
	if (letters_read(cell, seconds))
		return true;
	snprintf(copy, sizeof copy, "%s", cell);
	for (*seconds = 0; table_digits(at) && at[table_digits(at)] == ':'; at += table_digits(at) + 1, colons++) {
		if (colons && table_digits(at) != 2)
			return false;
		*seconds = 60 * (*seconds + strtod(at, NULL));
	}
	if (colons == 0 || colons > 2 || table_digits(at) != 2)
		return false;
	if (at[2] == ',')
		at[2] = '.';
	*seconds += strtod(at, &end);
	return *end == '\0';
}
