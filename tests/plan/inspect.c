/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is seen of real programs, and that none of them is started. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/plan/openmp.h"
#include "tests/plan/help.h"
#include "tests/tap.h"

static const char *const runtimes[] = {"none", "unknown", "libgomp", "LLVM"};
static const char *const schedules[] = {"unknown", "none", "used"};

static void seen(const char *program, const char *cwd, enum openmp_runtime runtime, enum openmp_schedule schedule,
                 const char *what) {
	struct err err = {0};
	struct openmp_program got;
	if (!ok(openmp_inspect(program, cwd, &got, &err) == 0, "%s is looked into", what)) {
		printf("# %s\n", err.what);
		return;
	}
	ok(got.runtime == runtime && got.schedule == schedule, "%s: runtime %s, schedule(runtime) %s", what,
	   runtimes[runtime], schedules[schedule]);
	if (got.runtime != runtime || got.schedule != schedule)
		printf("# got %s, %s, %s\n", runtimes[got.runtime], schedules[got.schedule], got.library);
	ok(!program_ran(), "%s is not started", what);
}

static void test_gomp(void) {
	if (!program_compile("gcc", "-O1 -fopenmp", loop_runtime, "used")) {
		tap_skip("programs with libgomp", "gcc -fopenmp builds nothing here");
		return;
	}
	ok(shell("./used") && program_ran(), "the test would notice a start");
	seen("./used", NULL, OPENMP_GOMP, OPENMP_SCHEDULE_USED, "schedule(runtime) by gcc");
	ok(program_compile("gcc", "-O1 -fopenmp", loop_static, "unused"), "gcc builds a static loop");
	seen("./unused", NULL, OPENMP_GOMP, OPENMP_SCHEDULE_NONE, "schedule(static) by gcc");
	ok(shell("strip used"), "a program is stripped");
	seen("./used", NULL, OPENMP_GOMP, OPENMP_SCHEDULE_USED, "a stripped one");
	if (program_compile("gcc", "-O1 -fopenmp -static", loop_runtime, "linked")) {
		ok(shell("./linked") && program_ran(), "a static program would be noticed, too");
		seen("./linked", NULL, OPENMP_GOMP, OPENMP_SCHEDULE_UNKNOWN, "a static program");
		ok(program_compile("gcc", "-O1 -static", loop_none, "linked_none"),
		   "gcc builds a static program without OpenMP");
		seen("./linked_none", NULL, OPENMP_NONE, OPENMP_SCHEDULE_UNKNOWN, "a static program without OpenMP");
	} else {
		tap_skip("a static program", "gcc -static builds nothing here");
	}
}

/* The loop, and with it the runtime, is in a library of the program's. */
static void test_library(void) {
	static const char loop[] =
		"double s[64];\nvoid loop(void);\nvoid loop(void) {\n"
		"#pragma omp parallel for schedule(runtime)\nfor (int i = 0; i < 64; i++) s[i] += i; }\n";
	static const char main_code[] = "void loop(void);\nint main(void) { loop(); return 0; }\n";
	if (!program_compile("gcc", "-O1 -fopenmp -fPIC -shared", loop, "libloop.so") ||
	    !program_compile("gcc", "-Wl,--no-as-needed -Wl,-rpath,'$ORIGIN'", main_code, "user libloop.so")) {
		tap_skip("a loop in a library", "gcc builds no library here");
		return;
	}
	seen("./user", NULL, OPENMP_GOMP, OPENMP_SCHEDULE_USED, "a loop in a library");
	ok(shell("mkdir -p away && ln -sf ../user away/link"), "a link to it");
	seen("away/link", NULL, OPENMP_GOMP, OPENMP_SCHEDULE_USED, "the same by a link elsewhere");
	ok(shell("mv libloop.so lost.so"), "the library is lost");
	struct openmp_program got;
	ok(openmp_inspect("./user", NULL, &got, NULL) == 0 && got.runtime == OPENMP_UNKNOWN,
	   "nothing is made up where the library is lost");
}

static void test_llvm(void) {
	if (!has_command("clang") || !program_compile("clang", "-O1 -fopenmp", loop_runtime, "llvm")) {
		tap_skip("programs with libomp", "clang -fopenmp builds nothing here");
		return;
	}
	seen("./llvm", NULL, OPENMP_LLVM, OPENMP_SCHEDULE_UNKNOWN, "a program by clang");
}

/* Where libgomp.so.1 is a link to LLVM's, as some distributions have it, LLVM's is what runs. */
static void test_disguised(void) {
	struct openmp_program got = {0};
	struct err err = {0};
	if (access("used", X_OK) || access("llvm", X_OK) || openmp_inspect("./llvm", NULL, &got, &err) || !*got.library) {
		tap_skip("one runtime by the name of another", "they are not both here");
		return;
	}
	ok(shell("mkdir -p alias && ln -sf %s alias/libgomp.so.1", got.library), "a link");
	setenv("LD_LIBRARY_PATH", "alias", 1);
	seen("./used", NULL, OPENMP_LLVM, OPENMP_SCHEDULE_UNKNOWN, "one runtime by the name of another");
	setenv("LD_LIBRARY_PATH", "../alias", 1);
	seen("../used", "alias", OPENMP_LLVM, OPENMP_SCHEDULE_UNKNOWN, "the same from another folder");
	unsetenv("LD_LIBRARY_PATH");
}

static void test_others(void) {
	static const char script[] = "#!/bin/sh\n: >ran # GOMP_SPINCOUNT\n";
	static const char bytes[] = "\177ELF and nothing more: GOMP_SPINCOUNT";
	const char *compiler = getenv("CC");
	if (program_compile(compiler ? compiler : "cc", "", loop_none, "none"))
		seen("./none", NULL, OPENMP_NONE, OPENMP_SCHEDULE_UNKNOWN, "a program without OpenMP");
	else
		tap_skip("a program without OpenMP", "no compiler here");
	file_write("script", script, sizeof script - 1, 0755);
	seen("./script", NULL, OPENMP_UNKNOWN, OPENMP_SCHEDULE_UNKNOWN, "a script");
	file_write("bytes", bytes, sizeof bytes - 1, 0755);
	seen("./bytes", NULL, OPENMP_UNKNOWN, OPENMP_SCHEDULE_UNKNOWN, "a damaged file");
	file_write("empty", "", 0, 0755);
	seen("./empty", NULL, OPENMP_UNKNOWN, OPENMP_SCHEDULE_UNKNOWN, "an empty file");
	seen("cat", NULL, OPENMP_NONE, OPENMP_SCHEDULE_UNKNOWN, "a program in PATH");
	seen("sh", NULL, OPENMP_UNKNOWN, OPENMP_SCHEDULE_UNKNOWN, "a shell, whose commands decide");
}

static void refused(const char *program, const char *cwd, const char *what, const char *hint, const char *name) {
	struct err err = {0};
	struct openmp_program got;
	bool good = openmp_inspect(program, cwd, &got, &err) && err.code == ERR_USAGE && strstr(err.what, what) &&
	            strstr(err.hint, hint);
	ok(good, "%s is refused", name);
	if (!good)
		printf("# %s\n# hint: %s\n", err.what, err.hint);
}

/* As execvp, from the folder where it will run. */
static void test_paths(void) {
	static const char script[] = "#!/bin/sh\n";
	ok(shell("mkdir -p sub/bin folder"), "folders");
	file_write("sub/tool", script, sizeof script - 1, 0755);
	file_write("sub/bin/inner", script, sizeof script - 1, 0755);
	file_write("sub/bin/plain", script, sizeof script - 1, 0644);
	seen("./tool", "sub", OPENMP_UNKNOWN, OPENMP_SCHEDULE_UNKNOWN, "a path relative to the folder");
	refused("./tool", NULL, "cannot run ./tool", "build it first", "the same from elsewhere");
	refused("./bones", "sub", "cannot run ./bones", "relative to the folder sub", "a missing one in a folder");
	refused("tool", "sub", "there is no program tool", "did you mean ./tool", "a program that is not in PATH");
	refused("./folder", NULL, "cannot run ./folder", "", "a folder");
	refused("sub/bin/plain", NULL, "Permission denied", "", "a file that may not be run");
	refused("no-such-program-anywhere", NULL, "there is no program", "PATH", "an unknown name");
	refused("", NULL, "there is no program", "", "an empty name");
	char *path = getenv("PATH") ? strdup(getenv("PATH")) : NULL;
	setenv("PATH", "/nowhere:bin:", 1);
	seen("inner", "sub", OPENMP_UNKNOWN, OPENMP_SCHEDULE_UNKNOWN, "a relative folder of PATH");
	seen("tool", "sub", OPENMP_UNKNOWN, OPENMP_SCHEDULE_UNKNOWN, "an empty part of PATH");
	refused("plain", "sub", "Permission denied", "", "one in PATH that may not be run");
	if (path)
		setenv("PATH", path, 1);
	free(path);
}

int main(void) {
	environment_clear();
	folder_enter();
	test_gomp();
	test_library();
	test_llvm();
	test_disguised();
	test_others();
	test_paths();
	folder_leave();
	return tap_done();
}
