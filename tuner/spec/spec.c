/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <strings.h>

#include "base/expr/node.h"
#include "base/json/js.h"
#include "base/sha256.h"
#include "base/sys.h"
#include "base/text.h"
#include "tuner/space/space_near.h"
#include "tuner/spec/impl.h"

/* Published specifications have Defaults that are not among the Values, or not valid together: the baseline is the
 * nearest valid configuration. */

/* Sets the baseline from the space and the defaults. */
static void spec_find_baseline(struct spec *spec) {
	int places[SPACE_PARAMS_MAX], fixed[SPACE_PARAMS_MAX];
	size_t count = space_params(spec->space);
	uint64_t index = 0;
	for (size_t i = 0; i < count; i++) {
		places[i] = spec->defaults[i] < 0 ? 0 : spec->defaults[i];
		fixed[i] = spec->defaults[i] < 0 ? REPAIR_FREE : spec->defaults[i];
	}
	bool found = space_index(spec->space, places, &index) || space_repair(spec->space, places, fixed, count, &index);
	for (size_t i = 0; !found && i < count; i++)
		fixed[i] = REPAIR_FREE;
	if (!found && !space_repair(spec->space, places, fixed, count, &index))
		index = 0;
	spec->baseline = space_config_json(spec->space, index);
}

enum { FILE_MAX = 16 << 20, NAME_LONGEST = 128 };

static const struct {
	const char *word;
	enum spec_language language;
	const char *device;
} languages[] = {{"Command", SPEC_COMMAND, NULL},
                 {"C", SPEC_C, NULL},
                 {"CUDA", SPEC_CUDA, "cuda"},
                 {"OpenCL", SPEC_OPENCL, "opencl"},
                 {"HIP", SPEC_HIP, "hip"}};

static bool good_name(const char *name) {
	if (!name || !*name || strlen(name) > NAME_LONGEST)
		return false;
	while (*name && !iscntrl((unsigned char)*name))
		name++;
	return !*name;
}

static const char *file_name(struct spec *spec, const char *path) {
	static const char *const endings[] = {".json", ".t1"};
	char *name = arena_strdup(spec->arena, text_base_name(path));
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		size_t size = strlen(name), end = strlen(endings[i]);
		if (size > end && strcmp(name + size - end, endings[i]) == 0)
			name[size - end] = 0;
	}
	return name;
}

static const char *find_name(struct spec *spec, const char *path) {
	const char *const names[] = {js_string_or(json_object_get(spec->root, "General"), "BenchmarkName", NULL),
	                             js_string_or(spec->kernel, "BenchmarkName", NULL),
	                             js_string_or(spec->kernel, "KernelName", NULL)};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (good_name(names[i]))
			return names[i];
	return file_name(spec, path);
}

static const char *find_folder(struct spec *spec, const char *path) {
	char *folder = arena_strdup(spec->arena, path), *slash = strrchr(folder, '/');
	if (!slash)
		return ".";
	slash[slash == folder] = 0;
	return folder;
}

static const char *find_hash(struct spec *spec, const char *text, size_t size) {
	char hash[SHA256_TEXT];
	sha256_text(text, size, hash);
	return arena_strdup(spec->arena, hash);
}

static int read_kernel(struct spec *spec, struct err *err) {
	const json_t *kernel = json_object_get(spec->root, "KernelSpecification");
	spec->kernel = kernel ? json_incref((json_t *)kernel) : json_object();
	if (!json_is_object(spec->kernel))
		return err_set(err, ERR_USAGE, NULL, "'KernelSpecification' must be an object");
	const json_t *word = json_object_get(spec->kernel, "Language");
	if (word && !good_name(json_string_value(word)))
		return err_set(err, ERR_USAGE, NULL, "KernelSpecification: 'Language' must be a word");
	spec->word = word ? json_string_value(word) : "";
	spec->language = SPEC_OTHER;
	for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
		if (strcasecmp(languages[i].word, spec->word) == 0)
			spec->language = languages[i].language;
	return 0;
}

static int read_parts(struct spec *spec, struct err *err) {
	json_t *configuration;
	if (js_object(spec->root, "ConfigurationSpace", &configuration, err))
		return err_hint(err, "a specification in the T1 format is needed");
	return read_kernel(spec, err) || spec_read_space(spec, configuration, err) ? -1 : 0;
}

struct spec *spec_parse(const char *text, size_t size, const char *path, struct err *err) {
	struct spec *spec = mem_alloc(1, sizeof *spec);
	spec->arena = arena_new();
	spec->root = js_parse(text, size, path, err);
	if (!spec->root)
		goto fail;
	if (read_parts(spec, err)) {
		err_prefix(err, "%s", path);
		goto fail;
	}
	spec->hash = find_hash(spec, text, size);
	spec->name = find_name(spec, path);
	spec->folder = find_folder(spec, path);
	spec_find_baseline(spec);
	return spec;
fail:
	spec_free(spec);
	return NULL;
}

struct spec *spec_load(const char *path, struct err *err) {
	size_t size;
	char *text = sys_read_file(path, FILE_MAX, &size, err);
	struct spec *spec = text ? spec_parse(text, size, path, err) : NULL;
	free(text);
	return spec;
}

void spec_free(struct spec *spec) {
	if (!spec)
		return;
	space_free(spec->space);
	json_decref(spec->baseline);
	json_decref(spec->kernel);
	json_decref(spec->root);
	arena_free(spec->arena);
	free(spec);
}

const char *spec_name(const struct spec *spec) {
	return spec->name;
}

enum spec_language spec_language(const struct spec *spec) {
	return spec->language;
}

const char *spec_language_word(const struct spec *spec) {
	return spec->word;
}

const char *spec_device(enum spec_language language) {
	for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
		if (languages[i].language == language)
			return languages[i].device;
	return NULL;
}

const char *spec_folder(const struct spec *spec) {
	return spec->folder;
}

const char *spec_hash(const struct spec *spec) {
	return spec->hash;
}

const json_t *spec_kernel(const struct spec *spec) {
	return spec->kernel;
}

const json_t *spec_baseline(const struct spec *spec) {
	return spec->baseline;
}

const struct space *spec_space(const struct spec *spec) {
	return spec->space;
}

struct space *spec_take_space(struct spec *spec) {
	struct space *space = spec->space;
	spec->space = NULL;
	return space;
}

/* Conditions are Python, but some files write the logical operators of C. Both bind weaker than comparisons, in the
 * same order; only ! binds tighter than `not`, so it gets parentheses of its own. */

enum { NEST_MAX = EXPR_NEST_MAX };

struct writer {
	char *text;
	size_t used;
	int nest;
	bool has_c, divides, bits;
	struct err *err;
};

/* The room is six bytes for each byte of the text, enough for "(not " and ")" in place of a !. */
static void put(struct writer *w, const char *at, size_t size) {
	memcpy(w->text + w->used, at, size);
	w->used += size;
	w->text[w->used] = 0;
}

static size_t quoted_size(struct slice s) {
	const char *close = memchr(s.at + 1, *s.at, (size_t)(s.end - s.at - 1));
	return close ? (size_t)(close + 1 - s.at) : (size_t)(s.end - s.at);
}

/* The end of the operand of a !: more of them, then a group in parentheses, or a word with its call. */
static const char *operand_end(struct slice s) {
	while (s.at < s.end && strchr("! \t", *s.at))
		s.at++;
	while (s.at < s.end && slice_word_char(*s.at))
		s.at++;
	if (s.at == s.end || *s.at != '(')
		return s.at;
	const char *close = slice_close(s);
	return close ? close + 1 : s.end;
}

static int translate(struct writer *w, struct slice s);

static int translate_not(struct writer *w, struct slice *s) {
	struct slice operand = {s->at + 1, operand_end((struct slice){s->at + 1, s->end})};
	if (slice_empty(operand))
		return err_set(w->err, ERR_USAGE, NULL, "nothing follows the '!' in '%.*s'", (int)(s->end - s->at), s->at);
	w->has_c = true;
	put(w, "(not ", 5);
	if (translate(w, operand))
		return -1;
	put(w, ")", 1);
	s->at = operand.end;
	return 0;
}

static int translate_one(struct writer *w, struct slice *s) {
	size_t size = *s->at == '\'' || *s->at == '"' ? quoted_size(*s) : 1;
	bool both = slice_begins(*s, "&&"), either = slice_begins(*s, "||");
	if (*s->at == '!' && !slice_begins(*s, "!="))
		return translate_not(w, s);
	if (both || either) {
		w->has_c = true;
		put(w, both ? " and " : " or ", both ? 5 : 4);
		s->at += 2;
		return 0;
	}
	if (*s->at == '/') {
		size = slice_begins(*s, "//") ? 2 : 1;
		w->divides |= size == 1;
	} else if (*s->at == '!') {
		size = 2;
	} else if (strchr("&|^", *s->at)) {
		w->bits = true;
	}
	put(w, s->at, size);
	s->at += size;
	return 0;
}

static int translate(struct writer *w, struct slice s) {
	if (w->nest >= NEST_MAX)
		return err_set(w->err, ERR_USAGE, NULL, "nested too deeply");
	w->nest++;
	int status = 0;
	while (status == 0 && s.at < s.end)
		status = translate_one(w, &s);
	w->nest--;
	return status;
}

char *spec_condition(const char *text, struct err *err) {
	struct slice s = {text, text + strlen(text)};
	if (s.end - s.at > EXPR_TEXT_MAX) {
		err_set(err, ERR_USAGE, NULL, "the expression is longer than %d characters", EXPR_TEXT_MAX);
		return NULL;
	}
	struct writer w = {.text = mem_alloc(6 * (size_t)(s.end - s.at) + 1, 1), .err = err};
	int status = translate(&w, s);
	if (status == 0 && w.has_c && w.divides)
		status = err_set(err, ERR_USAGE, "write // for whole numbers, or and, or, not for && || !",
		                 "'%.300s' has operators of C, and / differs between C and Python", text);
	if (status == 0 && w.has_c && w.bits)
		status = err_set(err, ERR_USAGE, "write and, or, not for && || !",
		                 "'%.300s' has operators of C, and & | ^ bind differently in C and in Python", text);
	if (status == 0)
		return w.text;
	free(w.text);
	return NULL;
}
