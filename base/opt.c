/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/opt.h"

#include <errno.h>
#include <math.h>

#include "base/mem.h"
#include "base/text.h"

struct given {
	const struct opt *opt;
	const char *value; /* NULL for a switch */
};

struct opt_args {
	struct given *given;
	size_t given_count;
	const char **words;
	size_t word_count;
	char *const *rest; /* points into argv, up to its NULL */
	size_t rest_count;
	bool dashes;
};

/* The position in argv, and the places where results go. */
struct scan {
	char *const *argv;
	int argc, next;
	const struct opt *const *tables;
	struct opt_args *args;
	struct err *err;
};

static const struct opt *find_name(const struct opt *const *tables, const char *name, size_t length) {
	for (; *tables; tables++)
		for (const struct opt *opt = *tables; opt->name; opt++)
			if (!(opt->flags & OPT_HEADING) && strlen(opt->name) == length && memcmp(opt->name, name, length) == 0)
				return opt;
	return NULL;
}

static const struct opt *find_key(const struct opt *const *tables, char key) {
	for (; *tables; tables++)
		for (const struct opt *opt = *tables; opt->name; opt++)
			if (opt->key && opt->key == key)
				return opt;
	return NULL;
}

static size_t count_rows(const struct opt *const *tables) {
	size_t count = 0;
	for (; *tables; tables++)
		for (const struct opt *opt = *tables; opt->name; opt++)
			count++;
	return count;
}

static int fail_unknown(const struct scan *scan, const char *name) {
	mem_auto const char **known = mem_alloc(count_rows(scan->tables), sizeof(*known));
	size_t count = 0;
	for (const struct opt *const *table = scan->tables; *table; table++)
		for (const struct opt *opt = *table; opt->name; opt++)
			if (!(opt->flags & OPT_HEADING))
				known[count++] = opt->name;
	const char *near = near_word(name, known, count);
	err_set(scan->err, ERR_USAGE, "see --help", "unknown option --%s", name);
	return near ? err_hint(scan->err, "did you mean --%s?", near) : -1;
}

static int add(const struct scan *scan, const struct opt *opt, const char *value) {
	struct opt_args *args = scan->args;
	for (size_t i = 0; value && !(opt->flags & OPT_REPEAT) && i < args->given_count; i++)
		if (args->given[i].opt == opt)
			return err_set(scan->err, ERR_USAGE, "give it once", "option --%s is given more than once", opt->name);
	args->given[args->given_count++] = (struct given){opt, value};
	return 0;
}

/* Is the next argument the word in "[word]"? */
static bool is_next(const struct scan *scan, const char *brackets) {
	const char *next = scan->next < scan->argc ? scan->argv[scan->next] : "";
	size_t length = strlen(next);
	return length && strncmp(brackets + 1, next, length) == 0 && strcmp(brackets + 1 + length, "]") == 0;
}

/* value: the rest of the same argument, or NULL if the option stood alone. */
static int take(struct scan *scan, const struct opt *opt, const char *value) {
	if (!opt->meta)
		return add(scan, opt, NULL);
	if ((opt->flags & OPT_MAYBE) && !value && !is_next(scan, opt->meta))
		return add(scan, opt, "");
	if (!value && scan->next < scan->argc && strcmp(scan->argv[scan->next], "--") != 0)
		value = scan->argv[scan->next++];
	if (!value)
		return err_set(scan->err, ERR_USAGE, NULL, "option --%s needs an argument, %s", opt->name, opt->meta);
	return add(scan, opt, value);
}

static int take_long(struct scan *scan, const char *text) {
	size_t length = strcspn(text, "=");
	const char *value = text[length] ? text + length + 1 : NULL;
	const struct opt *opt = find_name(scan->tables, text, length);
	if (opt && value && !opt->meta)
		return err_set(scan->err, ERR_USAGE, NULL, "option --%s takes no argument", opt->name);
	if (opt)
		return take(scan, opt, value);
	mem_auto char *name = mem_printf("%.*s", (int)length, text);
	fail_unknown(scan, name);
	return -1;
}

/* "-a", "-ab" (switches together), "-oFILE", "-o FILE" */
static int take_short(struct scan *scan, const char *keys) {
	for (; *keys; keys++) {
		const struct opt *opt = find_key(scan->tables, *keys);
		if (!opt)
			return err_set(scan->err, ERR_USAGE, "see --help", "unknown option -%c", *keys);
		if (opt->meta)
			return take(scan, opt, keys[1] ? keys + 1 : NULL);
		add(scan, opt, NULL);
	}
	return 0;
}

static int take_argument(struct scan *scan) {
	const char *text = scan->argv[scan->next++];
	if (text[0] == '-' && text[1] == '-')
		return take_long(scan, text + 2);
	if (text[0] == '-' && text[1])
		return take_short(scan, text + 1);
	scan->args->words[scan->args->word_count++] = text;
	return 0;
}

/* An upper bound, because a cluster of switches such as -ab gives one entry for each letter. */
static size_t given_limit(int argc, char *const *argv) {
	size_t limit = 1;
	for (int i = 0; i < argc; i++)
		limit += argv[i][0] == '-' && argv[i][1] != '-' ? strlen(argv[i]) : 1;
	return limit;
}

struct opt_args *opt_parse(int argc, char *const *argv, const struct opt *const *tables, struct err *err) {
	struct opt_args *args = mem_alloc(1, sizeof(*args));
	struct scan scan = {argv, argc, argc > 0, tables, args, err};
	args->given = mem_alloc(given_limit(argc, argv), sizeof(*args->given));
	args->words = mem_alloc((size_t)argc + 1, sizeof(*args->words));
	while (scan.next < argc && !args->dashes) {
		if (strcmp(argv[scan.next], "--") == 0) {
			args->dashes = true;
			scan.next++;
		} else if (take_argument(&scan) < 0) {
			opt_free(args);
			return NULL;
		}
	}
	args->rest = argv + scan.next;
	args->rest_count = args->dashes ? (size_t)(argc - scan.next) : 0;
	return args;
}

void opt_free(struct opt_args *args) {
	if (!args)
		return;
	free(args->given);
	free(args->words);
	free(args);
}

size_t opt_count(const struct opt_args *args, const char *name) {
	size_t count = 0;
	for (size_t i = 0; i < args->given_count; i++)
		count += strcmp(args->given[i].opt->name, name) == 0;
	return count;
}

bool opt_has(const struct opt_args *args, const char *name) {
	return opt_count(args, name) > 0;
}

const char *opt_at(const struct opt_args *args, const char *name, size_t i) {
	for (size_t k = 0; k < args->given_count; k++)
		if (strcmp(args->given[k].opt->name, name) == 0 && i-- == 0)
			return args->given[k].value;
	return NULL;
}

bool opt_is_known(const char *word, const char *const *known) {
	while (*known && strcmp(*known, word) != 0)
		known++;
	return *known;
}

int opt_refuse(struct err *err, const char *word, const char *const *known, size_t count, const char *meant,
               const char *hint, const char *what, ...) {
	const char *near = near_word(word, known, count);
	va_list ap;
	va_start(ap, what);
	mem_auto char *text = mem_vprintf(what, ap);
	va_end(ap);
	err_set(err, ERR_USAGE, hint, "%s", text);
	return near ? err_hint(err, meant, near) : -1;
}

const char *opt_first(const struct opt_args *args, const char *const *names) {
	while (*names && !opt_has(args, *names))
		names++;
	return *names;
}

const char *opt_first_of(const struct opt_args *args, const struct opt *table) {
	while (table->name && !(*table->name && opt_has(args, table->name)))
		table++;
	return table->name;
}

const char *opt_other(const struct opt_args *args, const struct opt *const *tables, const char *const *names) {
	for (; *tables; tables++)
		for (const struct opt *option = *tables; option->name; option++)
			if (*option->name && opt_has(args, option->name) && !opt_is_known(option->name, names))
				return option->name;
	return NULL;
}

const char *opt_get(const struct opt_args *args, const char *name, const char *fallback) {
	size_t count = opt_count(args, name);
	return count ? opt_at(args, name, count - 1) : fallback;
}

size_t opt_words(const struct opt_args *args) {
	return args->word_count;
}

const char *opt_word(const struct opt_args *args, size_t i) {
	return i < args->word_count ? args->words[i] : NULL;
}

const char *const *opt_words_from(const struct opt_args *args, size_t first) {
	return args->words + (first < args->word_count ? first : args->word_count);
}

bool opt_dashes(const struct opt_args *args) {
	return args->dashes;
}

char *const *opt_rest(const struct opt_args *args, size_t *count) {
	if (count)
		*count = args->rest_count;
	return args->rest;
}

/* Guards strtoll and strtod, which skip blanks; strtod also accepts "inf", "nan" and hexadecimal numbers. */
static bool starts_number(const char *text) {
	text += *text == '-' || *text == '+';
	text += *text == '.';
	return *text >= '0' && *text <= '9';
}

int opt_int(const struct opt_args *args, const char *name, long long min, long long max, long long fallback,
            long long *out, struct err *err) {
	const char *text = opt_get(args, name, NULL);
	*out = fallback;
	if (!text)
		return 0;
	char *end;
	errno = 0;
	long long value = strtoll(text, &end, 10);
	if (!starts_number(text) || end == text || *end)
		return err_set(err, ERR_USAGE, NULL, "--%s takes a whole number, not '%s'", name, text);
	if (errno || value < min || value > max)
		return err_set(err, ERR_USAGE, NULL, "--%s takes a number from %lld to %lld, not %s", name, min, max, text);
	*out = value;
	return 0;
}

static double unit_seconds(const char *unit, size_t length) {
	static const struct {
		const char *name;
		double seconds;
	} units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"min", 60}, {"h", 3600}};
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strlen(units[i].name) == length && strncmp(unit, units[i].name, length) == 0)
			return units[i].seconds;
	return -1;
}

/* Reads the "1h" of "1h30m" and returns what follows; NULL if it is not a number, with a unit if it is part of a sum.
 */
static const char *part_read(const char *text, bool sum, double *value, double *unit) {
	const char *name = text + strspn(text, "0123456789."), *next = name + strcspn(name, "0123456789.");
	char *end = NULL;
	*unit = unit_seconds(name, (size_t)(next - name));
	*value = starts_number(text) && *unit > 0 && (!sum || next > name) ? strtod(text, &end) : -1;
	return end == name ? next : NULL;
}

int opt_seconds(const char *text, const char *name, double *out, struct err *err) {
	static const char hint[] = "for example 90s, 10m, 1.5h, 1h30m, 250ms";
	double seconds = 0, value, unit, before = INFINITY;
	const char *at = text;
	do {
		at = part_read(at, at > text, &value, &unit);
		if (!at || unit >= before) /* "30m1h" and "1m1m" are typing errors */
			return err_set(err, ERR_USAGE, hint, "--%s takes a duration, not '%s'", name, text);
		seconds += value * unit;
		before = unit;
	} while (*at);
	if (!(seconds <= 1e9))
		return err_set(err, ERR_USAGE, hint, "--%s takes at most a billion seconds, not '%s'", name, text);
	*out = seconds;
	return 0;
}

int opt_limit(const struct opt_args *args, const char *name, double *out, struct err *err) {
	const char *text = opt_get(args, name, NULL);
	if (text && opt_seconds(text, name, out, err))
		return -1;
	if (!text || *out > 0)
		return 0;
	return err_set(err, ERR_USAGE, "for example 90s, 10m, 1.5h, 1h30m, 250ms", "--%s must be greater than 0", name);
}

int opt_share(const struct opt_args *args, const char *name, double *out, struct err *err) {
	const char *text = opt_get(args, name, NULL);
	if (!text)
		return 0;
	size_t digits = strspn(text, "0123456789.");
	char *end = NULL;
	double value = starts_number(text) ? strtod(text, &end) : -1;
	bool percent = strcmp(text + digits, "%") == 0;
	value = percent ? value / 100 : value;
	if (end != text + digits || (text[digits] && !percent) || !(value >= 0))
		return err_set(err, ERR_USAGE, "for example 3% or 0.03", "--%s takes a percentage, not '%.60s'", name, text);
	if (value >= (percent ? 10 : 1)) {
		err_set(err, ERR_USAGE, "at most 1000%", "--%s %.60s is too large", name, text);
		return percent ? -1 : err_hint(err, "write %.60s%%", text);
	}
	*out = value;
	return 0;
}

/* The longest name that takes part in the common column. A longer one gets a line of its own, because otherwise a
 * single one would push all help texts beyond 80 columns. */
enum { WIDEST = 27 };

/* Iterates over the rows of all tables and keeps track of the group of each. */
struct walk {
	const struct opt *const *table;
	const struct opt *next;
	const char *group;
};

static struct walk walk_begin(const struct opt *const *tables) {
	return (struct walk){tables, *tables, "Options"};
}

/* Returns the next option, or NULL at the end. Headings only change the group. */
static const struct opt *walk_next(struct walk *walk) {
	while (walk->next) {
		const struct opt *opt = walk->next;
		if (!opt->name) {
			walk->next = *++walk->table;
			continue;
		}
		walk->next++;
		if (!(opt->flags & OPT_HEADING))
			return opt;
		walk->group = opt->help;
	}
	return NULL;
}

/* Writes "  -o, --output FILE" and returns its width. Without a stream it only measures. */
static int write_left(const struct opt *opt, FILE *out) {
	char key[8] = "    ";
	if (opt->key)
		snprintf(key, sizeof(key), "-%c, ", opt->key);
	if (out)
		fprintf(out, "  %s--%s%s%s", key, opt->name, opt->meta ? " " : "", opt->meta ? opt->meta : "");
	return (int)(8 + strlen(opt->name) + (opt->meta ? 1 + strlen(opt->meta) : 0));
}

static void write_row(const struct opt *opt, int column, FILE *out) {
	int width = write_left(opt, out);
	if (width > column)
		fprintf(out, "\n%*s", column, "");
	fprintf(out, "%*s  %s\n", width < column ? column - width : 0, "", opt->help);
}

static int column_of(const struct opt *const *tables) {
	int column = 0;
	struct walk walk = walk_begin(tables);
	for (const struct opt *opt = walk_next(&walk); opt; opt = walk_next(&walk)) {
		int width = write_left(opt, NULL);
		if (width > column && width <= WIDEST)
			column = width;
	}
	return column;
}

/* Tells whether an earlier row had the same group as the last row of `walk`, so that the group was printed with that
 * one. */
static bool is_shown(const struct opt *const *tables, const struct walk *walk, const struct opt *row) {
	struct walk earlier = walk_begin(tables);
	for (const struct opt *opt = walk_next(&earlier); opt != row; opt = walk_next(&earlier))
		if (strcmp(earlier.group, walk->group) == 0)
			return true;
	return false;
}

static void write_group(const struct opt *const *tables, const char *group, int column, FILE *out) {
	struct walk walk = walk_begin(tables);
	fprintf(out, "\n%s:\n", group);
	for (const struct opt *opt = walk_next(&walk); opt; opt = walk_next(&walk))
		if (strcmp(walk.group, group) == 0)
			write_row(opt, column, out);
}

void opt_help(const struct opt *const *tables, FILE *out) {
	int column = column_of(tables);
	struct walk walk = walk_begin(tables);
	for (const struct opt *opt = walk_next(&walk); opt; opt = walk_next(&walk))
		if (!is_shown(tables, &walk, opt))
			write_group(tables, walk.group, column, out);
}
