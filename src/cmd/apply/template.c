/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Templates of words, as a profile keeps them. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/cmd/apply/apply.h"
#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/program/program.h"
#include "tuner/program/template.h"

static const char *const folders[] = {"SOURCE", "BUILD"};
enum { FOLDERS = sizeof folders / sizeof *folders };

static char *value_of(const void *ctx, const char *name) {
	for (size_t i = 0; i < FOLDERS; i++)
		if (strcmp(name, folders[i]) == 0)
			return mem_strdup(js_string_or(ctx, name, "."));
	return program_value_text(json_object_get(ctx, name));
}

/* Lists the names that can be filled in: all parameters or, with `config`, those that have a value, so that others keep
 * their braces. The caller frees the list. */
static struct template_names names_of(const json_t *program, const json_t *config) {
	json_t *params = json_object_get(program, "params"), *way;
	const char **list = mem_alloc(json_object_size(params) + FOLDERS, sizeof *list), *name;
	size_t count = 0;
	json_object_foreach(params, name, way) {
		char *text = config ? value_of(config, name) : NULL;
		if (text || !config)
			list[count++] = name;
		free(text);
	}
	size_t own = count;
	for (size_t i = 0; i < FOLDERS; i++)
		list[count++] = folders[i];
	return (struct template_names){.list = list, .count = count, .own = own};
}

bool apply_template_fits(const char *template, const char *text, const json_t *program) {
	struct template_names names = names_of(program, NULL);
	bool fits = template_fits(template, &names, text);
	free((void *)names.list);
	return fits;
}

char *apply_template_fill(const char *template, bool shell, const json_t *program, const json_t *config) {
	struct template_names names = names_of(program, config);
	const char *missing;
	char *filled = template_fill(template, &names, value_of, config, shell, &missing);
	free((void *)names.list);
	return filled;
}

char *apply_shell_fill(const char *line, const json_t *program, const json_t *config, struct err *err) {
	struct template_names names = names_of(program, config);
	const char *missing = NULL;
	char *filled =
		template_shell_check(line, &names, err) ? NULL : template_fill(line, &names, value_of, config, true, &missing);
	if (missing)
		err_set(err, ERR_USAGE, "only a whole number can stand inside $((..))",
		        "the recommended value of {%.100s} cannot stand there", missing);
	free((void *)names.list);
	return filled;
}

/* The words of a shell's line are joined first, because its quotes may reach from one to the next. */
char *apply_template_line(const json_t *program, const json_t *config) {
	const json_t *argv = json_object_get(program, "argv");
	bool shell = js_bool_or(program, "shell", false);
	size_t count = json_array_size(argv);
	char **words = mem_alloc(count + 1, sizeof *words);
	for (size_t i = 0; i < count; i++) {
		const char *word = json_string_value(json_array_get(argv, i));
		words[i] = config && !shell ? apply_template_fill(word, false, program, config) : mem_strdup(word);
	}
	char *line = program_join((const char *const *)words, false);
	char *filled = config && shell ? apply_template_fill(line, true, program, config) : NULL;
	for (size_t i = 0; i < count; i++)
		free(words[i]);
	free(words);
	if (!filled)
		return line;
	free(line);
	return filled;
}
