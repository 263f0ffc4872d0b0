/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The texts of time(1), perf stat and likwid: a row for each run. Lines before a run that say NAME=VALUE, and its
 * command, tell what it was. */
#include <ctype.h>
#include <math.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "tuner/study/study_impl.h"

enum { FIELDS_MAX = 300, NAME_SHOWN = 80, COUNTERS_MAX = 2000 /* a list is searched */ };
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
	if (length > strcspn(event, ":")) /* "cpu_core/cycles:u/": a hybrid processor counts on each kind of core */
		length = strcspn(event, ":");
	event[length] = '\0';
	return event;
}

/* A comma can only begin a fraction where it does not separate fields. */
static bool perf_number(char *field, double *value) {
	char *comma = strchr(field, ',');
	if (comma)
		*comma = '.';
	return number_read(field, value);
}

/* A count, or a time in seconds, of one event. */
static void perf_add(json_t *list, const char *event, double value, const char *unit, double percent) {
	bool time = strcmp(unit, "msec") == 0, ns = strcmp(unit, "ns") == 0 || strcmp(event, "duration_time") == 0;
	value_add(list, event,
	          time ? value / 1000
	          : ns ? value / 1e9
	               : value,
	          time || ns ? "s" : "", percent < WHOLE_PERCENT);
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
	if (*fields[0] != '<' && !perf_number(fields[0], &value))
		return false;
	if (isdigit((unsigned char)*fields[1])) /* "1,20,msec": the value's own comma */
		return false;
	if (!isalpha((unsigned char)*fields[2]))
		return false;
	const char *event = perf_event(fields[2]);
	if (*fields[0] == '<' || !*event)
		return *event != '\0';
	size_t at = count > 3 && strchr(fields[3], '%') ? 5 : count > 4 && strchr(fields[4], '%') ? 6 : 4;
	double percent = 100;
	if (count > at && !perf_number(fields[at], &percent))
		percent = 100;
	perf_add(list, event, value, fields[1], percent);
	return true;
}

/* A line of `perf stat -j`. */
static bool perf_json_line(json_t *list, const char *line) {
	js_auto json_t *json = js_parse(line, strlen(line), "", NULL);
	char value[NAME_SHOWN], event[NAME_SHOWN];
	double number;
	snprintf(value, sizeof value, "%s", js_string_or(json, "counter-value", ""));
	snprintf(event, sizeof event, "%s", js_string_or(json, "event", ""));
	const char *name = perf_event(event);
	bool fine = json && *name, counted = fine && perf_number(value, &number);
	if (counted)
		perf_add(list, name, number, js_string_or(json, "unit", ""), js_real_or(json, "pcnt-running", 100));
	return fine || !*value;
}

static double perf_written(const char *text, size_t length, bool fraction) {
	char plain[NAME_SHOWN];
	snprintf(plain, sizeof plain, "%.*s", (int)length, text);
	producer_number(plain, fraction ? MARKS_POINT : MARKS_WHOLE);
	return strtod(plain, NULL);
}

/* A line for people: "  1,234.56 msec task-clock  # 0.9 CPUs utilized  ( +- 0.1% )  (98.00%)". Lines that are not a
 * counter are comments. */
static void perf_text_line(json_t *list, const char *line) {
	line += strspn(line, " \t");
	size_t digits = strspn(line, "0123456789.,'"), blanks = strspn(line + digits, " \t");
	const char *at = line + digits + blanks, *percent = strrchr(at, '(');
	if (strncmp(at, "+-", 2) == 0) /* the mean of -r, and its deviation */
		at += 2 + strspn(at + 2, " 0123456789.,");
	char event[NAME_SHOWN];
	double share = percent ? strtod(percent + 1, NULL) : 0;
	if (!digits || !blanks || !isdigit((unsigned char)*line))
		return;
	if (strncmp(at, "seconds time elapsed", 20) == 0) {
		value_add(list, "time_elapsed", perf_written(line, digits, true), "s", false);
		return;
	}
	bool time = strncmp(at, "msec ", 5) == 0;
	at += time ? 5 + strspn(at + 5, " ") : 0;
	snprintf(event, sizeof event, "%.*s", (int)strcspn(at, " \t#"), at);
	char *name = perf_event(event);
	if (isalpha((unsigned char)*name) && strcmp(name, "seconds") != 0)
		perf_add(list, name, perf_written(line, digits, time), time ? "msec" : "", share > 0 ? share : 100);
}

/* The character behind the first value, which is a number or "<not counted>". */
static char perf_delimiter(const char *line) {
	size_t length = *line == '<' ? strcspn(line, ">") + 1 : strspn(line, "0123456789."), comma = length;
	comma += strspn(line + length, "0123456789,");
	if (line[comma] && strchr(";\t|", line[comma]))
		return line[comma];
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
	if (count > 1 && strcmp(fields[0], "Runtime (RDTSC) [s]") == 0 && number_read(fields[1], &value) &&
	    !js_named(list, "time_elapsed"))
		value_add(list, "time_elapsed", value, "s", false);
	for (size_t i = 2; likwid->raw && *fields[0] && i < count; i++)
		if (number_read(fields[i], &value))
			value_add(list, fields[0], value, "", false);
}

enum form { FORM_PERF, FORM_JSON, FORM_TEXT, FORM_LIKWID };

static enum form form_of(const char *text) {
	if (strncmp(text, "TABLE,", 6) == 0 || strstr(text, "\nTABLE,"))
		return FORM_LIKWID;
	if (strstr(text, "Performance counter stats for"))
		return FORM_TEXT;
	return text[strspn(text, " \t\r\n")] == '{' ? FORM_JSON : FORM_PERF;
}

/* False: the line is not a counter. */
static bool line_read(json_t *list, enum form form, struct likwid *likwid, char *line) {
	if (form == FORM_LIKWID)
		likwid_line(list, likwid, line);
	else if (form == FORM_TEXT)
		perf_text_line(list, line);
	else if (*line && *line != '#') {
		char delimiter = *line == ',' || *line == ';' ? *line : perf_delimiter(line);
		return form == FORM_JSON ? perf_json_line(list, line) : delimiter && perf_line(list, line, delimiter);
	}
	return true;
}

static int lines_read(json_t *list, char *text, const char *where, struct err *err) {
	enum form form = form_of(text);
	struct likwid state = {0};
	char *rest = text;
	size_t number = 0;
	if (*text && text[strlen(text) - 1] != '\n')
		return err_set(err, ERR_USAGE, "was the run stopped, or the disk full? If the file is whole, end its last line",
		               "%s ends within a line", where);
	for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
		line[strcspn(line, "\r")] = '\0';
		number++;
		if (!line_read(list, form, &state, line))
			return err_set(err, ERR_USAGE,
			               "write it with `LC_ALL=C perf stat -x\\; -o FILE`, without -I, -A and --per-*, or with "
			               "`likwid-perfctr -o FILE.csv`",
			               "%s: line %zu is not a counter of perf stat", where, number);
		if (json_array_size(list) > COUNTERS_MAX)
			return err_set(err, ERR_USAGE, NULL, "%s has more than %d counters", where, COUNTERS_MAX);
	}
	return 0;
}

json_t *counted_text_read(const char *text, const char *where, struct err *err) {
	js_auto json_t *list = json_array();
	mem_auto char *copy = mem_strdup(text);
	int failed = lines_read(list, copy, where, err);
	if (!failed && json_array_size(list) == 0)
		failed =
			err_set(err, ERR_USAGE, "were its events supported on that machine?", "%s does not have any counts", where);
	return failed ? NULL : json_incref(list);
}

enum { PENDING_MAX = 16 };

/* The names and values that lines since the last run say about the next one. */
struct pending {
	char name[PENDING_MAX][TABLE_NAME], value[PENDING_MAX][TABLE_NAME];
	size_t count;
	char run[CSV_FIELD_MAX];
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
		at = value + digits - 1;
	}
}

static void pending_put(struct grid *grid, struct pending *pending) {
	for (size_t i = 0; i < pending->count; i++)
		grid_put(grid, pending->name[i], pending->value[i], -1);
	pending->count = 0;
}

/* Lines that have the time of a run, and what column it belongs to: behind the mark, before it, or in the middle of
 * three behind it. */
static const struct spoken {
	const char *column, *mark, *also; /* the line must have `also`, too */
	enum { SPOKEN_BEHIND, SPOKEN_BEFORE, SPOKEN_MIDDLE } place;
} spoken[] = {
	{"real", "real", "", SPOKEN_BEHIND},                                         /* bash and POSIX */
	{"real", "Elapsed (wall clock) time (h:mm:ss or m:ss):", "", SPOKEN_BEHIND}, /* GNU time -v */
	{"real", "elapsed", "%CPU", SPOKEN_BEFORE},
	{"real", " total", "% cpu ", SPOKEN_BEFORE}, /* zsh */
	{"hyperfine time", "Time (mean ± σ):", "", SPOKEN_BEHIND},
	{"hyperfine time", "Time (abs ≡):", "", SPOKEN_BEHIND},
	{"criterion time", "time:   [", "", SPOKEN_MIDDLE},
};

/* The words up to the end of the time at the beginning of a text: "0m1.2s", "812.4 ms". */
static const char *time_take(const char *at, char text[TABLE_NAME]) {
	at += strspn(at, " \t");
	size_t number = strspn(at, "0123456789:.,hms"), blank = strspn(at + number, " "),
		   unit = strcspn(at + number + blank, " []\r");
	snprintf(text, TABLE_NAME, "%.*s", (int)(blank == 1 && unit < 4 ? number + blank + unit : number), at);
	return isdigit((unsigned char)*text) ? at + strlen(text) : NULL;
}

/* NULL: the line does not have a time. */
static const struct spoken *spoken_find(const char *line, char text[TABLE_NAME]) {
	for (size_t i = 0; i < sizeof spoken / sizeof *spoken; i++) {
		const char *mark = strstr(line, spoken[i].mark), *at = mark ? mark + strlen(spoken[i].mark) : NULL;
		if (!mark || !strstr(line, spoken[i].also) || (i == 0 && (mark != line + strspn(line, " \t") || *at > ' ')))
			continue;
		if (spoken[i].place == SPOKEN_BEFORE)
			for (at = mark; at > line && strchr("0123456789:.,", at[-1]); at--)
				;
		if (spoken[i].place == SPOKEN_MIDDLE)
			at = time_take(at, text);
		if (at && time_take(at, text))
			return &spoken[i];
	}
	return NULL;
}

/* The command or the name of a run: in front of its time, in a line of its own, or, if Criterion finds it long, in the
 * line above. */
static void run_name(struct pending *pending, const char *line, const char *above, const struct spoken *time) {
	static const char *const marks[] = {"Command being timed: \"", "Benchmark "};
	const char *blanks = strstr(line, "  "), *at = NULL;
	size_t length = 0;
	for (size_t i = 0; i < sizeof marks / sizeof *marks && !time; i++)
		if ((at = strstr(line, marks[i])))
			break;
	if (at && *at == 'B' && (at = strchr(at, ':')))
		length = strcspn(at += 1 + strspn(at + 1, " "), "\r");
	else if (at)
		length = strcspn(at += strlen(marks[0]), "\"\r");
	else if (time && *time->also && time->place == SPOKEN_BEFORE && blanks > line && strstr(line, "s user"))
		length = (size_t)(blanks - (at = line));
	else if (time && time->place == SPOKEN_MIDDLE)
		length = blanks > line ? (size_t)(blanks - (at = line)) : strcspn(at = above, "\r");
	if (length)
		snprintf(pending->run, sizeof pending->run, "%.*s", (int)length, at);
}

/* `go test -bench` prints "BenchmarkSort/n=1000-8   1204   812345 ns/op   512 B/op". A name ends in the number of
 * processors, unless it is 1. */
static void go_put(struct grid *grid, char *line, size_t number) {
	char *rest, *name = strtok_r(line, " \t\r", &rest), *count = name ? strtok_r(NULL, " \t\r", &rest) : NULL, *value;
	char *dash = name ? strrchr(name, '-') : NULL;
	if (!count || strncmp(name, "Benchmark", 9) != 0 || !name[9] || !isdigit((unsigned char)*count))
		return;
	bool many = dash && dash[1] && !dash[1 + table_digits(dash + 1)];
	grid_row(grid, number);
	name[many ? (size_t)(dash - name) : strlen(name)] = '\0';
	for (char *equals = strchr(name, '='); equals; equals = strchr(equals, '='))
		*equals = ':';
	grid_put(grid, "go benchmark", name + 9, -1);
	grid_put(grid, "go threads", many ? dash + 1 : "1", -1);
	while ((value = strtok_r(NULL, " \t\r", &rest)) && (name = strtok_r(NULL, " \t\r", &rest)))
		grid_put(grid, name, value, -1);
}

static struct csv *runs_read(const char *text, size_t size, bool go) {
	struct grid *grid = grid_new();
	struct pending pending = {.count = 0};
	char *copy = mem_printf("%.*s", (int)size, text), *rest = copy, elapsed[TABLE_NAME];
	const char *above = "";
	size_t number = 0;
	for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
		const struct spoken *time = go ? NULL : spoken_find(line, elapsed);
		number++;
		if (go) {
			go_put(grid, line, number);
			continue;
		}
		run_name(&pending, line, above, time);
		above = line;
		if (!time) {
			if (*line != '\t') /* GNU time -v, after the time of the run */
				pending_read(&pending, line);
			continue;
		}
		grid_row(grid, number);
		if (*pending.run)
			grid_put(grid, time->place == SPOKEN_MIDDLE ? "benchmark" : "command", pending.run, -1);
		*pending.run = '\0';
		pending_put(grid, &pending);
		grid_put(grid, time->column, elapsed, -1);
		grid_put(grid, "user", "", -1);
		grid_put(grid, "sys", "", -1);
	}
	free(copy);
	return grid_end(grid, NULL);
}

/* One run: its counters become columns, and the time that it took is among them. */
static void counted_put(struct grid *grid, const char *text, size_t line) {
	js_auto json_t *list = counted_text_read(text, "", NULL);
	char cell[48];
	const char *quote = strchr(text, '\''), *time = strstr(text, "TABLE,") ? "likwid time" : "perf stat time";
	if (json_array_size(list)) {
		grid_row(grid, line);
		grid_put(grid, time, "", -1);
		if (quote && strcspn(quote + 1, "'\n") < TABLE_NAME) {
			mem_auto char *command = mem_printf("%.*s", (int)strcspn(quote + 1, "'\n"), quote + 1);
			grid_put(grid, "perf stat run", command, -1);
		}
	}
	js_each (one, list) {
		const char *name = js_string_or(one, "name", "");
		bool took = strcmp(name, "time_elapsed") == 0 || strcmp(name, "duration_time") == 0;
		snprintf(cell, sizeof cell, "%.17g", js_real_or(one, "value", 0));
		grid_put(grid, took ? time : name, cell, -1);
	}
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
	for (size_t i = 1; i < sizeof spoken / sizeof *spoken; i++)
		if (memmem(text, size, spoken[i].mark, strlen(spoken[i].mark)) &&
		    memmem(text, size, spoken[i].also, strlen(spoken[i].also)))
			return true;
	bool real = strncmp(text, "real", 4) == 0 || memmem(text, size, "\nreal", 5);
	return real && (memmem(text, size, "\nuser\t", 6) || memmem(text, size, "\nuser ", 6));
}

struct csv *producer_text(const char *text, size_t size) {
	enum { SIZE_MOST = 16 << 20 };
	if (size > SIZE_MOST || memchr(text, '\0', size))
		return NULL;
	bool go = memmem(text, size, " ns/op", 6) &&
	          (strncmp(text, "Benchmark", 9) == 0 || memmem(text, size, "\nBenchmark", 10));
	struct csv *known = is_counted(text, size) ? counted_read(text, size) : go ? runs_read(text, size, true) : NULL;
	return !known && is_time(text, size) ? runs_read(text, size, false) : known;
}
