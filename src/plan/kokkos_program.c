/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/plan/kokkos_program.h"

#include "base/mem.h"
#include "base/proc/path.h"
#include "base/sys.h"
#include "src/app/app.h"
#include "src/plan/openmp.h"

enum { WORDS_MOST = 64, SCRIPT_MAX = 1 << 20, DEPTH_MOST = 2 };

struct search {
	enum kokkos_program found;
	char *file; /* that has it */
	const char *cwd;
	int words; /* that were looked at */
	bool old;  /* up to 3.x, which has another name for the variable */
};

static bool has(const char *path, const char *text) {
	return openmp_file_has(path, text, NULL) == 1;
}

/* Kokkos looks for the functions of a tool by their names, and for the tuning ones only where it was built with tuning.
 * Compilers may cut a literal into pieces of 16 bytes, then of all of them. */
static bool is_tuned(const char *path) {
	return has(path, "kokkosp_request_values") || (!has(path, "kokkosp_request_tool_settings") &&
	                                               has(path, "kokkosp_request_") && has(path, "kokkosp_begin_co"));
}

static bool file_look(void *ctx, const char *path) {
	static const char *const skipped[] = {"libc.so", "libm.so", "libstdc++", "libgcc_s", "ld-linux", "libgomp"};
	struct search *search = ctx;
	const char *base = text_base_name(path);
	for (size_t i = 0; i < sizeof skipped / sizeof *skipped; i++)
		if (strncmp(base, skipped[i], strlen(skipped[i])) == 0)
			return false;
	if (has(path, "KOKKOS_TOOLS_LIBS"))
		search->found = is_tuned(path) ? KOKKOS_PROGRAM_TUNED : KOKKOS_PROGRAM_NAMED;
	else if (search->found == KOKKOS_PROGRAM_NONE && has(path, "KOKKOS_PROFILE_LIBRARY") &&
	         has(path, "kokkosp_init_lib")) {
		search->found = is_tuned(path) ? KOKKOS_PROGRAM_TUNED : KOKKOS_PROGRAM_NAMED;
		search->old = true;
	}
	return search->found == KOKKOS_PROGRAM_TUNED;
}

static void line_look(struct search *search, const char *text, const char *folder, int depth);

static void script_look(struct search *search, const char *path, int depth) {
	size_t size;
	mem_auto char *text = sys_read_file(path, SCRIPT_MAX, &size, NULL);
	const char *slash = strrchr(path, '/');
	mem_auto char *folder = slash ? mem_printf("%.*s", (int)(slash - path), path) : NULL;
	if (text && size > 2 && memcmp(text, "#!", 2) == 0 && strlen(text) == size && depth < DEPTH_MOST)
		line_look(search, text, folder, depth + 1);
}

static void program_look(struct search *search, const char *path, int depth) {
	char loader[4096];
	if (openmp_file_kind(path, loader, sizeof loader) == OPENMP_FILE_OTHER)
		script_look(search, path, depth);
	else {
		enum kokkos_program before = search->found;
		openmp_files_any(path, search->cwd, file_look, search);
		if (search->found == before)
			return;
		free(search->file);
		search->file = mem_strdup(path);
	}
}

/* "$(dirname "$0")/app" and "./app" behind a cd: what is not found from here is looked for beside the script. */
static void word_look(struct search *search, const char *word, const char *folder, int depth) {
	const char *slash = strrchr(word, '/');
	if (!*word || *word == '-' || strchr(word, '{') || search->found == KOKKOS_PROGRAM_TUNED)
		return;
	mem_auto char *here = strpbrk(word, "$`") ? NULL : program_path(word, search->cwd, NULL);
	mem_auto char *beside = !here && slash && folder ? mem_printf("%s%s", folder, slash) : NULL;
	mem_auto char *there = beside ? program_path(beside, search->cwd, NULL) : NULL;
	if ((here || there) && search->words++ < WORDS_MOST)
		program_look(search, here ? here : there, depth);
}

static void line_look(struct search *search, const char *text, const char *folder, int depth) {
	static const char between[] = " \t\r\n'\"|&;()<>";
	while (*(text += strspn(text, between)) && search->found != KOKKOS_PROGRAM_TUNED && search->words < WORDS_MOST) {
		size_t length = strcspn(text, between);
		mem_auto char *word = mem_printf("%.*s", (int)length, text);
		word_look(search, word, folder, depth);
		text += length;
	}
}

static struct search words_look(const char *const *words, size_t count, const char *cwd) {
	struct search search = {.cwd = cwd};
	for (size_t i = 0; i < count && search.found != KOKKOS_PROGRAM_TUNED && search.words < WORDS_MOST; i++)
		if (strpbrk(words[i], " \t\n;"))
			line_look(&search, words[i], NULL, 1);
		else
			word_look(&search, words[i], NULL, 0);
	return search;
}

enum kokkos_program kokkos_program_find(const char *const *words, size_t count, const char *cwd) {
	struct search search = words_look(words, count, cwd);
	free(search.file);
	return search.found;
}

struct kokkos_tool kokkos_tool_find(struct ui *ui, const char *const *words, size_t count, const char *cwd,
                                    bool tunes) {
	struct search search = words_look(words, count, cwd);
	struct kokkos_tool tool = {.program = search.found, .file = search.file};
	struct err err = {0};
	tool.variable = search.old ? "KOKKOS_PROFILE_LIBRARY" : "KOKKOS_TOOLS_LIBS";
	const char *set = getenv(tool.variable);
	if (tool.program == KOKKOS_PROGRAM_NONE)
		return tool;
	if (set && *set)
		ui_inform(ui, "%s names a tool, which stays: Sweetspot does not see the kernels of Kokkos", tool.variable);
	else if (!(tool.library = app_library_path("libsweetspot-kokkos.so", &err)))
		ui_warn(ui, err.hint, "%s", err.what);
	if (tool.library && tunes && tool.program != KOKKOS_PROGRAM_TUNED)
		ui_inform(ui, "this Kokkos was built without tuning (Kokkos_ENABLE_TUNING): its kernels keep their settings");
	return tool;
}
