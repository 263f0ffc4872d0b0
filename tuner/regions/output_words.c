/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"
#include "tuner/regions/output.h"
#include "tuner/regions/output_impl.h"

enum { WORDS_MOST = 1 << 18 };

static bool begins_number(const char *text, size_t at) {
	const char *c = text + at;
	if (at > 0 && (isalnum((unsigned char)c[-1]) || c[-1] == '_' || c[-1] == '.'))
		return false;
	c += *c == '-' || *c == '+';
	return isdigit((unsigned char)*c) || (*c == '.' && isdigit((unsigned char)c[1]));
}

/* Decimal, with the exponents of C and of Fortran. */
static size_t number_read(const char *text, struct word *word) {
	char copy[64];
	size_t length = 0;
	bool is_whole = true;
	for (; length + 1 < sizeof copy; length++) {
		char c = text[length];
		bool is_exponent = length > 0 && strchr("eEdD", c) && c &&
		                   (isdigit((unsigned char)text[length + 1]) || strchr("+-", text[length + 1])) &&
		                   text[length + 1];
		bool is_sign = (c == '-' || c == '+') && (length == 0 || strchr("eE", copy[length - 1]));
		if (!isdigit((unsigned char)c) && c != '.' && !is_exponent && !is_sign)
			break;
		is_whole = is_whole && !is_exponent && c != '.';
		copy[length] = is_exponent ? 'e' : c;
	}
	char *end;
	copy[length] = '\0';
	word->is_number = true;
	word->is_whole = is_whole;
	word->value = strtod(copy, &end);
	word->length = end > copy ? (size_t)(end - copy) : 1;
	return word->length;
}

/* Blanks say how wide a number is, so they are left out. */
struct words regions_words_read(const char *text, size_t size) {
	struct words words = {.of = mem_alloc(16, sizeof *words.of), .is_cut = size >= REGIONS_OUTPUT_MOST};
	size_t room = 16;
	bool begins_line = true;
	for (size_t at = 0; at < size && words.count < WORDS_MOST;) {
		if (isspace((unsigned char)text[at])) {
			begins_line = begins_line || text[at] == '\n';
			at++;
			continue;
		}
		if (words.count == room)
			words.of = mem_grow(words.of, room *= 2, sizeof *words.of);
		struct word *word = &words.of[words.count++];
		*word = (struct word){.text = text + at, .begins_line = begins_line};
		begins_line = false;
		if (begins_number(text, at)) {
			at += number_read(text + at, word);
			continue;
		}
		size_t end = at + 1;
		while (end < size && !isspace((unsigned char)text[end]) && !begins_number(text, end))
			end++;
		word->length = end - at;
		at = end;
	}
	words.is_cut = words.is_cut || words.count == WORDS_MOST;
	words.count -= words.is_cut && words.count > 0; /* it may have been longer */
	return words;
}

/* Letters and slashes of a word, in lower case: "(Mop/s):" becomes "mop/s". */
static void letters_copy(const struct word *word, char *letters, size_t size) {
	size_t used = 0;
	for (size_t i = 0; i < word->length && used + 1 < size; i++)
		if (isalpha((unsigned char)word->text[i]) || (word->text[i] == '/' && used > 0))
			letters[used++] = (char)tolower((unsigned char)word->text[i]);
	letters[used] = '\0';
}

static bool is_among(const char *letters, const char *const *list) {
	while (*list && strcmp(letters, *list) != 0)
		list++;
	return *list;
}

static bool is_long_unit(const char *letters) {
	static const char *const units[] = {"sec",  "secs", "second",  "seconds", "msec",
	                                    "usec", "nsec", "minutes", "hours",   NULL};
	return is_among(letters, units) || text_ends_with(letters, "/s") || text_ends_with(letters, "/sec") ||
	       text_ends_with(letters, "/second") || text_ends_with(letters, "flops");
}

/* "0.06 s", "3.1GB/s", "120 MFLOPS" */
static bool is_unit(const struct word *word) {
	static const char *const units[] = {"s", "ms", "us", "ns", NULL};
	char letters[32];
	letters_copy(word, letters, sizeof letters);
	return is_among(letters, units) || is_long_unit(letters);
}

/* "Time in seconds =", "wall clock:" or "Mop/s total". A short unit here may be a name: "s=1". */
static bool is_label(const struct word *word) {
	static const char *const labels[] = {"elapsed", "wall",       "wallclock", "walltime",    "runtime", "speed",
	                                     "speedup", "throughput", "bandwidth", "performance", NULL};
	char letters[32];
	letters_copy(word, letters, sizeof letters);
	return is_long_unit(letters) || is_among(letters, labels) || text_ends_with(letters, "time") ||
	       text_ends_with(letters, "clock");
}

/* "Time step 20" counts steps. */
static bool counts_steps(const struct word *word) {
	return word->length >= 4 && (strncasecmp(word->text, "step", 4) == 0);
}

bool regions_words_timing(const struct words *words, size_t i) {
	const struct word *number = &words->of[i];
	if (!number->is_number)
		return false;
	if (i + 1 < words->count && !number[1].is_number && !number[1].begins_line && is_unit(&number[1]))
		return true;
	for (const struct word *word = number; !word->begins_line && word > words->of && !word[-1].is_number; word--) {
		if (counts_steps(&word[-1]))
			return false;
		if (is_label(&word[-1]))
			return true;
	}
	return false;
}
