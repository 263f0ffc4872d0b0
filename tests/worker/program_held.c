/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run's output is looked at when the run has ended: a program must not wait for that. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/tap.h"
#include "worker/program/program_impl.h"

/* Reads the file from its start, to its end. */
static void read_all(struct program_output *output, int file) {
	lseek(file, 0, SEEK_SET);
	while (program_output_read(output, file) > 0)
		continue;
}

static void check_size(struct program_output *output, int file, const char *data, size_t size) {
	char hash[SHA256_TEXT], whole[SHA256_TEXT];
	struct digest once;
	digest_start(&once);
	digest_add(&once, data, size);
	digest_end(&once, whole);
	program_output_start(output);
	bool written = ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size;
	read_all(output, file);
	ok(written && output->digest.bytes == 0, "nothing is looked at while %zu bytes come", size);
	ok(program_output_end(output, hash) && output->digest.bytes == size && strcmp(hash, whole) == 0 &&
	       output->digest.words == once.words && output->digest.bag == once.bag && output->digest.lines == once.lines,
	   "the digest is that of the whole text");
}

int main(void) {
	enum { SIZE = 6 << 20 };
	struct program_output output = {.keep = true, .spool = -1};
	char *data = mem_alloc(1, SIZE);
	for (size_t i = 0; i < SIZE; i++)
		data[i] = i % 61 == 60 ? '\n' : (char)('0' + i * 7 % 43);
	int file = memfd_create("output", MFD_CLOEXEC);
	check_size(&output, file, data, 1000);
	check_size(&output, file, data, SIZE);
	for (int i = 0; i < 12; i++)
		read_all(&output, file);
	ok(output.digest.bytes > 0 && output.held_size <= output.held_room, "a flood is looked at before its end");
	close(file);
	program_output_free(&output);
	free(data);
	return tap_done();
}
