/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The digest of included files: it changes when, and only when, a file that the compiler may take does. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu/backend.h"
#include "base/mem.h"
#include "tests/tap.h"

static const char *const options[] = {"-DX=1", "-Ifirst", "-Isecond", NULL};
static const char source[] = "#include \"a.h\"\n#include <vector>\nint f();\n";

static void put(const char *path, const char *text) {
	FILE *file = fopen(path, "w");
	if (!file || fputs(text, file) < 0 || fclose(file) != 0)
		perror(path);
}

/* Does the digest differ from the last one? */
static bool changes(char last[SHA256_TEXT]) {
	char now[SHA256_TEXT];
	bool fine = includes_digest(source, options, now), other = strcmp(now, last) != 0;
	strcpy(last, now);
	return fine && other;
}

static void check_changes(void) {
	char last[SHA256_TEXT] = "";
	put("second/a.h", "#include \"deep/b.h\"\n");
	ok(changes(last) && !changes(last), "the same files have the same digest");
	put("second/deep/b.h", "int b;\n");
	ok(changes(last), "a file that was missing");
	put("second/deep/b.h", "int c;\n#include \"c.h\"\n#include \"b.h\"\n");
	ok(changes(last), "other content of a file that an included one includes");
	put("second/deep/c.h", "int d;\n");
	ok(changes(last), "a file from the folder of the one that includes it");
	put("first/a.h", "int e;\n");
	ok(changes(last), "one of the same name in an earlier folder");
	put("other.h", "int g;\n");
	ok(!changes(last), "a file that nobody includes changes nothing");
	put("first/vector", "int h;\n");
	ok(changes(last), "a file that shadows a system's header");
	unlink("first/a.h");
	ok(changes(last), "a file that was removed");
}

static void check_unknown(void) {
	char digest[SHA256_TEXT];
	ok(includes_digest("int f();\n#include \"sweetspot.cuh\"\n", NULL, digest) && !digest[0],
	   "no files have no digest");
	ok(!includes_digest("#include NAME\n", options, digest), "the name of a file may be a macro");
	ok(!includes_digest("#if __has_include(\"x.h\")\n", options, digest), "a source may ask whether there is a file");
	put("first/big.h", "");
	ok(truncate("first/big.h", 9 << 20) == 0 && !includes_digest("#include \"big.h\"\n", options, digest),
	   "a file may be too large to be read each time");
	put("first/zero.h", "int i;");
	ok(truncate("first/zero.h", 100) == 0 && !includes_digest("#include \"zero.h\"\n", options, digest),
	   "a file may not be text");
	char *many = mem_strdup("");
	for (int i = 0; i < 300; i++) {
		char *longer = mem_printf("%s#include \"%d.h\"\n", many, i);
		free(many);
		many = longer;
	}
	ok(!includes_digest(many, options, digest), "a source may include too many files");
	free(many);
}

/* A pipe would be waited for, a device has no end, and a folder that contains itself gives each file many names. */
static void check_special(void) {
	char digest[SHA256_TEXT];
	ok(mkfifo("first/pipe.h", 0600) == 0 && symlink("/dev/zero", "first/device.h") == 0 &&
	       symlink("loop.h", "first/loop.h") == 0 && symlink(".", "first/again") == 0,
	   "special files");
	ok(includes_digest("#include \"pipe.h\"\n#include \"device.h\"\n#include \"loop.h\"\n", options, digest) &&
	       digest[0],
	   "a pipe, a device and a link to itself are not read");
	put("first/self.h", "#include \"again/self.h\"\n");
	ok(includes_digest("#include \"self.h\"\n", options, digest) && digest[0],
	   "a file that includes itself under ever longer names, until the system follows no more links");
	put("first/own.h", "#include \"own.h\"\n");
	ok(includes_digest("#include \"own.h\"\n", options, digest) && digest[0], "a file that includes itself");
}

int main(void) {
	char home[] = "/tmp/sweetspot-includes-XXXXXX";
	if (!mkdtemp(home) || chdir(home) != 0 || mkdir("first", 0700) || mkdir("second", 0700) ||
	    mkdir("second/deep", 0700))
		return 99;
	check_changes();
	check_unknown();
	check_special();
	char *command = mem_printf("rm -rf '%s'", home);
	int removed = system(command);
	free(command);
	return tap_done() | (removed != 0);
}
