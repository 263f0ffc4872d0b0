/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Watches how much of our processors others use while something is tuned. Times between two looks are compared: what
 * all processors did, less what this process and its descendants did, is what others did. A look takes some
 * milliseconds, so it is taken between trials only. */
#ifndef TUNER_BUSY_BUSY_H
#define TUNER_BUSY_BUSY_H
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct busy;

struct busy *busy_new(void); /* takes the first look */
/* The same with another folder than /proc and with a clock of the caller's: for tests. */
struct busy_clock {
	void *ctx;
	double (*now)(void *ctx); /* seconds */
	void (*pause)(void *ctx, double seconds);
};
struct busy *busy_open(const char *proc, const struct busy_clock *clock);
void busy_free(struct busy *busy);
/* Looks again if the last look is long enough ago for the clock ticks that the kernel counts in. */
void busy_look(struct busy *busy);
/* The time since the last mark: nobody disturbed it (or nobody knows), others did, or it is too early to tell. */
enum busy_answer { BUSY_QUIET, BUSY_OTHERS, BUSY_LATER };
void busy_mark(struct busy *busy);
/* Sets *seconds to the time since the mark, and the mark anew unless it is too early. at_once: the answer cannot wait;
 * the shorter the time, the more others must have done to be seen beside the ticks. */
enum busy_answer busy_since(struct busy *busy, bool at_once, double *seconds);
/* The most seconds that the user (SWEETSPOT_WAIT) lets a measurement wait, or repeat what others disturbed. INFINITY:
 * the caller decides. */
double busy_patience(const struct busy *busy);
/* Waits for other programs to end, for at most this many seconds and within the user's total, or until *interrupt is
 * set; not at all where they have been there at each of the last looks, unless the user says how long. Returns the
 * seconds waited. */
double busy_wait(struct busy *busy, double seconds, const volatile int *interrupt);
/* The same where others were just seen in another way, perhaps before there was time to look. */
double busy_wait_seen(struct busy *busy, double seconds, const volatile int *interrupt);
/* {"processors", "load", "others", "steal", "busy", "waited_s"} over all looks; null: /proc is not readable. `others`
 * and `steal` are in processors, `load` is the largest average over a minute. New reference. */
json_t *busy_json(const struct busy *busy);
/* Did others use the machine, over all looks? */
bool busy_so_far(const struct busy *busy);
/* Is that much use by others worth mentioning on this many processors? */
bool busy_judge(int processors, double others, double steal);

/* Figures of /proc: what all processors did, and what a process and its descendants did. */
struct proc_times {
	double busy_s;  /* of the processors that this process may use, except for time that was stolen */
	double steal_s; /* that the hypervisor took from them */
	int processors;
};

/* Reads the lines "cpuN" of a file like /proc/stat, of the processors for which `allowed` holds. */
bool proc_times_read(FILE *file, bool (*allowed)(void *ctx, int cpu), void *ctx, struct proc_times *times);
/* CPU seconds of the process `root` and of all its descendants, living and reaped, from a folder like /proc. */
double proc_tree_seconds(const char *folder, pid_t root);
/* The load average over a minute; NAN: unknown. */
double proc_load(const char *path);
#endif
