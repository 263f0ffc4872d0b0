/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/text.h"
#include "worker/program/program_impl.h"

/* Compressed data differs in every byte although it holds the same. */
static const char *packed_name(const struct digest *digest) {
	static const struct {
		const char *name, *magic;
		size_t size;
	} kinds[] = {{"gzip", "\x1f\x8b", 2},
	             {"xz",
	              "\xfd"
	              "7zXZ",
	              5},
	             {"zstd", "\x28\xb5\x2f\xfd", 4},
	             {"bzip2", "BZh", 3},
	             {"lz4", "\x04\x22\x4d\x18", 4},
	             {"zip", "PK\x03\x04", 4},
	             {"png", "\x89PNG", 4},
	             {"jpeg", "\xff\xd8\xff", 3},
	             {"lzma", "\x5d\x00\x00", 3},
	             {"ogg", "OggS", 4},
	             {"matroska", "\x1a\x45\xdf\xa3", 4},
	             {"flac", "fLaC", 4},
	             {"mp3", "ID3", 3},
	             {"7z", "7z\xbc\xaf", 4},
	             {"lzip", "LZIP", 4}};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (digest->head_size >= kinds[i].size && memcmp(digest->head, kinds[i].magic, kinds[i].size) == 0)
			return kinds[i].name;
	return digest->head_size > 8 && memcmp(digest->head + 4, "ftyp", 4) == 0 ? "mp4" : NULL;
}

/* Lines of text, with the parts that a carriage return overwrites on a terminal as lines of their own. */
static json_t *lines_json(const char *data, size_t size) {
	mem_auto char *text = mem_alloc(size + 1, 1);
	for (size_t i = 0; i < size; i++)
		text[i] = data[i] == '\r' ? '\n' : data[i] ? data[i] : ' ';
	text_clean(text, true);
	return json_string(text);
}

/* {"bytes", "lines", "hash", "words", "bag", "sum", "text" or "binary" or "packed"}; of long text "text" is the first
 * part and "end" the last. New reference. */
static json_t *digest_json(const struct digest *digest, const char *hash) {
	char words[20], bag[20];
	const char *packed = packed_name(digest);
	bool whole = digest->bytes <= DIGEST_HEAD;
	size_t head = digest->head_size, skip = 0;
	snprintf(words, sizeof words, "%016llx", (unsigned long long)digest->words);
	snprintf(bag, sizeof bag, "%016llx", (unsigned long long)digest->bag);
	json_t *json =
		json_pack("{s:I,s:I,s:s,s:s,s:s,s:f}", "bytes", (json_int_t)digest->bytes, "lines", (json_int_t)digest->lines,
	              "hash", hash, "words", words, "bag", bag, "sum", isfinite(digest->sum) ? digest->sum : 0.0);
	if (packed) {
		json_object_set_new(json, "packed", json_string(packed));
	} else if (text_is_binary(digest->head, digest->head_size)) {
		json_object_set_new(json, "binary", json_true());
	} else {
		while (!whole && head > 0 && digest->head[head - 1] != '\n')
			head--;
		json_object_set_new(json, "text", lines_json(digest->head, head));
	}
	if (!whole && json_object_get(json, "text")) {
		while (skip < digest->tail_size && digest->tail[skip] != '\n')
			skip++;
		json_object_set_new(json, "end", lines_json(digest->tail + skip, digest->tail_size - skip));
	}
	return json;
}

enum { WITNESS_KINDS = 4 /* more different runs of one trial are not kept */, WITNESS_ERRORS = 8, WITNESS_LINE = 200 };

/* A program that fails and says so may still end with status 0. */
static bool is_error(const char *line) {
	static const char *const words[] = {"error",     "fail",     "cannot", "can't",     "not found", "denied",
	                                    "violation", "invalid",  "fatal",  "exception", "traceback", "abort",
	                                    "no such",   "overflow", "unable", "panic"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcasestr(line, words[i]))
			return true;
	return false;
}

/* The lines of stderr that speak of errors. */
static json_t *errors_json(const struct program_run *run) {
	json_t *lines = json_array();
	char *text = tail_text(&run->tail), *rest = text;
	for (char *line; json_array_size(lines) < WITNESS_ERRORS && (line = strsep(&rest, "\n"));) {
		if (strlen(line) > WITNESS_LINE)
			line[WITNESS_LINE] = '\0';
		if (is_error(line))
			json_array_append_new(lines, js_text(line));
	}
	free(text);
	return lines;
}

static double processor_seconds(const struct rusage *usage) {
	return (double)usage->ru_utime.tv_sec + (double)usage->ru_stime.tv_sec +
	       ((double)usage->ru_utime.tv_usec + (double)usage->ru_stime.tv_usec) * 1e-6;
}

static bool is_same(const json_t *a, const json_t *b) {
	return js_same(a, b, (const char *const[]){"output", "errors", "left", "files", NULL});
}

static void runs_add(json_t *seen, const json_t *one) {
	json_object_set_new(seen, "runs", json_integer(js_int_or(seen, "runs", 0) + 1));
	json_object_set_new(seen, "processor_s",
	                    json_real(js_real_or(seen, "processor_s", 0) + js_real_or(one, "processor_s", 0)));
}

void program_witness_add(json_t *list, const struct program_run *run, const struct program_output *output,
                         const char *hash, json_t *files) {
	json_t *one =
		json_pack("{s:i,s:o,s:o,s:s,s:o,s:f}", "runs", 1, "output", digest_json(&output->digest, hash), "errors",
	              errors_json(run), "left", run->left, "files", files, "processor_s", processor_seconds(&run->usage));
	js_each (seen, list) {
		if (is_same(seen, one)) {
			runs_add(seen, one);
			json_decref(one);
			return;
		}
	}
	if (json_array_size(list) < WITNESS_KINDS)
		json_array_append_new(list, one);
	else
		json_decref(one);
}

enum {
	WRITTEN_LOOK = 2000,      /* names in the folder and below it */
	WRITTEN_DEEP = 6,         /* folders below each other */
	WRITTEN_LIST = 256,       /* files in the answer */
	WRITTEN_WHOLE = 1 << 20,  /* bytes; of larger files, blocks are read */
	WRITTEN_BLOCK = 64 << 10, /* this many of them */
	WRITTEN_READ = 8 << 20,   /* bytes in all */
	WRITTEN_TEXT = 16         /* files of which the text is kept */
};

struct file {
	char *name; /* below the folder */
	struct stat info;
	int watch; /* reports a write; -1: none */
	bool changed;
};

struct listing {
	struct file *files;
	size_t count;
	bool torn; /* there are more */
};

struct written {
	const char *cwd;
	struct listing before;
	struct stat apart[2]; /* where this process itself writes to */
	int notify;
};

static void listing_clear(struct listing *listing) {
	for (size_t i = 0; i < listing->count; i++)
		free(listing->files[i].name);
	free(listing->files);
	*listing = (struct listing){0};
}

/* SQLite keeps these beside a database while it is open: perhaps our own store. */
static bool is_passing(const char *name) {
	return text_ends_with(name, "-wal") || text_ends_with(name, "-shm") || text_ends_with(name, "-journal");
}

static void file_add(struct listing *listing, const char *name, const struct stat *info) {
	if (listing->count % 64 == 0)
		listing->files = mem_grow(listing->files, listing->count + 64, sizeof *listing->files);
	listing->files[listing->count++] = (struct file){.name = mem_strdup(name), .info = *info, .watch = -1};
}

/* Hidden folders (.git) are tools' own. Links are not followed. */
static void folder_look(struct listing *listing, int parent, const char *path, const char *prefix, int deep) {
	int fd = openat(parent, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (deep ? O_NOFOLLOW : 0));
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct stat info;
	listing->torn = listing->torn || (!dir && deep == 0);
	if (!dir && fd >= 0)
		close(fd);
	for (struct dirent *entry; dir && !listing->torn && (entry = readdir(dir));) {
		if (tree_is_dots(entry->d_name) || is_passing(entry->d_name) ||
		    fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		mem_auto char *name = mem_printf("%s%s%s", prefix, *prefix ? "/" : "", entry->d_name);
		if (!S_ISDIR(info.st_mode))
			file_add(listing, name, &info);
		else if (entry->d_name[0] != '.' && deep < WRITTEN_DEEP)
			folder_look(listing, fd, entry->d_name, name, deep + 1);
		listing->torn = listing->torn || listing->count > WRITTEN_LOOK;
	}
	if (dir)
		closedir(dir);
}

static int by_name(const void *a, const void *b) {
	const struct file *x = a, *y = b;
	return strcmp(x->name, y->name);
}

static void listing_make(struct listing *listing, const char *cwd) {
	folder_look(listing, AT_FDCWD, cwd, "", 0);
	if (listing->count > 1)
		qsort(listing->files, listing->count, sizeof *listing->files, by_name);
}

/* Only an event tells a file that is written anew with the same size from one that is touched. It is reported once, so
 * that a run that writes much is not slowed down. */
static void watch_all(struct written *written) {
	written->notify = written->before.torn ? -1 : inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	for (size_t i = 0; i < written->before.count && written->notify >= 0; i++) {
		struct file *file = &written->before.files[i];
		mem_auto char *path = mem_printf("%s/%s", written->cwd, file->name);
		if (S_ISREG(file->info.st_mode))
			file->watch = inotify_add_watch(written->notify, path, IN_MODIFY | IN_ONESHOT | IN_DONT_FOLLOW);
	}
}

struct written *written_begin(const char *cwd) {
	struct written *written = mem_alloc(1, sizeof *written);
	written->cwd = cwd ? cwd : ".";
	for (int i = 0; i < 2; i++)
		if (fstat(i + 1, &written->apart[i]) != 0)
			written->apart[i] = (struct stat){0};
	listing_make(&written->before, written->cwd);
	watch_all(written);
	return written;
}

/* Names of one file share its watch. It is ignored once the file is gone, whose number a new one may have. */
static void events_read(struct written *written) {
	_Alignas(struct inotify_event) char buffer[4096];
	ssize_t got;
	while (written->notify >= 0 && (got = read(written->notify, buffer, sizeof buffer)) > 0) {
		for (char *at = buffer; at < buffer + got;) {
			const struct inotify_event *event = (const void *)at;
			for (size_t i = 0; i < written->before.count && (event->mask & (IN_MODIFY | IN_IGNORED)); i++)
				written->before.files[i].changed |= written->before.files[i].watch == event->wd;
			at += sizeof *event + event->len;
		}
	}
}

static bool is_apart(const struct written *written, const struct file *file) {
	for (int i = 0; i < 2; i++)
		if (written->apart[i].st_ino == file->info.st_ino && written->apart[i].st_dev == file->info.st_dev)
			return true;
	return false;
}

/* A file that was watched and reported nothing has its old content, whatever its times say. */
static bool is_written(const struct written *written, const struct file *file) {
	const struct file *old = written->before.count
	                             ? bsearch(file, written->before.files, written->before.count, sizeof *file, by_name)
	                             : NULL;
	if (is_apart(written, file))
		return false;
	if (!old || old->info.st_ino != file->info.st_ino || old->info.st_size != file->info.st_size || old->changed)
		return true;
	return old->watch < 0 && (old->info.st_mtim.tv_sec != file->info.st_mtim.tv_sec ||
	                          old->info.st_mtim.tv_nsec != file->info.st_mtim.tv_nsec);
}

static void block_add(struct digest *digest, int fd, off_t from, size_t size) {
	char buffer[8192];
	ssize_t got = 1;
	for (; size > 0 && got > 0; size -= got > 0 ? (size_t)got : 0, from += got) {
		got = pread(fd, buffer, size < sizeof buffer ? size : sizeof buffer, from);
		if (got > 0)
			digest_add(digest, buffer, (size_t)got);
	}
}

/* Reads a file, or evenly spaced blocks of a large one. NULL: it cannot be read. */
static json_t *content_read(int folder, const struct file *file, size_t *budget) {
	off_t size = file->info.st_size, blocks = WRITTEN_WHOLE / WRITTEN_BLOCK;
	size_t cost = size < WRITTEN_WHOLE ? (size_t)size : WRITTEN_WHOLE;
	char hash[SHA256_TEXT];
	int fd = cost <= *budget ? openat(folder, file->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
	if (fd < 0)
		return NULL;
	mem_auto struct digest *digest = mem_alloc(1, sizeof *digest);
	*budget -= cost;
	digest_start(digest);
	for (off_t i = 0; size > WRITTEN_WHOLE && i < blocks; i++)
		block_add(digest, fd, (size - WRITTEN_BLOCK) / (blocks - 1) * i, WRITTEN_BLOCK);
	if (size <= WRITTEN_WHOLE)
		block_add(digest, fd, 0, (size_t)size);
	close(fd);
	digest_end(digest, hash);
	json_t *json = digest_json(digest, hash);
	if (size > WRITTEN_WHOLE)
		json_object_set_new(json, "parts", json_true());
	return json;
}

static const char *kind_of(const struct stat *info) {
	return S_ISREG(info->st_mode) ? "file" : S_ISLNK(info->st_mode) ? "link" : "special";
}

static json_t *file_json(int folder, const struct file *file, size_t *budget, size_t *texts) {
	json_t *json = S_ISREG(file->info.st_mode) ? content_read(folder, file, budget) : NULL;
	json = json ? json : json_object();
	if (json_object_get(json, "text") && (*texts)++ >= WRITTEN_TEXT) {
		json_object_del(json, "text");
		json_object_del(json, "end");
	}
	json_object_set_new(json, "bytes", json_integer((json_int_t)file->info.st_size));
	json_object_set_new(json, "name", js_text(file->name));
	json_object_set_new(json, "kind", json_string(kind_of(&file->info)));
	return json;
}

json_t *written_end(struct written *written) {
	struct listing after = {0};
	size_t budget = WRITTEN_READ, texts = 0;
	events_read(written);
	if (!written->before.torn)
		listing_make(&after, written->cwd);
	int folder = open(written->cwd, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	json_t *list = written->before.torn || after.torn || folder < 0 ? json_null() : json_array();
	for (size_t i = 0; i < after.count && json_is_array(list) && json_array_size(list) < WRITTEN_LIST; i++)
		if (is_written(written, &after.files[i]))
			json_array_append_new(list, file_json(folder, &after.files[i], &budget, &texts));
	if (folder >= 0)
		close(folder);
	if (written->notify >= 0)
		close(written->notify);
	listing_clear(&after);
	listing_clear(&written->before);
	free(written);
	return list;
}
