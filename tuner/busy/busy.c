/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/stop.h"
#include "base/sys.h"
#include "tuner/busy/busy.h"

enum { LINE = 1024 };

/* of a second: the unit of all of these */
static double ticks(void) {
	long hertz = sysconf(_SC_CLK_TCK);
	return hertz > 0 ? (double)hertz : 100;
}

/* user nice system idle iowait irq softirq steal: proc(5) */
static bool cpu_read(const char *line, int *cpu, double *busy, double *steal) {
	unsigned long long t[8] = {0};
	int read = sscanf(line, "cpu%d %llu %llu %llu %llu %llu %llu %llu %llu", cpu, &t[0], &t[1], &t[2], &t[3], &t[4],
	                  &t[5], &t[6], &t[7]);
	*busy = (double)(t[0] + t[1] + t[2] + t[5] + t[6]) / ticks();
	*steal = (double)t[7] / ticks();
	return read >= 5;
}

bool proc_times_read(FILE *file, bool (*allowed)(void *ctx, int cpu), void *ctx, struct proc_times *times) {
	char line[LINE];
	*times = (struct proc_times){0};
	while (fgets(line, sizeof line, file)) {
		int cpu;
		double busy, steal;
		if (strncmp(line, "cpu", 3) != 0 || !isdigit((unsigned char)line[3]))
			continue;
		if (!cpu_read(line, &cpu, &busy, &steal) || !allowed(ctx, cpu))
			continue;
		times->busy_s += busy;
		times->steal_s += steal;
		times->processors++;
	}
	return times->processors > 0;
}

struct process {
	pid_t pid, parent;
	double seconds;
	bool ours;
};

/* The name in parentheses may contain anything, so the fields are counted from its last one. */
static bool process_read(const char *folder, const char *name, struct process *process) {
	char line[LINE];
	mem_auto char *path = mem_printf("%s/%s/stat", folder, name);
	bool got = sys_read_line(path, line, sizeof line);
	char *after = got ? strrchr(line, ')') : NULL;
	unsigned long user, system;
	long children_user, children_system;
	int parent;
	if (!after || sscanf(after + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld", &parent, &user,
	                     &system, &children_user, &children_system) != 5)
		return false;
	process->pid = (pid_t)atoi(name);
	process->parent = parent;
	process->seconds = ((double)user + (double)system + (double)children_user + (double)children_system) / ticks();
	process->ours = false;
	return true;
}

static struct process *processes_read(const char *folder, size_t *count) {
	struct process *list = NULL;
	struct dirent *entry;
	DIR *dir = opendir(folder);
	*count = 0;
	while (dir && (entry = readdir(dir))) {
		struct process one;
		if (!isdigit((unsigned char)*entry->d_name) || !process_read(folder, entry->d_name, &one))
			continue;
		list = mem_grow(list, *count + 1, sizeof *list);
		list[(*count)++] = one;
	}
	if (dir)
		closedir(dir);
	return list;
}

/* A child may precede its parent in the list, so passes over it are repeated until nothing changes. */
static void tree_mark(struct process *list, size_t count, pid_t root) {
	for (bool changed = true; changed;) {
		changed = false;
		for (size_t i = 0; i < count; i++) {
			bool ours = list[i].pid == root;
			for (size_t k = 0; !ours && k < count; k++)
				ours = list[k].ours && list[k].pid == list[i].parent;
			changed = changed || ours != list[i].ours;
			list[i].ours = ours;
		}
	}
}

double proc_tree_seconds(const char *folder, pid_t root) {
	size_t count;
	double seconds = 0;
	mem_auto struct process *list = processes_read(folder, &count);
	tree_mark(list, count, root);
	for (size_t i = 0; i < count; i++)
		seconds += list[i].ours ? list[i].seconds : 0;
	return seconds;
}

double proc_load(const char *path) {
	char line[LINE], *end;
	double load = sys_read_line(path, line, sizeof line) ? strtod(line, &end) : NAN;
	return isfinite(load) && load >= 0 ? load : NAN;
}

enum { CPUS_MAX = 8192 };
/* Ticks of 10 ms make shorter windows too coarse. */
static const double WINDOW_SECONDS = 0.5;
/* Others that were there for so many looks without a gap are hardly gone within the next second. */
enum { LOOKS_HOPELESS = 5 };
/* Daemons and the terminal are always there. Another program gets half of a single processor at least. */
static const double OTHERS_ALWAYS = 0.5, OTHERS_OF_FEW = 0.25, OTHERS_SHARE = 0.02, STEAL_SHARE = 0.05;

struct look {
	double at, ours_s;
	struct proc_times times;
	bool good;
};

struct busy {
	char *proc;
	struct busy_clock clock;
	cpu_set_t *set;
	size_t set_size;
	struct look first, last, mark;
	double others, steal; /* in the last window */
	double load;          /* the largest; NAN: unknown */
	double waited;
	double patience; /* the most seconds to wait */
	int looks;       /* one after the other that saw others */
};

static bool is_allowed(void *ctx, int cpu) {
	const struct busy *busy = ctx;
	return cpu < CPUS_MAX && CPU_ISSET_S((size_t)cpu, busy->set_size, busy->set);
}

static double now(const struct busy *busy) {
	return busy->clock.now(busy->clock.ctx);
}

static struct look look_take(struct busy *busy) {
	struct look look = {.at = now(busy)};
	mem_auto char *stat = mem_printf("%s/stat", busy->proc), *load = mem_printf("%s/loadavg", busy->proc);
	FILE *file = fopen(stat, "re");
	look.good = file && proc_times_read(file, is_allowed, busy, &look.times);
	if (file)
		fclose(file);
	if (look.good)
		look.ours_s = proc_tree_seconds(busy->proc, getpid());
	busy->load = fmax(busy->load, proc_load(load)); /* fmax ignores a NAN */
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

struct busy *busy_open(const char *proc, const struct busy_clock *clock) {
	struct busy *busy = mem_alloc(1, sizeof *busy);
	struct err reported = {0}; /* by lock_take */
	busy->proc = mem_strdup(proc);
	busy->clock = *clock;
	busy->set = CPU_ALLOC(CPUS_MAX);
	busy->set_size = CPU_ALLOC_SIZE(CPUS_MAX);
	busy->load = NAN;
	quiet_seconds(&busy->patience, &reported);
	if (!busy->set || sched_getaffinity(0, busy->set_size, busy->set) != 0)
		return busy;
	busy->first = busy->last = busy->mark = look_take(busy);
	return busy;
}

static double real_now(void *ctx) {
	(void)ctx;
	return sys_now();
}

static void real_pause(void *ctx, double seconds) {
	const struct timespec pause = {.tv_nsec = (long)(seconds * 1e9)};
	(void)ctx;
	nanosleep(&pause, NULL);
}

struct busy *busy_new(void) {
	const struct busy_clock clock = {.now = real_now, .pause = real_pause};
	return busy_open("/proc", &clock);
}

double busy_patience(const struct busy *busy) {
	return busy->patience;
}

void busy_free(struct busy *busy) {
	if (!busy)
		return;
	CPU_FREE(busy->set);
	free(busy->proc);
	free(busy);
}

bool busy_judge(int processors, double others, double steal) {
	return others > fmin(OTHERS_ALWAYS, OTHERS_OF_FEW * processors) + OTHERS_SHARE * processors ||
	       steal > STEAL_SHARE * processors;
}

/* Did others use our processors at the last look, by more than what is always there? */
static bool busy_now(const struct busy *busy) {
	return busy->first.good && busy_judge(busy->last.times.processors, busy->others, busy->steal);
}

void busy_look(struct busy *busy) {
	if (!busy->first.good || now(busy) - busy->last.at < WINDOW_SECONDS)
		return;
	struct look look = look_take(busy);
	if (!look.good)
		return;
	busy->others = others_between(&busy->last, &look);
	busy->steal = steal_between(&busy->last, &look);
	busy->last = look;
	busy->looks = busy_now(busy) ? busy->looks + 1 : 0;
}

void busy_mark(struct busy *busy) {
	if (busy->first.good)
		busy->mark = look_take(busy);
}

/* The times of a processor and of a process may differ by a tick, on each of the processors. */
static double coarseness(const struct look *from, const struct look *to) {
	return to->times.processors / ticks() / (to->at - from->at);
}

enum busy_answer busy_since(struct busy *busy, bool at_once, double *seconds) {
	const struct look *mark = &busy->mark;
	*seconds = now(busy) - mark->at;
	if (!busy->first.good || !mark->good)
		return BUSY_QUIET;
	if (!at_once && *seconds < WINDOW_SECONDS)
		return BUSY_LATER;
	struct look look = look_take(busy);
	if (!look.good || !(look.at > mark->at))
		return BUSY_QUIET;
	double coarse = coarseness(mark, &look);
	bool others =
		busy_judge(look.times.processors, others_between(mark, &look) - coarse, steal_between(mark, &look) - coarse);
	busy->mark = look;
	return others ? BUSY_OTHERS : BUSY_QUIET;
}

/* Nobody has looked yet, because too little time has passed since the beginning. */
static bool is_new(const struct busy *busy) {
	return busy->first.good && !(busy->last.at > busy->first.at);
}

/* seen: there are others for certain, so that the first look is waited for. */
static double wait_out(struct busy *busy, double seconds, bool seen, const volatile int *interrupt) {
	const double pause = 0.05;
	double begun = now(busy), waited = 0;
	seconds = fmin(seconds, busy->patience - busy->waited);
	busy_look(busy);
	while ((busy_now(busy) || (seen && is_new(busy))) && waited < seconds && !(interrupt && *interrupt)) {
		busy->clock.pause(busy->clock.ctx, pause);
		busy_look(busy);
		waited = now(busy) - begun;
	}
	busy->waited += waited;
	return waited;
}

double busy_wait(struct busy *busy, double seconds, const volatile int *interrupt) {
	bool hopeless = busy->looks >= LOOKS_HOPELESS && isinf(busy->patience);
	return hopeless ? 0 : wait_out(busy, seconds, false, interrupt);
}

double busy_wait_seen(struct busy *busy, double seconds, const volatile int *interrupt) {
	return wait_out(busy, seconds, true, interrupt);
}

static const struct look *last_look(const struct busy *busy) {
	return busy->mark.at > busy->last.at ? &busy->mark : &busy->last;
}

bool busy_so_far(const struct busy *busy) {
	const struct look *first = &busy->first, *last = last_look(busy);
	if (!first->good || last->at <= first->at)
		return false;
	double coarse = coarseness(first, last);
	return busy_judge(last->times.processors, others_between(first, last) - coarse,
	                  steal_between(first, last) - coarse);
}

json_t *busy_json(const struct busy *busy) {
	const struct look *first = &busy->first, *last = last_look(busy);
	if (!first->good || last->at <= first->at)
		return json_null();
	double others = others_between(first, last), steal = steal_between(first, last);
	return json_pack("{s:i,s:o,s:f,s:f,s:b,s:f}", "processors", last->times.processors, "load", js_number(busy->load),
	                 "others", others, "steal", steal, "busy", busy_so_far(busy), "waited_s", busy->waited);
}
