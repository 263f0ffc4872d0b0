/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs with Kokkos are seen by their files, also behind launchers and scripts, and none of them is started. */
#include <stdlib.h>

#include "src/plan/kokkos_program.h"
#include "tests/plan/help.h"
#include "tests/tap.h"

/* Each would leave a file behind. */
#define RUNS "#include <stdio.h>\n"
#define MAIN "int main(void) { return !fopen(\"ran\", \"w\"); }\n"
static const char tuned[] = RUNS "const char *names[] = {\"KOKKOS_TOOLS_LIBS\", \"kokkosp_request_values\"};\n" MAIN;
static const char old[] = RUNS
	"const char *names[] = {\"KOKKOS_PROFILE_LIBRARY\", \"kokkosp_init_library\", \"kokkosp_request_values\"};\n" MAIN;
static const char named[] = RUNS "const char *name = \"KOKKOS_TOOLS_LIBS\";\n" MAIN;
static const char nothing[] = RUNS MAIN;

static enum kokkos_program found(const char *const *words) {
	size_t count = 0;
	while (words[count])
		count++;
	return kokkos_program_find(words, count, NULL);
}

#define FOUND(...) found((const char *const[]){__VA_ARGS__, NULL})

int main(void) {
	folder_enter();
	if (!program_compile("cc", "-O1", tuned, "tuned") || !program_compile("cc", "-O1", named, "named") ||
	    !program_compile("cc", "-O1", old, "old") || !program_compile("cc", "-O1", nothing, "nothing")) {
		tap_skip("programs of Kokkos", "cc builds nothing here");
		folder_leave();
		return tap_done();
	}
	ok(shell("./tuned") && program_ran(), "the test would notice a start");
	ok(FOUND("./tuned") == KOKKOS_PROGRAM_TUNED, "a program whose Kokkos can be tuned");
	ok(FOUND("./old") == KOKKOS_PROGRAM_TUNED, "a program whose Kokkos is of before 4.0 and can be tuned");
	ok(FOUND("./named") == KOKKOS_PROGRAM_NAMED, "a program whose Kokkos was built without tuning");
	ok(FOUND("./nothing") == KOKKOS_PROGRAM_NONE, "a program without Kokkos");
	ok(FOUND("./absent") == KOKKOS_PROGRAM_NONE, "a program that is not there");
	ok(FOUND("env", "A=1", "./tuned", "in.dat") == KOKKOS_PROGRAM_TUNED, "a program behind a launcher");
	ok(FOUND("sh", "-c", "A=1 ./tuned <in | sort") == KOKKOS_PROGRAM_TUNED, "a program in code for a shell");
	ok(shell("mkdir -p deep && cp tuned deep/ && printf '#!/bin/sh\\ncd \"$(dirname \"$0\")\"\\nexec "
	         "\"$(dirname \"$0\")\"/tuned \"$@\"\\n' >deep/run && chmod +x deep/run"),
	   "a script is written");
	ok(FOUND("deep/run") == KOKKOS_PROGRAM_TUNED, "a program beside the script that starts it");
	ok(shell("printf '#!/bin/sh\\necho \"$KOKKOS_TOOLS_LIBS kokkosp_request_values\"\\n' >texts && chmod +x texts"),
	   "a script with these texts is written");
	ok(FOUND("./texts") == KOKKOS_PROGRAM_NONE, "a script that only mentions Kokkos");
	ok(shell("printf '#!/bin/sh\\nexec ./loop\\n' >loop && chmod +x loop"), "a script that runs itself is written");
	ok(FOUND("./loop") == KOKKOS_PROGRAM_NONE, "a script that runs itself comes to an end");
	ok(!program_ran(), "none of them is started");
	folder_leave();
	return tap_done();
}
