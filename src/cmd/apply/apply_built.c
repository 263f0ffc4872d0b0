/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the executable of a program that was tuned together with its build. A recommendation holds for the build that
 * was measured, and the file at the path that the user types may be any other one. */
#include <sys/stat.h>
#include <time.h>

#include "src/cmd/apply/apply_impl.h"
#include "base/json/js.h"
#include "tuner/program/program_json.h"

/* The folder of a kept build is found from what was tuned, with the values that were recommended. */
static struct program_kept kept_find(const struct profile_entry *entry) {
	struct arena *arena = arena_new();
	struct program_kept kept = {0};
	struct program_spec spec = program_recorded(arena, entry->program, entry->baseline.config);
	/* These do not decide what is built, and need not be valid any more. */
	spec.input = spec.before_each = spec.verify = spec.metric = NULL;
	spec.maximize = false;
	struct program *program = program_new(&spec, NULL, NULL);
	if (program)
		kept = program_kept_find(program, entry->config, true);
	program_free(program);
	arena_free(arena);
	return kept;
}

static char *build_line(const struct profile_entry *entry) {
	const json_t *program = entry->program;
	const char *build = js_string_or(program, "build", "");
	char *line = program_recorded_fill(build, true, program, entry->config);
	return launch_shown(line ? line : mem_strdup(build));
}

static bool is_newer_than_tuning(const char *path, const struct profile_entry *entry) {
	const char *measured = entry->measured;
	struct tm tm = {0};
	struct stat info;
	return strptime(measured, "%Y-%m-%dT%H:%M:%S", &tm) && stat(path, &info) == 0 && info.st_mtime >= timegm(&tm);
}

static const char *reason_of(const struct program_kept *kept) {
	return kept->outdated ? "its sources have changed since it was tuned" : "it is not the build that was measured";
}

/* Nothing proven can be run. A file that was built after the tuning is probably what the hint asks for; an older one
 * certainly is not. */
static int own_file_judge(struct ui *ui, const struct launch *launch, const struct apply_request *request,
                          const struct program_kept *kept, struct err *err) {
	const struct profile_entry *entry = &launch->choice.entry;
	mem_auto char *line = build_line(entry), *name = launch_shown(mem_strdup(request->words[0]));
	mem_auto char *hint = mem_printf("build it: %s", line);
	bool newer = is_newer_than_tuning(request->words[0], entry);
	int failed = 0;
	if (newer || request->as_is)
		ui_warn(ui, hint, "running %s, although %s", name, reason_of(kept));
	else {
		err_set(err, ERR_BARRED, NULL, "%s would run an old program: %s", name, reason_of(kept));
		failed = err_hint(err, "%s; --or-as-is runs it as it is", hint);
	}
	return failed;
}

/* The command is a script, or a line for a shell, which runs what was built. */
static void others_judge(struct ui *ui, const struct launch *launch, const struct program_kept *kept) {
	if (kept->tree && program_kept_covers(kept, "."))
		return;
	mem_auto char *line = build_line(&launch->choice.entry), *hint = mem_printf("build it: %s", line);
	ui_warn(ui, hint, "what this command runs may not be the build that was measured");
}

static void kept_use(struct ui *ui, struct launch *launch, const struct apply_request *request,
                     const struct program_kept *kept, bool exists) {
	char *path = mem_printf("%s/%s", kept->tree, kept->name);
	if (exists)
		ui_inform(ui, "%s is not the build that was measured; running the one that is kept: %s", request->words[0],
		          path);
	free(launch->program);
	launch->program = path;
}

static bool names_build(const struct apply_request *request) {
	for (size_t i = 0; i < request->count; i++)
		if (strstr(request->words[i], "{BUILD}"))
			return true;
	return false;
}

static int choose(struct ui *ui, struct launch *launch, const struct apply_request *request,
                  const struct program_kept *kept, struct err *err) {
	const json_t *program = launch->choice.entry.program;
	const char *first = request->words[0], *built = js_string_or(program, "built", kept->hash);
	char hash[SHA256_TEXT] = "";
	if (names_build(request) && kept->tree) {
		json_object_set_new(launch->config, "BUILD", json_string(kept->tree));
		return 0;
	}
	if (request->shell || !*built) {
		others_judge(ui, launch, kept);
		return 0;
	}
	bool exists = program_file_hash(first, NULL, hash);
	if (exists && strcmp(hash, built) == 0)
		return 0;
	if (kept->name && strcmp(kept->hash, built) == 0) {
		kept_use(ui, launch, request, kept, exists);
		return 0;
	}
	return exists ? own_file_judge(ui, launch, request, kept, err) : 0;
}

int launch_build_choose(struct ui *ui, struct launch *launch, const struct apply_request *request, struct err *err) {
	const struct profile_entry *entry = &launch->choice.entry;
	if (launch->choice.fit == APPLY_FIT_NONE || !js_string_or(entry->program, "build", NULL))
		return 0;
	struct program_kept kept = kept_find(entry);
	int failed = choose(ui, launch, request, &kept, err);
	program_kept_clear(&kept);
	return failed;
}
