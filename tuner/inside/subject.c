/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The texts of a ring become spaces and problems. A program may have written anything into it. */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/inside/inside_impl.h"

enum { VALUES_MOST = INSIDE_VALUES + 1 };

/* The next word of *at, decoded into the buffer; false: there is none. */
static bool word_next(char **at, char buffer[INSIDE_TEXT]) {
	char *word = strsep(at, " ");
	return word && ssi_text_read(word, strlen(word), buffer);
}

static bool value_read(const char *type, const char *text, struct arena *arena, struct value *value) {
	char *end;
	if (strcmp(type, "word") == 0) {
		*value = value_word(arena_strdup(arena, text));
		return true;
	}
	if (strcmp(type, "int") == 0)
		*value = value_int(strtoll(text, &end, 10));
	else
		*value = value_real(strtod(text, &end));
	return end != text && *end == '\0' && isfinite(value_number(*value));
}

static size_t value_find(const struct value *values, size_t count, struct value wanted) {
	size_t i = 0;
	while (i < count && !value_equal(values[i], wanted))
		i++;
	return i;
}

/* "int block 32 : 16 32 64": the default is one of the values, or one more. */
static bool param_read(struct inside_subject *subject, size_t number, char *line, struct arena *arena) {
	static const char *const types[] = {"int", "real", "word"};
	struct value values[VALUES_MOST], otherwise;
	char name[INSIDE_TEXT], text[INSIDE_TEXT];
	const char *type = strsep(&line, " ");
	struct inside_setting *setting = &subject->settings[number];
	bool known = false;
	for (size_t i = 0; i < 3; i++)
		known = known || strcmp(type, types[i]) == 0;
	if (!known || number == INSIDE_PARAMS || !word_next(&line, name) || !word_next(&line, text) ||
	    !value_read(type, text, arena, &otherwise) || !line || strncmp(line, ":", 1) != 0)
		return false;
	strsep(&line, " ");
	while (setting->count < INSIDE_VALUES && line && word_next(&line, text))
		if (!value_read(type, text, arena, &values[setting->count++]))
			return false;
	setting->otherwise = value_find(values, setting->count, otherwise);
	bool more = setting->otherwise == setting->count;
	if (more)
		values[setting->count] = otherwise;
	json_object_set_new(subject->otherwise, name, value_json(otherwise));
	struct err none = {0};
	return setting->count + more > 0 &&
	       space_add_param(subject->space, name, "", values, setting->count + more, NULL, &none) == 0;
}

static bool space_read(struct inside_subject *subject) {
	mem_auto char *text = mem_strdup(subject->text);
	struct arena *arena = arena_new();
	struct err none = {0};
	size_t params = 0;
	bool good = true;
	for (char *rest = text, *line; good && (line = strsep(&rest, "\n"));)
		if (strcmp(line, "without-default") == 0)
			subject->without_default = true;
		else if (strncmp(line, "where ", 6) == 0)
			good = space_add_constraint(subject->space, line + 6, &none) == 0;
		else if (*line)
			good = param_read(subject, params++, line, arena);
	good = good && params > 0 && space_build(subject->space, &none) == 0;
	arena_free(arena);
	return good;
}

struct inside_subject *inside_subject_get(struct inside_session *session, const char *kernel, const char *text) {
	for (size_t i = 0; i < session->count; i++)
		if (strcmp(session->subjects[i]->kernel, kernel) == 0 && strcmp(session->subjects[i]->text, text) == 0)
			return session->subjects[i];
	struct inside_subject *subject = mem_alloc(1, sizeof *subject);
	struct err none = {0};
	subject->kernel = mem_strdup(kernel);
	subject->text = mem_strdup(text);
	subject->space = space_new();
	subject->otherwise = json_object();
	subject->start = UINT64_MAX;
	if (!space_read(subject)) {
		space_free(subject->space);
		subject->space = NULL;
	} else if (space_config_read(subject->space, subject->otherwise, NULL, &subject->start, &none)) {
		subject->start = UINT64_MAX;
	}
	session->subjects = mem_grow(session->subjects, session->count + 1, sizeof(struct inside_subject *));
	return session->subjects[session->count++] = subject;
}

json_t *inside_problem_json(const char *problem) {
	mem_auto char *text = mem_strdup(problem);
	json_t *json = json_object();
	struct inside_member member;
	for (char *rest = text, *word; (word = strsep(&rest, " "));) {
		if (!ssi_member_read(word, strlen(word), &member))
			continue;
		bool whole = member.number == floor(member.number) && fabs(member.number) < 0x1p53;
		json_object_set_new(json, member.name,
		                    member.is_word ? value_json(value_word(member.word))
		                    : whole        ? json_integer((json_int_t)member.number)
		                                   : js_number(member.number));
	}
	return json;
}

/* The same class: as in the library, sizes are alike up to a factor of 1.4 around a power of two. */
static bool is_alike(const char *a, const char *b) {
	js_auto json_t *left = inside_problem_json(a), *right = inside_problem_json(b);
	if (json_object_size(left) != json_object_size(right))
		return false;
	js_members (name, value, left) {
		const json_t *other = json_object_get(right, name);
		double x = json_number_value(value), y = json_number_value(other);
		bool alike = json_is_number(value) && json_is_number(other)
		                 ? x == y || (x > 0 && y > 0 && round(log2(x)) == round(log2(y)))
		                 : other && json_equal(value, other);
		if (!alike)
			return false;
	}
	return true;
}

struct inside_known *inside_known_get(struct inside_session *session, struct inside_subject *subject,
                                      const char *problem) {
	for (size_t i = 0; i < subject->count; i++)
		if (is_alike(subject->cells[i]->problem, problem))
			return subject->cells[i];
	struct inside_known *cell = mem_alloc(1, sizeof *cell);
	cell->problem = mem_strdup(problem);
	cell->subject = subject;
	cell->best = subject->start;
	cell->gain = cell->gain_error = NAN;
	cell->task = (struct strategy_task){.space = subject->space, .seed = session->seed, .start = subject->start};
	subject->cells = mem_grow(subject->cells, subject->count + 1, sizeof(struct inside_known *));
	return subject->cells[subject->count++] = cell;
}

void inside_subject_free(struct inside_subject *subject) {
	for (size_t i = 0; i < subject->count; i++) {
		search_free(subject->cells[i]->search);
		free(subject->cells[i]->tried);
		free(subject->cells[i]->problem);
		free(subject->cells[i]);
	}
	free(subject->cells);
	space_free(subject->space);
	json_decref(subject->otherwise);
	free(subject->kernel);
	free(subject->text);
	free(subject);
}

json_t *inside_config_json(const struct inside_subject *subject, uint64_t index) {
	return index == UINT64_MAX || !subject->space ? json_incref(subject->otherwise)
	                                              : space_config_json(subject->space, index);
}
