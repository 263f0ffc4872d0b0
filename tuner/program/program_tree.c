/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/js.h"
#include "tuner/build/cache.h"
#include "tuner/program/program_impl.h"

/* A program that is built runs in a copy of its folder, where "/home/me/app/lev" would still be the old program: paths
 * of the folder itself become {BUILD}. */
static const char ENDS[] = " \t\n'\"`;|&()<>$:,={}*?[]", STARTS[] = " \t\n`;|&(<>:,=", VARIES[] = "{*?[$";

/* Does a word, or a part of one such as a value, begin here? Not in "$DIR"/lev. */
static bool is_start(const char *text, const char *at) {
	if (at > text && (at[-1] == '"' || at[-1] == '\''))
		at--;
	return at == text || strchr(STARTS, at[-1]);
}

/* Is there a path at `at`, which is absolute or begins with ".."? "-I/usr/include" has one, "a/b" has not. */
static bool is_path_start(const char *text, const char *at) {
	if (*at != '/' && strncmp(at, "../", 3) != 0)
		return false;
	const char *word = at;
	while (word > text && !strchr(ENDS, word[-1]))
		word--;
	return is_start(text, word) && (word == at || (*word == '-' && strcspn(word, "/.") >= (size_t)(at - word)));
}

/* The path with the links to its folder resolved, as far as it exists. NULL: nothing of it does. Caller frees. */
static char *path_resolve(const char *folder, const char *path) {
	char *whole = *path == '/' ? mem_strdup(path) : mem_printf("%s/%s", folder, path), real[PATH_MAX], *result = NULL;
	struct stat info;
	size_t length = strlen(whole);
	bool is_folder = stat(whole, &info) == 0 && S_ISDIR(info.st_mode);
	for (size_t end = is_folder ? length : (size_t)(strrchr(whole, '/') - whole); end > 0 && !result;) {
		mem_auto char *rest = end < length ? mem_strdup(whole + end) : mem_strdup("");
		whole[end] = '\0';
		if (realpath(whole, real))
			result = mem_printf("%s%s", real, rest);
		strcpy(whole + end, end < length ? "/" : "");
		while (end > 0 && whole[--end] != '/')
			continue;
	}
	free(whole);
	return result;
}

/* Returns the part of a path below the folder; NULL: the path is somewhere else. */
static const char *below(const char *folder, const char *path) {
	size_t length = strlen(folder);
	bool inside = strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
	return inside && length > 1 ? path + length : NULL;
}

/* Does the folder hold a program or a library? */
static bool has_executable(const char *folder) {
	DIR *dir = opendir(folder);
	struct stat info;
	bool found = false;
	for (const struct dirent *entry; dir && !found && (entry = readdir(dir));)
		found = fstatat(dirfd(dir), entry->d_name, &info, 0) == 0 && S_ISREG(info.st_mode) && (info.st_mode & 0111);
	if (dir)
		closedir(dir);
	return found;
}

/* Can a build make this, or something in it? A file of data stays the user's own, whose copy may be an old one. */
static bool is_made(const char *path, const char *rest) {
	struct stat info;
	if (!*rest || stat(path, &info))
		return true;
	return S_ISDIR(info.st_mode) ? has_executable(path) : S_ISREG(info.st_mode) && (info.st_mode & 0111);
}

/* The path in the build folder that takes the place of a path, which `next` follows; NULL: none. */
static char *place_of(const char *source, const char *path, char next) {
	char *real = path_resolve(source, path), *place = NULL;
	const char *rest = real ? below(source, real) : NULL;
	bool slash = rest && path[strlen(path) - 1] == '/' && (!*rest || rest[strlen(rest) - 1] != '/');
	if (rest && (is_made(real, rest) || (next && strchr(VARIES, next))))
		place = mem_printf("{BUILD}%s%s", rest, slash ? "/" : "");
	free(real);
	return place;
}

/* In quotes, and as all of a word or of the value in it, a path may have blanks. */
static size_t path_length(const char *text, const char *at, bool is_word) {
	const char *quote = at > text && strchr("'\"", at[-1]) ? strchr(at, at[-1]) : NULL;
	if (quote)
		return (size_t)(quote - at);
	bool is_rest = is_word && (at == text || at[-1] == '=');
	return is_rest && access(at, F_OK) == 0 ? strlen(at) : strcspn(at, ENDS);
}

/* The text with all paths of the source folder replaced, for the arena to keep. */
static const char *text_map(struct program *program, const char *source, const char *text, bool is_word) {
	mem_auto char *out = mem_strdup("");
	const char *done = text;
	for (const char *at = text; text && *at; at++) {
		size_t length = is_path_start(text, at) ? path_length(text, at, is_word) : 0;
		if (length == 0)
			continue;
		mem_auto char *path = mem_printf("%.*s", (int)length, at), *place = place_of(source, path, at[length]);
		if (place) {
			mem_append(&out, "%.*s%s", (int)(at - done), done, place);
			done = at + length;
		}
		at += length - 1;
	}
	return text && done != text ? arena_printf(program->arena, "%s%s", out, done) : text;
}

/* "../data" exists where the user types it, but not beside the copy. */
static int outside_check(const char *source, const char *word, struct err *err) {
	const char *equals = strchr(word, '='), *path = *word != '.' && equals ? equals + 1 : word;
	mem_auto char *whole = mem_printf("%s/%s", source, path);
	bool misses = strncmp(path, "../", 3) == 0 && access(whole, F_OK) == 0;
	if (!misses)
		return 0;
	return err_set(err, ERR_USAGE,
	               "write its absolute path; if it is built, start in the folder that holds it and all sources",
	               "%s is outside of %s, in a copy of which the program is built and runs", path, source);
}

int program_copied_map(struct program *program, struct err *err) {
	struct program_spec *spec = &program->spec;
	char source[PATH_MAX];
	size_t count = 0;
	if (!spec->build || program->out_of_tree || !realpath(program_build_source(program), source))
		return 0;
	while (spec->argv[count])
		count++;
	const char **argv = arena_alloc(program->arena, count + 1, sizeof *argv);
	for (size_t i = 0; i < count; i++) {
		argv[i] = text_map(program, source, spec->argv[i], !spec->shell);
		if (!spec->shell && !spec->cwd && outside_check(source, argv[i], err))
			return -1;
	}
	spec->argv = argv;
	spec->build = text_map(program, source, spec->build, false);
	spec->before_each = text_map(program, source, spec->before_each, false);
	return 0;
}

static const char hint_out_of_tree[] =
	"build outside of this folder: a build command with {SOURCE}, such as `cmake {SOURCE} "
	"-DB={B} && make`, starts in an empty folder";

struct copy {
	const char *from, *to;
	const struct program_tree_limit *limit;
	uint64_t bytes, files;
	bool skips;
	struct stat skip;
};

static int plain_copy(int in, int out, uint64_t size) {
	enum { BLOCK = 1 << 16 };
	mem_auto char *block = mem_alloc(BLOCK, 1);
	ssize_t got = 1;
	while (size && (got = read(in, block, size < BLOCK ? (size_t)size : BLOCK)) > 0) {
		for (ssize_t done = 0, put; done < got; done += put)
			if ((put = write(out, block + done, (size_t)(got - done))) < 0)
				return -1;
		size -= (uint64_t)got;
	}
	return got < 0 ? -1 : 0;
}

static int data_copy(int in, int out, uint64_t size) {
	if (ioctl(out, FICLONE, in) == 0)
		return 0;
	for (ssize_t got; size; size -= (uint64_t)got) {
		got = copy_file_range(in, NULL, out, NULL, size < SSIZE_MAX ? (size_t)size : SSIZE_MAX, 0);
		if (got <= 0) /* another file system, or one without support: read and write the rest */
			return plain_copy(in, out, size);
	}
	return 0;
}

static int file_copy(const char *from, const char *to) {
	struct stat info;
	int in = open(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int failed = out < 0 || fstat(in, &info) || data_copy(in, out, (uint64_t)info.st_size);
	if (!failed) {
		const struct timespec times[] = {info.st_atim, info.st_mtim};
		failed = fchmod(out, info.st_mode & 0777) || futimens(out, times);
	}
	int why = errno;
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	errno = why;
	return failed ? -1 : 0;
}

/* Does a relative link in a folder `depth` below the top lead out of the tree? Only its text counts; links on the path
 * are not followed. */
static bool leaves_tree(const char *target, int depth) {
	for (const char *part = target; *part && depth >= 0; part += strspn(part, "/")) {
		size_t size = strcspn(part, "/");
		if (size == 2 && memcmp(part, "..", 2) == 0)
			depth--;
		else if (!(size == 1 && *part == '.'))
			depth++;
		part += size;
	}
	return depth < 0;
}

static int link_copy(const FTSENT *entry, const char *to) {
	char target[PATH_MAX];
	ssize_t size = readlink(entry->fts_path, target, sizeof target - 1);
	if (size < 0)
		return -1;
	target[size] = '\0';
	const char *slash = strrchr(entry->fts_path, '/');
	mem_auto char *outside = *target != '/' && leaves_tree(target, entry->fts_level - 1)
	                             ? mem_printf("%.*s/%s", (int)(slash - entry->fts_path), entry->fts_path, target)
	                             : NULL;
	int failed = symlink(outside ? outside : target, to);
	const struct timespec times[] = {entry->fts_statp->st_atim, entry->fts_statp->st_mtim};
	return failed || utimensat(AT_FDCWD, to, times, AT_SYMLINK_NOFOLLOW) ? -1 : 0;
}

static int folder_finish(const struct stat *info, const char *to) {
	const struct timespec times[] = {info->st_atim, info->st_mtim};
	return chmod(to, info->st_mode & 0777) || utimensat(AT_FDCWD, to, times, 0) ? -1 : 0;
}

static int entry_make(const FTSENT *entry, const char *to) {
	switch (entry->fts_info) {
	case FTS_D:
		return mkdir(to, 0700);
	case FTS_DP:
		return folder_finish(entry->fts_statp, to);
	case FTS_F:
		return file_copy(entry->fts_path, to);
	case FTS_SL:
	case FTS_SLNONE:
		return link_copy(entry, to);
	default:
		return 0;
	}
}

static int entry_count(struct copy *copy, const FTSENT *entry, struct err *err) {
	if (entry->fts_info == FTS_DP)
		return 0;
	copy->files++;
	copy->bytes += entry->fts_info == FTS_F ? (uint64_t)entry->fts_statp->st_size : 0;
	if (copy->files > copy->limit->files)
		return err_set(err, ERR_USAGE, hint_out_of_tree, "%s has more than %llu files: too many to copy for each build",
		               copy->from, (unsigned long long)copy->limit->files);
	if (copy->bytes > copy->limit->bytes)
		return err_set(err, ERR_USAGE, hint_out_of_tree, "%s is over %llu MiB: too much to copy for each build",
		               copy->from, (unsigned long long)(copy->limit->bytes >> 20));
	return 0;
}

static bool is_skipped(const struct copy *copy, const FTSENT *entry) {
	if (entry->fts_level > 0 && strcmp(entry->fts_name, ".git") == 0)
		return true;
	return copy->skips && (entry->fts_info == FTS_D || entry->fts_info == FTS_DP) &&
	       entry->fts_statp->st_dev == copy->skip.st_dev && entry->fts_statp->st_ino == copy->skip.st_ino;
}

static int unreadable(const char *path, int why, struct err *err) {
	return err_set(err, ERR_USAGE, hint_out_of_tree, "cannot copy %s: %s", path, strerror(why));
}

static int entry_copy(struct copy *copy, const FTSENT *entry, struct err *err) {
	if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS)
		return unreadable(entry->fts_path, entry->fts_errno, err);
	if (entry_count(copy, entry, err))
		return -1;
	if (entry->fts_info == FTS_F && access(entry->fts_path, R_OK))
		return unreadable(entry->fts_path, errno, err);
	if (!copy->to)
		return 0;
	mem_auto char *to = mem_printf("%s%s", copy->to, entry->fts_path + strlen(copy->from));
	int failed = entry_make(entry, to);
	if (failed && (errno == ENOSPC || errno == EDQUOT))
		err_set(err, ERR_FAILED, "free some space, or set XDG_CACHE_HOME to a larger disk", "cannot write %s: %s", to,
		        strerror(errno));
	else if (failed)
		unreadable(entry->fts_path, errno, err);
	return failed;
}

int program_tree_copy(const char *from, const char *to, const char *skip, const struct program_tree_limit *limit,
                      struct err *err) {
	char *const roots[] = {(char *)from, NULL};
	struct copy copy = {.from = from, .to = to, .limit = limit};
	copy.skips = skip && stat(skip, &copy.skip) == 0;
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	int failed = walk ? 0 : unreadable(from, errno, err);
	for (FTSENT *entry; !failed && (entry = (errno = 0, fts_read(walk)));)
		if (is_skipped(&copy, entry))
			fts_set(walk, entry, FTS_SKIP);
		else
			failed = entry_copy(&copy, entry, err);
	if (!failed && errno)
		failed = unreadable(from, errno, err);
	if (walk)
		fts_close(walk);
	return failed;
}

struct sources {
	const struct program *program;
	char *base;
};

static bool sources_fit(void *ctx, const json_t *facts) {
	const struct sources *sources = ctx;
	return program_inputs_hold(program_build_source(sources->program), sources->base, facts, false);
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
	js_auto json_t *environment = program_variables(program, program->baseline);
	program_build_identity(program, environment, config, key);
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
