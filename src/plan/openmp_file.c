/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/plan/openmp_file.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum { BLOCK = 1 << 18, TEXT_MAX = 128, HEADERS_MAX = 1024, FILE_MAX = 512 << 20 };

/* Offset and size of the fields that are read from ELF files of 32 and 64 bits. */
struct field {
	unsigned char at, size;
};
struct layout {
	size_t header, entry; /* sizes */
	struct field table, entry_size, entries, offset, length;
};
static const struct layout layouts[] = {
	{sizeof(Elf32_Ehdr), sizeof(Elf32_Phdr), {28, 4}, {42, 2}, {44, 2}, {4, 4}, {16, 4}},
	{sizeof(Elf64_Ehdr), sizeof(Elf64_Phdr), {32, 8}, {54, 2}, {56, 2}, {8, 8}, {32, 8}},
};

struct elf {
	int fd;
	bool big; /* most significant byte first */
	const struct layout *layout;
	unsigned char header[sizeof(Elf64_Ehdr)];
};

static uint64_t number(const struct elf *elf, const unsigned char *bytes, struct field field) {
	uint64_t value = 0;
	for (size_t i = 0; i < field.size; i++)
		value = value << 8 | bytes[field.at + (elf->big ? i : field.size - 1 - i)];
	return value;
}

/* Reads exactly `size` bytes. The kernel rejects offsets that are negative or overflow. */
static bool read_at(int fd, void *data, size_t size, uint64_t offset) {
	return offset <= INT64_MAX && pread(fd, data, size, (off_t)offset) == (ssize_t)size;
}

static bool header_read(struct elf *elf) {
	const unsigned char *id = elf->header;
	if (!read_at(elf->fd, elf->header, sizeof(Elf32_Ehdr), 0) || memcmp(id, ELFMAG, SELFMAG) != 0)
		return false;
	if ((id[EI_CLASS] != ELFCLASS32 && id[EI_CLASS] != ELFCLASS64) ||
	    (id[EI_DATA] != ELFDATA2LSB && id[EI_DATA] != ELFDATA2MSB))
		return false;
	elf->big = id[EI_DATA] == ELFDATA2MSB;
	elf->layout = &layouts[id[EI_CLASS] == ELFCLASS64];
	uint64_t type = number(elf, id, (struct field){16, 2});
	return (type == ET_EXEC || type == ET_DYN) && read_at(elf->fd, elf->header, elf->layout->header, 0) &&
	       number(elf, id, elf->layout->entry_size) == elf->layout->entry;
}

/* Accepts only an absolute path whose file is named like a loader, because the interpreter is going to be run, and
 * another program might take --list for something else. */
static void interpreter_read(const struct elf *elf, const unsigned char *entry, char *interpreter, size_t size) {
	uint64_t offset = number(elf, entry, elf->layout->offset), length = number(elf, entry, elf->layout->length);
	bool good = length > 1 && length <= size && read_at(elf->fd, interpreter, length, offset) &&
	            interpreter[length - 1] == '\0' && interpreter[0] == '/';
	if (good) {
		const char *base = strrchr(interpreter, '/') + 1;
		good = strncmp(base, "ld-", 3) == 0 || strncmp(base, "ld.so", 5) == 0 || strncmp(base, "ld64.so", 7) == 0;
	}
	if (!good)
		interpreter[0] = '\0';
}

static enum openmp_file kind_of(struct elf *elf, char *interpreter, size_t size) {
	if (!header_read(elf))
		return OPENMP_FILE_OTHER;
	uint64_t table = number(elf, elf->header, elf->layout->table);
	uint64_t entries = number(elf, elf->header, elf->layout->entries);
	if (entries > HEADERS_MAX || table > FILE_MAX)
		return OPENMP_FILE_OTHER;
	for (uint64_t i = 0; i < entries; i++) {
		unsigned char entry[sizeof(Elf64_Phdr)];
		if (!read_at(elf->fd, entry, elf->layout->entry, table + i * elf->layout->entry))
			return OPENMP_FILE_OTHER;
		if (number(elf, entry, (struct field){0, 4}) == PT_INTERP) {
			interpreter_read(elf, entry, interpreter, size);
			return OPENMP_FILE_DYNAMIC;
		}
	}
	return entries ? OPENMP_FILE_STATIC : OPENMP_FILE_OTHER;
}

/* Opens regular files only, because reading a pipe or a device could block. */
static int plain_open(const char *path, struct stat *st) {
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && (fstat(fd, st) || !S_ISREG(st->st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

enum openmp_file openmp_file_kind(const char *path, char *interpreter, size_t size) {
	struct stat st;
	struct elf elf = {.fd = plain_open(path, &st)};
	interpreter[0] = '\0';
	if (elf.fd < 0)
		return OPENMP_FILE_OTHER;
	enum openmp_file kind = kind_of(&elf, interpreter, size);
	close(elf.fd);
	return kind;
}

static bool is_wanted(const char *at, size_t left, bool (*wanted)(const char *text)) {
	char text[TEXT_MAX];
	size_t length = 0;
	while (length < left && length + 1 < TEXT_MAX && (isalnum((unsigned char)at[length]) || at[length] == '_'))
		length++;
	memcpy(text, at, length);
	text[length] = '\0';
	return !wanted || wanted(text);
}

/* Text that begins in the last TEXT_MAX bytes may be cut off, so it is left for the next block unless this is the last.
 */
static bool block_has(const char *block, size_t size, bool last, const char *start, bool (*wanted)(const char *text)) {
	const char *at = block, *end = block + size, *limit = last ? end : end - TEXT_MAX;
	while (at < limit && (at = memmem(at, (size_t)(end - at), start, strlen(start))) && at < limit) {
		if (is_wanted(at, (size_t)(end - at), wanted))
			return true;
		at++;
	}
	return false;
}

static ssize_t read_full(int fd, char *data, size_t size) {
	size_t have = 0;
	while (have < size) {
		ssize_t got = read(fd, data + have, size - have);
		if (got < 0 && errno != EINTR)
			return -1;
		if (got == 0)
			break;
		have += got > 0 ? (size_t)got : 0;
	}
	return (ssize_t)have;
}

static int fd_has(int fd, const char *start, bool (*wanted)(const char *text)) {
	char *block = mem_alloc(BLOCK, 1);
	size_t kept = 0;
	int found = 0;
	for (bool last = false; !last && !found;) {
		ssize_t got = read_full(fd, block + kept, BLOCK - kept);
		if (got < 0) {
			found = -1;
			break;
		}
		size_t size = kept + (size_t)got;
		last = size < BLOCK;
		found = block_has(block, size, last, start, wanted);
		kept = TEXT_MAX;
		if (!last)
			memmove(block, block + size - kept, kept);
	}
	free(block);
	return found;
}

int openmp_file_has(const char *path, const char *start, bool (*wanted)(const char *text)) {
	struct stat st;
	int fd = plain_open(path, &st);
	if (fd < 0)
		return -1;
	int found = st.st_size > FILE_MAX ? -1 : fd_has(fd, start, wanted);
	close(fd);
	return found;
}
