/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs run by the real worker: what reaches them and what comes back. */
#include <math.h>

#include "base/tree.h"
#include "tests/tuner/program/help.h"

static const char worker[] = "sweetspot-worker";

static void test_time(void) {
	struct rig rig =
		rig_open(worker, NULL, (struct program_spec){.argv = WORDS("sh", "-c", "exit {A}"), .params = WORDS("A")});
	status_is(&rig, "{\"A\":0}", 3, "correct", "a program runs");
	ok(rig.result.sample_count == 3 && rig.result.value > 0 && rig.result.least > 0 &&
	       rig.result.least <= rig.result.value && rig.result.elapsed_s > 0 && rig.result.reply,
	   "a program that runs has times");
	json_t *config = json_pack("{s:i}", "A", 0), *usage = program_usage(rig.program, config);
	ok(json_number_value(json_object_get(usage, "minor_faults")) > 0 && json_object_get(usage, "max_rss_bytes"),
	   "a program that runs has its resources");
	json_decref(usage);
	status_is(&rig, "{\"A\":3}", 3, "runtime", "the exit status of a program counts");
	ok(strstr(rig.result.message, "exit status 3") && isnan(rig.result.value), "the message has the exit status");
	json_object_set_new(config, "A", json_integer(3));
	ok(!program_usage(rig.program, config), "a failed run has no resources");
	status_is(&rig, "{}", 3, "constraints", "a name without a value cannot be run");
	json_decref(config);
	rig_close(&rig);
}

static void test_limits(void) {
	struct rig rig = rig_open(worker, NULL, (struct program_spec){.argv = WORDS("sleep", "{A}"), .params = WORDS("A")});
	rig_run(&rig, "{\"A\":60}", (struct trial_request){.samples = 1, .timeout_s = 0.2});
	ok(rig.result.status == TRIAL_TIMEOUT && rig.result.elapsed_s < 50, "a program that hangs is ended");
	rig_run(&rig, "{\"A\":60}", (struct trial_request){.samples = 1, .timeout_s = 50, .limit_s = 5, .cut_s = 5});
	ok(rig.result.status == TRIAL_CENSORED && rig.result.value == 5, "one that cannot win is cut short");
	ok(worker_restarts(rig.worker) == 0, "the worker lives on");
	rig_close(&rig);
	rig = rig_open(worker, NULL,
	               (struct program_spec){.argv = WORDS("sh", "-c", "sleep 0.05; echo 7"), .metric = "[0-9]+"});
	rig_run(&rig, "{}", (struct trial_request){.samples = 1, .timeout_s = 50, .limit_s = 0.001});
	ok(rig.result.status == TRIAL_CORRECT && rig.result.value == 7, "a time limit does not apply to a metric");
	rig_close(&rig);
}

/* Whatever the worker has counted stays in the reply. */
static void test_counters(void) {
	const char *const names[] = {"rusage", NULL}, *const unknown[] = {"rusage", "rusages", NULL};
	struct rig rig =
		rig_open(worker, NULL, (struct program_spec){.argv = WORDS("sh", "-c", "exit {A}"), .params = WORDS("A")});
	int failed = rig_run(&rig, "{\"A\":0}", (struct trial_request){.samples = 2, .timeout_s = 100, .counters = names});
	const json_t *event = json_array_get(json_object_get(rig.result.reply, "counters"), 0);
	ok(!failed && rig.result.status == TRIAL_CORRECT && rig.result.sample_count == 2, "a program is counted");
	ok(json_is_number(json_object_get(event, "value")) && json_is_string(json_object_get(event, "name")),
	   "the reply has what was counted");
	ok(json_is_object(json_object_get(rig.result.reply, "counting")), "the reply has how it was counted");
	rig_run(&rig, "{\"A\":3}", (struct trial_request){.samples = 2, .timeout_s = 100, .counters = names});
	ok(rig.result.status == TRIAL_RUNTIME && !json_object_get(rig.result.reply, "counters"),
	   "a failing run is not counted");
	failed = rig_run(&rig, "{\"A\":0}", (struct trial_request){.samples = 2, .timeout_s = 100, .counters = unknown});
	ok(failed && rig.err.code == ERR_USAGE && strstr(rig.err.what, "rusages"),
	   "an unknown name is an error of the user");
	rig_close(&rig);
}

/* A worker can be killed by the program that it runs. */
static void test_killer(void) {
	struct rig rig =
		rig_open(worker, NULL,
	             (struct program_spec){.argv = WORDS("sh", "-c", "if test {A} = 1; then kill -9 $PPID; sleep 60; fi"),
	                                   .params = WORDS("A")});
	status_is(&rig, "{\"A\":0}", 1, "correct", "a program that is harmless");
	status_is(&rig, "{\"A\":1}", 1, "runtime", "one that kills the worker");
	ok(strstr(rig.result.message, "SIGKILL") && isnan(rig.result.value),
	   "the message names the signal that killed the worker");
	status_is(&rig, "{\"A\":0}", 1, "correct", "the next worker goes on");
	ok(worker_restarts(rig.worker) == 1, "the worker after a killed one is a new one");
	rig_close(&rig);
}

static void test_metric(void) {
	struct program_spec spec = {
		.argv = WORDS("echo", "at {R} a second"), .params = WORDS("R"), .metric = "at ([0-9.]+)"};
	struct rig rig = rig_open(worker, NULL, spec);
	status_is(&rig, "{\"R\":8}", 2, "correct", "a metric");
	ok(rig.result.value == 8 && rig.result.samples[1] == 8 && rig.result.least == 8, "the metric is the value");
	rig_close(&rig);
	spec.maximize = true;
	rig = rig_open(worker, NULL, spec);
	status_is(&rig, "{\"R\":8}", 2, "correct", "a rate");
	ok(rig.result.value == 0.125 && rig.result.least == 0.125, "the value of a rate is inverted");
	status_is(&rig, "{\"R\":\"none\"}", 2, "runtime", "no metric is a failure");
	rig_close(&rig);
}

/* Each parameter reaches the program in its own way: R in the command, E in the environment, O through OpenMP. */
static void test_environment(void) {
	unlink("before");
	unlink("verify");
	const struct program_spec spec = {.argv = WORDS("sh", "-c", "echo run $0 $R $E >run; cat; echo out", "{R}"),
	                                  .params = WORDS("R", "E"),
	                                  .input = "in",
	                                  .before_each = "echo before $R $E {E} >>before",
	                                  .verify = "{ cat; echo verify $R $E; } >>verify"};
	file_put("in", "input\n");
	struct rig rig = rig_open(worker, NULL, spec);
	status_is(&rig, "{\"R\":\"a  'b\",\"E\":\"x y\"}", 1, "correct", "a program with commands around it");
	file_is("run", "run a 'b x y\n", "the program sees its arguments and variables");
	file_is("before", "before a 'b x y x y\n", "the command before the program sees arguments and variables");
	file_is("verify", "input\nout\nverify a 'b x y\n",
	        "the command after the program sees arguments, variables and the output");
	rig_close(&rig);
	rig = rig_open(worker, NULL,
	               (struct program_spec){
					   .argv = WORDS("echo {R}", "\"{R}\"", ">shell; false"), .shell = true, .params = WORDS("R")});
	status_is(&rig, "{\"R\":\"a  b; exit 0\"}", 1, "runtime", "a value is never run by the shell");
	file_is("shell", "a b; exit 0 a  b; exit 0\n", "it is several words there, and a single one in quotes");
	rig_close(&rig);
}

static void test_openmp(void) {
	json_t *baseline = json_pack("{s:i,s:i}", "threads", 7, "P", 1);
	const struct program_spec spec = {.argv = WORDS("sh", "-c", "env | grep -E '^(G?OMP|KMP)_' | sort >env"),
	                                  .params = WORDS("P"),
	                                  .openmp = true,
	                                  .baseline = baseline};
	setenv("OMP_NUM_THREADS", "7", 1);
	setenv("OMP_STACKSIZE", "1M", 1);
	setenv("GOMP_CPU_AFFINITY", "0", 1);
	struct rig rig = rig_open(worker, NULL, spec);
	rig_status(&rig, "{\"P\":1,\"threads\":7}", 1);
	file_is("env", "GOMP_CPU_AFFINITY=0\nOMP_NUM_THREADS=7\nOMP_STACKSIZE=1M\n", "the baseline runs as the user's own");
	rig_status(&rig, "{\"P\":1,\"threads\":2}", 1);
	file_is("env", "GOMP_CPU_AFFINITY=0\nOMP_DYNAMIC=false\nOMP_NUM_THREADS=2\nOMP_STACKSIZE=1M\n",
	        "a setting leaves what it does not change");
	rig_close(&rig);
	struct program_spec own = spec;
	own.openmp = false;
	own.params = WORDS("OMP_NUM_THREADS");
	rig = rig_open(worker, NULL, own);
	rig_status(&rig, "{\"OMP_NUM_THREADS\":3}", 1);
	file_is("env", "GOMP_CPU_AFFINITY=0\nOMP_NUM_THREADS=3\nOMP_STACKSIZE=1M\n", "a parameter may be such a variable");
	rig_close(&rig);
	unsetenv("OMP_NUM_THREADS");
	unsetenv("OMP_STACKSIZE");
	unsetenv("GOMP_CPU_AFFINITY");
	json_decref(baseline);
}

/* Prints "first", and "second" in all later runs. */
static const char drifting[] = "if mkdir {D}.seen 2>/dev/null; then echo first; else echo second; fi";

static void test_expected(void) {
	json_t *baseline = json_pack("{s:i}", "A", 1);
	struct program_spec spec = {.argv = WORDS("sh", "-c", "echo {A} >>ran; echo $(({A} / 3))"),
	                            .params = WORDS("A"),
	                            .baseline = baseline,
	                            .expect_same = true};
	unlink("ran");
	struct rig rig = rig_open(worker, NULL, spec);
	status_is(&rig, "{\"A\":2}", 1, "correct", "an output equal to the baseline's");
	file_is("ran", "1\n2\n", "the baseline ran before");
	status_is(&rig, "{\"A\":4}", 1, "correctness", "another output");
	is_text(rig.result.message, "its output differs from the baseline's",
	        "the message says that the output differs from the baseline's");
	ok(isnan(rig.result.value) && rig.result.sample_count == 0, "a wrong output has no time");
	file_is("ran", "1\n2\n4\n1\n", "the baseline ran once more before a configuration was blamed");
	rig_status(&rig, "{\"A\":5}", 1);
	file_is("ran", "1\n2\n4\n1\n5\n", "the baseline runs no more after that");
	rig_close(&rig);

	spec.argv = WORDS("sh", "-c", "exit {A}");
	rig = rig_open(worker, NULL, spec);
	status_is(&rig, "{\"A\":0}", 1, "error", "a baseline that fails gives nothing to compare with");
	ok(rig.err.code == ERR_FAILED && strstr(rig.err.what, "exit status 1"),
	   "the error has the reason why the baseline fails: %s", rig.err.what);
	rig_close(&rig);

	json_t *same = json_pack("{s:s}", "D", "x");
	spec.baseline = same;
	spec.params = WORDS("D");
	spec.argv = WORDS("sh", "-c", drifting);
	rig = rig_open(worker, NULL, spec);
	status_is(&rig, "{\"D\":\"y\"}", 1, "correct", "a varying program is not noticed at once");
	status_is(&rig, "{\"D\":\"y\"}", 1, "error", "a varying program is noticed before a configuration is blamed");
	ok(rig.err.code == ERR_USAGE && strstr(rig.err.what, "--expect-output") && strstr(rig.err.hint, "--verify"),
	   "the error says that the output varies: %s", rig.err.what);
	status_is(&rig, "{\"D\":\"z\"}", 1, "error", "a varying program is an error from then on");
	rig_close(&rig);
	spec.argv = WORDS("sh", "-c", "date +%N");
	rig = rig_open(worker, NULL, spec);
	status_is(&rig, "{\"D\":\"x\"}", 2, "error", "differing runs within a trial show it as well");
	rig_close(&rig);
	json_decref(same);
	json_decref(baseline);
}

/* What the files hold decides, not what is printed. */
static void test_expected_files(void) {
	static const char work[] = "rm -f out; case {A} in 1|2) echo 7 >out ;; 3) echo 8 >out ;; 4) ;; 5) echo 7 >other ;; "
							   "6) echo {A}; echo 7 >out; sleep 100 & ;; esac";
	json_t *baseline = json_pack("{s:i}", "A", 1);
	struct program_spec spec = {
		.argv = WORDS("sh", "-c", work), .params = WORDS("A"), .baseline = baseline, .expect_files = true};
	struct rig rig = rig_open(worker, NULL, spec);
	status_is(&rig, "{\"A\":2}", 1, "correct", "the files of the baseline are written");
	status_is(&rig, "{\"A\":3}", 1, "correctness", "a file that holds something else is wrong");
	ok(strstr(rig.result.message, "its out holds"), "the message names the file: %s", rig.result.message);
	status_is(&rig, "{\"A\":4}", 1, "correctness", "a file that is missing is wrong");
	ok(strstr(rig.result.message, "does not write out"), "the message names the file that is missing: %s",
	   rig.result.message);
	status_is(&rig, "{\"A\":5}", 1, "correctness", "a file with another name does not replace it");
	status_is(&rig, "{\"A\":6}", 1, "correct", "other output and a process in the background do not matter");
	rig_close(&rig);
	spec.argv = WORDS("sh", "-c", "echo {A}");
	rig = rig_open(worker, NULL, spec);
	status_is(&rig, "{\"A\":1}", 1, "error", "files can only be expected of a baseline that writes some");
	ok(rig.err.code == ERR_USAGE && strstr(rig.err.what, "writes no file"), "the error says that it writes no file: %s",
	   rig.err.what);
	rig_close(&rig);
	json_decref(baseline);
}

int main(void) {
	char top[] = "/tmp/sweetspot-runner-XXXXXX";
	char *build = realpath(getenv("BUILDDIR") ? getenv("BUILDDIR") : ".", NULL);
	if (!build || !mkdtemp(top) || chdir(top)) {
		printf("Bail out! no folder\n");
		return 99;
	}
	setenv("BUILDDIR", build, 1);
	unsetenv("OMP_WAIT_POLICY");
	free(build);
	test_time();
	test_limits();
	test_counters();
	test_killer();
	test_metric();
	test_environment();
	test_openmp();
	test_expected();
	test_expected_files();
	tree_remove(top);
	return tap_done();
}
