/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/busy/busy.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "src/base/json/js.h"
#include "src/base/mem.h"
#include "src/base/sys.h"
#include "tuner/busy/proc.h"

enum { CPUS_MAX = 8192 };
/* Ticks of 10 ms make shorter windows too coarse. */
static const double WINDOW_SECONDS = 0.5;
/* Daemons and the terminal are always there. */
static const double OTHERS_ALWAYS = 0.5, OTHERS_SHARE = 0.02, STEAL_SHARE = 0.05;

struct look {
	double at, ours_s;
	struct proc_times times;
	bool good;
};

struct busy {
	cpu_set_t *set;
	size_t set_size;
	struct look first, last;
	double others, steal; /* in the last window */
	double load;          /* the largest; NAN: unknown */
	double waited;
};

static bool is_allowed(void *ctx, int cpu) {
	const struct busy *busy = ctx;
	return cpu < CPUS_MAX && CPU_ISSET_S((size_t)cpu, busy->set_size, busy->set);
}

static struct look look_take(struct busy *busy) {
	struct look look = {.at = sys_now()};
	FILE *file = fopen("/proc/stat", "re");
	look.good = file && proc_times_read(file, is_allowed, busy, &look.times);
	if (file)
		fclose(file);
	if (look.good)
		look.ours_s = proc_tree_seconds("/proc", getpid());
	busy->load = fmax(busy->load, proc_load("/proc/loadavg")); /* fmax ignores a NAN */
	return look;
}

/* Returns the processors that other programs used between two looks. The times of our own processes are counted when
 * they end, so one look may see more of them than there was. */
static double others_between(const struct look *from, const struct look *to) {
	double all = to->times.busy_s - from->times.busy_s, ours = to->ours_s - from->ours_s;
	return fmax(0, all - ours) / (to->at - from->at);
}

static double steal_between(const struct look *from, const struct look *to) {
	return fmax(0, to->times.steal_s - from->times.steal_s) / (to->at - from->at);
}

struct busy *busy_new(void) {
	struct busy *busy = mem_alloc(1, sizeof *busy);
	busy->set = CPU_ALLOC(CPUS_MAX);
	busy->set_size = CPU_ALLOC_SIZE(CPUS_MAX);
	busy->load = NAN;
	if (!busy->set || sched_getaffinity(0, busy->set_size, busy->set) != 0)
		return busy;
	busy->first = busy->last = look_take(busy);
	return busy;
}

void busy_free(struct busy *busy) {
	if (!busy)
		return;
	CPU_FREE(busy->set);
	free(busy);
}

void busy_look(struct busy *busy) {
	if (!busy->first.good || sys_now() - busy->last.at < WINDOW_SECONDS)
		return;
	struct look look = look_take(busy);
	if (!look.good)
		return;
	busy->others = others_between(&busy->last, &look);
	busy->steal = steal_between(&busy->last, &look);
	busy->last = look;
}

bool busy_judge(int processors, double others, double steal) {
	return others > OTHERS_ALWAYS + OTHERS_SHARE * processors || steal > STEAL_SHARE * processors;
}

bool busy_now(const struct busy *busy) {
	return busy->first.good && busy_judge(busy->last.times.processors, busy->others, busy->steal);
}

double busy_wait(struct busy *busy, double seconds, const volatile int *interrupt) {
	const struct timespec pause = {.tv_nsec = 50 * 1000 * 1000};
	double begun = sys_now(), waited = 0;
	busy_look(busy);
	while (busy_now(busy) && waited < seconds && !(interrupt && *interrupt)) {
		nanosleep(&pause, NULL);
		busy_look(busy);
		waited = sys_now() - begun;
	}
	busy->waited += waited;
	return waited;
}

json_t *busy_json(const struct busy *busy) {
	const struct look *first = &busy->first, *last = &busy->last;
	if (!first->good || last->at <= first->at)
		return json_null();
	double others = others_between(first, last), steal = steal_between(first, last);
	int processors = last->times.processors;
	return json_pack("{s:i,s:o,s:f,s:f,s:b,s:f}", "processors", processors, "load", js_number(busy->load), "others",
	                 others, "steal", steal, "busy", busy_judge(processors, others, steal), "waited_s", busy->waited);
}
