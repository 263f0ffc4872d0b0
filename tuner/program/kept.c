/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/program/kept.h"

#include "tuner/build/cache.h"
#include "tuner/program/program_impl.h"

struct sources {
	const struct program *program;
	char *base;
};

static bool sources_fit(void *ctx, const json_t *facts) {
	const struct sources *sources = ctx;
	return program_inputs_unchanged(program_build_source(sources->program), sources->base, facts);
}

/* The first word below the build folder: "./app" and "{BUILD}/app" are "app". */
static char *name_below(const struct program *program, const json_t *config) {
	const struct program_case one = {program, config, "."};
	const char *missing, *first = program->spec.argv[0];
	char *word = program->spec.shell || *first == '/' ? NULL : program_fill(&one, first, false, &missing), *name = NULL;
	if (word && strchr(word, '/')) {
		const char *start = word;
		while (strncmp(start, "./", 2) == 0)
			start += 2 + strspn(start + 2, "/");
		name = mem_strdup(start);
	}
	free(word);
	return name;
}

static void name_find(struct program_kept *kept, const struct program *program, const json_t *config) {
	char *name = name_below(program, config);
	const char *hash = name ? json_string_value(json_array_get(json_object_get(kept->files, name), 1)) : NULL;
	if (!hash || strncmp(hash, "sha256:", 7) != 0) {
		free(name);
		return;
	}
	kept->name = name;
	snprintf(kept->hash, sizeof kept->hash, "%s", hash);
}

struct program_kept program_kept_find(const struct program *program, const json_t *config, bool check) {
	if (!program->spec.build)
		return (struct program_kept){0};
	char key[SHA256_TEXT];
	json_t *environment = program_variables(program, program->baseline);
	program_build_identity(program, environment, config, key);
	json_decref(environment);
	struct sources sources = {program, build_cache_parent(program->spec.build_folder)};
	const struct build_wanted wanted = {.key = key, .fits = sources_fit, .ctx = &sources, .check = check};
	struct build_seen seen = sources.base ? build_cache_peek(sources.base, &wanted) : (struct build_seen){0};
	free(sources.base);
	struct program_kept kept = {.tree = seen.tree, .files = seen.files, .outdated = !seen.tree && seen.outdated};
	if (kept.tree)
		name_find(&kept, program, config);
	return kept;
}

void program_kept_clear(struct program_kept *kept) {
	free(kept->tree);
	free(kept->name);
	json_decref(kept->files);
	*kept = (struct program_kept){0};
}

bool program_kept_covers(const struct program_kept *kept, const char *folder) {
	return build_files_cover(folder, kept->files);
}
