/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/spec/spec.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/json/js.h"
#include "src/base/sha256.h"
#include "src/base/sys.h"
#include "tuner/spec/impl.h"

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
	const char *slash = strrchr(path, '/');
	char *name = arena_strdup(spec->arena, slash ? slash + 1 : path);
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
