/* SPDX-License-Identifier: BSD-3-Clause */
/* A digest of the files that a user's source includes, so that compiled code can be kept as long as they are the same.
 *
 * Which of the files of a name a compiler takes depends on its rules, so all of those that it may take are covered:
 * from the folder of the file that includes it, from those of -I, and from the current one. That a file is missing
 * counts as well, because a file that appears there later would be taken. */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gpu/gpu_impl.h"
#include "base/mem.h"
#include "base/sys.h"

/* Provides the headers of our own .cu files. NVRTC gets them by name, because the host may lack a search path for them.
 */

#define HEADER_SHARED "sweetspot.cuh"

bool include_next(const char **text, struct include *include) {
	const char *line = *text, *end;
	for (; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		const char *at = line + strspn(line, " \t");
		if (*at != '#')
			continue;
		at += 1 + strspn(at + 1, " \t");
		if (strncmp(at, "include", 7) != 0)
			continue;
		at += 7 + strspn(at + 7, " \t");
		bool angled = *at == '<';
		*include = (struct include){.quoted = !angled};
		if (angled || *at == '"') {
			include->name = at + 1;
			include->length = strcspn(at + 1, angled ? ">\n" : "\"\n");
		}
		*text = *end ? end + 1 : end;
		return true;
	}
	return false;
}

/* "sweetspot.cuh". */
static bool include_is_shared(const struct include *include) {
	return include->quoted && include->length == strlen(HEADER_SHARED) &&
	       strncmp(include->name, HEADER_SHARED, include->length) == 0;
}

static bool is_known(const struct headers *headers, const struct include *include) {
	for (int i = 0; i < headers->count; i++)
		if (strlen(headers->names[i]) == include->length &&
		    strncmp(headers->names[i], include->name, include->length) == 0)
			return true;
	return false;
}

/* Takes ownership of the name and the path. */
static bool header_add(struct headers *headers, char *name, char *path, struct err *err) {
	char *text = NULL;
	if (headers->count == HEADERS_MAX)
		err_set(err, ERR_FAILED, NULL, "a kernel's source includes more than %d headers", HEADERS_MAX);
	else
		text = source_read(path, err);
	free(path);
	if (!text) {
		free(name);
		return false;
	}
	headers->names[headers->count] = name;
	headers->texts[headers->count++] = text;
	return true;
}

/* Adds the headers that a text includes and that are still missing, from the folder of the source. */
static bool headers_of(struct headers *headers, const char *source, const char *text, struct err *err) {
	struct include include;
	const char *slash = strrchr(source, '/');
	int folder = slash ? (int)(slash + 1 - source) : 0;
	while (include_next(&text, &include)) {
		int length = (int)include.length;
		if (include.quoted && length > 0 && !is_known(headers, &include) &&
		    !header_add(headers, mem_printf("%.*s", length, include.name),
		                mem_printf("%.*s%.*s", folder, source, length, include.name), err))
			return false;
	}
	return true;
}

bool headers_read(const struct source *source, struct headers *headers, struct err *err) {
	*headers = (struct headers){.count = 0};
	if (source->device) /* sweetspot.cuh is for CUDA */
		return true;
	if (!header_add(headers, mem_strdup(HEADER_SHARED), mem_strdup(HEADER_SHARED), err))
		return false;
	bool fine = source->users || headers_of(headers, source->name, source->text, err);
	for (int i = 1; fine && i < headers->count; i++)
		fine = headers_of(headers, source->name, headers->texts[i], err);
	if (!fine)
		headers_free(headers);
	return fine;
}

void headers_free(struct headers *headers) {
	for (int i = 0; i < headers->count; i++) {
		free(headers->names[i]);
		free(headers->texts[i]);
	}
	headers->count = 0;
}

/* Larger sets are not worth reading for each configuration. */
enum { FILES_MAX = 256, BYTES_MAX = 8 << 20 };

struct walk {
	const char *const *options;
	struct sha256 sha;
	char *paths[FILES_MAX]; /* read, or found missing */
	size_t count, bytes;
};

static bool is_listed(const struct walk *walk, const char *path) {
	for (size_t i = 0; i < walk->count; i++)
		if (strcmp(walk->paths[i], path) == 0)
			return true;
	return false;
}

static bool text_walk(struct walk *walk, const char *text, const char *folder);

/* Takes ownership of the path. */
static bool file_walk(struct walk *walk, char *path) {
	struct stat st;
	struct err err = {.code = ERR_OK};
	size_t size = 0;
	if (is_listed(walk, path) || walk->count == FILES_MAX) {
		bool fine = walk->count < FILES_MAX;
		free(path);
		return fine;
	}
	walk->paths[walk->count++] = path;
	sha256_add(&walk->sha, path, strlen(path) + 1);
	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) {
		sha256_add(&walk->sha, "", 1);
		return true;
	}
	char *text = sys_read_file(path, BYTES_MAX - walk->bytes, &size, &err);
	if (!text)
		return false;
	walk->bytes += size;
	sha256_add(&walk->sha, text, size + 1);
	const char *slash = strrchr(path, '/');
	char *folder = mem_printf("%.*s", (int)(slash - path), path);
	bool fine = strlen(text) == size && text_walk(walk, text, folder);
	free(folder);
	free(text);
	return fine;
}

static bool folder_walk(struct walk *walk, const char *folder, const struct include *include) {
	return file_walk(walk, mem_printf("%s/%.*s", folder, (int)include->length, include->name));
}

static bool include_walk(struct walk *walk, const struct include *include, const char *folder) {
	if (include->name[0] == '/')
		return file_walk(walk, mem_printf("%.*s", (int)include->length, include->name));
	if (!folder_walk(walk, folder, include) || !folder_walk(walk, ".", include))
		return false;
	for (size_t i = 0; walk->options && walk->options[i]; i++)
		if (strncmp(walk->options[i], "-I", 2) == 0 && !folder_walk(walk, walk->options[i] + 2, include))
			return false;
	return true;
}

static bool text_walk(struct walk *walk, const char *text, const char *folder) {
	struct include include;
	if (strstr(text, "__has_include"))
		return false;
	while (include_next(&text, &include))
		if (!include.name || (!include_is_shared(&include) && !include_walk(walk, &include, folder)))
			return false;
	return true;
}

bool includes_digest(const char *text, const char *const *options, char digest[SHA256_TEXT]) {
	struct walk *walk = mem_alloc(1, sizeof *walk);
	walk->options = options;
	sha256_start(&walk->sha);
	bool fine = text_walk(walk, text, ".");
	sha256_end(&walk->sha, digest);
	if (walk->count == 0)
		digest[0] = '\0';
	while (walk->count)
		free(walk->paths[--walk->count]);
	free(walk);
	return fine;
}
