/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/opt.h"

#include "base/mem.h"
#include "base/near.h"

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
	const char **known = mem_alloc(count_rows(scan->tables), sizeof(*known));
	size_t count = 0;
	for (const struct opt *const *table = scan->tables; *table; table++)
		for (const struct opt *opt = *table; opt->name; opt++)
			if (!(opt->flags & OPT_HEADING))
				known[count++] = opt->name;
	const char *near = near_word(name, known, count);
	free(known);
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
			if (*option->name && opt_has(args, option->name) && !near_is_known(option->name, names))
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
