/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Interleaved comparison: the duel of two configurations and the race of several. Both measure through a runner in
 * blocks of random order and analyse ratios within blocks (tuner/model/paired.h), because noise that lasts longer than
 * a block cancels there; doc/measurement.md has the figures. */
#ifndef TUNER_RACE_RACE_H
#define TUNER_RACE_RACE_H
#include "base/rng.h"
#include "tuner/busy/busy.h"
#include "tuner/model/paired.h"
#include "tuner/trial/trial.h"

/* Blocks of a race or a duel that are measured on several nodes at once. All trials of one block run on the same node,
 * one after the other, because only times of one node are comparable. */
struct block {
	struct trial_request *requests;
	int *order; /* the entrant of each trial */
	size_t count;
	/* Set once the block has ended: the first `done` results in the order of the requests, rescaled so that nodes of
	 * different speed compare. */
	struct trial_result *results;
	size_t done;
	bool lost;    /* the node or its worker was lost during trial number `done` */
	bool outside; /* and that trial did not cause the loss */
	void *tag;    /* for the runner's own use */
	double begun; /* on the nodes' clock */
};

struct block_runner {
	void *ctx;
	size_t (*room)(void *ctx); /* how many blocks could start now */
	/* Returns 1 if the block was started (it must then stay valid until it has ended), 0 if no node was free after all,
	 * -1 on error. */
	int (*begin)(void *ctx, struct block *block, struct err *err);
	/* Waits. Sets *block to a block that has ended, or to NULL if only the room has changed. Returns -1 if it was
	 * interrupted or no node is left, and the blocks on their way are then abandoned; or, with *block set, if its
	 * results could not be stored. */
	int (*next)(void *ctx, struct block **block, struct err *err);
	double (*now)(void *ctx); /* seconds on the nodes' clock */
	bool (*other)(void *ctx); /* does other work wait that would use an idle node? NULL: never */
};

/* Blocks that were started and have not ended. */
struct blocks {
	const struct block_runner *runner;
	struct block **flying;
	size_t count;
	double spent_s; /* by those that have ended */
	size_t ended;
};
struct block *block_new(size_t count);
void block_free(struct block *block);
/* Starts a block and takes ownership of it; a block that could not be started is freed. Returns 1, 0 or -1 like
 * block_runner.begin. */
int blocks_begin(struct blocks *blocks, struct block *block, struct err *err);
double blocks_seconds(const struct blocks *blocks); /* of one, on average so far; 0: none has ended */
void blocks_clear(struct blocks *blocks);

/* Called after every trial, to store it and to show progress. A non-zero return stops the comparison; err must be set.
 */
struct race_observer {
	void *ctx;
	int (*trial)(void *ctx, const char *phase, int block, const json_t *config, const struct trial_result *result,
	             struct err *err);
};

/* The time that a comparison may take, on a clock of the caller's choice. */
struct race_clock {
	double (*now)(void *ctx); /* NULL: monotonic seconds */
	void *ctx;
	double end; /* start no block that would end after this, not even to reach the minimum; 0: no end */
	double cut; /* a trial that still runs then is cut and counts for nothing; 0: never */
};

/* Watches for other programs during a race or a duel. Blocks that ran while others used the processors are measured
 * again as a whole, because a program that disturbs one side of a pair usually disturbs the other, too. Times that were
 * measured play no part in this. If slow blocks were repeated, a comparison would favour whichever side is slow now and
 * then. */
struct race_watch {
	struct busy *busy;             /* borrowed; NULL: nobody watches */
	double seconds;                /* that repetitions and waiting may take, all in all */
	const volatile int *interrupt; /* ends the waiting; may be NULL */
	/* results */
	int blocks, disturbed, repeated; /* that count; of these, in spite of a disturbance; that do not count */
	int times;                       /* repetitions, each of one block or of several short ones */
	double spent;
	json_t *pairs; /* the numbers of a duel's repeated blocks; the owner of the watch frees it; NULL: none */
};

enum race_watch_answer { RACE_WATCH_KEEP, RACE_WATCH_REPEAT, RACE_WATCH_LATER };

void race_watch_begin(struct race_watch *watch); /* what runs from now on is watched; watch may be NULL */
/* Decides about the `pending` blocks since the last answer other than LATER. at_once: it cannot wait. Waits for the
 * others to end before blocks are repeated. */
enum race_watch_answer race_watch_ask(struct race_watch *watch, int pending, bool at_once);
/* The comparison is over, and the blocks since the last answer count. */
void race_watch_end(struct race_watch *watch, int pending);
/* Were more than a quarter of the blocks that count disturbed? */
bool race_watch_is_busy(const struct race_watch *watch);
/* busy_json with "blocks", "disturbed", "repeated" and "repeated_pairs"; "busy" is true, too, if race_watch_is_busy.
 * New reference. */
json_t *race_watch_json(const struct race_watch *watch);

/* The blocks of all duels of one final. Two configurations that meet in a duel may have met before, in blocks that were
 * about others. */
struct duel_log {
	struct duel_logged {
		int block;
		json_t *config;
		double seconds; /* negative: it was ended after so long */
	} * trials;
	size_t count, room;
	int blocks;
	bool bounded; /* trials of b had a bound */
};
void duel_log_clear(struct duel_log *log);

struct duel_options {
	int pairs_first; /* 3 or more: the first look, if the difference is large or the noise small; 0: no early looks */
	int pairs_min;   /* 21 at least without early looks, for a verdict that is published */
	int pairs_max;   /* an undecided duel continues up to this, in at most 4 steps */
	double margin;   /* 0.01: smaller differences are a tie */
	double level;    /* 0.95: of the published interval, over all looks at the pairs together */
	double limit;    /* a ratio of a to b that the interval must exclude, too, before the duel ends early; 0: none */
	double width;    /* an interval that is wider than this factor is worth pairs_min pairs; 0: any */
	double bound;    /* a trial of b that takes longer ends and counts as this long: the ratio is then an upper
	                  * bound, and only "a is faster" can be proven; 0: none */
	double seconds_max;   /* no new pairs after this once there are pairs_min; 0: no limit */
	double seconds_vague; /* the same unless the last look is promising (look.h); 0: no limit */
	bool control;         /* measure `a` twice in every block: the A/A control */
	int controls_max;     /* that many are enough; 0: any number */
	/* More configurations that meet `a` in the same blocks, each until that is decided: `a` without some of its
	 * changes. They pause while `a` is not likely to beat `b`, because nobody asks then what makes it fast, except one
	 * that may take its place. */
	const json_t *const *others;
	size_t other_count;
	double others_seconds; /* they are not measured after this; 0: no limit */
	double others_cut; /* a trial of theirs that takes so many times as long as `a` ends, and one of b, where it has a
	                    * bound, ends no sooner; 0: none does */
	double expected;   /* seconds of a trial of `a`, until there is one */
	bool others_end;   /* once all of them are known and one is not slower, so that it may take the place of a */
	bool others_first; /* the first of them takes it where it is faster, or a is not likely to beat b */
	const char *others_phase; /* for the observer; NULL: as for a and b */
	struct duel_log *log;     /* blocks in which a was measured count, and those of this duel are added; NULL: none */
	uint64_t seed;
	const char *phase;                 /* "duel", "compare": for the observer */
	const struct block_runner *blocks; /* replaces the runner and measures several blocks at once; NULL: not used */
	struct race_watch *watch; /* repeats blocks that others disturbed; NULL, or with `blocks`: nobody watches */
	struct race_clock clock;
};
extern const struct duel_options duel_defaults;

/* A trial that ends at its bound may take so many times as long. */
static const double RACE_UNKNOWN = 1e6;

struct duel_other {
	/* against a: ratio > 1 means a is faster; count 0: they did not meet. Trials that were ended are in ratio and lower
	 * end as long as they ran, in the upper end as RACE_UNKNOWN times as long. */
	struct paired paired;
	enum paired_verdict verdict; /* at a level that all of them share, by Bonferroni's correction */
	double median;
	bool decided;             /* more blocks would hardly have changed the verdict */
	enum trial_status failed; /* the last failure; TRIAL_CORRECT: none */
	bool lost;                /* it fails for good */
};

struct duel_result {
	struct paired paired;  /* a against b: ratio < 1 means a is faster */
	struct paired control; /* a against itself; count 0 without control */
	enum paired_verdict verdict;
	bool decided;                /* more pairs would not change the verdict, or pairs_min were measured */
	double median[2], ci[2][2];  /* seconds, of the samples of a and b */
	double *a, *b;               /* the pairs, paired.count each */
	struct duel_other *others;   /* one for each */
	int bounded;                 /* trials of b that took longer than the bound */
	int failures;                /* blocks that lost a trial */
	enum trial_status failed[2]; /* the last failure of each, TRIAL_CORRECT: none */
	bool lost[2];                /* this failure is why the other one won */
	bool cut[2];                 /* the time was over before it ended even once */
	bool left_open;              /* others_end has ended it before it was decided */
};
void duel_result_clear(struct duel_result *result);
/* Is a ratio with this interval probably beyond the margin, whether that is proven or not? The interval reaches less
 * far below the margin than the ratio lies above it: that happens by chance in one of fifteen cases, or fewer. */
bool duel_leans(double ratio, const double ci[2], enum paired_verdict to);

/* request: kernel, problem, seed, time-out and min_sample_s (at least 1 ms is used); config, samples, warm-up and limit
 * are set here. A block in which a or b fails yields no pair. A side loses after 3 failures in a row, when more than a
 * third of at least 12 trials failed, or at once with a wrong result (or compile, constraints). failed[] then says why
 * the other side won; without any pair paired.count is 0 and its ratio NAN. Returns -1 if interrupted, or if neither
 * side could be measured (ERR_NOTHING). */
int duel_run(struct runner *runner, const struct trial_request *request, const json_t *a, const json_t *b,
             const struct duel_options *options, const struct race_observer *observer, struct duel_result *result,
             struct err *err);
/* The smallest difference that could be told apart here: the larger distance of the control's interval from 1; NAN
 * without control, or where so few pairs have one that they say nothing. */
double duel_noise_floor(const struct duel_result *result);

struct race_entry {
	const json_t *config;
	double estimate; /* the search's median, for planning only */
	double cost;     /* smaller is cheaper: decides between those with the same times */
	size_t changes;  /* from what is run today */
	/* results */
	double median;            /* of its race samples */
	int blocks;               /* measured in */
	bool alive;               /* not eliminated and not failed */
	enum trial_status failed; /* TRIAL_CORRECT: none */
};

struct race_options {
	int blocks_min, blocks_max; /* entries are eliminated from blocks_min (5) on */
	double margin, level;
	double seconds_max; /* no new blocks after this once there are blocks_min; 0: no limit */
	uint64_t seed;
	const char *phase;                 /* "race", "check": for the observer */
	bool early;                        /* eliminate before blocks_min where the noise is small */
	const struct block_runner *blocks; /* as in duel_options */
	struct race_watch *watch;          /* the same */
	struct race_clock clock;
};
extern const struct race_options race_defaults;

/* Runs blocks in random order, each surviving entry once per block. From blocks_min on, a survivor that is slower than
 * the best drops out (Wilcoxon on log ratios, Holm over the field). The race ends with one survivor, or when no other
 * is ahead of the best by more than the margin. *winner is the best of them. Failures count as in a duel. The entries
 * are updated in place. Returns -1 if interrupted, or if all entries failed (ERR_NOTHING). */
int race_run(struct runner *runner, const struct trial_request *request, struct race_entry *entries, size_t count,
             const struct race_options *options, const struct race_observer *observer, size_t *winner, struct err *err);

/* Performance regression tests: whether something became slower than is allowed, judged by an interval, so that noise
 * neither fails a build nor hides a loss (doc/regression-tests.md). */
enum regression {
	REGRESSION_WITHIN,    /* the whole interval is within the limit */
	REGRESSION_UNDECIDED, /* the limit lies in the interval, or there is none */
	REGRESSION_SLOWER     /* the whole interval is beyond the limit */
};

/* low, high: the interval of new / old; limit: 0.03 allows 3 %. NAN is undecided. */
enum regression regression_judge(double low, double high, double limit);
const char *regression_word(enum regression outcome);

/* Which changes of a winner pay? Each is taken back in the blocks of a duel with today's setting. What is not shown to
 * be slower without a change does not need it, and meets today's setting anew without all of those, until each change
 * that remains has a proven price. Many changes are taken back in groups first, so that the cost grows with the
 * logarithm of their number (group testing: Dorfman, "The detection of defective members of large populations", 1943).
 * Sets of changes are bits; no clocks and no measurements here (doc/measurement.md, rule 6). */
enum { ABLATION_CHANGES_MAX = 64, ABLATION_ARMS_MAX = ABLATION_CHANGES_MAX + 1 };

static inline uint64_t ablation_bit(size_t change) {
	return (uint64_t)1 << change;
}

struct ablation_arm {
	uint64_t set;
	double ratio, ci[2]; /* its time over that of the whole; NAN: not measured */
	bool slower, faster; /* proven */
	bool open;           /* the time was over before that could be told */
	bool fails;          /* it does not work, and is slower therefore */
};

struct ablation_gain {
	double ratio; /* the time of today's setting over that of the set; NAN: not known */
	bool faster;  /* proven; before the duel: a larger set is */
	bool likely;  /* or probably so (duel_leans) */
	bool open;    /* neither that nor the opposite, because the arms were known first */
};

struct ablation_task {
	void *ctx;
	size_t count;
	/* If two changes are not shown to pay, the one with the smaller rank is dropped first. */
	const double *rank;
	uint64_t danger; /* changes that are dropped unless they are shown to pay, however little time there was */
	/* The set to begin with, which meets the whole as well: what is known tells that the others hardly pay. 0: all. */
	uint64_t likely;
	/* The number of arms for which there is time beside `set` and today's setting; 0: only those two; -1: none at all.
	 */
	int (*room)(void *ctx, uint64_t set);
	/* Runs the duel of `set` with today's, and of the arms with `set` in its blocks. An arm that cannot be measured, as
	 * its configuration is not valid, is left as it is. `first`: the duel may end once the arms are known. */
	int (*duel)(void *ctx, uint64_t set, struct ablation_arm *arms, size_t count, bool first,
	            struct ablation_gain *gain, struct err *err);
	/* The set of the last duel is now the one to recommend. */
	void (*keep)(void *ctx);
};

struct ablation_result {
	uint64_t kept; /* the changes that remain */
	/* `kept` without each of them; its ratio is NAN where that was not measured. A single one has today's setting. */
	struct ablation_arm without[ABLATION_CHANGES_MAX];
	bool faster; /* `kept` is proven to be faster than today's */
};

void ablation_arm_take(struct ablation_arm *arm, const struct duel_other *other);
/* The price of a single change, from the duel with today's setting. */
struct ablation_arm ablation_arm_of_duel(const struct duel_result *duel);
/* An element of "worth": the time without the change over that with all of them. value: what the
 * parameter is set to; NULL becomes null. New reference. */
json_t *ablation_price_json(const char *param, json_t *value, const struct ablation_arm *arm);

/* count is from 1 to ABLATION_CHANGES_MAX. Returns -1 if a duel does. */
int ablation_run(const struct ablation_task *task, struct ablation_result *result, struct err *err);
#endif
