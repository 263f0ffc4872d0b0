/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The folder of the records and the files of the program belong to the program: whatever it puts there, the tuner gets
 * an answer, and gets it soon. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/sys.h"
#include "base/tree.h"
#include "tests/tap.h"
#include "tests/tuner/regions/made.h"
#include "tuner/regions/regions_impl.h"

static char folder[] = "/tmp/sweetspot-hostile-XXXXXX";

static char *inside(const char *name) {
	return mem_printf("%s/%s", folder, name);
}

static void record_put(const char *module) {
	struct omp_record *raw = raw_new(2, 4);
	char *path = inside("records/run.1");
	snprintf(raw->modules[0].path, OMP_PATH, "%s", module);
	sys_write_file(path, raw, sizeof *raw + 4 * sizeof raw->calls[0], NULL);
	free(path);
	free(raw);
}

/* The record is read, and its first region is called so. */
static void check_name(const char *module, const char *want, const char *what) {
	struct err err = {0};
	char *records = inside("records");
	record_put(module);
	struct regions_record *record = regions_record_read(records, &err);
	ok(record && record->count == 2, "%s", what);
	if (record)
		is_text(record->regions[0].name, want, "a region of a hostile module has its offset for a name");
	regions_record_free(record);
	free(records);
}

static void check_modules(void) {
	char *pipe = inside("pipe"), *link = inside("link"), *loop = inside("loop"), *text = inside("text");
	ok(mkfifo(pipe, 0700) == 0 && symlink("/dev/zero", link) == 0 && symlink("loop", loop) == 0 &&
	       sys_write_file(text, "\177ELF\2\1\1", 7, NULL) == 0,
	   "files that are not programs");
	check_name(pipe, "pipe+0x10", "a program that became a pipe");
	check_name(link, "link+0x10", "a program that became a device without an end");
	check_name(loop, "loop+0x10", "a program that became a link to itself");
	check_name(text, "text+0x10", "a program that lost all but its beginning");
	check_name("/", "+0x10", "a program that is a folder");
	free(pipe);
	free(link);
	free(loop);
	free(text);
}

static void check_folder(void) {
	char *pipe = inside("records/run.0"), *device = inside("records/run.2"), *folder_too = inside("records/run.3");
	ok(mkfifo(pipe, 0700) == 0 && symlink("/dev/zero", device) == 0 && mkdir(folder_too, 0700) == 0,
	   "a pipe, a device and a folder beside the record");
	check_name("/nowhere", "nowhere+0x10", "the record is read");
	free(pipe);
	free(device);
	free(folder_too);
}

/* The program of this test, a few bytes of which are changed. */
static void check_files(void) {
	enum { ROUNDS = 200 };
	struct rng rng;
	size_t size = 0;
	char *own = sys_read_file("/proc/self/exe", 64 << 20, &size, NULL);
	rng_seed(&rng, 3);
	for (int i = 0; own && i < ROUNDS; i++) {
		char *copy = mem_alloc(size, 1);
		const char *name;
		uint64_t found = 0, hash = 0;
		memcpy(copy, own, size);
		for (int c = 0; c < 20; c++)
			copy[rng_below(&rng, c < 10 ? 64 + 56 * 13 : size)] = (char)rng_below(&rng, 256);
		struct symbols *symbols = symbols_parse(copy, rng_below(&rng, 4) ? size : (size_t)rng_below(&rng, size));
		for (size_t k = 0; symbols && k < symbols->count && k < 8; k++) {
			symbols_at(symbols, symbols->table[k].st_value - symbols->base, &name, &found);
			symbols_code(symbols, symbols->table[k].st_value - symbols->base, &found, &hash);
		}
		symbols_free(symbols);
	}
	ok(own && size > 0, "%d programs with changed bytes", ROUNDS);
	free(own);
}

int main(void) {
	if (!mkdtemp(folder))
		return 99;
	char *records = inside("records");
	ok(mkdir(records, 0700) == 0, "a folder");
	check_modules();
	check_folder();
	check_files();
	free(records);
	tree_remove(folder);
	return tap_done();
}
