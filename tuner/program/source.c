/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/proc/path.h"
#include "base/proc/work.h"
#include "base/sys.h"
#include "base/text.h"
#include "tuner/program/program.h"

/* Reads what libsweetspot-kokkos has left, which anybody may have written: a file for each process. */
enum { FILES_MAX = 4096, FILE_MAX = 4 << 20, ROWS_MAX = 16384 };
static const char *const kinds[] = {"kernel", "region", "copy", "section"};

static json_t *row_of(json_t *rows, const char *kind, const char *name) {
	mem_auto char *key = mem_printf("%s %s", kind, name);
	json_t *row = json_object_get(rows, key);
	if (!row && json_object_size(rows) < ROWS_MAX) {
		row = json_pack("{s:s,s:s,s:s,s:i,s:f,s:n}", "name", name, "kind", kind, "place", "", "calls", 0, "time", 0.0,
		                "threads");
		if (row)
			json_object_set_new(rows, key, row);
	}
	return row;
}

/* "kernel 400 2802000 stencil" */
static void line_read(json_t *rows, json_t *facts, char *line) {
	char kind[16];
	unsigned long long calls, ns;
	int name = 0, key = 0;
	char word[32];
	text_clean(line, false);
	if (sscanf(line, "fact %31s %n", word, &key) == 1 && key) {
		json_object_set_new(facts, word, json_string(line + key));
		return;
	}
	if (sscanf(line, "%15s %llu %llu %n", kind, &calls, &ns, &name) != 3 || !name || !text_is_one_of(kind, kinds) ||
	    ns > UINT64_C(1) << 60 || calls > UINT64_C(1) << 60)
		return;
	json_t *row = row_of(rows, kind, line[name] ? line + name : "(no name)");
	if (!row)
		return;
	json_int_t all = js_int_or(row, "calls", 0) + (json_int_t)calls;
	json_object_set_new(row, "calls", json_integer(all));
	json_object_set_new(row, "time", json_real(js_real_or(row, "time", 0) + 1e-9 * (double)ns));
}

/* A time is the mean of the processes, and a call is one of any. */
static json_t *rows_finish(const json_t *rows, size_t processes, double seconds) {
	json_t *list = json_array();
	js_members (key, row, rows) {
		(void)key;
		double time = js_real_or(row, "time", 0) / (double)processes;
		json_object_set_new(row, "time", js_number(time));
		json_object_set_new(row, "share", js_number(time / seconds));
		json_array_append(list, row);
	}
	return list;
}

json_t *kokkos_seen_read(const char *folder, double seconds) {
	js_auto json_t *rows = json_object(), *facts = json_object();
	size_t files = 0, size;
	DIR *dir = opendir(folder);
	for (struct dirent *entry; dir && files < FILES_MAX && (entry = readdir(dir));) {
		if (strncmp(entry->d_name, "kokkos.", 7) != 0)
			continue;
		mem_auto char *path = mem_printf("%s/%s", folder, entry->d_name),
					  *text = sys_read_file(path, FILE_MAX, &size, NULL);
		for (char *rest = text, *line; rest && (line = strsep(&rest, "\n"));)
			line_read(rows, facts, line);
		files += text != NULL;
	}
	if (dir)
		closedir(dir);
	return files ? json_pack("{s:o,s:I,s:O}", "regions", rows_finish(rows, files, seconds), "processes",
	                         (json_int_t)files, "facts", facts)
	             : NULL;
}

/* Up to this version a chosen tile's count is multiplied by that of the default. */
enum { BROKEN_MAJOR = 4, BROKEN_MINOR = 6, FACTS_MAX = 4096 };

char *kokkos_seen_broken(const char *facts) {
	size_t size;
	mem_auto char *text = sys_read_file(facts, FACTS_MAX, &size, NULL);
	const char *version = text ? strstr(text, "\nversion ") : NULL;
	int major = 0, minor = 0;
	if (!version || !strstr(text, "\ntile\n"))
		return NULL;
	bool known = sscanf(version, "\nversion %d.%d", &major, &minor) == 2;
	bool broken = !known || major < BROKEN_MAJOR || (major == BROKEN_MAJOR && minor <= BROKEN_MINOR);
	char *said = broken ? mem_printf("%.*s", (int)strcspn(version + 9, "\n"), version + 9) : NULL;
	if (said)
		text_clean(said, false);
	return said;
}

enum { PROGRAM_MAX = 512 << 20 };

bool program_file_hash(const char *name, const char *cwd, char hash[SHA256_TEXT]) {
	mem_auto char *path = program_path(name, cwd, NULL);
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
	mem_auto const char **words = mem_alloc(json_array_size(argv) + 1, sizeof *words);
	for (size_t i = 0; i < json_array_size(argv); i++)
		words[i] = json_string_value(json_array_get(argv, i));
	return *words ? program_hashes_read(words, cwd) : (struct program_hashes){0};
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
