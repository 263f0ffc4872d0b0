/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs that are built for each configuration by the real worker. */
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/tree.h"
#include "tests/tuner/program/help.h"

static const char worker[] = "sweetspot-worker";

static bool sh(const char *line) {
	return system(line) == 0;
}

/* A later session builds nothing again unless something that the build has read is another. */
static void test_kept(const struct program_spec *spec) {
	struct rig rig = rig_open(worker, NULL, *spec);
	status_is(&rig, "{\"B\":2,\"C\":5}", 1, "correct", "a later session runs a program");
	ok(rig.result.value == 2, "a later session runs what was built");
	file_is("../built", "b 1\nb 2\nb 3\n", "a later session does not build it again");
	rig_close(&rig);
	ok(sh("echo '# another' >>source"), "the source changes");
	rig = rig_open(worker, NULL, *spec);
	status_is(&rig, "{\"B\":2,\"C\":5}", 1, "correct", "a program whose source has changed runs");
	file_is("../built", "b 1\nb 2\nb 3\nb 2\n", "a changed source is built again");
	rig_close(&rig);
	ok(sh("for f in ../cache/sweetspot/build/*/tree/app; do echo '#' >>$f; done"), "a kept program changes");
	rig = rig_open(worker, NULL, *spec);
	status_is(&rig, "{\"B\":2,\"C\":5}", 1, "correct", "a kept program that was damaged runs");
	file_is("../built", "b 1\nb 2\nb 3\nb 2\nb 2\n", "a kept program that was damaged is built again");
	rig_close(&rig);
}

/* B is built into the program, C is only an argument. */
static void test_build(const char *top) {
	char *build = mem_printf(
		"echo b {B} >>%s/built; test {B} != 3 || { echo first; echo no {B}s here; exit 1; } >&2; make -s VALUE={B}",
		top);
	file_put("Makefile", "app: source\n\t@cat source >app; echo echo $(VALUE) >>app; chmod +x app\n");
	file_put("source", "#!/bin/sh\npwd >>\"$LOG\"\n");
	char *log = mem_printf("%s/log", top);
	setenv("LOG", log, 1);
	const struct program_spec spec = {
		.argv = WORDS("./app", "{C}"), .params = WORDS("B", "C"), .build = build, .metric = "[0-9]+"};
	struct rig rig = rig_open(worker, NULL, spec);
	is_text(program_param_way(rig.program, "B"), "build", "B belongs to the build");
	is_text(program_param_way(rig.program, "C"), "argument", "C does not");
	for (int round = 0; round < 2; round++) {
		status_is(&rig, "{\"B\":1,\"C\":1}", 1, "correct", "a program is built");
		ok(rig.result.value == 1, "the program is built as requested");
		status_is(&rig, "{\"B\":2,\"C\":1}", 1, "correct", "another value gives a correct program");
		ok(rig.result.value == 2, "another value builds another program");
		status_is(&rig, "{\"B\":2,\"C\":5}", 1, "correct", "another argument needs no other program");
		status_is(&rig, "{\"B\":3,\"C\":5}", 1, "compile", "a failed build has a type");
		ok(strstr(rig.result.message, "no 3s here") && !strstr(rig.result.message, "first"),
		   "a failed build has its last words");
	}
	status_is(&rig, "{\"C\":5}", 1, "constraints", "a build without a value");
	file_is("../built", "b 1\nb 2\nb 3\n", "each was built once, the failed one, too");
	ok(sh("test $(sort -u ../log | wc -l) = 2 && ! grep -qx \"$(pwd)\" ../log"), "each runs in its own folder");
	ok(access("app", F_OK) != 0, "nothing was built here");
	ok(sh("test $(ls -d ../cache/sweetspot/build/*/tree | wc -l) = 2"), "failed builds leave no folder");
	rig_close(&rig);
	ok(sh("test $(ls ../cache/sweetspot/build/*/record | wc -l) = 2"), "the builds that worked are kept in the end");
	test_kept(&spec);
	free(log);
	free(build);
}

static void test_source(void) {
	struct rig rig = rig_open(
		worker, NULL,
		(struct program_spec){.argv = WORDS("cat", "{BUILD}/value"),
	                          .params = WORDS("B"),
	                          .metric = "[0-9]+",
	                          .build = "test -z \"$(ls -A)\" && test -f {SOURCE}/Makefile && echo {B} >value"});
	status_is(&rig, "{\"B\":5}", 1, "correct", "a build with {SOURCE} starts in an empty folder");
	ok(rig.result.value == 5, "the build in an empty folder makes the program that runs");
	rig_close(&rig);
}

static void test_cwd(void) {
	sh("mkdir -p sub; echo 9 >sub/nine");
	struct rig rig = rig_open(worker, NULL,
	                          (struct program_spec){.argv = WORDS("sh", "-c", "cat $0 nine", "{BUILD}/value"),
	                                                .params = WORDS("B"),
	                                                .metric = "[0-9]+",
	                                                .cwd = "sub",
	                                                .build = "cat nine nine >value; rm nine"});
	status_is(&rig, "{\"B\":5}", 1, "correct", "a program that runs outside of its build folder");
	ok(rig.result.value == 9 && access("sub/nine", F_OK) == 0,
	   "the sources of a program in another folder stay unchanged");
	rig_close(&rig);
}

/* A build that would run the same program in every configuration is detected. */
static void test_idle(void) {
	sh("mkdir -p done && cd done && printf 'app:\\n\\ttouch app\\n' >Makefile && touch app");
	struct program_spec spec = {
		.argv = WORDS("cat", "{BUILD}/app"), .params = WORDS("B"), .build = "make -s B={B}", .cwd = "done"};
	struct rig rig = rig_open(worker, NULL, spec);
	status_is(&rig, "{\"B\":5}", 1, "compile", "a build of sources that are already built");
	ok(strstr(rig.result.message, "make clean"), "sources that are already built are answered with make clean");
	rig_close(&rig);
	spec.build = "make -B -s B={B}";
	rig = rig_open(worker, NULL, spec);
	status_is(&rig, "{\"B\":5}", 1, "correct", "a build that builds everything again is fine");
	rig_close(&rig);
	spec.build = "make -s";
	rig = rig_open(worker, NULL, spec);
	status_is(&rig, "{\"B\":5}", 1, "correct", "a build that depends on no parameter is fine");
	rig_close(&rig);
	spec.build = "cd {SOURCE}/done && make -B -s B={B}";
	rig = rig_open(worker, NULL, spec);
	status_is(&rig, "{\"B\":5}", 1, "compile", "a build inside of the sources is refused");
	rig_close(&rig);
}

/* Runs a program that prints its B, in a folder with an old one that prints 9. A failure must name the copy. */
static void copied(struct program_spec spec, const char *want, const char *what) {
	spec.params = WORDS("B");
	spec.metric = "[0-9]+";
	if (!spec.build)
		spec.build = "echo echo {B} >app";
	struct rig rig = rig_open(worker, NULL, spec);
	const char *got = rig.program ? rig_status(&rig, "{\"B\":5}", 1) : "refused";
	bool as_wanted = strcmp(got, want) == 0 && (strcmp(want, "correct") != 0 || rig.result.value == 5);
	ok(as_wanted &&
	       (strcmp(want, "correct") == 0 || strstr(rig.err.what, "copy") || strstr(rig.result.message, "copy")),
	   "%s: %s %s%s", what, got, rig.err.what, rig.result.message);
	rig_close(&rig);
}

/* The program runs in a copy of its folder, however the command names that. */
static void test_copied(const char *top) {
	char *folder = mem_printf("%s/with blank", top), *link = mem_printf("%s/link", top);
	ok(mkdir(folder, 0700) == 0 && chdir(folder) == 0 && symlink(folder, link) == 0,
	   "a folder with a blank in its name");
	sh("echo echo 9 >app; chmod +x app; echo 7 >../data; printf '#!/bin/sh\nexec \"%s/app\"\n' \"$PWD\" >script");
	sh("chmod +x script; sed 's/exec.*/exec .\\/app/' script >here; chmod +x here; echo '. \"'$(dirname "
	   "\"$PWD\")'/link/app\"' >outside");
	char *app = mem_printf("%s/app", folder), *linked = mem_printf("%s/app", link);
	char *assigned = mem_printf("P=%s", app), *line = mem_printf("cd '%s' && sh ./app", folder);
	char *elsewhere = mem_printf("echo echo {B} >%s/out; touch made", top),
		 *inside = mem_printf("echo echo {B} >'%s'", app);
	copied((struct program_spec){.argv = WORDS("sh", "./app")}, "correct", "a relative path is that of the copy");
	copied((struct program_spec){.argv = WORDS("sh", app)}, "correct", "so is an absolute one");
	copied((struct program_spec){.argv = WORDS("sh", linked)}, "correct", "and one by way of a link");
	copied((struct program_spec){.argv = WORDS("sh", "../link/app")}, "correct", "and one by way of the parent");
	copied((struct program_spec){.argv = WORDS("env", assigned, "sh", "-c", "sh \"$P\"")}, "correct",
	       "and in a variable");
	copied((struct program_spec){.argv = WORDS(line), .shell = true}, "correct", "and in a line for a shell");
	copied((struct program_spec){.argv = WORDS("sh", "./app"), .build = inside}, "correct",
	       "and where the build writes");
	copied((struct program_spec){.argv = WORDS("sh", "./here")}, "correct", "a script may run what was built");
	copied((struct program_spec){.argv = WORDS("./script")}, "error", "one that runs the old program is found out");
	copied((struct program_spec){.argv = WORDS("sh", "outside")}, "error", "also where it goes by way of a link");
	copied((struct program_spec){.argv = WORDS("sh", "./app"), .build = "echo echo {B} >other"}, "error",
	       "a build of another name is told");
	copied((struct program_spec){.argv = WORDS("sh", "./app"), .build = elsewhere}, "error",
	       "and one that writes elsewhere");
	copied((struct program_spec){.argv = WORDS("cat", "../data")}, "refused", "a file beside the folder is not there");
	copied((struct program_spec){.argv = WORDS("sh", "-c", "cat ../data")}, "runtime", "which a failure says");
	copied((struct program_spec){.argv = WORDS("sh", "./app"), .build = "cat ../data >app; false {B}"}, "compile",
	       "also one of the build");
	struct rig rig =
		rig_open(worker, NULL, (struct program_spec){.argv = WORDS("sh", app), .params = WORDS("B"), .build = inside});
	json_t *json = program_json(rig.program, NULL);
	is_text(json_string_value(json_array_get(json_object_get(json, "argv"), 1)), app,
	        "the result has the user's words");
	is_text(json_string_value(json_object_get(json, "build")), inside, "the result has the user's build command");
	file_is("app", "echo 9\n", "no build writes to the sources");
	json_decref(json);
	rig_close(&rig);
	char *const all[] = {folder, link, app, linked, assigned, line, elsewhere, inside};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		free(all[i]);
	ok(chdir("../src") == 0, "back");
}

static void test_no_cache(const char *cache) {
	setenv("XDG_CACHE_HOME", "/dev/null/none", 1);
	struct rig rig = rig_open(worker, NULL,
	                          (struct program_spec){.argv = WORDS("./app"), .build = "echo >app", .expect_same = true});
	ok(rig.program, "nothing is created before the first build");
	status_is(&rig, "{\"B\":1}", 1, "error", "there is no folder to build in");
	ok(rig.err.code == ERR_FAILED && *rig.err.hint, "a missing folder for builds is an error: %s", rig.err.what);
	rig_close(&rig);
	setenv("XDG_CACHE_HOME", cache, 1);
}

static void test_slow_build(void) {
	struct rig rig = rig_open(
		worker, NULL,
		(struct program_spec){
			.argv = WORDS("./app"), .params = WORDS("B"), .build = "sleep 60; echo {B}", .build_timeout_s = 0.3});
	status_is(&rig, "{\"B\":5}", 1, "compile", "a build that hangs");
	ok(strstr(rig.result.message, "timed out after"), "a build that hangs is ended");
	rig_close(&rig);
}

static volatile int interrupted;

static void interrupt(int number) {
	interrupted = number;
}

static void test_interrupt(void) {
	signal(SIGUSR1, interrupt);
	struct rig rig =
		rig_open(worker, &interrupted, (struct program_spec){.argv = WORDS("sh", "-c", "echo $$ >pid; exec sleep 60")});
	if (fork() == 0) {
		while (access("pid", F_OK))
			usleep(10000);
		kill(getppid(), SIGUSR1);
		_exit(0);
	}
	status_is(&rig, "{}", 1, "error", "a run that is interrupted");
	ok(rig.err.code == ERR_INTERRUPTED, "an interrupted run is not a failure of the trial");
	ok(sh("sleep 0.1; ! kill -0 $(cat pid) 2>/dev/null"), "an interrupted run leaves no process behind");
	rig_close(&rig);
	wait(NULL);
}

int main(void) {
	char top[] = "/tmp/sweetspot-build-XXXXXX";
	char *build = realpath(getenv("BUILDDIR") ? getenv("BUILDDIR") : ".", NULL);
	if (!build || !mkdtemp(top) || chdir(top) || mkdir("src", 0700) || chdir("src")) {
		printf("Bail out! no folder\n");
		return 99;
	}
	setenv("BUILDDIR", build, 1);
	char *cache = mem_printf("%s/cache", top);
	setenv("XDG_CACHE_HOME", cache, 1);
	test_build(top);
	test_source();
	test_cwd();
	test_idle();
	test_copied(top);
	test_slow_build();
	test_no_cache(cache);
	test_interrupt();
	tree_remove(top);
	free(cache);
	free(build);
	return tap_done();
}
