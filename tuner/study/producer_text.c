/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The texts of time(1), perf stat and likwid: a row for each run. Lines before a run that say NAME=VALUE, and its
 * command, tell what it was. */
#include <ctype.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/study/counted_file_impl.h"
#include "tuner/study/producer_impl.h"

enum { PENDING_MAX = 16 };

/* The names and values that lines since the last run say about the next one. */
struct pending {
	char name[PENDING_MAX][TABLE_NAME], value[PENDING_MAX][TABLE_NAME];
	size_t count;
};

/* "threads=4", "OMP_NUM_THREADS=4 ./a", "== n=1024 threads: 4 ==" */
static void pending_read(struct pending *pending, const char *line) {
	for (const char *at = line; *at && pending->count < PENDING_MAX; at++) {
		size_t name = 0, digits;
		while (isalnum((unsigned char)at[name]) || at[name] == '_')
			name++;
		const char *value = at + name + strspn(at + name, " ");
		if (!name || !isalpha((unsigned char)*at) || (*value != '=' && *value != ':')) {
			at += name ? name - 1 : 0;
			continue;
		}
		value += 1 + strspn(value + 1, " ");
		digits = strcspn(value, " ,;\t");
		if (digits && isdigit((unsigned char)*value)) {
			snprintf(pending->name[pending->count], TABLE_NAME, "%.*s", (int)name, at);
			snprintf(pending->value[pending->count++], TABLE_NAME, "%.*s", (int)digits, value);
		}
		at = value + digits - (digits > 0);
	}
}

static void pending_put(struct grid *grid, struct pending *pending) {
	for (size_t i = 0; i < pending->count; i++)
		grid_put(grid, pending->name[i], pending->value[i], -1);
	pending->count = 0;
}

/* The elapsed time in a line: "real 0m1.2s" of bash and POSIX, "0:01.20elapsed" of GNU time, and its -v; NULL if it has
 * none. */
static const char *elapsed_find(const char *line, char text[TABLE_NAME]) {
	static const char verbose[] = "Elapsed (wall clock) time (h:mm:ss or m:ss):";
	const char *gnu = strstr(line, "elapsed"), *at = line + strspn(line, " \t");
	if (strncmp(at, "real", 4) == 0 && strchr("\t ", at[4]) && at[4])
		at += 4 + strspn(at + 4, "\t ");
	else if (strncmp(at, verbose, sizeof verbose - 1) == 0)
		at += sizeof verbose;
	else if (gnu && gnu > line && isdigit((unsigned char)gnu[-1]))
		for (at = gnu; at > line && strchr("0123456789:.", at[-1]); at--)
			;
	else
		return NULL;
	snprintf(text, TABLE_NAME, "%.*s", (int)strspn(at, "0123456789:.,hms"), at);
	return isdigit((unsigned char)*text) ? text : NULL;
}

static struct csv *time_read(const char *text, size_t size) {
	struct grid *grid = grid_new();
	struct pending pending = {.count = 0};
	char *copy = mem_printf("%.*s", (int)size, text), *rest = copy, elapsed[TABLE_NAME];
	size_t number = 0;
	for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
		number++;
		if (elapsed_find(line, elapsed)) {
			grid_row(grid, number);
			pending_put(grid, &pending);
			grid_put(grid, "real", elapsed, -1);
			grid_put(grid, "user", "", -1);
			grid_put(grid, "sys", "", -1);
		} else
			pending_read(&pending, line);
	}
	free(copy);
	return grid_end(grid, NULL);
}

/* One run: its counters become columns, and the time that it took is among them. */
static void counted_put(struct grid *grid, const char *text, size_t line) {
	static const char *const times[] = {"time_elapsed", "duration_time"};
	json_t *list = counted_text_read(text, "", NULL), *one;
	char cell[48];
	size_t i, t;
	const char *quote = strchr(text, '\''), *time = strstr(text, "TABLE,") ? "likwid time" : "perf stat time";
	if (json_array_size(list)) {
		grid_row(grid, line);
		grid_put(grid, time, "", -1);
		if (quote && strcspn(quote + 1, "'\n") < TABLE_NAME) {
			mem_auto char *command = mem_printf("%.*s", (int)strcspn(quote + 1, "'\n"), quote + 1);
			grid_put(grid, "perf stat run", command, -1);
		}
	}
	json_array_foreach(list, i, one) {
		const char *name = js_string_or(one, "name", "");
		snprintf(cell, sizeof cell, "%.17g", js_real_or(one, "value", 0));
		for (t = 0; t < sizeof times / sizeof *times && strcmp(name, times[t]) != 0; t++)
			;
		grid_put(grid, t < sizeof times / sizeof *times ? time : name, cell, -1);
	}
	json_decref(list);
}

/* A file of perf may have several runs, each with this heading. */
static struct csv *counted_read(const char *text, size_t size) {
	static const char heading[] = "Performance counter stats for";
	struct grid *grid = grid_new();
	char *copy = mem_printf("%.*s\n", (int)size, text), *at = strstr(copy, heading);
	if (!at)
		counted_put(grid, copy, 1);
	while (at) {
		char *next = strstr(at + 1, heading), *end = next ? next : at + strlen(at);
		while (next && end > at && end[-1] != '\n')
			end--;
		mem_auto char *block = mem_printf("%.*s", (int)(end - at), at);
		counted_put(grid, block, 1);
		at = next;
	}
	free(copy);
	return grid_end(grid, NULL);
}

/* Text of perf or likwid; perf's CSV has no header, and begins with a value. */
static bool is_counted(const char *text, size_t size) {
	if (memmem(text, size, "Performance counter stats for", 29) || memmem(text, size, "\"counter-value\"", 15) ||
	    (size > 6 && strncmp(text, "TABLE,", 6) == 0) || memmem(text, size, "\nTABLE,Group", 12))
		return true;
	while (*text == '#' || *text == '\n' || *text == '\r')
		text += *text == '#' ? strcspn(text, "\n") : 1;
	return isdigit((unsigned char)*text) || *text == '<';
}

static bool is_time(const char *text, size_t size) {
	return memmem(text, size, "Elapsed (wall clock) time", 25) || memmem(text, size, "%CPU (", 6) ||
	       ((strncmp(text, "real\t", 5) == 0 || strncmp(text, "real ", 5) == 0 || memmem(text, size, "\nreal\t", 6) ||
	         memmem(text, size, "\nreal ", 6)) &&
	        (memmem(text, size, "\nuser\t", 6) || memmem(text, size, "\nuser ", 6)));
}

struct csv *producer_text(const char *text, size_t size) {
	enum { SIZE_MOST = 16 << 20 };
	if (size > SIZE_MOST || memchr(text, '\0', size))
		return NULL;
	struct csv *counted = is_counted(text, size) ? counted_read(text, size) : NULL;
	return !counted && is_time(text, size) ? time_read(text, size) : counted;
}
