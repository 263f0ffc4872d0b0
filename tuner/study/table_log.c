/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A log says what holds for the times below: "Size: 100", "=== 2 threads ===", and has lines with a time each. */
#include <ctype.h>

#include "tuner/study/table_said_impl.h"

enum { CONTEXT_MOST = 12, LOG_LEAST = 4, LOG_SHARE = 4 };

struct log {
	const struct saying *saying;
	struct grid *grid;
	const char *name[CONTEXT_MOST], *value[CONTEXT_MOST], *section;
	size_t count, listed, left; /* listed: lines with several times of one label; left: lines that are left out */
	bool bare;                  /* fractions without unit or name are what was measured */
	bool single;                /* means are left out, because the times stand beside them */
};

static const char ratio_words[] = "speedup speed-up acceleration efficiency faster slower factor throughput";

static bool has_word(const struct said *said, const char *words) {
	size_t i = 0;
	while (i < said->count && !table_has_word(said->token[i].text, words) && !table_has_word(said->token[i].key, words))
		i++;
	return i < said->count;
}

/* A number with the unit or the name of a time, or a fraction behind named numbers. */
static bool is_measure(const struct log *log, const struct said *said, size_t at) {
	const struct token *token = &said->token[at];
	const char *unit = said_unit(said, at);
	struct table_name name;
	double seconds;
	table_name_read(*unit ? unit : token->key, &name);
	bool told = table_has_word(token->key, "time") || table_time_rank(&name) >= 0;
	bool alone = said->count == 1 && log->count > 0, last = at && at + 1 == said->count && strchr(token->text, '.');
	if (log->bare)
		return token->number && (alone || last) && !*token->key && !*unit;
	return token->number &&
	       (table_clock(token->text, &seconds) || name.measure == MEASURE_TIME || (!*unit && *token->key && told));
}

static void context_set(struct log *log, const char *name, const char *value) {
	size_t i = 0;
	while (i < log->count && strcmp(log->name[i], name) != 0)
		i++;
	if (i == CONTEXT_MOST)
		return;
	log->name[i] = name;
	log->value[i] = value;
	log->count += i == log->count;
}

/* Is a word the name or the unit of a number beside it? */
static bool is_of_number(const struct log *log, const struct said *said, size_t at) {
	bool ahead = at + 1 < said->count && said->token[at + 1].number;
	const char *name = ahead ? said_name(log->saying->arena, said, at + 1) : NULL;
	return (at && said->token[at - 1].number) || (name && strcmp(name, said->token[at].text) == 0);
}

/* The words before a time, or of a heading, that are not the names of numbers. */
static const char *label_of(const struct log *log, const struct said *said, size_t measure) {
	static const char vain[] = "avg average mean took takes in";
	char *label = arena_strdup(log->saying->arena, ""), *last;
	for (size_t i = 0; i < said->count && i <= measure; i++) {
		bool plain = !said->token[i].number && !is_of_number(log, said, i);
		const char *key = said->token[i].key, *end = i == measure ? NULL : strrchr(key, ' ');
		const char *word = i == measure ? key
		                   : plain      ? said->token[i].text
		                   : end        ? arena_printf(log->saying->arena, "%.*s", (int)(end - key), key)
		                                : ""; /* "mutex threads = 4" */
		label = arena_printf(log->saying->arena, "%s%s%s", label, *label && *word ? " " : "", word);
	}
	while ((last = strrchr(label, ' ')) && table_among(last + 1, strlen(last + 1), vain))
		*last = '\0';
	return label;
}

/* "1 thread" is one of the threads. */
static const char *plural_of(const struct log *log, const char *name, const char *value) {
	const char *many = arena_printf(log->saying->arena, "%ss", name);
	return strcmp(value, "1") == 0 && table_is_team(many) ? many : name;
}

static void time_put(struct log *log, const struct said *said, size_t at) {
	char cell[TABLE_NAME];
	snprintf(cell, sizeof cell, "%s %s", said->token[at].text, said_unit(said, at));
	producer_number(cell, MARKS_POINT);
	grid_put(log->grid, "time", cell, -1);
}

/* Adds a row with the settings that hold for a time, and its label. False: a number beside the time has no name. */
static bool row_put(struct log *log, const struct said *said, size_t measure, size_t at) {
	grid_row(log->grid, said->line);
	for (size_t i = 0; i < log->count; i++)
		grid_put(log->grid, log->name[i], log->value[i], -1);
	if (log->section)
		grid_put(log->grid, "section", log->section, -1);
	for (size_t i = 0; i < measure; i++) {
		const char *name = said->token[i].number ? said_name(log->saying->arena, said, i) : "";
		if (!name)
			return false;
		if (*name)
			grid_put(log->grid, plural_of(log, name, said->token[i].text), said->token[i].text, -1);
	}
	grid_put(log->grid, "version", label_of(log, said, measure), -1);
	time_put(log, said, at);
	return true;
}

/* Nothing but a unit or a dash stands between a time and the one before it. */
static bool is_listed(const struct said *said, size_t at) {
	const char *word = said->kinds[at - 1] == 'w' ? said->token[at - 1].text : "";
	bool unit = at > 1 && said->kinds[at - 2] == 'n' && strcmp(said_unit(said, at - 2), word) == 0;
	return !*said->token[at].key && (unit || !isalpha((unsigned char)*word));
}

/* A row for each time of a list, but one for three that rise: "3.82 ms - 3.85 ms - 3.89 ms" has bounds. */
static bool times_put(struct log *log, const struct said *said, size_t measure) {
	size_t at[TOKENS_MOST] = {measure}, count = 1;
	for (size_t i = measure + 1; i < said->count; i++)
		if (is_measure(log, said, i) && is_listed(said, i))
			at[count++] = i;
	bool rise = count == 3 && strtod(said->token[at[0]].text, NULL) <= strtod(said->token[at[1]].text, NULL) &&
	            strtod(said->token[at[1]].text, NULL) <= strtod(said->token[at[2]].text, NULL);
	log->listed += count > 1;
	if (count == 2 || rise)
		return row_put(log, said, measure, at[rise]);
	size_t i = 0;
	while (i < count && row_put(log, said, measure, at[i]))
		i++;
	return i == count;
}

static bool log_line(struct log *log, const struct said *said) {
	size_t measure = 0, set = 0;
	while (measure < said->count && !is_measure(log, said, measure))
		measure++;
	if (has_word(said, ratio_words) || (log->single && has_word(said, "average avg mean"))) {
		log->left++;
		return true;
	}
	if (measure < said->count)
		return times_put(log, said, measure);
	for (size_t i = 0; i < said->count; i++) {
		const char *name = said->token[i].number ? said_name(log->saying->arena, said, i) : NULL;
		if (name && ++set)
			context_set(log, plural_of(log, name, said->token[i].text), said->token[i].text);
	}
	const char *words = said->heading && set ? label_of(log, said, said->count) : "";
	if (*words) /* "=== mutex, 4 threads ===" */
		context_set(log, "variant", words);
	if (said->heading && !set)
		log->section = said->section;
	log->left += !said->heading && !set;
	return true;
}

static size_t column_find(const struct csv *csv, const char *name) {
	size_t c = 0;
	while (c < csv->columns && strcmp(csv->header[c], name) != 0)
		c++;
	return c;
}

/* Do two rows agree in the column of labels, or in all but those of labels and times? */
static bool are_like(const struct csv *csv, size_t a, size_t b, bool labels) {
	bool like = true;
	for (size_t c = 0; c < csv->columns && like; c++) {
		bool label = strcmp(csv->header[c], "version") == 0, time = strcmp(csv->header[c], "time") == 0;
		like = time || label != labels || table_is_same(csv, c, a, b);
	}
	return like;
}

/* Is each label there with at least half of the settings, as in a log of measurements but not in prose? */
static bool is_filled(const struct csv *csv) {
	size_t rows[3] = {0}; /* that are the first of their settings, labels, and both */
	for (size_t r = 0; r < csv->rows; r++) {
		bool again[3] = {false};
		for (size_t k = 0; k < r; k++) {
			bool setting = are_like(csv, k, r, false), label = are_like(csv, k, r, true);
			again[0] = again[0] || setting;
			again[1] = again[1] || label;
			again[2] = again[2] || (setting && label);
		}
		for (size_t i = 0; i < 3; i++)
			rows[i] += !again[i];
	}
	return rows[2] > 1 && 2 * rows[2] >= rows[0] * rows[1];
}

static void log_write(const struct csv *csv, const char *measured, FILE *out) {
	size_t line = 1, time = column_find(csv, "time");
	for (size_t r = 0; r <= csv->rows; r++) {
		for (; r && line <= r + csv->line[0] - 2; line++)
			putc('\n', out);
		for (size_t c = 0; c < csv->columns; c++)
			if (c != time && table_varies(csv, c))
				fprintf(out, "%s\t", r ? csv_cell(csv, r - 1, c) : csv->header[c]);
		fputs(r ? csv_cell(csv, r - 1, time) : measured, out);
	}
	putc('\n', out);
}

/* The rows of a log, which log->grid becomes; NULL: it is none. */
static struct csv *log_read(struct log *log) {
	size_t i = 0;
	log->grid = grid_new();
	log->count = log->listed = log->left = 0;
	log->section = NULL;
	while (i < log->saying->count && log_line(log, &log->saying->lines[i]))
		i++;
	struct csv *csv = grid_end(log->grid, NULL);
	if (csv && i == log->saying->count && csv->rows >= LOG_LEAST && csv->line[0] > 1 &&
	    LOG_SHARE * csv->rows >= log->saying->count && is_filled(csv))
		return csv;
	csv_free(csv);
	return NULL;
}

/* Is the first line a header, or has any line marks between fields where fractions alone would be read? */
static bool is_table(const struct saying *saying, bool bare) {
	const struct said *first = NULL, *second = NULL;
	bool marked = false;
	for (size_t i = 0; i < saying->count; i++) {
		const struct said *said = &saying->lines[i];
		second = second || !first || said->heading ? second : said;
		first = first || said->heading ? first : said;
		marked = marked || (said->marks && !said->heading);
	}
	return saying->piped || !second || (first->marks && first->marks == second->marks) || (bare && marked);
}

/* The flat profile of gprof: percent, seconds up to here and own seconds stand before other numbers and the name. */
static char *gprof_plain(const char *text, size_t size, size_t *plain_size) {
	static const char mark[] = "Each sample counts as ";
	const char *at = memmem(text, size, mark, strlen(mark)), *end = text + size, *next;
	char *plain = NULL;
	FILE *out = at ? open_memstream(&plain, plain_size) : NULL;
	if (!out)
		return NULL;
	fputs("# device: cpu\nTime (%)\tTime (s)\tName\n", out);
	for (bool rows = false; at < end; at = next ? next + 1 : end) {
		double percent, until, own;
		int behind = 0;
		next = memchr(at, '\n', (size_t)(end - at));
		mem_auto char *line = mem_printf("%.*s", (int)((next ? next : end) - at), at);
		if (rows && !line[strspn(line, " \t\r")]) /* the graph of calls follows */
			break;
		if (sscanf(line, "%lf %lf %lf%n", &percent, &until, &own, &behind) != 3 || !(own > 0))
			continue;
		rows = true;
		const char *name = line + behind;
		name += strspn(name, " .0123456789");
		fprintf(out, "%.4g\t%.6g\t%.200s\n", percent, own, *name ? name : "?");
	}
	fclose(out);
	return plain;
}

char *table_log_plain(const char *text, size_t size, size_t *plain_size) {
	char *profile = gprof_plain(text, size, plain_size);
	if (profile)
		return profile;
	struct saying saying = {.arena = arena_new(), .log = true};
	struct log log = {.saying = &saying};
	char *plain = NULL;
	saying_read(&saying, text, size);
	struct csv *csv = is_table(&saying, false) ? NULL : log_read(&log);
	log.single = log.listed;
	log.bare = !csv;
	if (!is_table(&saying, log.bare) && (log.single || log.bare)) {
		csv_free(csv);
		csv = log_read(&log);
	}
	FILE *out = csv ? open_memstream(&plain, plain_size) : NULL;
	if (out) {
		log_write(csv, log.bare ? "value" : "time", out);
		if (log.left)
			fprintf(out, "# left out: %zu line%s that say nothing of a time\n", log.left, log.left == 1 ? "" : "s");
		fclose(out);
	}
	csv_free(csv);
	free(saying.lines);
	arena_free(saying.arena);
	return plain;
}
