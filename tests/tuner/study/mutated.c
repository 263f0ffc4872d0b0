/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of other programs that were changed anywhere do no harm: the seeds of the fuzz target that this is linked with,
 * which has the name of the program behind "mutated_". */
#include <dirent.h>
#include <string.h>

#include "base/mem.h"
#include "base/sys.h"
#include "tests/mutate.h"

enum { ROUNDS = 400, SEED_MAX = 1 << 20 };

static int is_visible(const struct dirent *entry) {
	return *entry->d_name != '.';
}

static void seed_run(const char *folder, const char *name) {
	char *path = mem_printf("%s/%s", folder, name);
	size_t size;
	char *text = sys_read_file(path, SEED_MAX, &size, NULL);
	ok(text && LLVMFuzzerTestOneInput((const uint8_t *)text, size) == 0, "%s is read as it is", name);
	if (text)
		mutate_all(text, size, "\",;|&#{}[]:=\n\t 0123456789.-xs", ROUNDS);
	ok(true, "%s is read or refused where it was changed", name);
	free(text);
	free(path);
}

int main(int argc, char **argv) {
	const char *target = argc ? strstr(argv[0], "mutated_") : NULL, *top = getenv("SRCDIR");
	char *folder = mem_printf("%s/tests/tuner/study/seeds/fuzz_%s", top ? top : ".", target ? target + 8 : "");
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, is_visible, alphasort);
	ok(count > 0, "there are seeds in %s", folder);
	for (int i = 0; i < count; i++) {
		seed_run(folder, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	free(folder);
	return tap_done();
}
