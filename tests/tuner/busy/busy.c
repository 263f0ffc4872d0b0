/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who uses the processors: figures from files that are given, because a test cannot know what the machine does. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/tree.h"
#include "tests/tap.h"
#include "tuner/busy/busy.h"

static bool below_two(void *ctx, int cpu) {
	(void)ctx;
	return cpu < 2;
}

static void times(void) {
	static const char text[] = "cpu  900 0 90 9000 0 0 0 70 0 0\n"
							   "cpu0 100 10 20 5000 3 4 6 50 0 0\n"
							   "cpu1 200 0 0 5000 0 0 0 0 0 0\n"
							   "cpu2 700 0 0 5000 0 0 0 20 0 0\n"
							   "intr 5\n";
	FILE *file = fmemopen((void *)text, sizeof text - 1, "r");
	struct proc_times got;
	double hertz = (double)sysconf(_SC_CLK_TCK);
	ok(proc_times_read(file, below_two, NULL, &got) && got.processors == 2, "the processors that are allowed");
	ok(fabs(got.busy_s - 340 / hertz) < 1e-9, "busy time is neither idle, nor waiting, nor stolen: %g", got.busy_s);
	ok(fabs(got.steal_s - 50 / hertz) < 1e-9, "what was stolen from them: %g", got.steal_s);
	fclose(file);
	file = fmemopen((void *)"cpu 1 2 3 4\ncpux\n", 17, "r");
	ok(!proc_times_read(file, below_two, NULL, &got), "no processor, no figures");
	fclose(file);
}

static void process(const char *folder, int pid, const char *name, int parent, int user, int children) {
	char *path = mem_printf("%s/%d", folder, pid), *stat = mem_printf("%s/stat", path);
	mkdir(path, 0700);
	FILE *file = fopen(stat, "w");
	fprintf(file, "%d (%s) S %d 1 1 0 -1 4194560 1 2 3 4 %d 0 %d 0 20 0 1 0 5\n", pid, name, parent, user, children);
	fclose(file);
	free(path);
	free(stat);
}

static void tree(void) {
	char folder[] = "/tmp/sweetspot-test-XXXXXX";
	double hertz = (double)sysconf(_SC_CLK_TCK);
	if (!mkdtemp(folder)) {
		printf("Bail out! no folder\n");
		exit(99);
	}
	process(folder, 5, "grandchild) R 7", 20, 3, 0);
	process(folder, 10, "tuner", 1, 100, 7);
	process(folder, 20, "worker", 10, 40, 20);
	process(folder, 30, "another", 1, 5000, 0);
	process(folder, 31, "its child", 30, 900, 0);
	double seconds = proc_tree_seconds(folder, 10);
	ok(fabs(seconds - 170 / hertz) < 1e-9, "a process, its descendants and those that were reaped: %g", seconds);
	ok(proc_tree_seconds(folder, 999) == 0, "a process that is not there");
	ok(isnan(proc_load("/nonexistent/loadavg")), "a load that is not known");
	tree_remove(folder);
}

static void judge(void) {
	ok(!busy_judge(2, 0.2, 0) && !busy_judge(64, 1.5, 0), "what is always there");
	ok(busy_judge(2, 1.6, 0) && busy_judge(64, 8, 0), "others on our processors");
	ok(busy_judge(1, 0.5, 0) && !busy_judge(1, 0.2, 0), "one other program shares the only processor");
	ok(busy_judge(2, 0, 0.3), "a hypervisor that takes time");
}

/* Whatever the machine does: the figures are numbers, and an interruption ends the waiting. */
static void here(void) {
	setenv("SWEETSPOT_WAIT", "20s", 1);
	struct busy *busy = busy_new();
	int stop = 1;
	ok(busy_wait(busy, 1000, &stop) < 1000, "an interruption ends the waiting");
	ok(busy_wait(busy, 0, NULL) >= 0, "the limit ends the waiting");
	json_t *json = busy_json(busy);
	ok(busy_wait_seen(busy, 0.1, NULL) > 0, "others that were seen wait for the first look");
	ok(json_is_null(json) || (js_int_or(json, "processors", 0) >= 1 && js_real_or(json, "others", -1) >= 0),
	   "figures, or nothing");
	json_decref(json);
	busy_free(busy);
}

/* A machine on a clock of its own, whose processors others use or do not use. */
struct machine {
	char folder[40];
	double seconds, used_s;
	bool others;
};

static void machine_pass(struct machine *machine, double seconds) {
	double hertz = (double)sysconf(_SC_CLK_TCK);
	char *path = mem_printf("%s/stat", machine->folder);
	machine->seconds += seconds;
	machine->used_s += machine->others ? seconds : 0;
	FILE *file = fopen(path, "w");
	for (int cpu = 0; file && cpu < 1024; cpu++)
		fprintf(file, "cpu%d %.0f 0 0 %.0f 0 0 0 0\n", cpu, machine->used_s * hertz,
		        (machine->seconds - machine->used_s) * hertz);
	if (file)
		fclose(file);
	free(path);
}

static double machine_now(void *ctx) {
	return ((struct machine *)ctx)->seconds;
}

static void machine_pause(void *ctx, double seconds) {
	machine_pass(ctx, seconds);
}

static void pass_and_look(struct busy *busy, struct machine *machine, bool others, int looks) {
	machine->others = others;
	for (int i = 0; i < looks; i++) {
		machine_pass(machine, 1);
		busy_look(busy);
	}
}

static void hopeless(void) {
	struct machine machine = {.folder = "/tmp/sweetspot-test-XXXXXX"};
	const struct busy_clock clock = {.now = machine_now, .pause = machine_pause, .ctx = &machine};
	if (!mkdtemp(machine.folder)) {
		printf("Bail out! no folder\n");
		exit(99);
	}
	machine_pass(&machine, 1);
	unsetenv("SWEETSPOT_WAIT");
	struct busy *busy = busy_open(machine.folder, &clock);
	pass_and_look(busy, &machine, true, 3);
	ok(busy_wait(busy, 0.4, NULL) >= 0.4, "others that have been seen for a short time are waited for");
	pass_and_look(busy, &machine, true, 5);
	ok(busy_wait(busy, 0.4, NULL) <= 0, "others that are always there are not waited for");
	pass_and_look(busy, &machine, false, 1);
	pass_and_look(busy, &machine, true, 1);
	ok(busy_wait(busy, 0.4, NULL) >= 0.4, "others that come and go are waited for");
	busy_free(busy);
	setenv("SWEETSPOT_WAIT", "20s", 1);
	busy = busy_open(machine.folder, &clock);
	pass_and_look(busy, &machine, true, 8);
	ok(busy_wait(busy, 0.4, NULL) >= 0.4, "a user who says how long gets that, whoever is there");
	busy_free(busy);
	tree_remove(machine.folder);
}

int main(void) {
	hopeless();
	times();
	tree();
	judge();
	here();
	return tap_done();
}
