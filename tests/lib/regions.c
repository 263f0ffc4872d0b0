/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report of libsweetspot on a program, as the worker reads it. */
#include <signal.h>

#include "tests/lib/rig.h"

static void check_nested(struct rig *rig) {
	rig_run(rig, "nested", "10");
	ok(json_array_size(rig->found) == 3 && json_array_size(rig->notes) == 0,
	   "three regions and nothing to complain of");
	is_text(json_string_value(json_object_get(json_array_get(rig->found, 0), "name")), "outer",
	        "regions come in the order of their begin");
	ok(figure(rig, "inner", "calls") == 3 && figure(rig, "outer", "calls") == 1, "each call counts");
	ok(figure(rig, "inner", "seconds") >= 0.03, "the time is that between begin and end");
	ok(figure(rig, "outer", "seconds") >= figure(rig, "inner", "seconds"), "times are inclusive");
	ok(figure(rig, "over", "calls") == 1, "regions may overlap");
	ok(json_array_size(json_object_get(region(rig, "inner"), "counters")) == 0, "no counters where none are asked for");
}

static void check_recursive(struct rig *rig) {
	rig_run(rig, "recursive", "1");
	double once = figure(rig, "recursive", "seconds");
	rig_run(rig, "recursive", "50");
	ok(figure(rig, "recursive", "calls") == 50, "a region inside itself is a call");
	ok(figure(rig, "recursive", "seconds") < 25 * once, "the time of a region inside itself is not counted again");
}

static void check_threads(struct rig *rig) {
	rig_run(rig, "threads", "8");
	json_t *rows = json_object_get(region(rig, "member"), "per_thread"), *row;
	double sum = 0;
	size_t i;
	json_array_foreach(rows, i, row) {
		sum += json_number_value(row);
	}
	ok(figure(rig, "member", "threads") == 3 && json_array_size(rows) == 3, "a row for each thread");
	ok(fabs(sum - figure(rig, "member", "seconds")) < 1e-9, "the whole is the sum of its rows");
	bool right = true;
	for (int name = 0; name < 100; name++) {
		char text[20];
		snprintf(text, sizeof text, "name %d", name);
		right = right && figure(rig, text, "calls") == 30 && figure(rig, text, "threads") == 3;
	}
	ok(right, "three threads that meet a hundred new names at once lose none");
	rig_run(rig, "many", "300");
	ok(figure(rig, "short life", "calls") == 300 && figure(rig, "short life", "threads") == 1,
	   "threads that follow each other share a row");
	ok(figure(rig, "left open", "unended") == 300 && figure(rig, "left open", "calls") == 0,
	   "a region that a thread leaves open is reported");
}

static void check_team(struct rig *rig) {
	rig_run(rig, "team", "200");
	ok(figure(rig, "inside", "calls") == 600 && figure(rig, "inside", "threads") == 3, "OpenMP: a team of three");
	ok(figure(rig, "around", "calls") == 1 && figure(rig, "around", "threads") == 1,
	   "the region around a team is called once");
}

static void check_mismatch(struct rig *rig) {
	rig_run(rig, "mismatch", "7");
	ok(figure(rig, "never begun", "unbegun") == 7 && figure(rig, "never begun", "calls") == 0, "ends without begin");
	ok(figure(rig, "never ended", "unended") == 7 && figure(rig, "never ended", "calls") == 0, "begins without end");
	ok(figure(rig, "good", "calls") == 1 && figure(rig, "good", "unbegun") == 1, "one end too many takes nothing away");
	ok(figure(rig, "other", "unbegun") == 1, "another's end");
	ok(figure(rig, "(no name)", "calls") == 1, "no name at all");
	ok(noted(rig, "never begun: end without begin, 7 times") && noted(rig, "never ended: begin without end, 7 times"),
	   "all of it is noted");
}

static void check_forks(struct rig *rig) {
	rig_run(rig, "forks", "3");
	ok(figure(rig, "before", "calls") == 1, "work before the fork counts once");
	ok(figure(rig, "child", "calls") == 3 && figure(rig, "child", "threads") == 3, "children count for themselves");
	ok(figure(rig, "open", "calls") == 4 && figure(rig, "open", "unended") == 0, "an open region continues in both");
	rig_run(rig, "executes", "3");
	ok(figure(rig, "inner", "calls") == 3, "a program that another becomes has its own records");
	ok(figure(rig, "first image", "calls") == 1 && noted(rig, "did not end by exit"),
	   "the records of the program before are kept");
}

static void check_names(struct rig *rig) {
	rig_run(rig, "names", "100000");
	ok(json_array_size(rig->found) == 256, "a flood of names is cut");
	ok(figure(rig, "name 0", "calls") == 1 && !region(rig, "name 4097"), "the first remain");
	/* 100000 names, 4096 kept; begin and end of the others */
	ok(noted(rig, "191808 calls are not counted") && noted(rig, "only the first 256"),
	   "names and calls that are lost are reported");
	char full[256];
	memset(full, 'x', 255);
	full[255] = '\0';
	rig_run(rig, "odd", "1000000");
	ok(figure(rig, full, "calls") == 1, "a long name is cut");
	full[254] = '\0';
	ok(figure(rig, full, "calls") == 1, "between characters");
	ok(figure(rig, "odd \"\\    ?? name", "calls") == 1, "odd bytes come through as far as they are text");
	ok(json_array_size(rig->found) == 3, "odd names give no more regions");
}

static void check_ends(struct rig *rig) {
	rig_run(rig, "quick", "1");
	ok(figure(rig, "quick", "calls") == 1 && json_array_size(rig->notes) == 0, "quick_exit is an end");
	rig_run(rig, "killed", "0");
	ok(WIFEXITED(rig->status) && figure(rig, "early", "calls") == 1, "_exit: the earlier writes remain");
	ok(noted(rig, "did not end by exit"), "the note says that records are missing");
	rig_run(rig, "killed", "9");
	ok(WIFSIGNALED(rig->status) && WTERMSIG(rig->status) == SIGKILL && figure(rig, "early", "calls") == 1 &&
	       noted(rig, "did not end by exit"),
	   "SIGKILL: the same");
	rig_run(rig, "running", "1100");
	ok(figure(rig, "main", "calls") == 1 && figure(rig, "endless", "threads") == 2 &&
	       !noted(rig, "did not end by exit"),
	   "an end while threads go on is an end");
	rig_run(rig, "cost", "100000");
	ok(figure(rig, "cost", "calls") == 100000, "many calls");
}

static void check_fortran(struct rig *rig) {
	rig_run(rig, "fortran", "5");
	ok(figure(rig, "for t", "calls") == 10 && json_array_size(rig->notes) == 0,
	   "Fortran: blanks in the end don't count, and it is the same region as C's");
	ok(figure(rig, "(no name)", "calls") == 1, "Fortran: blanks alone are not a name");
}

int main(void) {
	struct rig rig;
	rig_open(&rig, NULL, 0);
	check_nested(&rig);
	check_recursive(&rig);
	check_threads(&rig);
	check_team(&rig);
	check_mismatch(&rig);
	check_forks(&rig);
	check_names(&rig);
	check_ends(&rig);
	check_fortran(&rig);
	rig_close(&rig);
	return tap_done();
}
