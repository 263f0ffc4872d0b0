/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/value.h"
#include "worker/kernel/call.h"
#include "worker/kernel/word.h"
#include "base/text.h"

const char *const *word_split(struct arena *arena, const char *list, size_t *count) {
	char *text = arena_strdup(arena, list ? list : "");
	size_t commas = 0;
	for (const char *c = text; *c; c++)
		commas += *c == ',';
	const char **words = arena_alloc(arena, commas + 2, sizeof *words);
	*count = 0;
	for (char *save = NULL, *w = strtok_r(text, ", ", &save); w; w = strtok_r(NULL, ", ", &save))
		words[(*count)++] = w;
	return words;
}

int word_unknown(const char *word, const char *const *known, size_t count, const char *what, struct err *err) {
	const char *near = near_word(word, known, count);
	char all[400] = "";
	err_set(err, ERR_USAGE, count ? NULL : "there are none", "%s", what);
	if (near) {
		err_hint(err, "did you mean \"%s\"?", near);
	} else if (count) {
		for (size_t i = 0, used = 0; i < count && used < sizeof all; i++)
			used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", known[i]);
		err_hint(err, "there are: %s", all);
	}
	return -1;
}

int word_check_keys(const json_t *object, const char *const *known, size_t count, struct err *err) {
	js_members (key, json, object) {
		size_t i = 0;
		while (i < count && strcmp(known[i], key) != 0)
			i++;
		if (i == count) {
			char what[160];
			snprintf(what, sizeof what, "a request has no member \"%.100s\"", key);
			return word_unknown(key, known, count, what, err);
		}
	}
	return 0;
}

void word_clean(char *text, size_t size) {
	text[size - 1] = '\0';
	text_clean(text, false);
}

json_t *word_or_null(const char *text) {
	return text && text[0] ? json_string(text) : json_null();
}

json_t *word_clean_json(const char *text) {
	mem_auto char *copy = mem_strdup(text);
	word_clean(copy, strlen(copy) + 1);
	return word_or_null(copy);
}

struct lines {
	int fd;
	size_t limit;
	char *buffer;
	size_t capacity, used, taken; /* the last line took `taken` bytes at the start */
	bool end;
};

struct lines *lines_new(int fd, size_t limit) {
	struct lines *lines = mem_alloc(1, sizeof *lines);
	lines->fd = fd;
	lines->limit = limit;
	lines->capacity = 4096;
	lines->buffer = mem_alloc(lines->capacity, 1);
	return lines;
}

void lines_free(struct lines *lines) {
	if (lines) {
		free(lines->buffer);
		free(lines);
	}
}

static void lines_fill(struct lines *lines) {
	ssize_t got;
	if (lines->used == lines->capacity) {
		lines->capacity *= 2;
		lines->buffer = mem_grow(lines->buffer, lines->capacity, 1);
	}
	do {
		got = read(lines->fd, lines->buffer + lines->used, lines->capacity - lines->used);
	} while (got < 0 && errno == EINTR);
	lines->end = got <= 0;
	lines->used += got > 0 ? (size_t)got : 0;
}

static void lines_shift(struct lines *lines) {
	lines->used -= lines->taken;
	memmove(lines->buffer, lines->buffer + lines->taken, lines->used);
	lines->taken = 0;
}

enum lines_got lines_next(struct lines *lines, const char **line, size_t *size) {
	bool too_long = false;
	size_t seen = 0;
	lines_shift(lines);
	for (;;) {
		char *newline = memchr(lines->buffer + seen, '\n', lines->used - seen);
		*line = lines->buffer;
		*size = newline ? (size_t)(newline - lines->buffer) : lines->used;
		too_long = too_long || *size > lines->limit;
		if (newline || lines->end) {
			lines->taken = *size + (newline ? 1 : 0);
			break;
		}
		seen = lines->used;
		if (too_long)
			lines->used = seen = 0;
		lines_fill(lines);
	}
	if (too_long)
		return LINES_LONG;
	return lines->taken > 0 ? LINES_LINE : LINES_END;
}

enum { TEXT_MAX = 4096 }; /* bytes: as long as a file name can be */

static const char *type_text(enum ss_type type) {
	static const char *const texts[] = {
		[SS_INT] = "a whole number", [SS_REAL] = "a number", [SS_WORD] = "a word", [SS_TEXT] = "a text"};
	return texts[type];
}

static int type_error(const struct ss_param *param, struct value value, struct err *err) {
	char text[128];
	value_text(value, text, sizeof text);
	return err_set(err, ERR_USAGE, NULL, "%s takes %s, not \"%s\"", param->name, type_text(param->type), text);
}

static int bounds_check(const struct ss_param *param, double r, struct err *err) {
	if ((param->min == 0 && param->max == 0) || (r >= param->min && r <= param->max))
		return 0;
	return err_set(err, ERR_USAGE, NULL, "%s is %.17g, but it goes from %.17g to %.17g", param->name, r, param->min,
	               param->max);
}

static int word_error(struct arena *arena, const struct ss_param *param, const char *word, struct err *err) {
	size_t count;
	const char *const *words = word_split(arena, param->values, &count);
	char *what = arena_printf(arena, "%s has no value \"%.100s\"", param->name, word);
	return word_unknown(word, words, count, what, err);
}

/* Compare the text, because words may look like numbers ("4"). */
static int word_read(struct arena *arena, const struct ss_param *param, struct value value, struct ss_value *out,
                     struct err *err) {
	char number[64];
	const char *word = value.as.w;
	if (value.type != VALUE_WORD) {
		value_text(value, number, sizeof number);
		word = number;
	}
	size_t count;
	const char *const *words = word_split(arena, param->values, &count);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(words[i], word) == 0) {
			*out = (struct ss_value){.i = (int64_t)i, .r = (double)i, .w = words[i]};
			return 0;
		}
	}
	return word_error(arena, param, word, err);
}

/* A text that looks like a number stays a text. */
static int text_read(struct arena *arena, const struct ss_param *param, struct value value, struct ss_value *out,
                     struct err *err) {
	char number[64];
	const char *text = value.as.w;
	if (value.type != VALUE_WORD) {
		value_text(value, number, sizeof number);
		text = number;
	}
	size_t most = param->max > 0 ? (size_t)param->max : TEXT_MAX;
	if (strlen(text) > most)
		return err_set(err, ERR_USAGE, NULL, "%s is a text of more than %zu bytes", param->name, most);
	*out = (struct ss_value){.w = arena_strdup(arena, text)};
	return 0;
}

static int int_read(const struct ss_param *param, struct value value, struct ss_value *out, struct err *err) {
	if (value.type == VALUE_REAL && fabs(value.as.r) <= 0x1p53 && value.as.r == trunc(value.as.r))
		value = value_int((int64_t)value.as.r);
	if (value.type != VALUE_INT)
		return type_error(param, value, err);
	*out = (struct ss_value){.i = value.as.i, .r = (double)value.as.i};
	return 0;
}

static int real_read(const struct ss_param *param, struct value value, struct ss_value *out, struct err *err) {
	double r = value_number(value);
	if (value.type == VALUE_WORD)
		return type_error(param, value, err);
	if (!isfinite(r))
		return err_set(err, ERR_USAGE, NULL, "%s is not a finite number", param->name);
	*out = (struct ss_value){.r = r};
	return 0;
}

static int value_read(struct arena *arena, const struct ss_param *param, struct value value, struct ss_value *out,
                      struct err *err) {
	switch (param->type) {
	case SS_WORD:
		return word_read(arena, param, value, out, err);
	case SS_TEXT:
		return text_read(arena, param, value, out, err);
	case SS_REAL:
		return real_read(param, value, out, err);
	default:
		return int_read(param, value, out, err);
	}
}

int param_read(struct arena *arena, const struct ss_param *param, const json_t *json, struct ss_value *out,
               struct err *err) {
	struct value value;
	if (json_is_boolean(json))
		value = value_word(json_is_true(json) ? "true" : "false");
	else if (!value_from_json(json, &value))
		return err_set(err, ERR_USAGE, NULL, "%s takes %s", param->name, type_text(param->type));
	if (value_read(arena, param, value, out, err) != 0)
		return -1;
	return param->type == SS_WORD || param->type == SS_TEXT ? 0 : bounds_check(param, out->r, err);
}

int param_initial(struct arena *arena, const struct ss_param *param, struct ss_value *out, struct err *err) {
	if (!param->initial)
		return err_set(err, ERR_USAGE, NULL, "%s has no initial value and must be given", param->name);
	return value_read(arena, param, value_parse(param->initial), out, err);
}

static int name_error(const struct ss_param *const *tables, size_t count, const char *name, const char *where,
                      struct err *err) {
	struct arena *arena = arena_new();
	size_t all = 0;
	for (size_t t = 0; t < count; t++)
		for (const struct ss_param *p = tables[t]; p && p->name; p++)
			all++;
	const char **names = arena_alloc(arena, all + 1, sizeof *names);
	all = 0;
	for (size_t t = 0; t < count; t++)
		for (const struct ss_param *p = tables[t]; p && p->name; p++)
			names[all++] = p->name;
	word_unknown(name, names, all, arena_printf(arena, "%s has no parameter \"%.100s\"", where, name), err);
	arena_free(arena);
	return -1;
}

/* Every key of the object (which may be NULL) must be in one of the tables; else ERR_USAGE with the nearest name. */
static int param_check_names(const struct ss_param *const *tables, size_t count, const json_t *object,
                             const char *where, struct err *err) {
	js_members (name, json, object) {
		bool found = false;
		for (size_t t = 0; t < count && !found; t++)
			for (const struct ss_param *p = tables[t]; p && p->name && !found; p++)
				found = strcmp(p->name, name) == 0;
		if (!found)
			return name_error(tables, count, name, where, err);
	}
	return 0;
}

static const struct ss_param call_team_params[] = {
	{.name = "threads", .type = SS_INT, .initial = "0", .min = 1, .max = 1 << 16},
	{.name = "places", .type = SS_WORD, .values = "threads,cores,ll_caches,numa_domains,sockets", .initial = "threads"},
	{.name = "proc_bind", .type = SS_WORD, .values = "false,close,spread,primary,master", .initial = "false"},
	{.name = NULL},
};
static const struct ss_param call_schedule_params[] = {
	{.name = "schedule", .type = SS_WORD, .values = "static,dynamic,guided", .initial = "static"},
	{.name = "chunk", .type = SS_INT, .initial = "0", .min = 0, .max = 1 << 30},
	{.name = NULL},
};
static const struct ss_param call_no_params[] = {{.name = NULL}};

enum { CALL_TABLES = 3 };

static size_t call_param_count(const struct ss_param *params) {
	size_t count = 0;
	while (params && params[count].name)
		count++;
	return count;
}

/* Reads one object into as many value arrays as there are tables; every key must belong to one of them. */
static int object_read(struct arena *arena, const char *where, const struct ss_param *const tables[CALL_TABLES],
                       const json_t *object, struct ss_value *values[CALL_TABLES], struct err *err) {
	if (object && !json_is_object(object))
		return err_set(err, ERR_USAGE, "write {\"name\": value, ...}", "%s is not an object", where);
	for (size_t t = 0; t < CALL_TABLES; t++) {
		size_t count = call_param_count(tables[t]);
		values[t] = arena_alloc(arena, count + 1, sizeof *values[t]);
		for (size_t i = 0; i < count; i++) {
			const struct ss_param *param = &tables[t][i];
			const json_t *json = json_object_get(object, param->name);
			if ((json ? param_read(arena, param, json, &values[t][i], err)
			          : param_initial(arena, param, &values[t][i], err)) != 0)
				return err_prefix(err, "%s", where);
		}
	}
	return param_check_names(tables, CALL_TABLES, object, where, err);
}

static omp_sched_t schedule_kind(int64_t place) {
	static const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided};
	return kinds[place];
}

int call_read(struct arena *arena, const struct kernel_entry *entry, const json_t *problem, const json_t *config,
              struct call *call, struct err *err) {
	const struct ss_kernel *kernel = entry->kernel;
	const struct ss_param *problem_tables[CALL_TABLES] = {kernel->problem, call_no_params, call_no_params};
	const struct ss_param *config_tables[CALL_TABLES] = {
		kernel->params,
		kernel->flags & SS_OPENMP ? call_team_params : call_no_params,
		kernel->flags & SS_SCHEDULE ? call_schedule_params : call_no_params,
	};
	struct ss_value *parts[CALL_TABLES], *values[CALL_TABLES];

	*call = (struct call){.entry = entry,
	                      .threads = 1,
	                      .places = "threads",
	                      .proc_bind = "false",
	                      .schedule = omp_sched_static,
	                      .device = DEVICE_CPU};
	const char *problem_name = arena_printf(arena, "the problem of kernel %s", kernel->name);
	const char *config_name = arena_printf(arena, "the configuration of kernel %s", kernel->name);
	if (object_read(arena, problem_name, problem_tables, problem, parts, err) != 0 ||
	    object_read(arena, config_name, config_tables, config, values, err) != 0)
		return -1;
	call->problem = parts[0];
	call->config = values[0];
	if (kernel->flags & SS_OPENMP) {
		call->threads = (int)values[1][0].i;
		call->places = values[1][1].w;
		call->proc_bind = values[1][2].w;
	}
	if (kernel->flags & SS_SCHEDULE) {
		call->schedule = schedule_kind(values[2][0].i);
		call->chunk = (int)values[2][1].i;
	}
	return 0;
}

static struct ss_value *values_copy(struct arena *arena, const struct ss_param *params, const struct ss_value *from) {
	size_t count = call_param_count(params);
	struct ss_value *to = arena_alloc(arena, count + 1, sizeof *to);
	for (size_t i = 0; i < count; i++) {
		to[i] = from[i];
		if (from[i].w)
			to[i].w = arena_strdup(arena, from[i].w);
	}
	return to;
}

void call_copy(struct arena *arena, const struct call *from, struct call *to) {
	*to = *from;
	to->problem = values_copy(arena, from->entry->kernel->problem, from->problem);
	to->config = values_copy(arena, from->entry->kernel->params, from->config);
	to->places = arena_strdup(arena, from->places);
	to->proc_bind = arena_strdup(arena, from->proc_bind);
}

static int number_read(const json_t *json, const struct member *member, void *field, struct err *err) {
	int64_t value;
	if (js_int(json, member->key, member->min, member->type == MEMBER_INT ? member->max : INT64_MAX, &value, err) != 0)
		return -1;
	if (member->type == MEMBER_INT)
		*(int *)field = (int)value;
	else
		*(uint64_t *)field = (uint64_t)value;
	return 0;
}

static int string_read(const json_t *json, const struct member *member, const char **out, struct err *err) {
	if (js_string(json, member->key, out, err) != 0)
		return -1;
	return strlen(*out) >= (size_t)member->min ? 0
	                                           : err_set(err, ERR_USAGE, "leave it out", "'%s' is empty", member->key);
}

static int words_read(struct arena *arena, const json_t *json, const struct member *member, const char ***out,
                      struct err *err) {
	json_t *array = json_object_get(json, member->key);
	if (array && !json_is_null(array) && js_array(json, member->key, (size_t)member->max, &array, err) != 0)
		return -1;
	*out = arena_alloc(arena, json_array_size(array) + 1, sizeof **out);
	js_each (item, array) {
		(*out)[item_at] = json_string_value(item);
		if (!(*out)[item_at])
			return err_set(err, ERR_USAGE, "write numbers as strings, too", "'%s' takes strings only", member->key);
	}
	return 0;
}

static int member_read(struct arena *arena, const struct member *member, const json_t *json, void *field,
                       struct err *err) {
	const json_t *value = json_object_get(json, member->key);
	if (member->type == MEMBER_WORDS)
		return words_read(arena, json, member, field, err);
	if (!value || json_is_null(value))
		return 0;
	switch (member->type) {
	case MEMBER_INT:
	case MEMBER_WHOLE:
		return number_read(json, member, field, err);
	case MEMBER_REAL:
		return js_real(json, member->key, 0, (double)member->max, field, err);
	case MEMBER_BOOL:
		return js_bool(json, member->key, field, err);
	case MEMBER_TEXT:
		return string_read(json, member, field, err);
	case MEMBER_READ:
		return member->read(value, field, err);
	default:
		return 0;
	}
}

int members_read(struct arena *arena, const struct member *members, size_t count, const json_t *json, void *out,
                 struct err *err) {
	const char **keys = arena_alloc(arena, count + 1, sizeof *keys);
	for (size_t i = 0; i < count; i++)
		keys[i] = members[i].key;
	if (word_check_keys(json, keys, count, err) != 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (member_read(arena, &members[i], json, (char *)out + members[i].offset, err) != 0)
			return -1;
	return 0;
}
