/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps compiled code on disk, in $XDG_CACHE_HOME/sweetspot/cubin: one file for each key, which is complete or absent,
 * and which is checked before use. The cache is off if the folder is missing or others may write to it. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"
#include "gpu/backend.h"

/* A digest of the files that a user's source includes, so that compiled code can be kept as long as they are the same.
 *
 * Which of the files of a name a compiler takes depends on its rules, so all of those that it may take are covered:
 * from the folder of the file that includes it, from those of -I, and from the current one. That a file is missing
 * counts as well, because a file that appears there later would be taken. */
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
	if (!header_add(headers, mem_strdup(HEADER_SHARED), mem_strdup(HEADER_SHARED), err)) {
		if (source->users) /* a program elsewhere may launch it; should it need the file, the compiler tells */
			*err = (struct err){.code = ERR_OK};
		return source->users;
	}
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
	mem_auto char *text = sys_read_file(path, BYTES_MAX - walk->bytes, &size, &err);
	if (!text)
		return false;
	walk->bytes += size;
	sha256_add(&walk->sha, text, size + 1);
	const char *slash = strrchr(path, '/');
	mem_auto char *folder = mem_printf("%.*s", (int)(slash - path), path);
	bool fine = strlen(text) == size && text_walk(walk, text, folder);
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
	mem_auto struct walk *walk = mem_alloc(1, sizeof *walk);
	walk->options = options;
	sha256_start(&walk->sha);
	bool fine = text_walk(walk, text, ".");
	sha256_end(&walk->sha, digest);
	if (walk->count == 0)
		digest[0] = '\0';
	while (walk->count)
		free(walk->paths[--walk->count]);
	return fine;
}

enum { CACHE_FILE_MAX = 64 << 20, CACHE_FUNCTIONS_MAX = 4096 };

/* `functions` of struct gpu_compiled follow, then the image; hash covers both. */
struct head {
	char magic[16];
	uint64_t image, functions, each;
	char hash[SHA256_TEXT];
};
static const char magic[16] = "sweetspot cubin";

char *cache_folder(void) {
	struct err err;
	struct stat st;
	mem_auto char *parent = sys_cache_dir(&err);
	if (!parent)
		return NULL;
	char *folder = mem_printf("%s/cubin", parent);
	bool fine = sys_make_dirs(parent, &err) == 0;
	if (fine)
		mkdir(folder, 0700);
	if (fine && lstat(folder, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 022) == 0)
		return folder;
	free(folder);
	return NULL;
}

/* The key is "sha256:" and digits. */
static char *file_name(const char *folder, const char *key) {
	return mem_printf("%s/%s.cubin", folder, key + 7);
}

static void hash_of(const struct gpu_compiled *functions, size_t count, const char *image, size_t size,
                    char hash[SHA256_TEXT]) {
	struct sha256 sha;
	sha256_start(&sha);
	sha256_add(&sha, functions, count * sizeof *functions);
	sha256_add(&sha, image, size);
	sha256_end(&sha, hash);
}

static bool head_is_right(const struct head *head, size_t size) {
	return memcmp(head->magic, magic, sizeof magic) == 0 && head->each == sizeof(struct gpu_compiled) &&
	       head->functions <= CACHE_FUNCTIONS_MAX && head->image > 0 && head->image <= CACHE_FILE_MAX &&
	       size == sizeof *head + head->functions * head->each + head->image;
}

static bool names_end(const struct gpu_compiled *functions, size_t count) {
	for (size_t i = 0; i < count; i++)
		if (!memchr(functions[i].name, '\0', sizeof functions[i].name))
			return false;
	return true;
}

static bool parse(const char *data, size_t size, struct code *code) {
	struct head head;
	char hash[SHA256_TEXT];
	if (size < sizeof head)
		return false;
	memcpy(&head, data, sizeof head);
	if (!head_is_right(&head, size))
		return false;
	code->count = head.functions;
	code->size = head.image;
	code->functions = mem_alloc(code->count + 1, sizeof *code->functions);
	code->image = mem_alloc(code->size + 1, 1);
	memcpy(code->functions, data + sizeof head, code->count * sizeof *code->functions);
	memcpy(code->image, data + sizeof head + code->count * sizeof *code->functions, code->size);
	hash_of(code->functions, code->count, code->image, code->size, hash);
	if (memcmp(hash, head.hash, sizeof hash) == 0 && names_end(code->functions, code->count))
		return true;
	code_free(code);
	return false;
}

/* Returns NULL, and sets *damaged if there is a file that we did not write like this. */
static char *file_read(const char *path, size_t *size, bool *damaged) {
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char *data = NULL;
	*damaged = false;
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid())
		data = sys_read_fd(fd, path, CACHE_FILE_MAX, size, NULL);
	*damaged = !data;
	futimens(fd, NULL); /* used now: the others go first */
	close(fd);
	return data;
}

bool cache_load(const char *folder, const char *key, struct code *code) {
	mem_auto char *path = file_name(folder, key);
	size_t size = 0;
	bool damaged;
	mem_auto char *data = file_read(path, &size, &damaged);
	bool fine = data && parse(data, size, code);
	if (damaged || (data && !fine))
		unlink(path);
	return fine;
}

static bool write_all(int fd, const void *data, size_t size) {
	const char *at = data;
	while (size) {
		ssize_t put = write(fd, at, size);
		if (put <= 0)
			return false;
		at += put;
		size -= (size_t)put;
	}
	return true;
}

static bool file_write(int fd, const struct code *code) {
	struct head head = {.image = code->size, .functions = code->count, .each = sizeof *code->functions};
	memcpy(head.magic, magic, sizeof magic);
	hash_of(code->functions, code->count, code->image, code->size, head.hash);
	return write_all(fd, &head, sizeof head) && write_all(fd, code->functions, code->count * sizeof *code->functions) &&
	       write_all(fd, code->image, code->size) && fsync(fd) == 0;
}

/* Failures are ignored, because the code is then compiled again next time. */
void cache_store(const char *folder, const char *key, const struct code *code) {
	mem_auto char *path = file_name(folder, key), *temporary = mem_printf("%s/.XXXXXX.tmp", folder);
	if (code->count <= CACHE_FUNCTIONS_MAX && code->size <= CACHE_FILE_MAX / 2) {
		int fd = mkostemps(temporary, 4, O_CLOEXEC);
		bool fine = fd >= 0 && file_write(fd, code);
		if (fd >= 0 && (close(fd) != 0 || !fine || rename(temporary, path) != 0))
			unlink(temporary);
	}
}

void cache_remove(const char *folder, const char *key) {
	mem_auto char *path = file_name(folder, key);
	unlink(path);
}

enum { TRIM_ABANDONED = 3600 /* seconds; writing a file never takes this long */ };

struct found {
	char name[96];
	struct timespec used;
	uint64_t size;
};

static int by_age(const void *a, const void *b) {
	const struct timespec *x = &((const struct found *)a)->used, *y = &((const struct found *)b)->used;
	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static bool ends(const char *name, const char *end) {
	size_t length = strlen(name), tail = strlen(end);
	return length > tail && strcmp(name + length - tail, end) == 0;
}

/* Nothing but our own files is touched. */
static struct found *list(DIR *dir, size_t *count) {
	struct found *all = mem_alloc(1, sizeof *all);
	size_t room = 1;
	*count = 0;
	for (struct dirent *entry; (entry = readdir(dir));) {
		struct stat st;
		bool temporary = ends(entry->d_name, ".tmp");
		if ((!temporary && !ends(entry->d_name, ".cubin")) || strlen(entry->d_name) >= sizeof all->name ||
		    fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
			continue;
		if (temporary) {
			if (time(NULL) - st.st_mtime > TRIM_ABANDONED)
				unlinkat(dirfd(dir), entry->d_name, 0);
			continue;
		}
		if (*count == room)
			all = mem_grow(all, room *= 2, sizeof *all);
		all[*count] = (struct found){.used = st.st_mtim, .size = (uint64_t)st.st_size};
		memcpy(all[(*count)++].name, entry->d_name, strlen(entry->d_name) + 1);
	}
	return all;
}

void cache_trim(const char *folder, uint64_t bytes) {
	DIR *dir = opendir(folder);
	size_t count;
	uint64_t sum = 0;
	if (!dir)
		return;
	mem_auto struct found *all = list(dir, &count);
	qsort(all, count, sizeof *all, by_age);
	for (size_t i = 0; i < count; i++)
		sum += all[i].size;
	for (size_t i = 0; i < count && sum > bytes; i++) {
		unlinkat(dirfd(dir), all[i].name, 0);
		sum -= all[i].size;
	}
	closedir(dir);
}
