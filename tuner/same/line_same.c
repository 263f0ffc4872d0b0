/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/same/line_same.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/value.h"

/* Words that stand before a number which depends on how long a run takes, or on who runs it. */
static const char *const labels[] = {
	"time",    "elapsed", "took",    "duration", "wall",    "clock",      "real",      "user",   "sys",
	"seconds", "sec",     "ms",      "speed",    "rate",    "fps",        "gflops",    "mflops", "flops",
	"eta",     "date",    "speedup", "load",     "pid",     "throughput", "bandwidth", "thread", "threads",
	"worker",  "workers", "core",    "cores",    "cpu",     "cpus",       "ranks",     "rank",   "procs",
	"jobs",    "chunk",   "team",    "latency",  "runtime", "finished",   NULL};
/* Words that stand after one. */
static const char *const units[] = {"s",       "sec",        "secs",   "second", "seconds", "ms",      "msec",
                                    "us",      "usec",       "ns",     "nsec",   "min",     "mins",    "hours",
                                    "minutes", "days",       "fps",    "hz",     "khz",     "mhz",     "ghz",
                                    "threads", "thread",     "h",      "m",      "x",       "workers", "cores",
                                    "cpus",    "processors", "mflops", "gflops", "flops",   NULL};
static const char *const quiet_words[] = {
	"thread",    "threads",    "worker", "workers",  "rank",    "ranks", "cpu",  "cpus",    "core", "cores",
	"processor", "processors", "pid",    "progress", "elapsed", "eta",   "tick", "percent", NULL};
static const char *const error_words[] = {"error",   "errors",    "failed",   "failure", "fail",      "cannot",
                                          "denied",  "violation", "invalid",  "fatal",   "exception", "traceback",
                                          "aborted", "panic",     "overflow", "unable",  NULL};

static bool is_listed(const char *const *list, const char *word, size_t length) {
	for (; *list; list++)
		if (strlen(*list) == length && strncasecmp(*list, word, length) == 0)
			return true;
	return false;
}

static bool is_letter(char c) {
	return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static size_t word_length(const char *at, const char *end, bool digits) {
	size_t length = 0;
	while (at + length < end && (is_letter(at[length]) || (digits && isdigit((unsigned char)at[length]))))
		length++;
	return length;
}

/* Digits with a fraction and an exponent, or an address. */
static size_t number_length(const char *at, const char *end) {
	char *stop, text[64];
	if (end - at > 2 && at[0] == '0' && at[1] == 'x' && isxdigit((unsigned char)at[2])) {
		size_t length = 2;
		while (at + length < end && isxdigit((unsigned char)at[length]))
			length++;
		return length;
	}
	snprintf(text, sizeof text, "%.*s", (int)(end - at), at);
	text[strspn(text, "0123456789.eE+-")] = '\0';
	strtod(text, &stop);
	size_t length = stop > text ? (size_t)(stop - text) : 1;
	while (length > 1 && at[length - 1] == '.')
		length--;
	return length;
}

/* Does one of the words between the last number and this one say that it is a time or the like? */
static bool is_labelled(const char *from, const char *at) {
	while (from < at) {
		size_t length = word_length(from, at, false);
		if (length && is_listed(labels, from, length))
			return true;
		from += length ? length : 1;
	}
	return false;
}

static bool has_unit(const char *at, const char *end) {
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	if (at < end && *at == '%')
		return true;
	size_t length = word_length(at, end, false);
	const char *blank = at;
	while (blank < end && !isspace((unsigned char)*blank))
		blank++;
	return (length && is_listed(units, at, length)) || memmem(at, (size_t)(blank - at), "/s", 2);
}

/* 10:01:12, 2026-11-28 */
static bool is_clock(const char *line, const char *at, const char *stop, const char *end) {
	bool colon = (stop + 1 < end && *stop == ':' && isdigit((unsigned char)stop[1])) ||
	             (at - line >= 2 && at[-1] == ':' && isdigit((unsigned char)at[-2]));
	bool date = stop - at == 4 && stop + 2 < end && *stop == '-' && isdigit((unsigned char)stop[1]) &&
	            isdigit((unsigned char)stop[2]);
	bool later = at - line >= 5 && at[-1] == '-' && stop - at == 2 && isdigit((unsigned char)at[-2]);
	return colon || date || later;
}

/* A value of the setting that is a word. */
static bool is_own(const json_t *config, const char *word, size_t length) {
	const char *name;
	json_t *value;
	json_object_foreach((json_t *)config, name, value) {
		const char *text = json_is_string(value) ? json_string_value(value) : "";
		if (length >= 2 && strlen(text) == length && strncasecmp(text, word, length) == 0)
			return true;
	}
	return false;
}

struct reading {
	struct same_line line;
	const char *start, *end, *label;
	size_t used;
	bool joined; /* right behind a number, as in 0m0.3s */
	const json_t *config;
};

static void put(struct reading *r, char c) {
	bool repeats = r->used && r->line.words[r->used - 1] == c && !is_letter(c) && c != '#' && c != '@';
	if (!repeats)
		r->line.words[r->used++] = c;
}

static const char *number_read(struct reading *r, const char *at) {
	size_t length = number_length(at, r->end);
	const char *stop = at + length;
	bool sign = at > r->start && at[-1] == '-' && (at - r->start == 1 || strchr(" \t(=,:[", at[-2]));
	bool masked = r->joined || is_labelled(r->label, at) || has_unit(stop, r->end) ||
	              is_clock(r->start, at, stop, r->end) || (length > 2 && at[1] == 'x');
	r->line.quiet = r->line.quiet || (stop < r->end && *stop == '%');
	char *text = mem_printf("%s%.*s", sign ? "-" : "", (int)length, at);
	json_array_append_new(r->line.numbers, masked ? json_null() : json_string(text));
	free(text);
	put(r, '#');
	r->joined = stop < r->end && is_letter(*stop);
	r->label = stop;
	return stop;
}

static const char *word_read(struct reading *r, const char *at) {
	size_t length = word_length(at, r->end, !r->joined);
	r->line.quiet = r->line.quiet || is_listed(quiet_words, at, length);
	r->line.error = r->line.error || is_listed(error_words, at, length);
	if (is_own(r->config, at, length))
		put(r, '@');
	else
		for (size_t i = 0; i < length; i++)
			put(r, at[i]);
	r->joined = r->joined && at + length < r->end && isdigit((unsigned char)at[length]);
	return at + length;
}

struct same_line same_line_read(const char *text, size_t length, const json_t *config) {
	struct reading r = {.start = text, .end = text + length, .label = text, .config = config};
	r.line.words = mem_alloc(length + 2, 1);
	r.line.numbers = json_array();
	for (const char *at = text; at < r.end;) {
		if (isdigit((unsigned char)*at)) {
			at = number_read(&r, at);
		} else if (is_letter(*at)) {
			at = word_read(&r, at);
		} else {
			if (*at == ',' || *at == ';')
				r.label = at;
			put(&r, isspace((unsigned char)*at) ? ' ' : *at);
			r.joined = false;
			at++;
		}
	}
	while (r.used && r.line.words[r.used - 1] == ' ')
		r.used--;
	r.line.words[r.used] = '\0';
	return r.line;
}

void same_line_clear(struct same_line *line) {
	free(line->words);
	json_decref(line->numbers);
}

static int digits_of(const char *text) {
	int count = 0;
	for (text += strspn(text, "-0."); *text && *text != 'e' && *text != 'E'; text++)
		count += isdigit((unsigned char)*text) != 0;
	return count;
}

/* Sums in another order differ in their last digits, and what is nearly 0 is only noise. */
static bool is_rounding(const char *base, const char *best) {
	double a = strtod(base, NULL), b = strtod(best, NULL), most = fmax(fabs(a), fabs(b));
	bool real = strpbrk(base, ".eE") && strpbrk(best, ".eE");
	double close = digits_of(base) >= 5 ? fmax(1e-6, 1.5 * pow(10, 1 - digits_of(base))) : 1e-6;
	return a == b || (real && (most < 1e-9 || fabs(a - b) <= close * most));
}

/* The number of a value, also of one that is written as a word. */
static double value_of(const json_t *value) {
	const char *text = json_string_value(value);
	char *end = NULL;
	double number = json_is_number(value) ? json_number_value(value) : text ? strtod(text, &end) : NAN;
	return text && (end == text || *end) ? NAN : number;
}

bool same_numbers(const char *base, const char *best, const json_t *base_config, const json_t *best_config) {
	const char *name;
	json_t *value;
	if (is_rounding(base, best))
		return true;
	json_object_foreach((json_t *)best_config, name, value) {
		double own = value_of(value), theirs = value_of(json_object_get(base_config, name));
		if (strtod(best, NULL) == own && (isnan(theirs) || strtod(base, NULL) == theirs))
			return true;
	}
	return false;
}

bool same_counts(size_t base, size_t best, const json_t *base_config, const json_t *best_config) {
	const char *name;
	json_t *value;
	json_object_foreach((json_t *)best_config, name, value) {
		double own = value_of(value), theirs = value_of(json_object_get(base_config, name));
		if (own > 0 && (isnan(theirs) ? (double)best == own : (double)base * own == (double)best * theirs))
			return true;
	}
	return base == best;
}
