/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to this folder. */
#ifndef TUNER_REGIONS_REGIONS_IMPL_H
#define TUNER_REGIONS_REGIONS_IMPL_H
#include <elf.h>

#include "base/tree.h"
#include "tuner/race/race.h"
#include "tuner/regions/regions.h"
#include "tuner/result/result.h"

/* Functions and lines of regions, from the debug information of one file. */

/* Fill name, symbol and place where they are still empty. base: the address that the file has for its first loaded
 * byte. libdw reads separate debug files, too; without it nothing is filled in. */
void debug_libdw_find(const char *file, uint64_t base, struct regions_region *const *regions, size_t count);

/* The effect of each column of an exploring table on each region. */
struct regions_effect {
	double log;   /* of the time of a call, against column 0; NAN: not seen often enough */
	double error; /* standard error of that */
	int stretches;
};

/* today: a run of the same program without changes, or NULL: a region whose calls differ much there, in the same
 * number, is compared call by call, each by its length. effects: record->count rows of `columns`. A stretch is the time
 * that a column holds; stretches of one block are neighbours in time and have every column once. So log(median time of
 * a call) = block + column (two-way table, fitted by medians: Tukey 1977, "Exploratory Data Analysis", ch. 11): work
 * that grows over the run moves blocks, not columns. The first calls after a change of the column are left out, because
 * they pay for the change. */
void regions_fit(const struct regions_record *record, const struct regions_record *today, size_t columns,
                 struct regions_effect *effects);
/* When the threads of a stretch that begins with this call have settled: new ones may share a processor with one that
 * spins, until the kernel moves them. */
uint64_t regions_settled(const struct omp_record *raw, size_t call_count, size_t call);
/* Two looks at the same effects: the mean, weighted by what each saw, in a. */
void regions_effects_join(struct regions_effect *a, const struct regions_effect *b, size_t count);

/* Teams for all regions together: the times of the regions and what changes of the team cost between them. */
struct regions_plan_task {
	const struct regions_record *baseline;  /* its calls in order, its seconds in each region */
	const struct regions_record *exploring; /* its costs of changes */
	const struct regions_effect *effects;   /* regions of `baseline` x teams */
	const unsigned *teams;                  /* teams[0]: the default */
	size_t team_count;
	double threads_min_gain; /* 0.02: a smaller gain in a region is not worth a change */
};

/* level[i]: index of the team of region i. Returns the modelled seconds of all regions in one run. */
double regions_plan(const struct regions_plan_task *task, size_t *level);
/* The same with one team for all regions, or, unless `uniform`, one thread where that is clearly better: then the
 * threads of the team stay as they are from region to region. */
double regions_plan_common(const struct regions_plan_task *task, bool uniform, size_t *level);

/* Whole runs with settings of ours against whole runs as they are. */
struct regions_runs;

struct regions_proving {
	const struct regions_record *baseline;
	double plain_s; /* of a run as it is */
	double budget_s;
	double spare_s; /* of the budget, for other settings if these seem to gain nothing; 0: there are none */
	double level;   /* of the interval, over all looks */
	/* The settings are a set of changes; not 0. others: parts of it that run in the same blocks, and what it is a part
	 * of. rough: its gain need not be known well if one of them may take its place. doubted: the first of them does. */
	uint64_t set;
	const uint64_t *others;
	size_t other_count;
	bool rough, doubted;
	int (*choose)(void *ctx, uint64_t set, struct err *err); /* for the next run; NULL: the set is never another one */
	void *ctx;
};

struct regions_proof {
	struct duel_result duel; /* a: with the settings, b: as it is */
	struct paired told;      /* of a / b, for documents */
	struct race_watch watch;
	enum verdict verdict; /* of the settings found */
	json_t *seen;         /* evidence of the runs with the settings */
	double *region_s;     /* of the first tuned runs: the least time in each region of the baseline, NAN: not entered */
};

/* A duel of whole runs. proof is overwritten. */
int regions_prove(struct regions_runs *runs, const struct regions_proving *proving, struct regions_proof *proof,
                  struct err *err);
/* Enough for the least number of pairs. */
double regions_proof_seconds(double plain_s, double tuned_s);
void regions_proof_clear(struct regions_proof *proof);

/* Calls of one region told apart by their size, as those of a V-cycle's levels are. */
struct regions_sizes {
	uint32_t module_number; /* of the record */
	uint64_t offset;
	unsigned measure, count;
	unsigned numbers[OMP_CLASSES]; /* from 1 */
	int64_t upto[OMP_CLASSES];     /* ascending */
};

static inline bool regions_sizes_are_of(const struct regions_sizes *sizes, const struct regions_region *region) {
	return region->offset == sizes->offset && region->module_number == sizes->module_number;
}

/* Regions of a run that watched sizes whose calls differ so much in length that their classes may want settings of
 * their own, and a number that says beforehand which call it will be. Caller frees. */
struct regions_sizes *regions_sizes_choose(const struct regions_record *record, double run_s, size_t *count);

/* Tables that lib/omp reads (lib/omp/table.c has the format). */
struct regions_setting {
	unsigned threads; /* 0: as it is */
	int kind;         /* enum omp_kind */
	unsigned chunk;
};

struct regions_table {
	double stretch_s;              /* 0: the first column always */
	double pause_s;                /* between blocks of stretches, with the first column */
	unsigned long long calls_most; /* in one stretch; 0: any number */
	unsigned seed;
	bool trace, busy, force, learn;
	const unsigned *teams; /* whose changes are timed */
	size_t team_count;
	const struct regions_setting *any;  /* columns of every region; NULL: the rows below */
	const struct regions_setting *rows; /* record's regions x columns */
	size_t columns;
	const struct regions_sizes *sizes; /* their modules are those of the record */
	size_t sizes_count;
};

/* Text of the table. Caller frees. record may be NULL where `any` is given without sizes. */
char *regions_table_text(const struct regions_table *table, const struct regions_record *record);

/* Shared by the files of this room. */

/* Above this share of waiting threads, others decide which team is best, and nothing is recommended. */
#define REGIONS_BUSY 0.1

/* Runs of the program, with and without the library. */
struct regions_runs {
	const struct regions_options *options;
	struct program *program;
	struct scratch scratch; /* for tables and records */
	json_t *plain;          /* the configuration that changes nothing */
	json_t *environment;    /* beside a table, for the whole program */
	bool counting;          /* the counters of the options, too */
	json_t *seen;           /* evidence of runs that change nothing */
	json_t *seen_changed;   /* that of a proof's runs with its settings; NULL: there is no proof */
	int done, all;
	uint64_t failures[TRIAL_STATUS_COUNT];
	char failure[128]; /* the last one, for people; empty: none */
	double started;
	struct busy *busy;
	double waiting; /* largest share of a recorded run in which its threads waited for processors that others used */
	struct {
		double plain, profile, explore, proof;
	} seconds; /* spent in each phase */
};

struct regions_run {
	double seconds;                /* of the whole program */
	struct regions_record *record; /* NULL: none was asked for */
	json_t *ranks;                 /* their time in MPI; NULL: not asked for */
	json_t *kokkos;                /* as kokkos_seen_read gives it; NULL: none */
};

int regions_runs_open(struct regions_runs *runs, const struct regions_options *options, struct err *err);
void regions_runs_close(struct regions_runs *runs);
/* With this table (NULL: only the library and a record). limit_s: 0 for the time-out of the options. */
int regions_run_recorded(struct regions_runs *runs, const struct regions_table *table,
                         const struct regions_record *known, double limit_s, const char *phase, struct regions_run *run,
                         struct err *err);
/* The same; a run that other programs disturbed is repeated if the budget allows. */
int regions_run_quiet(struct regions_runs *runs, const struct regions_table *table, const struct regions_record *known,
                      double limit_s, const char *phase, double budget_s, struct regions_run *run, struct err *err);
/* Runs the program as the user does (table NULL), or with the table file of the options and the environment of `runs`.
 * records: if it leaves a record, the run has it. */
int regions_run_plain(struct regions_runs *runs, const char *table, bool records, double limit_s, const char *phase,
                      struct regions_run *run, struct err *err);
/* Says whether the settings of a proof do the work of the program as it is: "checked", "evidence" and the verdict of a
 * result, as for any other program. */
void regions_work_tell(const struct regions_runs *runs, const struct regions_proof *proof, json_t *result);
double regions_left(const struct regions_runs *runs, double budget_s); /* seconds of the budget */

/* Settings for all regions of a record, and how they came about. */
struct regions_found {
	struct regions_record *baseline;
	struct regions_setting *settings; /* one a region */
	double *gain;                     /* of each region as fitted: baseline / chosen; NAN: unchanged */
	/* Borrowed: what each team does to each region; NULL and 0 where nothing was explored. */
	const struct regions_effect *effects;
	const unsigned *teams;
	size_t team_count;
	size_t changed, other_changed; /* regions; other: of the plan that was tried, too */
};

/* other: of a plan that is not kept; its count may be 0. */
json_t *regions_result_json(const struct regions_runs *runs, const struct regions_found *found,
                            const struct regions_proof *proof, const struct regions_proof *other);

/* Records before their files have names, for record.c and its fuzz target. */

/* The program was able to write into its record, so nothing in it can be trusted before this is true. */
bool regions_raw_sound(const struct omp_record *raw, size_t size);
/* At least one sound record with regions, the one of most time first; takes them over. Regions get no names. */
struct regions_record *regions_raws_merge(struct omp_record *const *raws, size_t count, size_t processes);

/* The one thing that keeps a region from using its team well. */
enum regions_limit_kind {
	REGIONS_LIMIT_NONE,
	REGIONS_LIMIT_UNKNOWN, /* not enough was measured */
	REGIONS_LIMIT_OVERSUBSCRIBED,
	REGIONS_LIMIT_FORK_JOIN,
	REGIONS_LIMIT_IMBALANCE,
	REGIONS_LIMIT_MEMORY /* or another shared resource: larger teams gain nothing */
};

struct regions_limit {
	enum regions_limit_kind kind;
	char text[240]; /* a sentence without a period; may be empty for NONE and UNKNOWN */
};

struct regions_limit_facts {
	const struct omp_record *raw; /* for the number of processors and of threads */
	const struct omp_region *region;
	bool is_busy;       /* other programs used the processors */
	double fork_join_s; /* of an empty region with the default team; NAN: unknown */
	/* The effect of each team, or NULL; teams[0] is the default. */
	const struct regions_effect *effects;
	const unsigned *teams;
	size_t team_count;
};

/* Names and places of regions: function and line where there is debug information, else symbol, else offset. */

/* Fills name, symbol and place. libdw reads debug information, else addr2line is asked where it is installed; clang's
 * own description of a place is taken where the compiler left one. */
void regions_names_find(struct regions_region *regions, size_t count);

/* Shared by the stages of a search inside the runs of a program. */
enum { REGIONS_TEAMS_MOST = 8, REGIONS_PLANS_MOST = 3 };
/* The share of the time from which on a region matters, the gain that another setting must bring, and the share of the
 * budget for the search. */
#define REGIONS_SHARE_LEAST  0.01
#define REGIONS_GAIN_LEAST   0.02
#define REGIONS_SEARCH_SHARE 0.55
/* The gain that a plan needs over the default. */
#define REGIONS_PLAN_GAIN_LEAST 0.005

struct regions_search {
	struct regions_runs *runs;
	struct regions_record *baseline;
	double baseline_s, budget_s;
	unsigned teams[REGIONS_TEAMS_MOST];
	size_t team_count;
	struct regions_effect *effects; /* baseline's regions x teams */
	size_t *level;
	/* Teams for all regions that may be best together, the one that fits each region best first: the more changes of
	 * the team a plan has, the less of its gain by region remains. */
	size_t *plans[REGIONS_PLANS_MOST];
	double plan_s[REGIONS_PLANS_MOST]; /* of all regions, as modelled */
	size_t plan_count;
	double plan_log[REGIONS_PLANS_MOST]; /* logarithm of its time against the default's, as it is judged */
	size_t plan;                         /* the one that is proposed; SIZE_MAX: the default */
	double *seen; /* logarithm of each region's time with its team among the others', NAN where that was not seen */
	struct regions_found *found;
	struct regions_sizes *sizes; /* of regions whose calls differ */
	size_t sizes_count;
};

static inline double regions_seconds_in(const struct regions_region *region) {
	return 1e-9 * (double)region->facts.ns;
}
/* The limit of one run. */
double regions_limit_s(const struct regions_search *search);

/* One or two runs in which stretches of time have different teams, and another one in which the teams that seem best,
 * with several schedules, alternate with the default; sets effects, levels and found->settings. */
int regions_explore(struct regions_search *search, struct err *err);
/* The plan that ranks behind the one that is proposed, but before the default; SIZE_MAX: none does. */
size_t regions_plan_next(const struct regions_search *search);

static inline bool regions_setting_changes(const struct regions_setting *setting) {
	return setting->threads || setting->kind || setting->chunk;
}
/* Sets the gain of each region and what else `found` tells. */
void regions_settings_finish(const struct regions_search *search);
int regions_settings_write(const struct regions_search *search, struct err *err);
/* Proves the settings found or, if that fails and the budget allows, those of a second plan, and keeps the better ones.
 * other: of the plan that is not kept; its count is 0 if there was none. Both are to be cleared. */
int regions_prove_plans(const struct regions_search *search, struct regions_proof *proof, struct regions_proof *other,
                        struct err *err);

/* Shared by symbols.c, code.c and their fuzz target. */
enum { BUILD_ID_TEXT = 41 };

struct symbols {
	char *data;
	size_t size;
	const Elf64_Phdr *parts;
	size_t part_count;
	const Elf64_Sym *table;
	size_t count;
	const char *names;
	size_t names_size;
	uint64_t base, end; /* addresses that are loaded */
	char build_id[BUILD_ID_TEXT];
};

/* The bytes of a file, which are taken over; NULL where they are not a 64-bit ELF file. */
struct symbols *symbols_parse(char *data, size_t size);

/* The cost of a column's settings for all regions together. */

/* The effect of each column on the time of the calls and of what the program does between them, beside what the same
 * calls take today: a change of the team in one region costs its neighbours, whose threads begin anew with empty
 * caches. today: a run of the same program without changes. effects: one a column. */
void regions_total(const struct regions_record *record, const struct regions_record *today, size_t columns,
                   struct regions_effect *effects);
#endif
