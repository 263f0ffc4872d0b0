/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/near.h"

#include <stdarg.h>

#include "base/mem.h"

enum { LONGEST = 64, FAR = 2 * LONGEST };

static unsigned least(unsigned a, unsigned b) {
	return a < b ? a : b;
}

static char folded(char c) {
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static unsigned edits_at(const char *a, const char *b, size_t i, size_t j, unsigned row[3][LONGEST + 1]) {
	unsigned differs = folded(a[i - 1]) != folded(b[j - 1]);
	unsigned edits = least(row[1][j] + 1, row[0][j - 1] + 1);
	edits = least(edits, row[1][j - 1] + differs);
	if (i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) && folded(a[i - 2]) == folded(b[j - 1]))
		edits = least(edits, row[2][j - 2] + 1);
	return edits;
}

/* Optimal string alignment, ignoring case; row[0] is the current row, row[1] and row[2] the two before it. */
static unsigned distance(const char *a, const char *b) {
	size_t m = strlen(a), n = strlen(b);
	unsigned row[3][LONGEST + 1];
	if (m > LONGEST || n > LONGEST)
		return FAR;
	for (unsigned j = 0; j <= n; j++)
		row[0][j] = j;
	for (size_t i = 1; i <= m; i++) {
		memcpy(row[2], row[1], sizeof(row[0]));
		memcpy(row[1], row[0], sizeof(row[0]));
		row[0][0] = (unsigned)i;
		for (size_t j = 1; j <= n; j++)
			row[0][j] = edits_at(a, b, i, j, row);
	}
	return row[0][n];
}

static bool begins(const char *text, const char *prefix, size_t length) {
	for (size_t i = 0; i < length; i++)
		if (folded(text[i]) != folded(prefix[i]))
			return false;
	return true;
}

/* Distance of the word from a known one, FAR if it is too large. A truncated word (of at least two letters) counts
 * as the worst acceptable mistype, so that a mistype of a short word beats a long word with the same beginning. */
static unsigned farness(const char *word, const char *known) {
	size_t length = strlen(word);
	size_t other = strlen(known), apart = length > other ? length - other : other - length;
	unsigned allowed = length / 3 > 1 ? (unsigned)(length / 3) : 1;
	unsigned edits = apart > allowed ? FAR : distance(word, known); /* one edit for each letter too many at least */
	if (edits <= allowed && edits < length)
		return edits;
	return length >= 2 && begins(known, word, length) ? allowed + 1 : FAR;
}

/* Between two words at the same distance it is the one that begins with the typed word, then one with the same first
 * letter, which is rarely mistyped, then the shorter one: tun means tune rather than run, and pol pool rather than gol.
 */
static bool is_likelier(const char *word, const char *known, const char *other) {
	const size_t lengths[] = {strlen(word), 1};
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		bool first = begins(known, word, lengths[i]), second = begins(other, word, lengths[i]);
		if (first != second)
			return first;
	}
	return strlen(known) < strlen(other);
}

const char *near_word(const char *word, const char *const *known, size_t count) {
	const char *nearest = NULL;
	unsigned best = FAR;
	for (size_t i = 0; i < count; i++) {
		unsigned far = farness(word, known[i]);
		if (far < best || (far == best && nearest && is_likelier(word, known[i], nearest))) {
			best = far;
			nearest = known[i];
		}
	}
	return nearest;
}

bool near_is_known(const char *word, const char *const *known) {
	while (*known && strcmp(*known, word) != 0)
		known++;
	return *known;
}

int near_refuse(struct err *err, const char *word, const char *const *known, size_t count, const char *meant,
                const char *hint, const char *what, ...) {
	const char *near = near_word(word, known, count);
	va_list ap;
	va_start(ap, what);
	mem_auto char *text = mem_vprintf(what, ap);
	va_end(ap);
	err_set(err, ERR_USAGE, hint, "%s", text);
	return near ? err_hint(err, meant, near) : -1;
}
