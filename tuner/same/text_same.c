/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/text.h"
#include "tuner/same/text_same_impl.h"

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

/* The bytes up to the end of the unit behind a number, which may depend on its size ("999 ms", "1.2 s"); 0: none. */
static size_t unit_length(const char *at, const char *end) {
	const char *word = at;
	while (word < end && (*word == ' ' || *word == '\t'))
		word++;
	size_t length = word_length(word, end, false);
	bool rate = length && end - word >= (ptrdiff_t)length + 2 && memcmp(word + length, "/s", 2) == 0;
	return rate || (length && is_listed(units, word, length)) ? (size_t)(word - at) + length : 0;
}

static bool has_unit(const char *at, const char *end) {
	at += strspn(at, " \t");
	const char *blank = at;
	while (blank < end && !isspace((unsigned char)*blank))
		blank++;
	return (at < end && *at == '%') || unit_length(at, end) ||
	       (blank > at && memmem(at, (size_t)(blank - at), "/s", 2));
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

static bool is_digit_at(const char *at, const char *end, int offset) {
	return end - at > offset && isdigit((unsigned char)at[offset]);
}

/* The bytes of "00:07", "1:02:03" or "2-01:02:03", whose form follows from how long something took; 0: it is none. */
static size_t span_length(const char *at, const char *end) {
	const char *stop = at + strspn(at, "0123456789");
	if (stop > at && stop < end && *stop == '-' && is_digit_at(stop, end, 1))
		stop += 1 + strspn(stop + 1, "0123456789");
	const char *begin = stop;
	while (stop < end && *stop == ':' && is_digit_at(stop, end, 1) && is_digit_at(stop, end, 2))
		stop += 3;
	return stop > begin && !is_digit_at(stop, end, 0) ? (size_t)(stop - at) : 0;
}

/* A value of the setting that is a word. */
static bool is_own(const json_t *config, const char *word, size_t length) {
	js_members (name, value, config) {
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

/* Seconds since 1970, or thousandths and so on, of about today: two runs within a second have the same. */
static bool is_now(const char *at, size_t length) {
	static const double WEEK = 7 * 86400;
	enum { SECONDS = 10 /* digits, until 2286 */, NANOSECONDS = 19 };
	if (length < SECONDS || length > NANOSECONDS || (length - SECONDS) % 3 || strspn(at, "0123456789") < length)
		return false;
	return fabs(strtod(at, NULL) / pow(10, (double)(length - SECONDS)) - sys_wall()) < WEEK;
}

static void put(struct reading *r, char c) {
	bool repeats = r->used && r->line.words[r->used - 1] == c && !is_letter(c) && c != '#' && c != '@';
	if (!repeats)
		r->line.words[r->used++] = c;
}

static const char *number_read(struct reading *r, const char *at) {
	size_t span = span_length(at, r->end), length = span ? span : number_length(at, r->end);
	const char *stop = at + length;
	bool sign = at > r->start && at[-1] == '-' && (at - r->start == 1 || strchr(" \t(=,:[", at[-2]));
	bool masked = span || r->joined || is_labelled(r->label, at) || has_unit(stop, r->end) ||
	              is_clock(r->start, at, stop, r->end) || is_now(at, length) || (length > 2 && at[1] == 'x');
	r->line.quiet = r->line.quiet || (stop < r->end && *stop == '%');
	mem_auto char *text = mem_printf("%s%.*s", sign ? "-" : "", (int)length, at);
	json_array_append_new(r->line.numbers, masked ? json_null() : json_string(text));
	put(r, '#');
	r->label = stop;
	size_t unit = unit_length(stop, r->end);
	for (const char *word = stop; word < stop + unit; word++)
		r->line.quiet = r->line.quiet || is_listed(quiet_words, word, (size_t)(stop + unit - word));
	if (unit)
		put(r, '@');
	r->joined = stop < r->end && is_letter(*stop) && (!unit || is_digit_at(stop, r->end, (int)unit));
	return stop + unit;
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

static int digits_of(const char *text) {
	int count = 0;
	for (text += strspn(text, "-0."); *text && *text != 'e' && *text != 'E'; text++)
		count += isdigit((unsigned char)*text) != 0;
	return count;
}

/* Sums in another order differ in their last digits, what stops at a tolerance by a part in ten thousand, and what is
 * nearly 0 is only noise. */
static bool is_rounding(const char *base, const char *best) {
	double a = strtod(base, NULL), b = strtod(best, NULL), most = fmax(fabs(a), fabs(b));
	bool real = strpbrk(base, ".eE") && strpbrk(best, ".eE");
	double close = digits_of(base) >= 5 ? 1.5e-4 : 1e-6;
	return a == b || (real && (most < 1e-9 || fabs(a - b) <= close * most));
}

/* The number of a value, also of one that is written as a word. */
static double value_of(const json_t *value) {
	const char *text = json_string_value(value);
	char *end = NULL;
	double number = json_is_number(value) ? json_number_value(value) : text ? strtod(text, &end) : NAN;
	return text && (end == text || *end) ? NAN : number;
}

/* Are the numbers equal, but for rounding, or each a value of its own setting? */
static bool same_numbers(const char *base, const char *best, const json_t *base_config, const json_t *best_config) {
	if (is_rounding(base, best))
		return true;
	js_members (name, value, best_config) {
		double own = value_of(value), theirs = value_of(json_object_get(base_config, name));
		if (strtod(best, NULL) == own && (isnan(theirs) || strtod(base, NULL) == theirs))
			return true;
	}
	return false;
}

bool same_counts(size_t base, size_t best, const json_t *base_config, const json_t *best_config) {
	js_members (name, value, best_config) {
		double own = value_of(value), theirs = value_of(json_object_get(base_config, name));
		if (own > 0 && (isnan(theirs) ? (double)best == own : (double)base * own == (double)best * theirs))
			return true;
	}
	return base == best;
}

enum { SHOWN = 60 /* characters of a line */ };

/* A number that is minimised is meant to differ. */
static void numbers_hide(struct same_line *line) {
	for (size_t i = 0; i < json_array_size(line->numbers); i++)
		json_array_set_new(line->numbers, i, json_null());
}

static bool is_metric(const regex_t *metric, const char *text, size_t length) {
	regmatch_t range = {.rm_so = 0, .rm_eo = (regoff_t)length};
	return metric && regex_range(metric, text, 1, &range, 0) == 0;
}

static void line_add(json_t *all, const char *text, size_t length, const json_t *config, const regex_t *metric) {
	struct same_line line = same_line_read(text, length, config);
	if (is_metric(metric, text, length))
		numbers_hide(&line);
	mem_auto char *shown = mem_printf("%.*s", (int)(length < SHOWN ? length : SHOWN), text);
	json_t *group = json_object_get(all, line.words);
	if (!group && *line.words) {
		group = json_pack("{s:[],s:b,s:b}", "lines", "quiet", line.quiet, "error", line.error);
		json_object_set_new(all, line.words, group);
	}
	if (group)
		json_array_append_new(json_object_get(group, "lines"),
		                      json_pack("{s:O,s:o}", "numbers", line.numbers, "line", js_text(shown)));
	same_line_clear(&line);
}

static bool metric_compile(regex_t *pattern, const char *metric) {
	return metric && regcomp(pattern, metric, REG_EXTENDED | REG_NEWLINE) == 0;
}

char *same_rest(const char *text, const char *metric) {
	regex_t pattern;
	char *rest = mem_strdup(text), *out = rest;
	bool known = metric_compile(&pattern, metric);
	while (*text) {
		size_t length = strcspn(text, "\n"), whole = length + (text[length] == '\n');
		if (!is_metric(known ? &pattern : NULL, text, length))
			out = (char *)memcpy(out, text, whole) + whole;
		text += whole;
	}
	*out = '\0';
	if (known)
		regfree(&pattern);
	return rest;
}

json_t *same_lines(const char *text, const json_t *config, const char *metric) {
	json_t *all = json_object();
	regex_t pattern;
	bool known = metric_compile(&pattern, metric);
	while (*text) {
		size_t length = strcspn(text, "\n");
		line_add(all, text, length, config, known ? &pattern : NULL);
		text += length + (text[length] == '\n');
	}
	if (known)
		regfree(&pattern);
	return all;
}

static json_t *lines_of(const json_t *all, const char *words) {
	return json_object_get(json_object_get(all, words), "lines");
}

static const char *line_at(const json_t *lines, size_t i) {
	return js_string_or(json_array_get(lines, i), "line", "");
}

/* How often the line comes in each of the baseline's texts; -1: not equally often. */
static long common_count(const json_t *bases, const char *words) {
	size_t count = json_array_size(lines_of(json_array_get(bases, 0), words));
	js_each (base, bases)
		if (json_array_size(lines_of(base, words)) != count)
			return -1;
	return (long)count;
}

static const char *number_at(const json_t *lines, size_t line, size_t number) {
	return json_string_value(json_array_get(json_object_get(json_array_get(lines, line), "numbers"), number));
}

/* The number that all of the baseline's texts have in this place; NULL: it varies, or it is a time. */
static const char *common_number(const json_t *bases, const char *words, size_t line, size_t number) {
	const char *first = number_at(lines_of(json_array_get(bases, 0), words), line, number);
	js_each (base, bases) {
		const char *there = number_at(lines_of(base, words), line, number);
		if (!first || !there || strcmp(first, there) != 0)
			return NULL;
	}
	return first;
}

/* Does a line have a number that all of these texts have in this place? */
static bool numbers_known(const json_t *bases) {
	js_members (words, group, json_array_get(bases, 0)) {
		bool counts = !js_bool_or(group, "quiet", false) && common_count(bases, words) > 0;
		for (size_t i = 0; counts && i < json_array_size(json_object_get(group, "lines")); i++) {
			const json_t *line = json_array_get(json_object_get(group, "lines"), i);
			for (size_t k = 0; k < json_array_size(json_object_get(line, "numbers")); k++)
				if (common_number(bases, words, i, k))
					return true;
		}
	}
	return false;
}

bool same_prints_numbers(const struct same_case *one) {
	js_auto json_t *texts = json_array();
	js_each (item, one->base) {
		const char *text = js_string_or(json_object_get(item, "output"), "text", "");
		mem_auto char *rest = same_rest(text, one->metric);
		json_array_append_new(texts, same_lines(rest, one->base_config, NULL));
	}
	return numbers_known(texts);
}

static bool is_line_same(const struct same_case *one, const json_t *bases, const json_t *best, const char *words,
                         size_t line) {
	const json_t *lines = lines_of(best, words);
	size_t count = json_array_size(json_object_get(json_array_get(lines, line), "numbers"));
	for (size_t i = 0; i < count; i++) {
		const char *base = common_number(bases, words, line, i), *there = number_at(lines, line, i);
		if (base && there && !same_numbers(base, there, one->base_config, one->best_config))
			return false;
	}
	return true;
}

static int by_text(const void *a, const void *b) {
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char **sorted(const json_t *lines, size_t count) {
	char **texts = mem_alloc(count + 1, sizeof *texts);
	for (size_t i = 0; i < count; i++)
		texts[i] = js_canonical(json_object_get(json_array_get(lines, i), "numbers"));
	qsort(texts, count, sizeof *texts, by_text);
	return texts;
}

/* Threads print in any order. */
static bool is_permuted(const json_t *bases, const json_t *best, const char *words) {
	const json_t *base = lines_of(json_array_get(bases, 0), words), *there = lines_of(best, words);
	size_t count = json_array_size(base);
	mem_auto char **a = sorted(base, count), **b = sorted(there, count);
	bool same = true;
	for (size_t i = 0; i < count; i++) {
		same = same && strcmp(a[i], b[i]) == 0;
		free(a[i]);
		free(b[i]);
	}
	return same;
}

/* A line of this text only, to show what stands in the place of a missing one; NULL: there is none. */
static const char *new_line(const json_t *bases, const json_t *best, bool error) {
	js_members (words, group, best) {
		bool quiet = js_bool_or(group, "quiet", false), wrong = js_bool_or(group, "error", false);
		if (common_count(bases, words) == 0 && (error ? wrong : !quiet || wrong))
			return line_at(json_object_get(group, "lines"), 0);
	}
	return NULL;
}

static char *missing_text(const json_t *bases, const json_t *best, const char *line) {
	const char *other = new_line(bases, best, false);
	return other ? mem_printf("\"%s\" instead of \"%s\"", other, line) : mem_printf("no \"%s\"", line);
}

/* Looks at a line that the baseline always prints equally often. */
static char *group_text(const struct same_case *one, const json_t *bases, const json_t *best, const char *words,
                        bool part) {
	const json_t *base = json_object_get(json_array_get(bases, 0), words), *lines = json_object_get(base, "lines");
	size_t count = json_array_size(lines), there = json_array_size(lines_of(best, words));
	if (js_bool_or(base, "quiet", false))
		return NULL;
	if (there != count) {
		bool fits = there > count || (part && there) || same_counts(count, there, one->base_config, one->best_config);
		if (fits)
			return NULL;
		return there ? mem_printf("%zu instead of %zu lines like \"%s\"", there, count, line_at(lines, 0))
		             : missing_text(bases, best, line_at(lines, 0));
	}
	for (size_t i = 0; i < count; i++)
		if (!is_line_same(one, bases, best, words, i) && !is_permuted(bases, best, words))
			return mem_printf("\"%s\" instead of \"%s\"", line_at(lines_of(best, words), i), line_at(lines, i));
	return NULL;
}

char *same_text(const struct same_case *one, const json_t *bases, const json_t *best, bool part) {
	const char *line;
	bool varies = false;
	js_members (words, group, json_array_get(bases, 0)) {
		char *text = common_count(bases, words) > 0 ? group_text(one, bases, best, words, part) : NULL;
		if (text)
			return text;
	}
	js_each (base, bases)
		js_members (words, group, base)
			varies = varies || common_count(bases, words) < 0;
	line = new_line(bases, best, varies || part);
	return line ? mem_printf("also \"%s\"", line) : NULL;
}
