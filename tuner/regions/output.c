/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/regions/output.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tuner/regions/output_impl.h"

enum { WORD_SHOWN = 32 };
/* Numbers that differ by less are the same but for rounding; whole numbers only if a double cannot hold all of their
 * digits. */
static const double ROUNDED = 1e-6, ROUNDED_ABSOLUTE = 1e-14, WHOLE_EXACT = 1e15;

struct known {
	double low, high; /* of runs without changes */
	bool varies;      /* a text that is not the same in all of them */
};

struct regions_outputs {
	char *first; /* the first run without changes, and its words */
	struct words words;
	struct known *known; /* one a word */
	size_t plain, changed;
	bool varies;    /* runs without changes differ in more than numbers */
	bool any_order; /* of lines */
	char **waiting; /* runs with changes, in the order in which they came */
	size_t *waiting_size;
};

struct regions_outputs *regions_outputs_new(void) {
	struct regions_outputs *outputs = mem_alloc(1, sizeof *outputs);
	*outputs = (struct regions_outputs){0};
	return outputs;
}

void regions_outputs_free(struct regions_outputs *outputs) {
	if (!outputs)
		return;
	for (size_t i = 0; i < outputs->changed; i++)
		free(outputs->waiting[i]);
	free(outputs->waiting);
	free(outputs->waiting_size);
	free(outputs->words.of);
	free(outputs->known);
	free(outputs->first);
	free(outputs);
}

/* Words that both have; SIZE_MAX: they are of different kinds. */
static size_t alike(const struct words *a, const struct words *b) {
	size_t count = a->count < b->count ? a->count : b->count;
	if (a->count != b->count && !(a->is_cut && b->is_cut))
		return SIZE_MAX;
	for (size_t i = 0; i < count; i++)
		if (a->of[i].is_number != b->of[i].is_number)
			return SIZE_MAX;
	return count;
}

static bool is_same_text(const struct word *a, const struct word *b) {
	return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

static double distance(double a, double b) {
	double larger = fmax(fabs(a), fabs(b));
	return a == b || fabs(a - b) <= ROUNDED_ABSOLUTE ? 0 : fabs(a - b) / larger;
}

static bool is_rounded(const struct word *word, double by) {
	return by <= ROUNDED && (!word->is_whole || fabs(word->value) > WHOLE_EXACT);
}

static char *text_copy(const char *text, size_t size) {
	char *copy = mem_alloc(size + 2, 1); /* another end of line may be added */
	memcpy(copy, text, size);
	return copy;
}

static void first_keep(struct regions_outputs *outputs, const char *text, size_t size) {
	outputs->first = text_copy(text, size);
	outputs->words = regions_words_read(outputs->first, size);
	outputs->known = mem_alloc(outputs->words.count + 1, sizeof *outputs->known);
	for (size_t i = 0; i < outputs->words.count; i++)
		outputs->known[i] = (struct known){outputs->words.of[i].value, outputs->words.of[i].value, false};
}

static void plain_join(struct regions_outputs *outputs, const char *text, size_t size) {
	char *copy = text_copy(text, size), *aligned = text_copy(text, size);
	size_t aligned_size = size;
	bool same = regions_lines_align(&outputs->words, aligned, &aligned_size);
	outputs->any_order = outputs->any_order || same;
	struct words words =
		outputs->any_order ? regions_words_read(aligned, aligned_size) : regions_words_read(copy, size);
	size_t count = alike(&outputs->words, &words);
	outputs->varies = outputs->varies || count == SIZE_MAX;
	if (count < outputs->words.count)
		outputs->words.count = count;
	for (size_t i = 0; !outputs->varies && i < count; i++) {
		struct known *known = &outputs->known[i];
		known->low = fmin(known->low, words.of[i].value);
		known->high = fmax(known->high, words.of[i].value);
		known->varies = known->varies || (!words.of[i].is_number && !is_same_text(&words.of[i], &outputs->words.of[i]));
	}
	free(words.of);
	free(aligned);
	free(copy);
}

void regions_outputs_any_order(struct regions_outputs *outputs) {
	outputs->any_order = true;
}

void regions_outputs_add(struct regions_outputs *outputs, const char *text, size_t size, bool changed) {
	if (changed) {
		outputs->waiting = mem_grow(outputs->waiting, outputs->changed + 1, sizeof *outputs->waiting);
		outputs->waiting_size = mem_grow(outputs->waiting_size, outputs->changed + 1, sizeof *outputs->waiting_size);
		outputs->waiting[outputs->changed] = text_copy(text, size);
		outputs->waiting_size[outputs->changed++] = size;
	} else if (outputs->plain++ == 0) {
		first_keep(outputs, text, size);
	} else {
		plain_join(outputs, text, size);
	}
}

static void word_show(const struct word *word, char *text, size_t size) {
	size_t length = word->length < WORD_SHOWN ? word->length : WORD_SHOWN;
	snprintf(text, size, "%.*s", (int)length, word->text);
	for (char *c = text; *c; c++)
		if (!isprint((unsigned char)*c))
			*c = '?';
}

static void differs(struct regions_output *output, const struct word *now, const struct word *before) {
	char a[WORD_SHOWN + 1], b[WORD_SHOWN + 1];
	if (output->status == REGIONS_OUTPUT_DIFFERS)
		return;
	output->status = REGIONS_OUTPUT_DIFFERS;
	word_show(now, a, sizeof a);
	word_show(before, b, sizeof b);
	snprintf(output->example, sizeof output->example, "%s instead of %s", a, b);
}

/* A number counts if runs without changes agree about it, but for rounding. A time with two digits may agree by
 * accident.
 */
static bool is_known(const struct regions_outputs *outputs, size_t i) {
	const struct known *known = &outputs->known[i];
	double by = distance(known->low, known->high);
	if (!outputs->words.of[i].is_number)
		return !known->varies;
	return (by == 0 || is_rounded(&outputs->words.of[i], by)) && !regions_words_timing(&outputs->words, i);
}

static void changed_judge(const struct regions_outputs *outputs, size_t number, struct regions_output *output) {
	if (outputs->any_order)
		regions_lines_align(&outputs->words, outputs->waiting[number], &outputs->waiting_size[number]);
	struct words words = regions_words_read(outputs->waiting[number], outputs->waiting_size[number]);
	size_t count = alike(&outputs->words, &words);
	if (count == SIZE_MAX) {
		output->status = REGIONS_OUTPUT_DIFFERS;
		snprintf(output->example, sizeof output->example, "%zu words and numbers instead of %zu", words.count,
		         outputs->words.count);
	}
	for (size_t i = 0; output->status != REGIONS_OUTPUT_DIFFERS && i < count; i++) {
		const struct word *now = &words.of[i], *before = &outputs->words.of[i];
		if (!is_known(outputs, i))
			continue;
		double by = now->is_number ? distance(now->value, before->value) : 0;
		if (now->is_number ? by > 0 && !is_rounded(before, by) : !is_same_text(now, before))
			differs(output, now, before);
		else if (by > 0)
			output->status = REGIONS_OUTPUT_ROUNDED;
		output->largest = fmax(output->largest, by);
	}
	free(words.of);
}

struct regions_output regions_outputs_judge(const struct regions_outputs *outputs) {
	struct regions_output output = {.status = REGIONS_OUTPUT_UNKNOWN};
	size_t numbers = 0;
	if (!outputs || outputs->plain < 2 || outputs->changed == 0)
		return output;
	if (outputs->varies)
		return (struct regions_output){.status = REGIONS_OUTPUT_VARIES};
	for (size_t i = 0; i < outputs->words.count; i++)
		numbers += outputs->words.of[i].is_number && is_known(outputs, i);
	output.status = numbers ? REGIONS_OUTPUT_SAME : REGIONS_OUTPUT_NONE;
	for (size_t i = 0; output.status != REGIONS_OUTPUT_DIFFERS && i < outputs->changed; i++)
		changed_judge(outputs, i, &output);
	return output;
}

bool regions_outputs_empty(const struct regions_outputs *outputs) {
	return outputs && outputs->plain && outputs->words.count == 0;
}

const char *regions_output_word(enum regions_output_status status) {
	static const char *const words[] = {"unknown", "none", "varies", "same", "rounded", "differs"};
	return words[status];
}
