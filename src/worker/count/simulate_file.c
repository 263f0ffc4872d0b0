/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "src/worker/count/simulate_file.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/worker/kernel/word.h"

enum { COLUMNS_MAX = 32, THREAD_MAX = 1 << 20, PROCESS_MAX = 1 << 22, LINE_MAX_BYTES = 1024 };

struct reader {
	struct simulate_part *part;
	int columns[COLUMNS_MAX], count; /* our event in each column, -1: another event; count 0: not read yet */
	bool summed, bad;
};

/* A whole number in digits alone. */
static bool number_read(const char *text, double max, double *out) {
	enum { DIGITS_MAX = 19 };
	size_t digits = strspn(text, "0123456789");
	*out = strtod(text, NULL);
	return digits > 0 && digits <= DIGITS_MAX && text[digits] == '\0' && *out <= max;
}

static void thread_line(struct reader *reader, char *text) {
	double thread;
	reader->bad |= reader->part->thread != 0 || !number_read(text, THREAD_MAX, &thread) || thread < 1;
	reader->part->thread = reader->bad ? 0 : (int)thread;
}

static void pid_line(struct reader *reader, char *text) {
	double process;
	reader->bad |= reader->part->process != 0 || !number_read(text, PROCESS_MAX, &process) || process < 1;
	reader->part->process = reader->bad ? 0 : (int)process;
}

/* "0 - 128729" */
static void range_line(struct reader *reader, char *text) {
	char *end = strchr(text, ' ');
	if (end) {
		*end = '\0';
	}
	reader->bad |= !number_read(text, 9e18, &reader->part->begin);
}

static void events_line(struct reader *reader, char *text) {
	bool seen[CACHEGRIND_EVENTS] = {false};
	char *rest;
	reader->bad |= reader->count > 0;
	for (char *word = strtok_r(text, " ", &rest); word && !reader->bad; word = strtok_r(NULL, " ", &rest)) {
		int event = cachegrind_column_find(word);
		reader->bad = reader->count == COLUMNS_MAX || (event >= 0 && seen[event]);
		if (!reader->bad) {
			reader->columns[reader->count++] = event;
		}
		if (event >= 0) {
			seen[event] = true;
		}
	}
	for (int i = 0; i < CACHEGRIND_EVENTS; i++) {
		reader->bad |= !seen[i];
	}
}

/* callgrind leaves out zeros at the end of a line. */
static void totals_line(struct reader *reader, char *text) {
	char *rest;
	int i = 0;
	reader->bad |= reader->summed || reader->count == 0;
	for (char *word = strtok_r(text, " ", &rest); word && !reader->bad; word = strtok_r(NULL, " ", &rest)) {
		double value;
		reader->bad = i == reader->count || !number_read(word, 9e18, &value);
		if (!reader->bad && reader->columns[i] >= 0) {
			reader->part->values[reader->columns[i]] = value;
		}
		i++;
	}
	reader->bad |= i == 0;
	reader->summed = true;
}

static void trigger_line(struct reader *reader, char *text) {
	snprintf(reader->part->trigger, sizeof reader->part->trigger, "%s", text);
	word_clean(reader->part->trigger, sizeof reader->part->trigger);
}

static void cache_line(struct reader *reader, int cache, char *text) {
	snprintf(reader->part->caches[cache], SIMULATE_CACHE, "%s", text);
	word_clean(reader->part->caches[cache], SIMULATE_CACHE);
}

static void i1_line(struct reader *reader, char *text) {
	cache_line(reader, 0, text);
}

static void d1_line(struct reader *reader, char *text) {
	cache_line(reader, 1, text);
}

static void ll_line(struct reader *reader, char *text) {
	cache_line(reader, 2, text);
}

static const struct {
	const char *head;
	void (*read)(struct reader *reader, char *text);
} heads[] = {
	{"thread: ", thread_line},         {"events: ", events_line},     {"totals: ", totals_line},
	{"desc: Trigger: ", trigger_line}, {"desc: I1 cache: ", i1_line}, {"desc: D1 cache: ", d1_line},
	{"desc: LL cache: ", ll_line},     {"pid: ", pid_line},           {"desc: Timerange: Basic block ", range_line},
};

static void line_read(struct reader *reader, const char *line, size_t size) {
	char copy[LINE_MAX_BYTES];
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
		size_t length = strlen(heads[i].head);
		if (size < length || memcmp(line, heads[i].head, length) != 0) {
			continue;
		}
		reader->bad |= size - length >= sizeof copy || memchr(line, '\0', size);
		if (!reader->bad) {
			memcpy(copy, line + length, size - length);
			copy[size - length] = '\0';
			heads[i].read(reader, copy);
		}
	}
}

int simulate_part_read(const char *text, size_t size, struct simulate_part *part) {
	struct reader reader = {.part = part};
	*part = (struct simulate_part){.thread = 0};
	for (const char *line = text, *end = text + size; line < end && !reader.bad;) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		size_t length = (size_t)((newline ? newline : end) - line);
		line_read(&reader, line, length);
		line += length + 1;
	}
	return !reader.bad && reader.summed ? 0 : -1;
}
