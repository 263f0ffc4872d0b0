/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <math.h>

#include "base/stop.h"
#include "tuner/record/record_impl.h"

struct scan scan_of(const char *text, size_t size, const char *name, struct err *err) {
	return (struct scan){.at = text, .start = text, .end = text + size, .name = name, .err = err};
}

bool scan_fail(struct scan *scan, const char *hint, const char *what, ...) {
	if (scan->failed)
		return false;
	size_t line = 1;
	for (const char *at = scan->start; at < scan->at; at++)
		line += *at == '\n';
	char text[400];
	va_list ap;
	va_start(ap, what);
	vsnprintf(text, sizeof text, what, ap);
	va_end(ap);
	err_set(scan->err, ERR_USAGE, hint, "%s: line %zu: %s", scan->name, line, text);
	scan->failed = true;
	return false;
}

static bool scan_stop(struct scan *scan) {
	if (!scan->failed)
		stop_fail(scan->err, "while a file was read");
	scan->failed = true;
	return false;
}

bool scan_unexpected(struct scan *scan, const char *wanted) {
	unsigned char c = (unsigned char)*scan->at;
	if (scan->end == scan->start)
		return scan_fail(scan, "was it written?", "the file is empty");
	if (scan->at >= scan->end)
		return scan_fail(scan, "the file was cut short: remove the incomplete part, or fetch it again",
		                 "the text ends where %s should be", wanted);
	if (isgraph(c))
		return scan_fail(scan, NULL, "'%c' where %s should be", c, wanted);
	return scan_fail(scan, NULL, "the byte 0x%02x where %s should be", c, wanted);
}

static bool is_open_end(struct scan *scan) {
	return scan->at == scan->end && scan->depth <= scan->open_depth;
}

enum scan_type scan_type(struct scan *scan) {
	if (scan->failed)
		return SCAN_NOTHING;
	switch (scan_peek(scan)) {
	case '{':
		return SCAN_OBJECT;
	case '[':
		return SCAN_ARRAY;
	case '"':
		return SCAN_TEXT;
	case 't':
		return SCAN_TRUE;
	case 'f':
		return SCAN_FALSE;
	case 'n':
		return SCAN_NULL;
	case '-':
	case 'N':
	case 'I':
		return SCAN_NUMBER;
	default:
		return scan_is_digit(*scan->at) ? SCAN_NUMBER : SCAN_NOTHING;
	}
}

static bool open_bracket(struct scan *scan, char bracket, const char *wanted) {
	if (scan->failed)
		return false;
	if (scan_peek(scan) != bracket)
		return scan_unexpected(scan, wanted);
	if (scan->depth == SCAN_DEPTH_MAX)
		return scan_fail(scan, NULL, "more than %d brackets inside each other", SCAN_DEPTH_MAX);
	scan->at++;
	scan->depth++;
	return scan->fresh = true;
}

/* False if the bracket closes. */
static bool next_in(struct scan *scan, char bracket) {
	char c = scan_peek(scan);
	if (stop_asked())
		return scan_stop(scan);
	if (c == bracket || is_open_end(scan)) {
		scan->at += c == bracket;
		scan->depth--;
		return scan->fresh = false;
	}
	if (!scan->fresh) {
		if (c != ',')
			return scan_unexpected(scan, bracket == '}' ? "',' or '}'" : "',' or ']'");
		scan->at++;
		scan_peek(scan);
		if (is_open_end(scan))
			return next_in(scan, bracket);
	}
	scan->fresh = false;
	return true;
}

bool scan_object(struct scan *scan) {
	return open_bracket(scan, '{', "an object");
}

bool scan_member(struct scan *scan, struct scan_text *key) {
	if (scan->failed || !next_in(scan, '}') || !scan_text(scan, key))
		return false;
	if (scan_peek(scan) != ':')
		return scan_unexpected(scan, "':'");
	scan->at++;
	return true;
}

bool scan_array(struct scan *scan) {
	return open_bracket(scan, '[', "a list");
}

bool scan_item(struct scan *scan) {
	return !scan->failed && next_in(scan, ']');
}

bool scan_end(struct scan *scan) {
	if (scan->failed)
		return false;
	scan_peek(scan);
	return scan->at == scan->end || scan_unexpected(scan, "the end");
}

/* Decimal to double, correctly rounded. A number of up to 19 digits is w * 10^e with w in 64 bits. If both w and
 * 10^|e| are doubles, one operation rounds once (Clinger: How to Read Floating Point Numbers Accurately, PLDI 1990,
 * section 3). If 5^-e fits 64 bits, the quotient of whole numbers has all bits that decide, and the remainder breaks
 * the tie. strtod reads all other numbers. */

__extension__ typedef unsigned __int128 wide;

enum { NUMBER_MAX = 1000 };

struct decimal {
	uint64_t digits;
	int count, exponent; /* significant digits, and the power of ten */
	bool negative;
};

static const double power10[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Sets the high bit of each byte that is not a digit, and perhaps of bytes behind the first of these. */
static uint64_t not_digits(uint64_t word) {
	word ^= SCAN_BYTES('0');
	return ((word + SCAN_BYTES(0x80 - 10)) | word) & SCAN_BYTES(0x80);
}

/* Combines pairs of digits, then pairs of pairs (Lemire: Number Parsing at a Gigabyte per Second, Software: Practice
 * and Experience 51, 2021). */
static uint32_t eight_digits(uint64_t word) {
	word = (word & SCAN_BYTES(0x0f)) * 2561 >> 8;
	word = (word & UINT64_C(0x00ff00ff00ff00ff)) * 6553601 >> 16;
	return (uint32_t)((word & UINT64_C(0x0000ffff0000ffff)) * UINT64_C(42949672960001) >> 32);
}

/* Shifts fewer than eight digits up, so that zeros come before them. */
static inline const char *pass_digits(const char *at, uint64_t *digits) {
	static const uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
	for (;; at += 8) {
		uint64_t word = scan_load(at), stops = not_digits(word);
		if (stops) {
			int count = __builtin_ctzll(stops) / 8;
			if (count)
				*digits = *digits * powers[count] + eight_digits(word << (64 - 8 * count));
			return at + count;
		}
		*digits = *digits * 100000000 + eight_digits(word);
	}
}

/* w / 5^k * 2^-k for 1 <= k <= 27 */
static double divide(uint64_t w, int k) {
	static const uint64_t power5[] = {UINT64_C(1),
	                                  UINT64_C(5),
	                                  UINT64_C(25),
	                                  UINT64_C(125),
	                                  UINT64_C(625),
	                                  UINT64_C(3125),
	                                  UINT64_C(15625),
	                                  UINT64_C(78125),
	                                  UINT64_C(390625),
	                                  UINT64_C(1953125),
	                                  UINT64_C(9765625),
	                                  UINT64_C(48828125),
	                                  UINT64_C(244140625),
	                                  UINT64_C(1220703125),
	                                  UINT64_C(6103515625),
	                                  UINT64_C(30517578125),
	                                  UINT64_C(152587890625),
	                                  UINT64_C(762939453125),
	                                  UINT64_C(3814697265625),
	                                  UINT64_C(19073486328125),
	                                  UINT64_C(95367431640625),
	                                  UINT64_C(476837158203125),
	                                  UINT64_C(2384185791015625),
	                                  UINT64_C(11920928955078125),
	                                  UINT64_C(59604644775390625),
	                                  UINT64_C(298023223876953125),
	                                  UINT64_C(1490116119384765625),
	                                  UINT64_C(7450580596923828125)};
	int up = __builtin_clzll(w);
	/* The quotient is at least 2^63 * 2^64 / 2^63: it has 64 bits or more, of which 53 count. */
	wide dividend = (wide)(w << up) << 63, quotient = dividend / power5[k];
	int exponent = -63 - up - k;
	bool rest = quotient * power5[k] != dividend;
	while (quotient >> 62) { /* the rest keeps the bit that is lost */
		int down = quotient >> 64 ? 64 - __builtin_clzll((uint64_t)(quotient >> 64)) + 2 : 2;
		rest |= (quotient & (((wide)1 << down) - 1)) != 0;
		quotient >>= down;
		exponent += down;
	}
	uint64_t q = (uint64_t)quotient;
	int drop = 64 - __builtin_clzll(q) - 53;
	uint64_t low = q & ((UINT64_C(1) << drop) - 1), half = UINT64_C(1) << (drop - 1);
	q >>= drop;
	q += low > half || (low == half && (rest || (q & 1)));
	return ldexp((double)q, exponent + drop);
}

static double decimal_value(const struct decimal *d, const char *start) {
	double value;
	if (d->count > 19)
		return strtod(start, NULL);
	if (d->digits == 0)
		value = 0;
	else if (d->digits <= UINT64_C(1) << 53 && d->exponent >= -22 && d->exponent <= 22)
		value = d->exponent < 0 ? (double)d->digits / power10[-d->exponent] : (double)d->digits * power10[d->exponent];
	else if (d->exponent < 0 && d->exponent >= -27)
		value = divide(d->digits, -d->exponent);
	else
		return strtod(start, NULL);
	return d->negative ? -value : value;
}

/* NaN, Infinity, -Infinity */
static bool scan_python(struct scan *scan, bool negative, double *out) {
	static const struct {
		const char *word;
		double value;
	} words[] = {{"NaN", NAN}, {"Infinity", INFINITY}};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t size = strlen(words[i].word);
		if (strncmp(scan->at, words[i].word, size) != 0)
			continue;
		*out = negative ? -words[i].value : words[i].value;
		scan->at += size;
		return true;
	}
	return scan_unexpected(scan, "a number");
}

/* The exponent behind an e, limited to a range that no double reaches. */
static bool scan_exponent(struct scan *scan, int *exponent) {
	bool negative = *++scan->at == '-';
	int power = 0;
	scan->at += negative || *scan->at == '+';
	if (!scan_is_digit(*scan->at))
		return scan_unexpected(scan, "a digit");
	for (; scan_is_digit(*scan->at); scan->at++)
		power = power < 100000 ? power * 10 + (*scan->at - '0') : power;
	*exponent += negative ? -power : power;
	return true;
}

static bool scan_fraction(struct scan *scan, struct decimal *d) {
	const char *first = ++scan->at;
	if (!scan_is_digit(*first))
		return scan_unexpected(scan, "a digit");
	scan->at = pass_digits(first, &d->digits);
	size_t count = (size_t)(scan->at - first);
	if (count > NUMBER_MAX)
		return scan_fail(scan, NULL, "a number of more than %d digits", NUMBER_MAX);
	d->exponent = -(int)count;
	d->count += (int)count;
	return true;
}

static inline bool number(struct scan *scan, double *out) {
	struct decimal d = {.negative = *scan->at == '-'};
	const char *start = scan->at, *first = start + d.negative;
	scan->at = first;
	if (!scan_is_digit(*first))
		return scan_python(scan, d.negative, out);
	scan->at = pass_digits(first, &d.digits);
	if (scan->at - first > 1 && (*first == '0' || scan->at - first > NUMBER_MAX))
		return scan_fail(scan, NULL, "a number with leading zeros, or of more than %d digits", NUMBER_MAX);
	d.count = (int)(scan->at - first);
	if (*scan->at == '.' && !scan_fraction(scan, &d))
		return false;
	if ((*scan->at | 0x20) == 'e' && !scan_exponent(scan, &d.exponent))
		return false;
	*out = decimal_value(&d, start);
	return true;
}

bool scan_number(struct scan *scan, double *out) {
	if (scan->failed)
		return false;
	scan_peek(scan);
	return number(scan, out);
}

bool scan_whole(struct scan *scan, int64_t *out) {
	uint64_t digits = 0;
	if (scan->failed)
		return false;
	bool negative = scan_peek(scan) == '-';
	const char *first = scan->at + negative, *end = pass_digits(first, &digits);
	if (end == first || end - first > 18 || (*first == '0' && end - first > 1) || *end == '.' || (*end | 0x20) == 'e')
		return false;
	*out = negative ? -(int64_t)digits : (int64_t)digits;
	scan->at = end;
	return true;
}

void scan_push(struct scan_reals *list, double real) {
	if (!isfinite(real))
		return;
	list->at = mem_room(list->at, list->count, &list->room, sizeof *list->at);
	list->at[list->count++] = real;
}

/* Reads numbers that follow directly, without calling scan_item(). */
static void run_of_numbers(struct scan *scan, struct scan_reals *list) {
	double real = 0; /* for compilers that do not see that number() sets it */
	for (struct scan look; number(scan, &real); scan->at = look.at) {
		scan_push(list, real);
		look = *scan;
		if (scan_peek(&look) != ',')
			return;
		look.at++;
		if (!scan_is_digit(scan_peek(&look)))
			return;
	}
}

bool scan_reals(struct scan *scan, struct scan_reals *list) {
	for (scan_array(scan); scan_item(scan);)
		if (scan_type(scan) == SCAN_NUMBER)
			run_of_numbers(scan, list);
		else
			scan_skip(scan);
	return !scan->failed;
}

void scan_in_order(struct scan *scan, const char *first, void (*first_read)(void *ctx), const char *later,
                   void (*later_read)(void *ctx), void *ctx) {
	const char *place = NULL;
	bool known = false;
	struct scan_text key;
	for (scan_object(scan); scan_member(scan, &key);)
		if (scan_text_is(&key, first)) {
			known = true;
			first_read(ctx);
		} else if (scan_text_is(&key, later) && known) {
			later_read(ctx);
		} else {
			place = scan_text_is(&key, later) ? scan->at : place;
			scan_skip(scan);
		}
	if (scan_end(scan) && place) {
		scan->at = place;
		later_read(ctx);
	}
}
