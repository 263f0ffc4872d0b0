/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <math.h>

#include "base/json/js.h"
#include "base/text.h"
#include "base/proc/path.h"
#include "base/value.h"
#include "tuner/build/compile.h"
#include "tuner/program/program_impl.h"

/* The next brace that may open a name; *size is the length of its content. NULL: there is none. */
static const char *brace_find(const char *text, size_t *size) {
	while (*text) {
		size_t run = strspn(text, "{");
		if (run == 1) {
			*size = strcspn(text + 1, "{}");
			if (*size && text[1 + *size] == '}')
				return text;
		}
		text += run ? run : *text == '$' && text[1] == '{' ? 2 : 1;
	}
	return NULL;
}

static bool is_name(const char *name, const char *inside, size_t size) {
	return strlen(name) == size && memcmp(name, inside, size) == 0;
}

static const char *name_find(const struct template_names *names, const char *inside, size_t size) {
	for (size_t i = 0; i < names->count; i++)
		if (is_name(names->list[i], inside, size))
			return names->list[i];
	return NULL;
}

bool template_is_identifier(const char *text) {
	if (!*text || isdigit((unsigned char)*text))
		return false;
	for (; *text; text++)
		if (*text != '_' && !(isascii((unsigned char)*text) && isalnum((unsigned char)*text)))
			return false;
	return true;
}

/* Built-in names need a closer match than the user's own, so that programs whose own braces begin like one are not
 * refused. */
static const char *near_find(const struct template_names *names, const char *word) {
	const char *near = near_word(word, names->list, names->own);
	if (near)
		return near;
	near = near_word(word, names->list + names->own, names->count - names->own);
	return near && strlen(word) + 1 >= strlen(near) ? near : NULL;
}

static int near_check(const struct template_names *names, const char *inside, size_t size, struct err *err) {
	mem_auto char *word = mem_printf("%.*s", (int)size, inside);
	const char *near = template_is_identifier(word) ? near_find(names, word) : NULL;
	if (near) {
		err_set(err, ERR_USAGE, NULL, "{%s} is not a parameter of this program", word);
		err_hint(err, "did you mean {%s}?", near);
	}
	return near ? -1 : 0;
}

int template_check(const char *text, const struct template_names *names, struct err *err) {
	size_t size;
	while (text && (text = brace_find(text, &size))) {
		if (!name_find(names, text + 1, size) && near_check(names, text + 1, size, err))
			return -1;
		text += size + 2;
	}
	return 0;
}

char *template_stranger(const char *text, const struct template_names *names) {
	size_t size;
	while (text && (text = brace_find(text, &size))) {
		char *word = mem_printf("%.*s", (int)size, text + 1);
		if (template_is_identifier(word) && !name_find(names, text + 1, size))
			return word;
		free(word);
		text += size + 2;
	}
	return NULL;
}

bool template_mentions(const char *text, const char *name) {
	size_t size;
	while (text && (text = brace_find(text, &size))) {
		if (is_name(name, text + 1, size))
			return true;
		text += size + 2;
	}
	return false;
}

bool template_expands(const char *text, const char *name) {
	size_t length = strlen(name);
	for (const char *c = text; c && (c = strchr(c, '$')); c++) {
		const char *start = c + 1 + (c[1] == '{');
		if (strncmp(start, name, length) == 0 && !isalnum((unsigned char)start[length]) && start[length] != '_')
			return true;
	}
	return false;
}

/* The next brace that holds a known name. */
static const char *hole_find(const char *text, const struct template_names *names, size_t *size) {
	while ((text = brace_find(text, size)) && !name_find(names, text + 1, *size))
		text += *size + 2;
	return text;
}

/* Matches greedily: on a mismatch only the last hole grows by a character. Earlier holes never need another try,
 * because the text between holes is fixed and its first occurrence leaves the most for the rest. */
bool template_fits(const char *template, const struct template_names *names, const char *text) {
	const char *after = NULL, *taken = NULL;
	size_t size = 0;
	for (const char *hole = hole_find(template, names, &size);;) {
		if (template == hole) {
			after = template += size + 2;
			taken = text;
			hole = hole_find(after, names, &size);
		} else if (*template && *template == *text) {
			template ++;
			text++;
		} else if (!*template && !*text) {
			return true;
		} else if (after && *taken) {
			template = after;
			text = ++taken;
		} else {
			return false;
		}
	}
}

static void value_add(char **out, enum shell_place place, const struct shell_line *line, const char *word, bool *fits) {
	if (line)
		*fits = shell_add(out, place, word);
	else
		mem_append(out, "%s", word);
}

/* Only values of the user's may become several words: a folder with a blank in its name is one. */
static enum shell_place place_of(struct shell_line *line, const struct template_names *names, const char *name,
                                 const char *next) {
	const char *why;
	enum shell_place place = shell_place(line, next, &why);
	for (size_t i = names->own; place == SHELL_WORDS && i < names->count; i++)
		if (names->list[i] == name)
			return SHELL_WORD;
	return place;
}

char *template_fill(const char *text, const struct template_names *names, template_value *value, const void *ctx,
                    bool shell, const char **missing) {
	char *out = mem_strdup("");
	struct shell_line state = SHELL_LINE, *line = shell ? &state : NULL;
	enum shell_place place = SHELL_WORD;
	size_t size;
	for (const char *hole; (hole = hole_find(text, names, &size)); text = hole + size + 2) {
		const char *name = name_find(names, hole + 1, size);
		mem_auto char *word = value(ctx, name);
		bool fits = word;
		mem_append(&out, "%.*s", (int)(hole - text), text);
		if (line) {
			shell_read(line, text, (size_t)(hole - text));
			place = place_of(line, names, name, hole + size + 2);
		}
		if (word)
			value_add(&out, place, line, word, &fits);
		if (!fits) {
			*missing = name;
			free(out);
			return NULL;
		}
	}
	mem_append(&out, "%s", text);
	return out;
}

int template_shell_check(const char *text, const struct template_names *names, struct err *err) {
	struct shell_line line = SHELL_LINE;
	size_t size;
	for (const char *hole; text && (hole = hole_find(text, names, &size)); text = hole + size + 2) {
		const char *why;
		shell_read(&line, text, (size_t)(hole - text));
		if (shell_place(&line, hole + size + 2, &why) == SHELL_NOWHERE)
			return err_set(err, ERR_USAGE, "assign it to a variable of the shell first: X={NAME}; then use \"$X\"",
			               "{%.*s} cannot be filled in safely inside or after %s", (int)size, hole + 1, why);
	}
	return 0;
}

static int metric_check(const struct program_spec *spec, struct err *err) {
	if (!spec->metric)
		return spec->maximize ? err_set(err, ERR_USAGE, "name the rate in the program's output with --metric",
		                                "nothing can be maximized without --metric: the time is always minimized")
		                      : 0;
	if (spec->maximize && strncmp(spec->metric, "kernel:", 7) == 0)
		return err_set(err, ERR_USAGE, "leave --maximize out", "the time of a kernel is always minimized");
	regex_t regex;
	char why[160];
	if (pattern_compile(&regex, spec->metric, why, sizeof why)) {
		regfree(&regex);
		return 0;
	}
	return err_set(err, ERR_USAGE, "use a POSIX extended regular expression, as for `grep -E`",
	               "bad expression \"%s\" for the metric: %s", spec->metric, why);
}

/* Text must be UTF-8, because it reaches the worker as JSON. */
static int utf8_check(const char *text, struct err *err) {
	js_auto json_t *json = text ? json_string(text) : json_null();
	if (!json)
		return err_set(err, ERR_USAGE, "rename the file, or run it through a script", "\"%s\" is not UTF-8", text);
	return 0;
}

/* Checks that the program exists, unless it is built first or its name contains a parameter. */
static int executable_check(const struct program *program, struct err *err) {
	const char *name = program->spec.argv[0];
	bool has_slash = strchr(name, '/');
	for (size_t i = 0; i < program->names.count; i++)
		if (template_mentions(name, program->names.list[i]))
			return 0;
	if (program->spec.shell || (has_slash && program->spec.build && *name != '/'))
		return 0;
	mem_auto char *path = program_path(name, program->cwd, err);
	return path ? 0 : -1;
}

static bool build_is_used(const struct program_spec *spec) {
	for (const char *const *word = spec->argv; *word; word++)
		if (template_mentions(*word, "BUILD"))
			return true;
	return template_mentions(spec->before_each, "BUILD");
}

static int names_check(const struct program *program, struct err *err) {
	const struct program_spec *spec = &program->spec;
	for (size_t i = 0; i < program->params.count; i++) {
		const char *name = program->params.list[i];
		if (strcmp(name, "SOURCE") == 0 || strcmp(name, "BUILD") == 0)
			return err_set(err, ERR_USAGE, "choose another name", "{%s} is a folder and can't be a parameter", name);
		if (program_is_variable(program, name) && !template_is_identifier(name))
			return err_set(err, ERR_USAGE, "write it in braces into the command, or rename it",
			               "parameter %s does not occur in the command and is not a valid name for a variable", name);
		if (template_expands(spec->build, name) && program_is_variable(program, name)) {
			err_set(err, ERR_USAGE, NULL, "the build cannot see parameter %s as a variable", name);
			return err_hint(err, "write {%s} into the build command", name);
		}
	}
	if (!spec->build && (build_is_used(spec) || template_mentions(spec->verify, "BUILD")))
		return err_set(err, ERR_USAGE, "give --build", "the folder {BUILD} needs a build command");
	if (spec->build && spec->cwd && !build_is_used(spec))
		return err_set(err, ERR_USAGE, "name the program as {BUILD}/NAME, or leave --cwd out to run in that folder",
		               "the program in %s is not the one that is built for each configuration", spec->cwd);
	return 0;
}

static int templates_check(const struct program *program, struct err *err) {
	const struct program_spec *spec = &program->spec;
	const char *const others[] = {spec->build, spec->verify, spec->before_each, spec->setup, spec->teardown,
	                              spec->ready, spec->cwd,    spec->input,       spec->metric};
	enum { TEMPLATES = 5 };
	for (const char *const *word = spec->argv; *word; word++)
		if (utf8_check(*word, err) || template_check(*word, &program->names, err) ||
		    (spec->shell && template_shell_check(*word, &program->names, err)))
			return -1;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		if (others[i] && !*others[i])
			return err_set(err, ERR_USAGE, "omit the option", "a command, file or expression is empty");
		if (utf8_check(others[i], err) || (i < TEMPLATES && (template_check(others[i], &program->names, err) ||
		                                                     template_shell_check(others[i], &program->names, err))))
			return -1;
	}
	return 0;
}

/* Messages name the places as they were given, unless these are relative to another folder. */
static int places_check(const struct program *program, struct err *err) {
	return program->spec.folder ? program_places_check(program->cwd, program->input, err)
	                            : program_places_check(program->spec.cwd, program->spec.input, err);
}

int program_check(const struct program *program, struct err *err) {
	if (!program->spec.argv[0] || !*program->spec.argv[0])
		return err_set(err, ERR_USAGE, "write it after --", "the program to tune is missing");
	if (metric_check(&program->spec, err) || templates_check(program, err) || names_check(program, err) ||
	    places_check(program, err) || executable_check(program, err))
		return -1;
	return 0;
}

char *program_value_text(const json_t *json) {
	struct value value;
	if (json_is_boolean(json))
		return mem_strdup(json_is_true(json) ? "true" : "false");
	if (!value_from_json(json, &value))
		return NULL;
	if (value.type == VALUE_REAL && fabs(value.as.r) < 1e15 && value.as.r == floor(value.as.r))
		return mem_printf("%.0f", value.as.r); /* not "1e+02", which many programs cannot parse */
	return value_string(value);
}

static char *case_value(const void *ctx, const char *name) {
	const struct program_case *one = ctx;
	if (strcmp(name, "SOURCE") == 0)
		return mem_strdup(one->program->here);
	if (strcmp(name, "BUILD") == 0)
		return one->build ? mem_strdup(one->build) : NULL;
	return program_value_text(json_object_get(one->config, name));
}

char *program_fill(const struct program_case *one, const char *text, bool shell, const char **missing) {
	return template_fill(text, &one->program->names, case_value, one, shell, missing);
}

static json_t *shell_words(char *line) {
	json_t *words = line ? json_pack("[s,s,s]", "/bin/sh", "-c", line) : NULL;
	free(line);
	return words;
}

json_t *program_words(const struct program_case *one, const char **missing) {
	const char *const *argv = one->program->spec.argv;
	if (one->program->spec.shell)
		return shell_words(program_fill(one, argv[0], true, missing));
	json_t *words = json_array();
	for (; *argv; argv++) {
		char *word = program_fill(one, *argv, false, missing);
		if (!word) {
			json_decref(words);
			return NULL;
		}
		json_array_append_new(words, json_string(word));
		free(word);
	}
	return words;
}

/* Exports the parameters that the program gets through its command line or its build, so that the commands around it
 * see all of them as variables. */
static void exports_add(const struct program_case *one, char **out) {
	const struct program *program = one->program;
	for (size_t i = 0; i < program->params.count; i++) {
		const char *name = program->params.list[i];
		mem_auto char *value = program_value_text(json_object_get(one->config, name));
		bool set = program_is_variable(program, name) && strcmp(program_param_way(program, name), "environment") == 0;
		if (value && template_is_identifier(name) && !set) {
			mem_auto char *word = program_quote(value);
			mem_append(out, "export %s=%s; ", name, word);
		}
	}
}

char *program_command(const struct program_case *one, const char *text, const char **missing) {
	mem_auto char *line = program_fill(one, text, true, missing);
	if (!line)
		return NULL;
	char *out = mem_strdup("");
	exports_add(one, &out);
	mem_append(&out, "%s", line);
	return out;
}

/* The inputs of a build command besides the sources. */
void program_build_identity(const struct program *program, const json_t *environment, const json_t *config,
                            char hash[SHA256_TEXT]) {
	const struct program_case one = {program, config, "{BUILD}"};
	const char *missing, *source = program_build_source(program);
	mem_auto char *line = program_fill(&one, program->spec.build, true, &missing),
				  *variables = js_canonical(environment);
	struct sha256 sha;
	sha256_start(&sha);
	toolchain_hash_text(&sha, "1");
	toolchain_hash_text(&sha, source);
	toolchain_hash_text(&sha, program->out_of_tree ? program->here : NULL);
	toolchain_hash_text(&sha, line);
	toolchain_hash_text(&sha, variables);
	toolchain_hash_line(&sha, line ? line : "");
	toolchain_hash_host(&sha);
	sha256_end(&sha, hash);
}
