/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/study/counted_file_impl.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/sys.h"

enum { FILE_MAX = 16 << 20, FIELDS_MAX = 300, NAME_SHOWN = 80, COUNTERS_MAX = 2000 /* a list is searched */ };
/* A counter that ran for a smaller part of the time was extrapolated. */
static const double WHOLE_PERCENT = 99.9;

/* Events of perf (perf-list(1)) and likwid that mean what our portable event means (data/events). */
static const struct {
	const char *theirs, *ours;
} names[] = {
	{"cpu-cycles", "cycles"},
	{"ref-cycles", "ref_cycles"},
	{"branch-instructions", "branches"},
	{"branch-misses", "branch_misses"},
	{"L1-dcache-loads", "l1d_accesses"},
	{"L1-dcache-load-misses", "l1d_misses"},
	{"LLC-loads", "llc_accesses"},
	{"LLC-load-misses", "llc_misses"},
	{"dTLB-load-misses", "dtlb_misses"},
	{"cs", "context_switches"},
	{"faults", "page_faults"},
	{"minor-faults", "minor_faults"},
	{"major-faults", "major_faults"},
	{"migrations", "cpu_migrations"},
	{"INSTR_RETIRED_ANY", "instructions"},
	{"RETIRED_INSTRUCTIONS", "instructions"},
	{"CPU_CLK_UNHALTED_CORE", "cycles"},
	{"CPU_CLK_UNHALTED_REF", "ref_cycles"},
	{"CPU_CLOCKS_UNHALTED", "cycles"},
};

/* Other names are kept in lower case, with underscores. */
static void name_make(const char *event, char *name, size_t size) {
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(event, names[i].theirs) == 0) {
			snprintf(name, size, "%s", names[i].ours);
			return;
		}
	snprintf(name, size, "%s", event);
	for (char *c = name; *c; c++)
		*c = isalnum((unsigned char)*c) ? (char)tolower((unsigned char)*c) : '_';
}

/* Splits in place; returns the number of fields. */
static size_t split(char *line, char delimiter, char *fields[FIELDS_MAX]) {
	size_t count = 0;
	for (char *at = line; at && count < FIELDS_MAX; count++) {
		char *next = strchr(at, delimiter);
		if (next)
			*next++ = '\0';
		fields[count] = at;
		at = next;
	}
	return count;
}

static bool number_read(const char *text, double *value) {
	char *end;
	if (!isdigit((unsigned char)*text))
		return false;
	*value = strtod(text, &end);
	return *end == '\0' && isfinite(*value) && *value >= 0;
}

/* Adds up the same event of several hardware threads, counters or regions. */
static void value_add(json_t *list, const char *event, double value, const char *unit, bool scaled) {
	char name[NAME_SHOWN];
	name_make(event, name, sizeof name);
	json_t *one = js_named(list, name);
	if (!one) {
		one = json_pack("{s:o,s:f,s:s,s:s}", "name", js_text(name), "value", 0.0, "unit", unit, "status", "counted");
		json_array_append_new(list, one);
	}
	json_object_set_new(one, "value", js_number(js_real_or(one, "value", 0) + value));
	if (scaled)
		json_object_set_new(one, "status", json_string("scaled"));
}

/* "cycles:u", "cpu_core/cycles/u": perf's modifiers and units are not part of the name. Without the second slash, the
 * event has the separator in it, and another event may begin in the same way: its name is then empty. */
static char *perf_event(char *field) {
	char *slash = strchr(field, '/'), *event = slash ? slash + 1 : field;
	size_t length = strcspn(event, slash ? "/" : ":");
	if (slash && !event[length])
		length = 0;
	event[length] = '\0';
	return event;
}

/* Where perf's language has decimal commas, percentages have them, too. */
static double perf_percent(char *field) {
	double percent;
	field[strcspn(field, ",")] = '\0';
	return number_read(field, &percent) ? percent : 100;
}

/* perf-stat(1), "CSV FORMAT": value, unit, event, time running, percent of the time. With -r a variance stands before
 * the time. False: the line is not of this form. */
static bool perf_line(json_t *list, char *line, char delimiter) {
	char *fields[FIELDS_MAX];
	size_t count = split(line, delimiter, fields);
	double value = 0;
	if (count < 3)
		return false;
	if (!*fields[0]) /* another metric of the event before */
		return true;
	if (*fields[0] != '<' && !number_read(fields[0], &value))
		return false;
	if (isdigit((unsigned char)*fields[1])) /* "1,20,msec": the value's own comma */
		return false;
	if (!isalpha((unsigned char)*fields[2]))
		return false;
	const char *event = perf_event(fields[2]);
	if (*fields[0] == '<' || !*event)
		return *event != '\0';
	size_t at = count > 3 && strchr(fields[3], '%') ? 5 : count > 4 && strchr(fields[4], '%') ? 6 : 4;
	double percent = count > at ? perf_percent(fields[at]) : 100;
	bool time = strcmp(fields[1], "msec") == 0;
	value_add(list, event, time ? value / 1000 : value, time ? "s" : "", percent < WHOLE_PERCENT);
	return true;
}

/* The character behind the first value, which is a number or "<not counted>". */
static char perf_delimiter(const char *line) {
	size_t length = *line == '<' ? strcspn(line, ">") + 1 : strspn(line, "0123456789.");
	return line[0] && length <= strlen(line) && line[length] && strchr(",;\t|:", line[length]) ? line[length] : '\0';
}

/* Tables of raw counts have a column for each hardware thread; those of statistics and metrics follow from them. */
struct likwid {
	bool raw;
};

static void likwid_line(json_t *list, struct likwid *likwid, char *line) {
	char *fields[FIELDS_MAX];
	double value;
	if (strncmp(line, "TABLE,", 6) == 0 || strncmp(line, "STRUCT,", 7) == 0) {
		likwid->raw = false;
		return;
	}
	size_t count = split(line, ',', fields);
	if (count >= 3 && strcmp(fields[0], "Event") == 0 && strcmp(fields[1], "Counter") == 0) {
		likwid->raw = strncmp(fields[2], "HWThread", 8) == 0 || strncmp(fields[2], "Core", 4) == 0;
		return;
	}
	for (size_t i = 2; likwid->raw && *fields[0] && i < count; i++)
		if (number_read(fields[i], &value))
			value_add(list, fields[0], value, "", false);
}

static int lines_read(json_t *list, char *text, const char *where, struct err *err) {
	if (*text && text[strlen(text) - 1] != '\n')
		return err_set(err, ERR_USAGE, "was the run stopped, or the disk full? If the file is whole, end its last line",
		               "%s ends within a line", where);
	bool likwid = strncmp(text, "TABLE,", 6) == 0 || strstr(text, "\nTABLE,");
	struct likwid state = {0};
	char *rest = NULL;
	size_t number = 0;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		line[strcspn(line, "\r")] = '\0';
		number++;
		if (likwid)
			likwid_line(list, &state, line);
		else if (*line && *line != '#') {
			char delimiter = *line == ',' || *line == ';' ? *line : perf_delimiter(line);
			if (!delimiter || !perf_line(list, line, delimiter))
				return err_set(err, ERR_USAGE,
				               "write it with `LC_ALL=C perf stat -x\\; -o FILE`, without -I, -A and --per-*, or with "
				               "`likwid-perfctr -o FILE.csv`",
				               "%s: line %zu is not a counter of perf stat", where, number);
		}
		if (json_array_size(list) > COUNTERS_MAX)
			return err_set(err, ERR_USAGE, NULL, "%s has more than %d counters", where, COUNTERS_MAX);
	}
	return 0;
}

json_t *counted_text_read(const char *text, const char *where, struct err *err) {
	json_t *list = json_array();
	char *copy = mem_strdup(text);
	int failed = lines_read(list, copy, where, err);
	if (!failed && json_array_size(list) == 0)
		failed =
			err_set(err, ERR_USAGE, "were its events supported on that machine?", "%s does not have any counts", where);
	free(copy);
	if (!failed)
		return list;
	json_decref(list);
	return NULL;
}

json_t *counted_file_read(const char *table, const char *name, struct err *err) {
	const char *slash = strrchr(table, '/');
	size_t size;
	if (*name == '/' || strstr(name, "..")) {
		err_set(err, ERR_USAGE, "put it beside the table, or in a folder there", "a table cannot name the file %.*s",
		        NAME_SHOWN, name);
		return NULL;
	}
	char *path = mem_printf("%.*s%s", slash ? (int)(slash - table + 1) : 0, table, name);
	char *text = sys_read_file(path, FILE_MAX, &size, err);
	if (!text && err->code == ERR_FAILED)
		err->code = ERR_USAGE;
	json_t *list = text ? counted_text_read(text, path, err) : NULL;
	free(text);
	free(path);
	return list;
}
