/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is refused, with what advice; and what identifies a program. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/hash.h"
#include "tests/plan/help.h"
#include "tests/tap.h"

#define REFUSED(what, hint, ...)                                                                                       \
	do {                                                                                                               \
		struct planned *refused_plan = planned_new("core:2 pu:1", __VA_ARGS__, NULL);                                  \
		ok(planned_refused(refused_plan, (what), (hint)), "refused: %s", (what));                                      \
		planned_free(refused_plan);                                                                                    \
	} while (0)

static void test_command_errors(void) {
	REFUSED("no program is given", "after two dashes", "--openmp");
	REFUSED("no program is given", "after two dashes", "--openmp", "--");
	REFUSED("name of the program is empty", "", "--openmp", "--", "");
	REFUSED("word 2 of the command is not UTF-8", "", "--openmp", "--", "./script", "\xff");
	REFUSED("cannot run ./missing", "build it first", "--openmp", "--", "./missing");
	REFUSED("cannot run /tmp: Is a directory", "name the program in it", "--openmp", "--", "/tmp");
	REFUSED("there is no program no-such-program", "PATH", "--openmp", "--", "no-such-program");
	REFUSED("there is no program just-here", "did you mean ./just-here?", "--openmp", "--", "just-here");
	REFUSED("nothing to tune: give --openmp or --param", "", "--", "./script");
	REFUSED("cannot enter the folder nowhere", "", "--openmp", "--cwd", "nowhere", "--", "./script");
	REFUSED("cannot enter the folder script", "", "--openmp", "--cwd", "script", "--", "./script");
	REFUSED("cannot read nothing.dat", "", "--openmp", "--input", "nothing.dat", "--", "./script");
	REFUSED("cannot read .:", "", "--openmp", "--input", ".", "--", "./script");
	REFUSED("cannot read script", "the program runs in sub", "--openmp", "--input", "script", "--cwd", "sub", "--",
	        "sh");
	REFUSED("--expect-output cannot be different", "--verify", "--openmp", "--expect-output", "different", "--",
	        "./script");
	REFUSED("--size is for kernels", "--param", "--openmp", "--size", "n=3", "--", "./script");
	REFUSED("--build is empty", "", "--openmp", "--build", "", "--", "./script");
	REFUSED("--verify is not UTF-8", "", "--openmp", "--verify", "\xc3", "--", "./script");
}

static void test_param_errors(void) {
	REFUSED("the parameter B is given twice", "one --param", "--param", "B=1,2", "--param", "B=3", "--", "./script");
	REFUSED("--param B does not give a value", "NAME=A,B,C", "--param", "B", "--", "./script");
	REFUSED("--param B= does not give a value", "NAME=A,B,C", "--param", "B=", "--", "./script");
	REFUSED("--param =1 does not give a value", "NAME=A,B,C", "--param", "=1", "--", "./script");
	REFUSED("'a-b' cannot be the name of a parameter", "letters", "--param", "a-b=1,2", "--", "./script");
	REFUSED("in cannot be the name of a parameter", "another name", "--param", "in=1,2", "--", "./script");
	REFUSED("BUILD cannot be the name of a parameter", "another name", "--param", "BUILD=1,2", "--", "./script");
	REFUSED("occurs twice", "", "--param", "B=1,1", "--", "./script");
	REFUSED("threads is one of the parameters of --openmp", "--range", "--openmp", "--param", "threads=1,2", "--",
	        "./script");
	REFUSED("unknown parameter \"BLOK\"", "did you mean BLOCK?", "--param", "BLOCK=1,2", "--default", "BLOK=1", "--",
	        "./script");
	REFUSED("\"3\" is not a value of BLOCK", "1, 2", "--param", "BLOCK=1,2", "--default", "BLOCK=3", "--", "./script");
	REFUSED("\"1,B=2\" is not a value of A", "--default A=1 --default B=2", "--param", "A=1,2", "--param", "B=1,2",
	        "--default", "A=1,B=2", "--", "./script");
	REFUSED("two defaults", "", "--param", "B=1,2", "--default", "B=1", "--default", "B=2", "--", "./script");
	REFUSED("threads comes from the environment", "--set", "--openmp", "--default", "threads=1", "--", "./script");
	REFUSED("unknown parameter 'BLOK'", "did you mean 'BLOCK'?", "--param", "BLOCK=1,2", "--constraint", "BLOK > 1",
	        "--", "./script");
	REFUSED("unknown parameter 'Q'", "the parameters are BLOCK, DEPTH", "--param", "BLOCK=1,2", "--param", "DEPTH=1,2",
	        "--constraint", "Q < 3", "--", "./script");
	REFUSED("the space is empty", "", "--param", "B=1,2", "--constraint", "B > 2", "--", "./script");
	REFUSED("", "", "--param", "B=1,2", "--constraint", "B >", "--", "./script");
}

static void test_openmp_errors(void) {
	REFUSED("--range: unknown parameter \"thread\"", "did you mean threads?", "--openmp", "--range", "thread=1,2", "--",
	        "./script");
	REFUSED("--set: unknown parameter \"B\"", "--default", "--param", "B=1,2", "--set", "B=1", "--", "./script");
	REFUSED("--range: unknown parameter \"threads\"", "--openmp", "--param", "B=1,2", "--range", "threads=1", "--",
	        "./script");
	REFUSED("takes one value, not 2", "--range", "--openmp", "--set", "threads=1,2", "--", "./script");
	REFUSED("threads cannot be \"0\"", "from 1 to", "--openmp", "--range", "threads=0,1", "--", "./script");
	REFUSED("threads cannot be \"many\"", "a whole number", "--openmp", "--range", "threads=many", "--", "./script");
	REFUSED("threads cannot be \"1.5\"", "a whole number", "--openmp", "--range", "threads=1.5", "--", "./script");
	REFUSED("places cannot be \"core\"", "cores", "--openmp", "--range", "places=core", "--", "./script");
	REFUSED("proc_bind cannot be \"7\"", "spread", "--openmp", "--set", "proc_bind=7", "--", "./script");
	REFUSED("chunk cannot be \"-1\"", "0 to", "--openmp", "--range", "chunk=-1", "--", "./script");
	REFUSED("spincount cannot be \"long\"", "infinite", "--openmp", "--range", "spincount=0,long", "--", "./script");
}

static const char *problem_text(const struct planned *planned, const char *name) {
	return planned->plan ? json_string_value(json_object_get(planned->plan->problem, name)) : NULL;
}

static void test_identity(void) {
	char source[SHA256_TEXT];
	struct planned *planned = planned_new(NULL, "--param", "B=1,2", "--input", "in file", "--cwd", ".", "--",
	                                      "./script", "it's", "{B}", "", NULL);
	sha256_text("#!/bin/sh\n", 10, source);
	is_text(planned->plan ? planned->plan->source : planned->err.what, source, "the source is the file's content");
	is_text(planned->plan ? planned->plan->name : planned->err.what, "script", "the name is the file's");
	is_text(problem_text(planned, "command"), "./script 'it'\\''s' '{B}' ''", "the command, quoted");
	is_text(problem_text(planned, "input"), "in file", "the input");
	is_text(problem_text(planned, "cwd"), ".", "the folder");
	ok(planned->plan && json_object_size(planned->plan->problem) == 3, "the problem has no other members");
	ok(planned->plan && strcmp(planned->plan->program.params[0], "B") == 0 && !planned->plan->program.params[1] &&
	       !planned->plan->program.openmp,
	   "the user's parameters are listed");
	planned_free(planned);
	file_write("script", "#!/bin/sh\n#\n", 12, 0755);
	planned = planned_new(NULL, "--param", "B=1,2", "--", "./script", NULL);
	ok(planned->plan && strcmp(planned->plan->source, source) != 0, "another content is another source");
	planned_free(planned);
}

static char *source_of(struct planned *planned) {
	char *source = planned->plan ? strdup(planned->plan->source) : NULL;
	planned_free(planned);
	return source;
}

static void test_built(void) {
	struct planned *planned =
		planned_new(NULL, "--param", "B=1,2", "--build", "cc -DB={B} x.c", "--", "./not-yet", NULL);
	is_text(problem_text(planned, "build"), "cc -DB={B} x.c", "a program that will be built need not be there");
	planned_free(planned);
	char *one = source_of(planned_new(NULL, "--param", "B=1,2", "--build", "make", "--", "./script", NULL));
	char *two = source_of(planned_new(NULL, "--param", "B=1,2", "--build", "make -B", "--", "./script", NULL));
	char *same = source_of(planned_new(NULL, "--param", "B=1,2", "--build", "make", "--", "./script", NULL));
	ok(one && two && same && strcmp(one, two) != 0 && strcmp(one, same) == 0,
	   "the source of a built program is how it is built");
	free(one);
	free(two);
	free(same);
	planned = planned_new(NULL, "--param", "V=a,b", "--", "./app_{V}", NULL);
	is_text(planned->plan ? planned->plan->name : planned->err.what, "app_{V}",
	        "a program that is named by a parameter need not be there");
	planned_free(planned);
	planned = planned_new(NULL, "--param", "V=./a,./b", "--", "{V}", "in", NULL);
	is_text(planned->plan ? planned->plan->name : planned->err.what, "V", "one that is a parameter is named after it");
	planned_free(planned);
	REFUSED("cannot run ./app_{W}", "", "--param", "V=a,b", "--", "./app_{W}");
}

static void test_shell(void) {
	struct planned *planned =
		planned_new(NULL, "--param", "B=1,2", "--shell", "--", "  /opt/x\ty {B} | sort", ">out", NULL);
	is_text(planned->plan ? planned->plan->name : planned->err.what, "x", "a line's name is its first word's");
	is_text(problem_text(planned, "command"), "  /opt/x\ty {B} | sort >out", "a line is kept as it is");
	ok(planned->plan && planned->plan->program.shell, "a line for a shell is known as one");
	planned_free(planned);
	REFUSED("nothing to tune", "", "--shell", "--", "./script");
}

static void test_spec(void) {
	struct planned *planned =
		planned_new(NULL, "--openmp", "--metric", "rate ([0-9.]+)", "--maximize", "--verify", "cmp - good",
	                "--expect-output", "same", "--before-each", "rm -f x", "--", "./script", "--openmp", NULL);
	const struct program_spec *spec = planned->plan ? &planned->plan->program : NULL;
	ok(spec && spec->openmp && spec->maximize && spec->expect_same && !spec->shell && !spec->cwd && !spec->input &&
	       !spec->build && strcmp(spec->metric, "rate ([0-9.]+)") == 0 && strcmp(spec->verify, "cmp - good") == 0 &&
	       strcmp(spec->before_each, "rm -f x") == 0 && strcmp(spec->argv[1], "--openmp") == 0 && !spec->argv[2],
	   "options reach the program's specification");
	ok(planned->plan && !planned->plan->notes[0], "a script with --openmp is nothing to note");
	planned_free(planned);
	planned = planned_new(NULL, "--openmp", "--", "cat", NULL);
	ok(planned_notes(planned, "cat does not load an OpenMP runtime"), "a program without OpenMP is noted");
	planned_free(planned);
}

/* Names of all kinds become printable ones. */
static void test_names(void) {
	char longest[300] = "./";
	memset(longest + 2, 'x', 200);
	file_write(longest, "#!/bin/sh\n", 10, 0755);
	file_write("a\nb\033[1m", "#!/bin/sh\n", 10, 0755);
	struct planned *planned = planned_new(NULL, "--param", "B=1,2", "--", longest, NULL);
	ok(planned->plan && strlen(planned->plan->name) == 64, "a long name is cut");
	planned_free(planned);
	planned = planned_new(NULL, "--param", "B=1,2", "--", "./a\nb\033[1m", NULL);
	is_text(planned->plan ? planned->plan->name : planned->err.what, "a b [1m", "a hostile name is cleaned");
	planned_free(planned);
}

static void random_text(struct rng *rng, char *text, size_t size) {
	static const char letters[] = "AB=,.*+019()-<'\"{} in\x1b\xc3";
	size_t length = rng_below(rng, size);
	for (size_t i = 0; i < length; i++)
		text[i] = letters[rng_below(rng, sizeof letters - 1)];
	text[length] = '\0';
}

/* Whatever is typed or set, there is a plan, or advice. */
static void test_hostile(void) {
	static const char *const names[] = {"OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES", "OMP_SCHEDULE"};
	struct rng rng;
	int bad = 0, plans = 0;
	rng_seed(&rng, 11);
	for (int round = 0; round < 400; round++) {
		char values[24], constraint[16], range[16], param[40], set[40];
		random_text(&rng, values, sizeof values);
		random_text(&rng, constraint, sizeof constraint);
		random_text(&rng, range, sizeof range);
		setenv(names[round % 4], range, 1);
		snprintf(param, sizeof param, "%s%s", round % 8 ? "A=" : "", round % 4 ? "1,2" : values);
		snprintf(set, sizeof set, "threads=%s", round % 2 ? "1,2" : range);
		if (round % 2)
			snprintf(constraint, sizeof constraint, "%s", "A > 0");
		struct planned *planned = planned_new("core:2 pu:1", "--openmp", "--param", param, "--range", set,
		                                      "--constraint", constraint, "--", "./script", NULL);
		plans += planned->plan != NULL;
		bad += planned->plan ? !json_object_size(planned->plan->baseline)
		                     : planned->err.code != ERR_USAGE || !*planned->err.what;
		planned_free(planned);
		environment_clear();
	}
	ok(!bad && plans > 0 && plans < 400, "400 hostile command lines: %d plans, else advice", plans);
}

int main(void) {
	environment_clear();
	folder_enter();
	file_write("script", "#!/bin/sh\n", 10, 0755);
	file_write("just-here", "#!/bin/sh\n", 10, 0755);
	file_write("in file", "", 0, 0644);
	mkdir("sub", 0755);
	test_command_errors();
	test_param_errors();
	test_openmp_errors();
	test_identity();
	test_built();
	test_shell();
	test_spec();
	test_names();
	test_hostile();
	folder_leave();
	return tap_done();
}
