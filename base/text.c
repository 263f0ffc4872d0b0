/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/text.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdint.h>
#include <time.h>

#include "base/mem.h"

static size_t lead_length(unsigned char c) {
	if (c < 0x80)
		return 1;
	if (c >= 0xC2 && c <= 0xDF)
		return 2;
	if ((c & 0xF0) == 0xE0)
		return 3;
	return c >= 0xF0 && c <= 0xF4 ? 4 : 0;
}

/* Overlong forms, surrogates and code points beyond U+10FFFF show in the second byte. */
static bool second_fits(unsigned char first, unsigned char second) {
	switch (first) {
	case 0xE0:
		return second >= 0xA0;
	case 0xED:
		return second <= 0x9F;
	case 0xF0:
		return second >= 0x90;
	case 0xF4:
		return second <= 0x8F;
	default:
		return true;
	}
}

const char *text_base_name(const char *path) {
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

bool text_time(double seconds, const char *format, char *text, size_t size) {
	bool known = seconds >= 0 && seconds < 253402300800.0; /* the year 10000, which would not fit */
	time_t time = known ? (time_t)seconds : 0;
	struct tm tm;
	*text = '\0';
	return known && gmtime_r(&time, &tm) && strftime(text, size, format, &tm) > 0;
}

bool text_ends_with(const char *text, const char *end) {
	size_t length = strlen(text), size = strlen(end);
	return length >= size && memcmp(text + length - size, end, size) == 0;
}

bool text_is_among(const char *word, const char *const *words, size_t count) {
	size_t i = 0;
	while (i < count && strcmp(words[i], word) != 0)
		i++;
	return i < count;
}

size_t text_utf8(const char *text, size_t size) {
	const unsigned char *c = (const unsigned char *)text;
	size_t length = size ? lead_length(c[0]) : 0;
	if (length == 0 || length > size)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((c[i] & 0xC0) != 0x80)
			return 0;
	return length == 1 || second_fits(c[0], c[1]) ? length : 0;
}

/* Marks and controls that reorder text (U+061C, U+200E, U+200F, U+202A..202E, U+2066..2069): with them a line shows
 * other words than it holds (CVE-2021-42574). */
static bool is_bidirectional(const char *text, size_t length) {
	const unsigned char *c = (const unsigned char *)text;
	if (length == 2)
		return c[0] == 0xD8 && c[1] == 0x9C;
	if (length != 3 || c[0] != 0xE2)
		return false;
	return c[1] == 0x80 ? c[2] == 0x8E || c[2] == 0x8F || (c[2] >= 0xAA && c[2] <= 0xAE)
	                    : c[1] == 0x81 && c[2] >= 0xA6 && c[2] <= 0xA9;
}

/* C1 is obeyed by some terminals. */
bool text_is_control(const char *text, size_t length) {
	unsigned char c = (unsigned char)text[0];
	if (is_bidirectional(text, length))
		return true;
	return length == 1 ? c < 0x20 || c == 0x7F : length == 2 && c == 0xC2 && (unsigned char)text[1] < 0xA0;
}

void text_code_point(FILE *out, const char *text, size_t length) {
	const unsigned char *c = (const unsigned char *)text;
	unsigned point = length == 3   ? (c[0] & 0xFU) << 12 | (c[1] & 0x3FU) << 6 | (c[2] & 0x3FU)
	                 : length == 2 ? (c[0] & 0x1FU) << 6 | (c[1] & 0x3FU)
	                               : c[0];
	fprintf(out, "\\u%04x", point);
}

bool text_is_binary(const char *text, size_t size) {
	static const size_t SHARE = 4;
	size_t strange = 0, seen = 0, length;
	for (size_t i = 0; i < size; i += length ? length : 1) {
		length = text_utf8(text + i, size - i);
		if (length == 1 && strchr(" \t\r\n\033", text[i]))
			continue;
		strange += length == 0 || text_is_control(text + i, length);
		seen++;
	}
	return strange * SHARE > seen;
}

void text_clean(char *text, bool lines) {
	size_t size = strlen(text), length;
	for (size_t i = 0; i < size; i += length) {
		length = text_utf8(text + i, size - i);
		if (length == 0) {
			text[i] = '?';
			length = 1;
		} else if (text_is_control(text + i, length) && !(lines && (text[i] == '\n' || text[i] == '\t'))) {
			memset(text + i, ' ', length);
		}
	}
}

const char *text_entity(char c) {
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void text_markup(FILE *out, const char *text) {
	for (; *text; text++) {
		const char *entity = text_entity(*text);
		if (entity)
			fputs(entity, out);
		else
			putc(*text, out);
	}
}

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

/* regcomp() writes a{9} out nine times, and its time and memory grow with the square of the expanded length. */
enum { PATTERN_LENGTH = 1000, PATTERN_STEPS = 2000 };

static const char *after_set(const char *at) {
	at += at[1] == '^' ? 2 : 1;
	at += *at == ']';
	for (; *at && *at != ']'; at++) {
		char kind = at[1];
		if (*at == '[' && kind && strchr(".:=", kind)) {
			for (at += 2; *at && !(at[0] == kind && at[1] == ']'); at++)
				continue;
			at += *at != '\0';
		}
		if (!*at)
			break;
	}
	return at + (*at == ']');
}

static uint64_t limited(uint64_t steps) {
	return steps < UINT32_MAX ? steps : UINT32_MAX;
}

/* The largest number in the braces, 1 if there is none; moves *at behind them. */
static uint64_t repetitions(const char **at) {
	uint64_t most = 1;
	const char *c = *at + 1;
	for (; *c && *c != '}'; c++)
		if (isdigit((unsigned char)*c)) {
			char *end;
			uint64_t number = limited(strtoull(c, &end, 10));
			most = number > most ? number : most;
			c = end - 1;
		}
	*at = c + (*c == '}');
	return most;
}

/* Counts the characters and sets of the expanded expression, up to the end or the bracket that closes the group. */
static uint64_t steps(const char **at) {
	uint64_t sum = 0, last = 0;
	while (**at && **at != ')') {
		if (**at == '{') {
			last = limited(last * repetitions(at));
			continue;
		}
		sum = limited(sum + last);
		last = 1;
		if (**at == '(') {
			++*at;
			last += steps(at);
			*at += **at == ')';
		} else if (**at == '[') {
			*at = after_set(*at);
		} else {
			*at += 1 + (**at == '\\' && (*at)[1]);
		}
	}
	return limited(sum + last);
}

static bool is_too_large(const char *expression) {
	uint64_t sum = 0;
	if (strlen(expression) > PATTERN_LENGTH)
		return true;
	for (const char *at = expression; *at; at += *at == ')') /* regcomp() refuses a number above its limit itself */
		sum += steps(&at);
	return sum > PATTERN_STEPS;
}

bool pattern_compile(regex_t *regex, const char *expression, char *why, size_t size) {
	if (is_too_large(expression)) {
		snprintf(why, size, "it is too long or repeats too much");
		return false;
	}
	int code = regcomp(regex, expression, REG_EXTENDED);
	if (code != 0)
		regerror(code, regex, why, size);
	return code == 0;
}

const char *pattern_kernel(const char *metric) {
	static const char mark[] = "kernel:";
	const char *name = strncmp(metric, mark, sizeof mark - 1) == 0 ? metric + sizeof mark - 1 : "";
	return *name > ' ' && !strpbrk(name, "()[]{}.*+?|^$\\") ? name : NULL;
}

typedef char *demangle_function(const char *, char *, size_t *, int *);

/* Whether the text ends with "operator", after which brackets are part of a name. */
static bool is_operator(const char *text, size_t length) {
	static const char word[] = "operator";
	const size_t size = sizeof word - 1;
	return length >= size && memcmp(text + length - size, word, size) == 0 &&
	       (length == size || !(isalnum((unsigned char)text[length - size - 1]) || text[length - size - 1] == '_'));
}

/* Whether text[at] belongs to the sign of an operator, or follows it. */
static bool is_sign(const char *text, size_t at) {
	while (at > 0 && strchr("<>=-", text[at - 1]))
		at--;
	return is_operator(text, at);
}

/* The place of the bracket that opens the parameters: of several pairs at the outermost level the last. */
static size_t parameters_find(const char *text) {
	size_t length = strlen(text), at = length;
	int depth = 0;
	for (size_t i = length; i-- > 0;) {
		if (text[i] == ')' && depth++ == 0)
			at = length;
		if (text[i] == '(' && --depth == 0) {
			at = i;
			break;
		}
	}
	return at > 0 && at < length && !is_operator(text, at) ? at : length;
}

/* The result's type comes before the last space that is not within brackets; "operator new" has a space, too. */
static size_t name_find(const char *text, size_t length) {
	int depth = 0;
	for (size_t i = length; i-- > 0;) {
		char c = text[i];
		bool sign = strchr("<> ", c) && is_sign(text, i);
		depth += !sign && (c == '>' || c == ')' || c == '}' || c == ']');
		depth -= !sign && (c == '<' || c == '(' || c == '{' || c == '[');
		if (c == ' ' && depth == 0 && !sign)
			return i + 1;
	}
	return 0;
}

void demangle_trim(const char *text, char *name, size_t size) {
	size_t length = parameters_find(text), from = name_find(text, length);
	snprintf(name, size, "%.*s", (int)(length - from), text + from);
}

static demangle_function *demangler(void *library) {
	demangle_function *function = NULL;
	if (library)
		*(void **)&function = dlsym(library, "__cxa_demangle");
	return function;
}

static bool is_fortran(const char *symbol, char *name, size_t size) {
	const char *mark = strstr(symbol, "_MOD_");
	bool good = strncmp(symbol, "__", 2) == 0 && mark && mark > symbol + 2 && mark[5];
	if (good)
		snprintf(name, size, "%.*s::%s", (int)(mark - symbol - 2), symbol + 2, mark + 5);
	return good;
}

bool demangle_is_needed(const char *symbol) {
	return strncmp(symbol, "_Z", 2) == 0 || strstr(symbol, "_MOD_");
}

void demangle(const char *symbol, char *name, size_t size) {
	if (is_fortran(symbol, name, size))
		return;
	void *library = strncmp(symbol, "_Z", 2) == 0 ? dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL) : NULL;
	demangle_function *function = demangler(library);
	int status = -1;
	mem_auto char *text = function ? function(symbol, NULL, NULL, &status) : NULL;
	if (text && status == 0)
		demangle_trim(text, name, size);
	else
		snprintf(name, size, "%s", symbol);
	if (library)
		dlclose(library);
}

void text_last_line(const char *text, char *line, size_t size) {
	size_t length = strlen(text);
	while (length && text[length - 1] == '\n')
		length--;
	size_t start = length;
	while (start && text[start - 1] != '\n')
		start--;
	snprintf(line, size, "%.*s", (int)(length - start), text + start);
}

bool text_is_listed(const char *text, const char *const *list) {
	for (; list && *list; list++)
		if (strcmp(*list, text) == 0)
			return true;
	return false;
}
