/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counters that perf stat and likwid-perfctr have written, by themselves and in a table that names the files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/sys.h"
#include "tests/mutate.h"
#include "tuner/study/study_impl.h"
#include "tuner/study/study.h"

static const char perf[] = "# started on Mon Nov 23 00:00:00 2026\n\n"
						   "1.20,msec,task-clock:u,1204272,100.00,0.697,CPUs utilized\n"
						   "2000000,,cycles:u,1204272,100.00,1.66,GHz\n"
						   "4000000,,cpu_core/instructions/u,1204272,100.00,2.00,insn per cycle\n"
						   ",,,,,0.1,stalled cycles per insn\n"
						   "1500,,L1-dcache-load-misses:u,602136,50.00,,\n"
						   "<not supported>,,LLC-load-misses:u,0,100.00,,\n"
						   "70,,page-faults:u,1204272,100.00,58.126,K/sec\n";
static const char likwid[] = "STRUCT,Info,3,,\nCPU name:,Some CPU,,,\n"
							 "TABLE,Group 1 Raw,MEM,4,\n"
							 "Event,Counter,HWThread 0,HWThread 1,\n"
							 "INSTR_RETIRED_ANY,FIXC0,100,200,\n"
							 "CPU_CLK_UNHALTED_CORE,FIXC1,10,-,\n"
							 "CAS_COUNT_RD,MBOX0C0,5,0,\n"
							 "CAS_COUNT_RD,MBOX1C0,6,0,\n"
							 "TABLE,Group 1 Raw STAT,MEM,1,,,\n"
							 "Event,Counter,Sum,Min,Max,Avg\n"
							 "INSTR_RETIRED_ANY STAT,FIXC0,300,100,200,150\n"
							 "TABLE,Group 1 Metric,MEM,1,\n"
							 "Metric,HWThread 0,HWThread 1,,\n"
							 "Runtime (RDTSC) [s],1.5,1.5,,\n";

static const json_t *named(const json_t *list, const char *name) {
	size_t i;
	json_t *one;
	json_array_foreach((json_t *)list, i, one) {
		if (strcmp(js_string_or(one, "name", ""), name) == 0)
			return one;
	}
	return NULL;
}

static double value_of(const json_t *list, const char *name) {
	return js_real_or(named(list, name), "value", NAN);
}

static void test_perf(void) {
	struct err err = {0};
	json_t *list = counted_text_read(perf, "perf", &err);
	ok(list && json_array_size(list) == 5, "perf stat: five counters (%s)", err.what);
	ok(value_of(list, "cycles") == 2e6 && value_of(list, "instructions") == 4e6,
	   "counters of perf have neither modifiers nor units");
	ok(value_of(list, "l1d_misses") == 1500 &&
	       strcmp(js_string_or(named(list, "l1d_misses"), "status", ""), "scaled") == 0,
	   "one that ran half of the time is scaled");
	ok(fabs(value_of(list, "task_clock") - 1.2e-3) < 1e-12, "a time is in seconds");
	ok(!named(list, "llc_misses"), "one that is not supported is left out");
	json_decref(list);
	list = counted_text_read("10;;cycles;0.5%;1000;100.00;;\n", "perf", &err);
	ok(value_of(list, "cycles") == 10 && strcmp(js_string_or(named(list, "cycles"), "status", ""), "counted") == 0,
	   "another separator, and a variance of -r");
	json_decref(list);
	list = counted_text_read(
		"12;;cycles;1000;50,00;;\n15;;branches;0,50%;1000;25,00;;\n7;;cpu/event=0xd1,umask=1/;1;100,00;;\n", "perf",
		&err);
	ok(strcmp(js_string_or(named(list, "cycles"), "status", ""), "scaled") == 0 &&
	       strcmp(js_string_or(named(list, "branches"), "status", ""), "scaled") == 0 && json_array_size(list) == 3,
	   "decimal commas between semicolons");
	json_decref(list);
}

static void test_likwid(void) {
	struct err err = {0};
	json_t *list = counted_text_read(likwid, "likwid", &err);
	ok(list && json_array_size(list) == 4, "likwid: three counters, and the time (%s)", err.what);
	ok(value_of(list, "instructions") == 300 && value_of(list, "cycles") == 10, "added up over the threads");
	ok(value_of(list, "cas_count_rd") == 11, "counters of likwid are added up over the channels");
	json_decref(list);
}

static void test_refused(void) {
	static const char *const texts[] = {"",
	                                    "hello\n",
	                                    "     1.0001,2000,,cycles,1,100.00,,\n",
	                                    "CPU0,2000,,cycles,1,100.00,,\n",
	                                    "<not supported>,,cycles,0,100.00,,\n",
	                                    "TABLE,Group 1 Metric,MEM,1,\nMetric,HWThread 0,\nRuntime,1\n",
	                                    "1,23,msec,task-clock,1000,100,00,,\n",
	                                    "12,,cpu/event=0xd1,umask=0x01/,1000,100.00,,\n",
	                                    "10,,cycles,1000,100.00,,\n20,,instr",
	                                    "inf,,cycles,0,100.00,,\n"};
	int wrong = 0;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct err err = {0};
		json_t *list = counted_text_read(texts[i], "text", &err);
		if (list || err.code != ERR_USAGE)
			printf("# accepted: %s\n", texts[i]);
		wrong += list || err.code != ERR_USAGE;
		json_decref(list);
	}
	ok(wrong == 0, "other texts are refused");
}

static void test_table(const char *dir) {
	static const char table[] = "n,threads,time_s,perf_stat\n64,1,2.0,a.perf\n64,2,1.0,-\n",
					  outside[] = "n,threads,time_s,perf_stat\n64,1,2.0,../a.perf\n",
					  absent[] = "n,threads,time_s,perf_stat\n64,1,2.0,b.perf\n";
	char *path = mem_printf("%s/a.perf", dir), *csv = mem_printf("%s/t.csv", dir);
	struct err err = {0};
	struct study_set *set = study_set_new("time");
	ok(sys_write_file(path, perf, strlen(perf), &err) == 0 &&
	       study_set_table(set, csv, table, strlen(table), NULL, &err) == 0,
	   "a table names the file (%s)", err.what);
	struct study *study = study_set_at(set, 0)->study;
	study_finish(study);
	ok(study_rows(study) == 2 && study_counter(study, 0, "instructions") == 4e6 &&
	       isnan(study_counter(study, 1, "instructions")),
	   "the row of the table has the counters");
	study_set_free(set);
	set = study_set_new("time");
	ok(study_set_table(set, csv, outside, strlen(outside), NULL, &err) && err.code == ERR_USAGE,
	   "a file elsewhere is refused: %s", err.what);
	ok(study_set_table(set, csv, absent, strlen(absent), NULL, &err) && err.code == ERR_USAGE,
	   "a file that is not there, too: %s", err.what);
	study_set_free(set);
	unlink(path);
	free(path);
	free(csv);
}

static void test_mutations(void) {
	static const char of_perf[] = "123456,,cycles:u,1000000,100.00,1.5,GHz\n<not supported>,,LLC-loads,0,100.00,,\n"
								  "12.5,msec,task-clock,1,100.00,0.9,CPUs utilized\n";
	static const char of_likwid[] = "TABLE,Group 1 Raw,MEM,4,,,\nEvent,Counter,HWThread 0,HWThread 1,\n"
									"INSTR_RETIRED_ANY,FIXC0,1000,2000,\nTABLE,Group 1 Metric,MEM,2,,,\n"
									"Metric,HWThread 0,HWThread 1,\nRuntime (RDTSC) [s],0.5,-,\n";
	mutate_all(of_perf, sizeof of_perf - 1, "0123456789-+e.,;<>:#\n%\"", 3000);
	mutate_all(of_likwid, sizeof of_likwid - 1, "0123456789-+e.,;[]()|\n", 3000);
}

int main(void) {
	test_mutations();
	char dir[] = "/tmp/counted-XXXXXX";
	test_perf();
	test_likwid();
	test_refused();
	if (mkdtemp(dir)) {
		test_table(dir);
		rmdir(dir);
	}
	return tap_done();
}
