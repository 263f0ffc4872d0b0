/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/same/text_same.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/same/line_same.h"

enum { SHOWN = 60 /* characters of a line */ };

/* A number that is minimised is meant to differ. */
static void numbers_hide(struct same_line *line) {
	for (size_t i = 0; i < json_array_size(line->numbers); i++)
		json_array_set_new(line->numbers, i, json_null());
}

static bool is_metric(const regex_t *metric, const char *text, size_t length) {
	regmatch_t range = {.rm_so = 0, .rm_eo = (regoff_t)length};
	return metric && regexec(metric, text, 1, &range, REG_STARTEND) == 0;
}

static void line_add(json_t *all, const char *text, size_t length, const json_t *config, const regex_t *metric) {
	struct same_line line = same_line_read(text, length, config);
	if (is_metric(metric, text, length))
		numbers_hide(&line);
	char *shown = mem_printf("%.*s", (int)(length < SHOWN ? length : SHOWN), text);
	json_t *group = json_object_get(all, line.words);
	if (!group && *line.words) {
		group = json_pack("{s:[],s:b,s:b}", "lines", "quiet", line.quiet, "error", line.error);
		json_object_set_new(all, line.words, group);
	}
	if (group)
		json_array_append_new(json_object_get(group, "lines"),
		                      json_pack("{s:O,s:o}", "numbers", line.numbers, "line", js_text(shown)));
	free(shown);
	same_line_clear(&line);
}

json_t *same_lines(const char *text, const json_t *config, const char *metric) {
	json_t *all = json_object();
	regex_t pattern;
	bool known = metric && regcomp(&pattern, metric, REG_EXTENDED | REG_NEWLINE) == 0;
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
	size_t i, count = json_array_size(lines_of(json_array_get(bases, 0), words));
	json_t *base;
	json_array_foreach((json_t *)bases, i, base) {
		if (json_array_size(lines_of(base, words)) != count)
			return -1;
	}
	return (long)count;
}

static const char *number_at(const json_t *lines, size_t line, size_t number) {
	return json_string_value(json_array_get(json_object_get(json_array_get(lines, line), "numbers"), number));
}

/* The number that all of the baseline's texts have in this place; NULL: it varies, or it is a time. */
static const char *common_number(const json_t *bases, const char *words, size_t line, size_t number) {
	const char *first = number_at(lines_of(json_array_get(bases, 0), words), line, number);
	size_t i;
	json_t *base;
	json_array_foreach((json_t *)bases, i, base) {
		const char *there = number_at(lines_of(base, words), line, number);
		if (!first || !there || strcmp(first, there) != 0)
			return NULL;
	}
	return first;
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
	char **a = sorted(base, count), **b = sorted(there, count);
	bool same = true;
	for (size_t i = 0; i < count; i++) {
		same = same && strcmp(a[i], b[i]) == 0;
		free(a[i]);
		free(b[i]);
	}
	free(a);
	free(b);
	return same;
}

/* A line of this text only, to show what stands in the place of a missing one; NULL: there is none. */
static const char *new_line(const json_t *bases, const json_t *best, bool error) {
	const char *words;
	json_t *group;
	json_object_foreach((json_t *)best, words, group) {
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
	const char *words, *line;
	json_t *group;
	size_t i;
	bool varies = false;
	json_object_foreach(json_array_get(bases, 0), words, group) {
		char *text = common_count(bases, words) > 0 ? group_text(one, bases, best, words, part) : NULL;
		if (text)
			return text;
	}
	json_t *base;
	json_array_foreach((json_t *)bases, i, base) {
		json_object_foreach(base, words, group) varies = varies || common_count(bases, words) < 0;
	}
	line = new_line(bases, best, varies || part);
	return line ? mem_printf("also \"%s\"", line) : NULL;
}
