/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files as bytes: damaged headers, and text wherever it is. */
#include <elf.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/sys.h"
#include "src/plan/openmp.h"
#include "tests/plan/help.h"
#include "tests/tap.h"

enum { BLOCK = 1 << 18, HEAD = 4096 };

static enum openmp_file kind(const void *data, size_t size, char *loader) {
	file_write("file", data, size, 0755);
	return openmp_file_kind("file", loader, 4096);
}

/* A header of either width and byte order with one entry that names a loader, or none. */
static size_t header(unsigned char *out, bool wide, bool big, bool loader, const char *name) {
	size_t head = wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr),
		   entry = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	struct {
		size_t at, size;
		uint64_t value;
	} fields[] = {
		{16, 2, ET_DYN},
		{wide ? 32 : 28, wide ? 8 : 4, head},
		{wide ? 54 : 42, 2, entry},
		{wide ? 56 : 44, 2, 1},
		{head, 4, loader ? PT_INTERP : PT_LOAD},
		{head + (wide ? 8 : 4), wide ? 8 : 4, head + entry},
		{head + (wide ? 32 : 16), wide ? 8 : 4, strlen(name) + 1},
	};
	memset(out, 0, HEAD);
	memcpy(out, ELFMAG, SELFMAG);
	out[EI_CLASS] = wide ? ELFCLASS64 : ELFCLASS32;
	out[EI_DATA] = big ? ELFDATA2MSB : ELFDATA2LSB;
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		for (size_t b = 0; b < fields[i].size; b++)
			out[fields[i].at + (big ? fields[i].size - 1 - b : b)] = (unsigned char)(fields[i].value >> 8 * b);
	strcpy((char *)out + head + entry, name);
	return head + entry + strlen(name) + 1;
}

static void test_layouts(void) {
	unsigned char bytes[HEAD];
	char loader[4096];
	for (int form = 0; form < 4; form++) {
		bool wide = form & 1, big = form & 2;
		size_t size = header(bytes, wide, big, true, "/lib/ld-linux.so.2");
		if (!wide || big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)) {
			ok(kind(bytes, size, loader) == OPENMP_FILE_OTHER && !*loader,
			   "a program of %d bits, %s first, is not one of this machine", wide ? 64 : 32,
			   big ? "high byte" : "low byte");
			continue;
		}
		ok(kind(bytes, size, loader) == OPENMP_FILE_DYNAMIC && strcmp(loader, "/lib/ld-linux.so.2") == 0,
		   "%d bits, %s first: the loader is read", wide ? 64 : 32, big ? "high byte" : "low byte");
		ok(kind(bytes, size - 1, loader) == OPENMP_FILE_DYNAMIC && !*loader, "a name that is cut off is none");
		size = header(bytes, wide, big, true, "/bin/rm");
		ok(kind(bytes, size, loader) == OPENMP_FILE_DYNAMIC && !*loader, "what is no loader is not asked");
		size = header(bytes, wide, big, true, "ld-linux.so.2");
		ok(kind(bytes, size, loader) == OPENMP_FILE_DYNAMIC && !*loader, "a loader without a folder is not asked");
		size = header(bytes, wide, big, false, "/lib/ld-linux.so.2");
		ok(kind(bytes, size, loader) == OPENMP_FILE_STATIC && !*loader, "a program without a loader is static");
	}
}

/* Whatever is in the file, the answer is one of three, and the name ends inside its buffer. */
static void test_damage(void) {
	struct rng rng;
	size_t size;
	struct err err = {0};
	char loader[4096];
	unsigned char *real = (unsigned char *)sys_read_file("/proc/self/exe", 256 << 20, &size, &err), copy[HEAD];
	int bad = 0, dynamic = 0, other = 0;
	size = size < HEAD ? size : HEAD;
	for (size_t cut = 0; real && cut < size; cut += cut < 1100 ? 1 : 37) {
		enum openmp_file got = kind(real, cut, loader);
		dynamic += got == OPENMP_FILE_DYNAMIC;
		other += got == OPENMP_FILE_OTHER;
		bad += got == OPENMP_FILE_STATIC || memchr(loader, 0, sizeof loader) == NULL;
	}
	ok(real && !bad && dynamic && other, "a program cut off anywhere is never taken for a static one");
	rng_seed(&rng, 7);
	bad = 0;
	for (int round = 0; real && round < 3000; round++) {
		memcpy(copy, real, size);
		for (int flips = 1 + round % 5; flips > 0; flips--)
			copy[rng_u64(&rng) % 700] = (unsigned char)rng_u64(&rng);
		enum openmp_file got = kind(copy, size, loader);
		bad += (got != OPENMP_FILE_DYNAMIC && *loader) || !memchr(loader, 0, sizeof loader);
	}
	ok(!bad, "3000 damaged headers are survived");
	free(real);
}

static void test_damaged_programs(void) {
	struct rng rng;
	int bad = 0;
	size_t size;
	struct err err = {0};
	char *real = sys_read_file("/proc/self/exe", 256 << 20, &size, &err);
	rng_seed(&rng, 8);
	for (int round = 0; real && round < 40; round++) {
		char *copy = malloc(size);
		struct openmp_program got;
		memcpy(copy, real, size);
		for (int flips = 0; flips < 8; flips++)
			copy[64 + rng_u64(&rng) % (size - 64)] ^= (char)(1 + rng_u64(&rng) % 255);
		file_write("file", copy, size, 0755);
		bad += openmp_inspect("./file", NULL, &got, &err) != 0 || !memchr(got.library, 0, sizeof got.library);
		free(copy);
	}
	ok(real && !bad, "the loader's trouble with 40 damaged programs is not ours");
	free(real);
}

static bool takes_long(const char *text) {
	return strlen(text) == 127;
}

static bool takes_end(const char *text) {
	return strcmp(text, "GOMP_end") == 0;
}

static void test_text(void) {
	size_t size = 2 * BLOCK + 1000;
	char *data = malloc(size);
	int missed = 0, made_up = 0;
	for (int off = -140; off <= 20; off += 3) {
		memset(data, ' ', size);
		memcpy(data + BLOCK + off, "GOMP_end", 8);
		file_write("file", data, size, 0644);
		missed += openmp_file_has("file", "GOMP_", takes_end) != 1;
		made_up += openmp_file_has("file", "GOMP_other", NULL) != 0;
	}
	ok(!missed && !made_up, "text is found across the borders of blocks");
	memset(data, 'x', size);
	memcpy(data + size - 8, "GOMP_end", 8);
	file_write("file", data, size, 0644);
	ok(openmp_file_has("file", "GOMP_", takes_end) == 1, "text is found at the very end");
	memcpy(data + 100, "GOMP_", 5);
	file_write("file", data, size, 0644);
	ok(openmp_file_has("file", "GOMP_", takes_long) == 1, "long words are shown in part");
	file_write("file", "GOMP_en", 7, 0644);
	ok(openmp_file_has("file", "GOMP_", takes_end) == 0, "a part of a word is not the word");
	ok(openmp_file_has("missing", "GOMP_", NULL) == -1 && openmp_file_has(".", "GOMP_", NULL) == -1,
	   "what can't be read is told from what has nothing");
	ok(mkfifo("pipe", 0755) == 0 && openmp_file_has("pipe", "GOMP_", NULL) == -1, "a pipe is not waited for");
	free(data);
}

int main(void) {
	folder_enter();
	test_layouts();
	test_damage();
	test_damaged_programs();
	test_text();
	folder_leave();
	return tap_done();
}
