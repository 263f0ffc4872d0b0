/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libFuzzer's mutations of bytes seldom leave a JSON document whole, so that little comes behind the parser. In half of
 * the mutations this changes the document by its values instead: one is replaced by another or by an extreme one, taken
 * out, doubled, or changed inside its quotes. Linked with the targets that read JSON. */
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most); /* libFuzzer's */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

enum { SPANS = 512, DEPTH = 64, COPY = 4096, GROWTH = 12, CHANGES = 3 };

struct span {
	size_t from, to;
	bool is_key;
};

struct text {
	uint8_t *at;
	size_t size, most;
	uint32_t random;
	struct span spans[SPANS];
	size_t count;
};

static uint32_t below(struct text *text, size_t limit) {
	text->random ^= text->random << 13;
	text->random ^= text->random >> 17;
	text->random ^= text->random << 5;
	return text->random % (uint32_t)limit;
}

static bool is_plain(uint8_t c) {
	return isalnum(c) || c == '-' || c == '+' || c == '.';
}

static size_t string_end(const struct text *text, size_t at) {
	for (at++; at < text->size && text->at[at] != '"'; at++)
		at += text->at[at] == '\\';
	return at < text->size ? at + 1 : text->size;
}

static size_t spaces_skip(const struct text *text, size_t at) {
	while (at < text->size && isspace(text->at[at]))
		at++;
	return at;
}

static struct span span_read(const struct text *text, size_t from) {
	size_t to = from + 1, next;
	if (text->at[from] == '"') {
		to = string_end(text, from);
		next = spaces_skip(text, to);
		return (struct span){from, to, next < text->size && text->at[next] == ':'};
	}
	while (to < text->size && is_plain(text->at[to]))
		to++;
	return (struct span){from, to, false};
}

/* Every value and every key; what is not closed ends with the text. */
static void spans_find(struct text *text) {
	size_t open[DEPTH], depth = 0;
	text->count = 0;
	for (size_t i = 0; i < text->size && text->count < SPANS;) {
		uint8_t c = text->at[i];
		if ((c == '{' || c == '[') && depth < DEPTH) {
			open[depth++] = text->count;
			text->spans[text->count++] = (struct span){i++, text->size, false};
		} else if ((c == '}' || c == ']') && depth > 0) {
			text->spans[open[--depth]].to = ++i;
		} else if (c == '"' || is_plain(c)) {
			text->spans[text->count] = span_read(text, i);
			i = text->spans[text->count++].to;
		} else {
			i++;
		}
	}
}

/* Puts other bytes in the place of a span, if there is room for them. They may lie within the text. */
static void put(struct text *text, struct span span, const void *bytes, size_t length) {
	uint8_t copy[COPY];
	if (length > sizeof copy || text->size - (span.to - span.from) + length > text->most)
		return;
	memcpy(copy, bytes, length);
	memmove(text->at + span.from + length, text->at + span.to, text->size - span.to);
	memcpy(text->at + span.from, copy, length);
	text->size = text->size - (span.to - span.from) + length;
}

static void make(struct text *text, struct span span) {
	static const char *const values[] = {
		"null", "true",   "false", "0",     "1",    "-1",    "2147483648", "9223372036854775807",
		"1e19", "1e-308", "1e308", "0.5",   "-0.0", "1e-9",  "100000",     "-9223372036854775808",
		"[]",   "{}",     "\"\"",  "\"a\"", "[[]]", "\"1\"", "[0]",        "{\"a\":1}"};
	const char *value = values[below(text, sizeof values / sizeof *values)];
	put(text, span, value, strlen(value));
}

static void copy(struct text *text, struct span to) {
	for (int tries = 0; tries < 8; tries++) {
		struct span from = text->spans[below(text, text->count)];
		if (from.is_key == to.is_key) {
			put(text, to, text->at + from.from, from.to - from.from);
			return;
		}
	}
}

/* With its key, and with the comma on one side of it. */
static void take_out(struct text *text, size_t number) {
	struct span span = text->spans[number];
	if (number > 0 && text->spans[number - 1].is_key)
		span.from = text->spans[number - 1].from;
	size_t next = spaces_skip(text, span.to);
	if (next < text->size && text->at[next] == ',')
		span.to = next + 1;
	else if (span.from > 0 && text->at[span.from - 1] == ',')
		span.from--;
	put(text, span, "", 0);
}

/* An element comes twice, a member comes again under a longer key. */
static void repeat(struct text *text, size_t number) {
	struct span span = text->spans[number];
	uint8_t twice[COPY];
	bool is_member = number > 0 && text->spans[number - 1].is_key;
	size_t from = is_member ? text->spans[number - 1].from : span.from, length = span.to - from;
	if (length + 2 > sizeof twice)
		return;
	twice[0] = ',';
	memcpy(twice + 1, text->at + from, length);
	if (is_member) {
		memmove(twice + 3, twice + 2, length - 1);
		twice[2] = 'x';
	}
	put(text, (struct span){span.to, span.to, false}, twice, length + 1 + is_member);
}

/* Lets libFuzzer change the text of a string or a number, and makes the result a string or a number again. */
static void change(struct text *text, struct span span) {
	static const char digits[] = "0123456789.eE+-";
	uint8_t inside[COPY + GROWTH];
	bool quoted = text->at[span.from] == '"';
	if (quoted && span.to - span.from < 2)
		return;
	span.from += quoted;
	span.to -= quoted;
	size_t length = span.to - span.from;
	if (length > COPY)
		return;
	memcpy(inside, text->at + span.from, length);
	length = LLVMFuzzerMutate(inside, length, length + GROWTH);
	for (size_t i = 0; i < length; i++) {
		uint8_t c = inside[i] & 0x7f;
		if (!quoted)
			inside[i] = strchr(digits, c) && c ? c : (uint8_t)digits[c % 10];
		else
			inside[i] = c < ' ' || c == '"' || c == '\\' ? c | 0x41 : c;
	}
	put(text, span, inside, length);
}

static void mutate(struct text *text) {
	size_t number = below(text, text->count);
	struct span span = text->spans[number];
	bool is_whole = text->at[span.from] == '{' || text->at[span.from] == '[';
	switch (below(text, span.is_key ? 3 : 8)) {
	case 0:
	case 1:
		copy(text, span);
		break;
	case 2:
		span.is_key || !is_whole ? change(text, span) : repeat(text, number);
		break;
	case 3:
	case 4:
		make(text, span);
		break;
	case 5:
		take_out(text, number);
		break;
	case 6:
		repeat(text, number);
		break;
	default:
		is_whole ? copy(text, span) : change(text, span);
	}
}

/* For targets where the size of a number is that of a list, FUZZ_DIGITS is how many its numbers mostly have. */
static size_t shortened(uint8_t *data, size_t size, unsigned seed) {
#ifdef FUZZ_DIGITS
	size_t used = 0, digits = 0;
	for (size_t i = 0; i < size && seed % 30; i++) {
		digits = isdigit(data[i]) ? digits + 1 : 0;
		if (digits <= FUZZ_DIGITS && !(used > 0 && data[i] == '*' && data[used - 1] == '*'))
			data[used++] = data[i];
	}
	return seed % 30 ? used : size;
#else
	(void)data, (void)seed;
	return size;
#endif
}

static size_t mutated(uint8_t *data, size_t size, size_t most, unsigned seed) {
	static struct text text;
	text.at = data;
	text.size = size;
	text.most = most;
	text.random = seed * 2654435761u | 1;
	if (below(&text, 2) == 0)
		return LLVMFuzzerMutate(data, size, most);
	for (uint32_t n = 1 + below(&text, CHANGES); n > 0; n--) {
		spans_find(&text);
		if (text.count == 0)
			return LLVMFuzzerMutate(data, size, most);
		mutate(&text);
	}
	return text.size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
	return shortened(data, mutated(data, size, most, seed), seed);
}
