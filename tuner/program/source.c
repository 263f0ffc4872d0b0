/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/program/source.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/proc/path.h"
#include "base/proc/work.h"

enum { PROGRAM_MAX = 512 << 20 };

bool program_file_hash(const char *name, const char *cwd, char hash[SHA256_TEXT]) {
	struct err none = {0};
	mem_auto char *path = program_path(name, cwd, &none);
	return path && file_hash(path, 0, PROGRAM_MAX, hash);
}

/* An interpreter takes a name without a slash for a file in the current folder. */
static bool work_hash(const struct work *work, const char *cwd, char hash[SHA256_TEXT]) {
	if (work->kind == WORK_CODE)
		return false;
	if (work->kind == WORK_PROGRAM)
		return program_file_hash(work->word, cwd, hash);
	mem_auto char *path = *work->word == '/' || !cwd ? mem_strdup(work->word) : mem_printf("%s/%s", cwd, work->word);
	return file_hash(path, 0, PROGRAM_MAX, hash);
}

struct program_hashes program_hashes_read(const char *const *words, const char *cwd) {
	struct program_hashes hashes = {0};
	struct work work = work_of_words(words);
	hashes.absolute = *work.word == '/';
	if (!work_hash(&work, cwd, hashes.work))
		*hashes.work = '\0';
	if (strcmp(work.word, words[0]) == 0)
		memcpy(hashes.first, hashes.work, sizeof hashes.first);
	else if (!program_file_hash(words[0], cwd, hashes.first))
		*hashes.first = '\0';
	if (!*hashes.work)
		memcpy(hashes.work, hashes.first, sizeof hashes.work);
	free(work.word);
	return hashes;
}

struct program_hashes program_hashes_recorded(const json_t *argv, const char *cwd) {
	const char **words = mem_alloc(json_array_size(argv) + 1, sizeof *words);
	for (size_t i = 0; i < json_array_size(argv); i++)
		words[i] = json_string_value(json_array_get(argv, i));
	struct program_hashes hashes = *words ? program_hashes_read(words, cwd) : (struct program_hashes){0};
	free(words);
	return hashes;
}

bool program_hashes_have(const struct program_hashes *hashes, const char *source) {
	return strcmp(hashes->work, source) == 0 || strcmp(hashes->first, source) == 0;
}

void program_source(const struct program_spec *spec, char hash[SHA256_TEXT]) {
	struct program_hashes hashes = {0};
	if (!spec->shell && !spec->build)
		hashes = program_hashes_read(spec->argv, spec->cwd);
	if (*hashes.work) {
		memcpy(hash, hashes.work, sizeof hashes.work);
		return;
	}
	mem_auto char *command = program_join(spec->argv, !spec->shell);
	mem_auto char *all = mem_printf("%s\n%s", command, spec->build ? spec->build : "");
	sha256_text(all, strlen(all), hash);
}

json_t *program_problem(const struct program_spec *spec) {
	const struct {
		const char *key, *text;
	} parts[] = {{"input", spec->input}, {"cwd", spec->cwd}, {"build", spec->build}};
	json_t *problem = json_object();
	mem_auto char *command = spec->call ? mem_strdup(spec->call) : program_join(spec->argv, !spec->shell);
	json_object_set_new(problem, "command", json_string(command));
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (parts[i].text)
			json_object_set_new(problem, parts[i].key, json_string(parts[i].text));
	return problem;
}
