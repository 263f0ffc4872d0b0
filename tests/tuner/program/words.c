/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Variables and lines of a program. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/tap.h"
#include "base/proc/work.h"
#include "tuner/program/program.h"

static struct program *make(struct program_spec spec, struct err *err) {
	*err = (struct err){0};
	return program_new(&spec, NULL, err);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void line_is(const struct program_spec *spec, const char *config, const char *want) {
	struct err err;
	json_t *json = json_loads(config, 0, NULL);
	struct program *program = make(*spec, &err);
	char *line = program ? program_line(program, json) : mem_strdup(err.what);
	is_text(line, want, "line");
	free(line);
	program_free(program);
	json_decref(json);
}

static void test_lines(const char *here) {
	const char *const params[] = {"B", "MODE", NULL};
	line_is(&(struct program_spec){.argv = WORDS("sh", "-c", "true", "{B}"), .params = params},
	        "{\"B\":64,\"MODE\":\"a b\"}", "env MODE='a b' sh -c true 64");
	line_is(
		&(struct program_spec){
			.argv = WORDS("ls", "{B}"), .params = params, .build = "make -s M={MODE}", .input = "in"},
		"{\"B\":64,\"MODE\":\"x\"}", "make -s M=x && ls 64 < in");
	line_is(&(struct program_spec){.argv = WORDS("ls", "{B}"), .params = params, .cwd = "sub", .input = "in2"},
	        "{\"B\":0.5,\"MODE\":\"x\"}", "(cd sub && env MODE=x ls 0.5 < in2)");
	line_is(&(struct program_spec){.argv = WORDS("ls {B} |", "wc"), .params = params, .shell = true}, "{\"B\":\"a'b\"}",
	        "sh -c 'ls '\\''a'\\''\\'\\'''\\''b'\\'' | wc'");
	line_is(&(struct program_spec){.argv = WORDS("ls"), .params = params, .build = "cd x; make {B}{MODE}"},
	        "{\"B\":1,\"MODE\":2}", "(cd x; make 12) && ls");
	char *want = mem_printf(
		"(mkdir -p %s/sweetspot-build && cd %s/sweetspot-build && cmake %s -DB=2 && env MODE=1 ./a)", here, here, here);
	line_is(&(struct program_spec){.argv = WORDS("./a"), .params = params, .build = "cmake {SOURCE} -DB={B}"},
	        "{\"B\":2,\"MODE\":1}", want);
	free(want);
	line_is(&(struct program_spec){.argv = WORDS("ls", "{B}"), .params = params}, "{\"B\":100.0,\"MODE\":true}",
	        "env MODE=true ls 100");
	line_is(&(struct program_spec){.argv = WORDS("ls", "{B}"), .params = params}, "{\"MODE\":1}",
	        "env MODE=1 # {B} has not been given a value");
}

static char *variables(const struct program *program, const char *config) {
	json_t *json = json_loads(config, 0, NULL), *env = program_environment(program, json);
	char *text = json_dumps(env, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(env);
	json_decref(json);
	return text;
}

static void test_openmp(void) {
	struct err err;
	json_t *baseline = json_loads("{\"threads\":4,\"N\":1}", 0, NULL);
	setenv("OMP_PROC_BIND", "close", 1);
	struct program *program = make(
		(struct program_spec){.argv = WORDS("ls"), .params = WORDS("N"), .openmp = true, .baseline = baseline}, &err);
	char *text = variables(program, "{\"N\":1,\"threads\":4}");
	is_text(text, "{\"N\":\"1\"}", "the baseline sets no variable of OpenMP");
	free(text);
	text = variables(program, "{\"threads\":2,\"N\":1}");
	is_text(text, "{\"N\":\"1\",\"OMP_DYNAMIC\":\"false\",\"OMP_NUM_THREADS\":\"2\"}",
	        "other configurations set theirs");
	free(text);
	json_t *two = json_pack("{s:i,s:i}", "threads", 2, "N", 1);
	char *line = program_line(program, two);
	ok(!strstr(line, "OMP_PROC_BIND") && strstr(line, " OMP_NUM_THREADS=2 ") && strstr(line, " N=1 ls"),
	   "the line leaves the user's own OpenMP settings as they are: %s", line);
	free(line);
	json_t *unbound = json_pack("{s:i,s:i,s:s}", "threads", 4, "N", 1, "proc_bind", "spread");
	line = program_line(program, unbound);
	ok(strstr(line, " OMP_PROC_BIND=spread ") && !strstr(line, "OMP_NUM_THREADS") && !strstr(line, "OMP_DYNAMIC"),
	   "the line writes only what it changes: %s", line);
	free(line);
	json_decref(unbound);
	is_text(program_param_way(program, "threads"), "openmp", "threads is an OpenMP setting");
	is_text(program_param_way(program, "N"), "environment", "N is a variable");
	json_t *json = program_json(program, two);
	ok(json_is_true(json_object_get(json, "openmp")) && !json_object_get(json, "build") &&
	       strcmp(json_string_value(json_object_get(json, "baseline_line")), "env N=1 ls") == 0,
	   "the stored object says how it is run");
	json_decref(json);
	json_decref(two);
	program_free(program);
	/* A parameter of the user's own is never an OpenMP setting, whatever its name. */
	program =
		make((struct program_spec){.argv = WORDS("ls", "{threads}"), .params = WORDS("threads"), .openmp = true}, &err);
	text = variables(program, "{\"threads\":2}");
	is_text(text, "{}", "a parameter of the user's own sets no variable of OpenMP");
	free(text);
	program_free(program);
	json_decref(baseline);
	unsetenv("OMP_PROC_BIND");
}

static void refused(struct program_spec spec, const char *what) {
	struct err err;
	struct program *program = make(spec, &err);
	ok(!program && err.code == ERR_USAGE && *err.what, "refused: %s (%s; %s)", what, err.what, err.hint);
	program_free(program);
}

static void test_refused(void) {
	refused((struct program_spec){.argv = (const char *const[]){NULL}}, "no program");
	refused((struct program_spec){.argv = WORDS("./no-such-program")}, "a program that isn't there");
	refused((struct program_spec){.argv = WORDS("no-such-program-at-all")}, "a program that isn't in PATH");
	refused((struct program_spec){.argv = WORDS("./in")}, "a file that can't be run");
	refused((struct program_spec){.argv = WORDS("./sub")}, "a folder");
	refused((struct program_spec){.argv = WORDS("ls"), .input = "none"}, "an input that isn't there");
	refused((struct program_spec){.argv = WORDS("ls"), .cwd = "none"}, "a folder that isn't there");
	refused((struct program_spec){.argv = WORDS("ls"), .metric = "a("}, "a bad expression");
	refused((struct program_spec){.argv = WORDS("ls"), .maximize = true}, "nothing to maximize");
	refused((struct program_spec){.argv = WORDS("ls", "{BLOK}"), .params = WORDS("BLOCK")}, "a mistyped name");
	refused((struct program_spec){.argv = WORDS("ls"), .verify = "x {BLOK}", .params = WORDS("BLOCK")},
	        "one in verify");
	refused((struct program_spec){.argv = WORDS("ls"), .params = WORDS("b-1")}, "not a valid name of a variable");
	refused((struct program_spec){.argv = WORDS("ls"), .params = WORDS("BUILD")}, "the name of a folder");
	refused((struct program_spec){.argv = WORDS("{BUILD}/ls")}, "the folder of a missing build");
	refused((struct program_spec){.argv = WORDS("./a"), .build = "make", .cwd = "sub"}, "a build that never runs");
	refused((struct program_spec){.argv = WORDS("ls"), .build = "make B=$B", .params = WORDS("B")},
	        "a variable in a build");
	refused((struct program_spec){.argv = WORDS("ls"), .verify = ""}, "an empty command");
	refused((struct program_spec){.argv = WORDS("ls", "\xff")}, "a word that is not UTF-8");
	struct err err;
	struct program *program = make((struct program_spec){.argv = WORDS("ls", "{b-1}"), .params = WORDS("b-1")}, &err);
	ok(program, "a name in the command need not be valid for a variable");
	program_free(program);
}

static int wrong_names(const char *const lines[][2], size_t count) {
	int wrong = 0;
	for (size_t i = 0; i < count; i++) {
		char *name = work_name(lines[i][0]);
		if (strcmp(name, lines[i][1]) != 0)
			printf("# %s: \"%s\", not \"%s\"\n", lines[i][0], name, lines[i][1]);
		wrong += strcmp(name, lines[i][1]) != 0;
		free(name);
	}
	return wrong;
}

static void test_line_names(void) {
	static const char *const lines[][2] = {
		{"./app in.dat", "app"},
		{"./fast | cat", "fast"},
		{"OMP_NUM_THREADS=4 A='x y' ./bin/app", "app"},
		{"cd /tmp && ./app | sort", "app"},
		{"export A=1; cd 'a b'\n(time nice -n 5 taskset -c 0-3,8 ./app)", "app"},
		{"env -i PATH=/bin gzip -1 in", "gzip"},
		{"'./my app' x", "my app"},
		{"{ ! grep -q x; }", "grep"},
		{"test -e in.dat || make in.dat; ./app", "make"},
		{"cd /tmp", "sh"},
		{"if [ -e in ]; then ./app in; else ./other; fi", "app"},
		{"if grep -q x in; then ./app; fi", "grep"},
		{"for i in 1 2 3; do ./app $i; done", "app"},
		{"for i\ndo\n\t./app $i\ndone <in", "app"},
		{"while read x; do ! ./app $x; done <in", "app"},
		{"until [[ -e out ]]; do ./app; done", "app"},
		{"case $X in a) ./app ;; esac", "app"},
		{"case $X in a|b) ;; c) (cd x && ./app) ;; esac", "app"},
		{"f() { ./app; }; f", "app"},
		{"# first\n(cd x && { ./app; })", "app"},
		{"export A=1 && [ -e in ] || exit 1", "sh"},
		{"./test in", "test"},
		{"X=1", "X=1"},
		{"  ", "program"},
		{"./dir/", "dir"},
		{"'unclosed ./app", "app"},
		{"&& ;; |", "program"},
		{"'it'\\''s' x", "it's"},
		{"'{SOLVER}' in", "SOLVER"},
		{"'./a{B}' in", "a{B}"},
	};
	ok(wrong_names(lines, sizeof lines / sizeof *lines) == 0,
	   "a line for a shell is named after the program that does the work");
}

static void test_launched_names(void) {
	static const char *const lines[][2] = {
		{"mpirun -np '{R}' ./hyb in", "hyb"},
		{"mpirun --mca btl self,tcp -np 4 --bind-to core -x OMP_NUM_THREADS=4 ./hyb", "hyb"},
		{"/opt/mpi/bin/mpiexec.hydra -genv I_MPI_PIN 1 -n 4 ./hyb", "hyb"},
		{"mpirun --oversubscribe -n 2 env A=1 taskset -c 0-3 ./hyb", "hyb"},
		{"srun -n 4 -c2 --cpu-bind cores --mpi=pmix --exclusive ./hyb", "hyb"},
		{"flux run -n 4 -c 2 ./hyb", "hyb"},
		{"jsrun -n 4 -a 1 -c 7 -b packed:7 ./hyb", "hyb"},
		{"numactl -N 0 --membind 0 --interleave=all -- ./hyb", "hyb"},
		{"env -u X A=1 B=2 ./hyb", "hyb"},
		{"taskset 0x3 ./hyb", "hyb"},
		{"taskset -c '{C}' ./hyb", "hyb"},
		{"timeout -k 5 -s 9 10s stdbuf -oL nice -5 ./hyb", "hyb"},
		{"setarch x86_64 -R chrt -f 10 ./hyb", "hyb"},
		{"LD_PRELOAD=./x.so time -p ./hyb", "hyb"},
		{"mpirun", "mpirun"},
		{"env A=1", "env"},
		{"make run", "make"},
	};
	ok(wrong_names(lines, sizeof lines / sizeof *lines) == 0,
	   "launchers and wrappers are passed over, with their options");
}

static void test_script_names(void) {
	static const char *const lines[][2] = {
		{"python3 km.py 3", "km.py"},
		{"/usr/bin/env python3.11 -u -W ignore ./a/km.py", "km.py"},
		{"venv/bin/python -Xdev km.py -c 1", "km.py"},
		{"python3 -m pkg x", "pkg"},
		{"python3 -um pkg.tool", "pkg.tool"},
		{"mpirun -np 2 python3 -m mpi4py km.py", "km.py"},
		{"python3 -c 'import os'", "python3"},
		{"python3", "python3"},
		{"python3 - < km.py", "python3"},
		{"perl -Mstrict -w x.pl", "x.pl"},
		{"perl -lane print", "perl"},
		{"ruby -I lib x.rb", "x.rb"},
		{"node --max-old-space-size=4 app.js", "app.js"},
		{"Rscript --vanilla x.R", "x.R"},
		{"julia -t 4 --project=. x.jl", "x.jl"},
		{"java -Xmx4g -cp a:b -jar X.jar", "X.jar"},
		{"bash run.sh", "run.sh"},
		{"sh -e run.sh -c", "run.sh"},
		{"bash -lc 'cd x; ./app'", "app"},
		{"sh -c './app | sort'", "app"},
		{"sh -c ''", "sh"},
		{"bash -c 'if [ -e in ]; then ./app; fi'", "app"},
		{"sh -c 'if [ -e in ]; then exit 1; fi'", "sh"},
		{"sh -c '[ -e in ]'", "sh"},
		{"./node in.dat", "node"},
		{"./time in.dat", "time"},
	};
	ok(wrong_names(lines, sizeof lines / sizeof *lines) == 0,
	   "a script gives its name, not its interpreter; a program of the user's own is no interpreter");
}

/* Any words, in any order: there is always a name, and nothing is read beyond the end. */
static void test_any_words(void) {
	static const char *const some[] = {"env", "-u",     "-n", "mpirun", "--mca", "sh",      "-c",  "python3",
	                                   "-m",  "mpi4py", "--", "-",      "'",     "timeout", "A=1", "flux"};
	int wrong = 0;
	for (unsigned long long i = 0; i < 1 << 16; i++) {
		char line[64] = "", *name;
		for (unsigned w = 0; w < 4; w++)
			strcat(strcat(line, some[i >> (4 * w) & 15]), " ");
		name = work_name(line);
		wrong += !*name || strlen(name) > WORK_NAME_MAX;
		free(name);
	}
	char *deep = mem_alloc(1 << 16, 1), *name;
	for (size_t i = 0; i + 5 < 1 << 16; i += 4)
		memcpy(deep + i, "env ", 4);
	name = work_name(deep);
	ok(wrong == 0 && *name, "any words have a name");
	free(name);
	free(deep);
}

static void test_line_commands(void) {
	static const char *const lines[][2] = {
		{"./app in", "./app in"},
		{"X=1 ./app in", "./app in"},
		{" X=1\tY='a b'  ./app", "./app"},
		{"X='a' Y=\"b c\" z", "z"},
		{"threads=1 block=2", ""},
		{"x-y=1 ./app", "x-y=1 ./app"},
		{"X= ./app", "./app"},
		{"", ""},
		{"X='unclosed ./app", ""},
	};
	int wrong = 0;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		const char *command = work_line_command(lines[i][0]);
		if (strcmp(command, lines[i][1]) != 0)
			printf("# %s: \"%s\", not \"%s\"\n", lines[i][0], command, lines[i][1]);
		wrong += strcmp(command, lines[i][1]) != 0;
	}
	ok(wrong == 0, "variables in front of a command are told from it");
}

int main(void) {
	test_line_commands();
	test_line_names();
	test_launched_names();
	test_script_names();
	test_any_words();
	char folder[] = "/tmp/sweetspot-words-XXXXXX", here[PATH_MAX];
	if (!mkdtemp(folder) || chdir(folder) || !getcwd(here, sizeof here)) {
		printf("Bail out! no folder\n");
		return 99;
	}
	ok(system("mkdir sub; touch in sub/in2") == 0, "files to name");
	for (const char *const *name = WORDS("OMP_NUM_THREADS", "OMP_WAIT_POLICY"); *name; name++)
		unsetenv(*name);
	test_lines(here);
	test_openmp();
	test_refused();
	ok(system("rm sub/in2 in; rmdir sub") == 0, "no other file stays behind");
	rmdir(folder);
	return tap_done();
}
