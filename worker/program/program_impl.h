/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to this folder. */
#ifndef WORKER_PROGRAM_PROGRAM_IMPL_H
#define WORKER_PROGRAM_PROGRAM_IMPL_H
#include <sys/resource.h>

#include "base/proc/proc.h"
#include "base/hash.h"
#include "counters/perf/perf.h"
#include "worker/gpu/work.h"
#include "counters/rapl/meter.h"
#include "base/tree.h"
#include "worker/count/simulate.h"
#include "worker/program/runner_program.h"

/* Summarises a stream of bytes in bounded memory: its hash, the hash of its words without its numbers, and its ends.
 */
enum { DIGEST_HEAD = 16 << 10, DIGEST_TAIL = 8 << 10 };

struct digest {
	struct sha256 sha;
	uint64_t bytes, lines, words; /* words: FNV-1a of the text with # for each number */
	uint64_t line, bag;           /* the same of the line so far as it is; the sum over lines, whatever their order */
	double sum;                   /* of the numbers */
	char head[DIGEST_HEAD], tail[DIGEST_TAIL], number[40];
	size_t head_size, tail_size, number_size;
};

void digest_start(struct digest *digest);
void digest_add(struct digest *digest, const char *data, size_t size);
void digest_end(struct digest *digest, char hash[SHA256_TEXT]);

/* Processes a program's stdout as it arrives: digests it, searches it, keeps it for the verify command. */

/* Finds a number in a program's output: the last match of a regular expression, line by line. */
struct program_metric;

/* ERR_USAGE if the text is not a POSIX extended regular expression. */
struct program_metric *program_metric_new(const char *expression, struct err *err);
void program_metric_start(struct program_metric *metric); /* forgets what was found */
/* Takes bytes as they come; a line is searched in pieces of 4 KiB, and cut after 64 KiB. */
void program_metric_add(struct program_metric *metric, const char *data, size_t size);
void program_metric_end(struct program_metric *metric); /* a last line without newline counts, too */
bool program_metric_found(const struct program_metric *metric);
/* The number, above 0; otherwise -1 and err, one line that says what was found. *value is the number then, too, or NAN
 * without one. 1: the program says by ">5" or "<5" that it gave up there, and the metric is worse than that.
 * otherwise: a text to search if there was no number; or NULL. */
int program_metric_value(struct program_metric *metric, const char *otherwise, double *value, struct err *err);

enum { PROGRAM_SPOOL_MAX = 256 << 20 };

struct program_output {
	bool keep;                     /* wanted for its digest */
	struct program_metric *metric; /* or NULL */
	int spool;                     /* a file, or -1 */
	struct digest digest;
	char failure[160]; /* why nothing more is accepted; empty: all is well */
	char *held;        /* bytes of the run that nobody has looked at yet */
	size_t held_size, held_room;
};

bool program_output_wanted(const struct program_output *output);
void program_output_start(struct program_output *output);
/* As read(2). Looking at bytes takes longer than writing them, and the program would wait for that. So the bytes are
 * held until the program has ended, or until no room is left. */
ssize_t program_output_read(struct program_output *output, int fd);
/* Call it after the last byte; false: not accepted, because of `failure`. The spool is then at its start. */
bool program_output_end(struct program_output *output, char hash[SHA256_TEXT]);
void program_output_free(struct program_output *output); /* with its metric and its spool */

/* A checked request to run a program. */
struct program_request {
	const char **argv;                                  /* NULL-terminated */
	const char **set;                                   /* "NAME=VALUE"; the first place is left free for the caller */
	const char **unset;                                 /* names and prefixes ("OMP_*") */
	const char *device;                                 /* "cuda:0": what it does on GPUs is reported; NULL: no */
	const char *kernel;                                 /* of metric "kernel:NAME", whose time is the metric, or NULL */
	const char *cwd, *input, *before, *verify, *metric; /* or NULL */
	const char *energy_command; /* prints the joules of the run that has just ended; NULL: RAPL counts them */
	bool energy;
	const char **counters; /* names as asked for, NULL-terminated */
	int samples, warmup;
	double timeout_s, limit_s, cut_s; /* 0: none */
	double side_s;                    /* for `before` and `verify` each; 0: 60 */
	double left_s;                    /* for everything together; 0: no end */
	bool hash, regions;
	bool evidence;       /* the reply says what each run did */
	bool shared;         /* others write into the folder, too: its files are not looked at */
	bool show;           /* where stdout is not needed, its end is kept for the answer instead of being discarded */
	uint64_t file_limit; /* bytes; 0: by the free space */
};

/* Missing members take their defaults. The arena and the request own the data it points to. */
int program_request_read(struct arena *arena, const json_t *json, struct program_request *request, struct err *err);

/* Runs one command until everything that it started has ended. */

/* Figures that wait4(2) does not report: how often the kernel moved a program between CPUs, and how long it was
 * ready to run without a CPU. Perf counts migrations of the whole tree where that is allowed. Otherwise both come
 * from /proc of the program's first thread, read while it is a zombie, and are known only if it was alone. */
/* NAN if unknown; then the reason is set. */
struct program_extra {
	double migrations, run_delay_s;
	const char *no_migrations, *no_run_delay;
};

/* Reads the figures of a leader that has ended but was not reaped yet. */
struct program_leader {
	bool read, alone;               /* alone: neither another thread nor a child process was seen */
	long switches;                  /* of its first thread */
	double migrations, run_delay_s; /* NAN: the kernel does not report it */
};

struct program_procfs {
	struct perf_group tree;
};

#define PROGRAM_BINARY "(binary data)" /* in place of what cannot be read */

/* Settings that all commands of a trial share. */
struct program_place {
	char **environment;
	const char *cwd;     /* NULL: the current folder */
	uint64_t file_limit; /* bytes a file may grow to; 0: no limit */
	int nothing;         /* /dev/null */
	int watch;           /* a hang-up ends everything; -1: not watched */
};

struct program_command {
	const char *const *argv;
	int in;                        /* -1: no input */
	double seconds;                /* 0: no limit */
	struct program_output *output; /* receives stdout */
	bool joined;                   /* without output: stdout goes where stderr goes, else it is discarded */
	struct program_procfs *procfs; /* or NULL */
};

enum program_end {
	PROGRAM_ENDED,     /* ended by itself: see status */
	PROGRAM_UNSTARTED, /* see err */
	PROGRAM_LATE,      /* killed at its time limit */
	PROGRAM_REFUSED,   /* killed because its output cannot be accepted */
	PROGRAM_ABANDONED, /* killed because nobody waits for the answer any more */
	PROGRAM_STUCK,     /* killed, but it does not end */
	PROGRAM_REMAINS    /* processes that it or an earlier run started cannot be ended: see remains */
};

struct program_run {
	enum program_end end;
	int status;                 /* of wait(2) */
	double seconds;             /* from before the fork to its end */
	struct rusage usage;        /* of the whole tree */
	struct program_extra extra; /* procfs was read */
	struct err err;
	char remains[160];
	char left[160]; /* names of processes that still ran when it had ended by itself: "sleep, sh"; "" if there were none
	                 */
	struct tail tail; /* end of stderr; its memory is reused by the next run */
};

/* Fills the run, whose tail must be zero or from an earlier run. */
void program_run(const struct program_place *place, const struct program_command *command, struct program_run *run);

/* Records what runs did besides taking time, for the tuner, which compares it with what other runs did. */

/* Adds {"runs", "output", "errors", "left", "files", "processor_s"} to the list, or counts a run that did the same as
 * an earlier one. hash: of its stdout. files: taken over. */
void program_witness_add(json_t *list, const struct program_run *run, const struct program_output *output,
                         const char *hash, json_t *files);

/* The files that a run writes in its folder. What it reads costs bounded time: some thousand files are looked at, and
 * some megabytes are read. */
struct written;

/* Before the run. cwd: its folder; NULL: the current one. */
struct written *written_begin(const char *cwd);
/* After it: [{"name", "kind", and the members of a digest, of some only "bytes"}], sorted by name, without files that
 * were touched only; null if the folder holds too many files to tell. New reference. */
json_t *written_end(struct written *written);

/* Resource usage of a trial's runs, each figure the median over the runs. */

struct program_usage;

struct program_usage *program_usage_new(struct arena *arena, size_t runs);
/* steal_s: seconds that a hypervisor took meanwhile. */
void program_usage_add(struct program_usage *usage, const struct program_run *run, double steal_s);

/* The runs of one trial of a program, each judged by its end, its output and its time. */

/* The surroundings of one trial's commands: folder, environment, scratch and limits. */
struct program_site {
	struct program_place place;
	struct scratch scratch;
	const char *folder; /* inside it: TMPDIR of a run */
};

enum { PROGRAM_MESSAGE = 400 };

struct program_trial {
	const struct program_request *request;
	struct program_site site;
	struct program_output output;
	struct program_run run, side; /* the program; the commands before and after it */
	struct program_procfs procfs;
	struct program_usage *usage;
	double *samples, *metrics, *joules;
	struct rapl_meter *meter; /* NULL: not wanted */
	double joules_now;        /* of the last run */
	struct gpu_watch watch;   /* of the kernel that is the metric */
	double verify_s;          /* all commands that verified */
	double side_s;            /* the longest command before or after a run */
	double until;             /* monotonic; nothing may last longer; INFINITY: no end */
	size_t count;
	char hash[SHA256_TEXT]; /* of the first run */
	json_t *evidence;       /* of all runs that ended well; NULL: not wanted */
	json_t *files;          /* that the last run has written; NULL: not wanted */
	const char *status;     /* NULL: no failure so far */
	char message[PROGRAM_MESSAGE];
	char unchecked[PROGRAM_MESSAGE]; /* why a run could not be verified; empty: all were, or none had to be */
	double bound;                    /* what the metric of a run that gave up is worse than; NAN: none did */
	double refused;                  /* a metric of 0 or below, which cannot be compared as a ratio; NAN: none */
	bool abandoned;
	bool outside;   /* somebody else may have ended a run or what belongs to it */
	double steal_s; /* since the machine's start; 0: none */
	double lost_s;  /* of a run that was cut: seconds that a hypervisor took meanwhile */
};

/* One more run that does not give a sample. */
struct program_again {
	const char *const *argv; /* NULL: the request's */
	char **environment;      /* NULL: the same as in all runs */
	double slowdown;         /* factor on the request's timeout */
	void (*start)(
		void *ctx); /* called right before the program starts, and after the whole tree has ended; in this thread */
	void (*stop)(void *ctx);
	void *ctx;
};

/* Warm-up and samples, up to the first failure. */
void program_trial_runs(struct program_trial *trial);
/* A run after them, judged the same way, but a failure does not fail the trial: false and the reason. */
bool program_trial_again(struct program_trial *trial, const struct program_again *again, char *why, size_t size);

/* Runs of one trial: regions, counts, what a failed program said, and simulation. */

/* Collects the regions of all processes of a program while their files are read. */
enum {
	REGIONS_MAX = 256,       /* regions that are reported */
	REGIONS_ROWS_MAX = 4096, /* threads that a region reports one by one */
	REGIONS_NAME_MAX = 255,  /* bytes, as in the library */
	REGIONS_NOTES_MAX = 20
};

/* An event in a region. */
struct regions_count {
	enum counter_status status;
	char reason[COUNTER_REASON];
	double total;
	json_t *per_thread; /* null if it was not counted */
};

struct regions_region {
	const char *name;
	double calls, seconds, threads, unbegun, unended;
	json_t *per_thread;
	struct regions_count *counts; /* in the order of `regions` */
};

struct regions_set {
	struct arena *arena;
	const struct regions *regions;
	struct regions_region *region[REGIONS_MAX];
	size_t count, left_out, rows, rows_left_out, files_left_out;
	json_t *index; /* from a name to its index in `region` */
	json_t *notes;
};

/* The regions as JSON, and the last notes; do not use the regions afterwards. New reference. */
json_t *regions_set_end(struct regions_set *set);
/* The text of a file, which is modified. where: its name, for notes. */
void regions_text_read(struct regions_set *set, char *text, size_t size, const char *where);

/* Counts a program and its descendants, in runs of their own after the samples. */

/* One run for each batch of events that can be counted together. A run that fails leaves its events unavailable; the
 * trial keeps its outcome unless it is abandoned. first: environment of the first of these runs; NULL: the usual
 * one. */
void program_count(struct arena *arena, struct program_trial *trial, const struct counter_plan *plan, char **first,
                   struct counting *counting);

/* The end of a failed program's output, as lines for people. */

/* Repeats a program and its descendants on a processor that valgrind simulates. */
struct program_simulated {
	double values[CACHEGRIND_EVENTS]; /* sums over all processes */
	int processes;
	char model[SIMULATION_MODEL];
};

#define PROGRAM_SIMULATE_OUT "out"
#define PROGRAM_SIMULATE_LOG "log"
/* Returns its samples, what it used and, after a failure, its last words, as a new reference. */
json_t *program_reply_new(const struct program_trial *trial);
#endif
