/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/program/source.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/file_hash.h"
#include "src/base/mem.h"
#include "src/base/proc/path.h"

enum { PROGRAM_MAX = 512 << 20 };

bool program_file_hash(const char *name, const char *cwd, char hash[SHA256_TEXT]) {
	struct err none = {0};
	char *path = program_path(name, cwd, &none);
	bool found = path && file_hash(path, 0, PROGRAM_MAX, hash);
	free(path);
	return found;
}

void program_source(const struct program_spec *spec, char hash[SHA256_TEXT]) {
	if (!spec->shell && !spec->build && program_file_hash(spec->argv[0], spec->cwd, hash))
		return;
	char *command = program_join(spec->argv, !spec->shell);
	char *all = mem_printf("%s\n%s", command, spec->build ? spec->build : "");
	sha256_text(all, strlen(all), hash);
	free(all);
	free(command);
}

json_t *program_problem(const struct program_spec *spec) {
	const struct {
		const char *key, *text;
	} parts[] = {{"input", spec->input}, {"cwd", spec->cwd}, {"build", spec->build}};
	json_t *problem = json_object();
	char *command = program_join(spec->argv, !spec->shell);
	json_object_set_new(problem, "command", json_string(command));
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (parts[i].text)
			json_object_set_new(problem, parts[i].key, json_string(parts[i].text));
	free(command);
	return problem;
}
