/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The data of the page. Each kernel, problem and objective has a section of its own. */
#ifndef SRC_CMD_REPORT_REPORT_IMPL_H
#define SRC_CMD_REPORT_REPORT_IMPL_H

#include "src/cmd/explain/explain.h"
#include "src/cmd/report/charts_impl.h"
#include "tuner/result/result.h"

struct report_trial {
	enum trial_status status;
	double value;
};

struct report_run { /* one run of a pair */
	int block;
	bool winner; /* otherwise the baseline */
	double value;
};

struct report_search {
	int64_t id;
	const char *source, *strategy, *state, *command, *version;
	uint64_t seed, valid;
	double started, ended, noise;
	struct chart_point *best; /* x: evaluations so far, y: least value; one point per improvement, and the last one */
	size_t best_count, evaluations, trials;
	struct report_trial *tried; /* every evaluation, in order */
	struct report_run *pairs;   /* of the final comparison */
	size_t tried_count, pair_count;
	size_t winner; /* the last evaluation of the recommended configuration, counted from 1; 0: none */
	size_t ends[TRIAL_STATUS_COUNT];
};

struct report_section {
	const char *kernel, *objective, *problem_text, *anchor; /* problem_text: for people */
	json_t *problem;
	bool maximize;                  /* the objective is a metric to maximise, stored as 1/x */
	double amount;                  /* x in one unit as shown: 1000 for Kops/s; 0 is 1 */
	const char *unit;               /* unit of the values as shown */
	const char *label;              /* label of an axis without its unit: "time" */
	struct report_search *searches; /* oldest first */
	size_t search_count;
	json_t *tune;             /* the newest finished result of tune, or NULL */
	const json_t *entry;      /* its entry of the profile, or NULL */
	struct explain_view view; /* study is NULL if nothing can be explained */
	json_t *result;           /* the result of explain, or NULL */
	double serial;            /* a GPU's problem: the time of the serial code on the CPU; 0: it was not measured */
	bool is_beyond;           /* not explained, because the kernel has more problems than EXPLAIN_PROBLEMS_MAX */
};

struct report_side {   /* one of two that are compared */
	const char *title; /* what it is: a store, a machine or a date */
	json_t *profile;   /* its recommendations */
};

struct report {
	struct app *app;
	const struct opt_args *args;
	struct arena *arena;
	struct html *html;
	struct charts *charts;
	const json_t *machine;
	json_t *profile, *ceilings; /* NULL if there is none */
	struct report_section *sections;
	size_t section_count, hidden; /* hidden: problems of which nothing worked */
	struct study_set **sets;
	size_t set_count;
	size_t machines;             /* number of machines with searches in the store */
	const char *other;           /* the word for --machine that selects the newest of them, or "" */
	json_t *regions;             /* documents of programs whose regions are on the page */
	bool from;                   /* the page is about files (--from): no searches and no commands */
	struct report_side sides[2]; /* of --compare */
	json_t *diff;                /* of the sides' profiles (profile_diff); NULL: nothing is compared */
	bool is_foreign;             /* the page is about another machine than this one */
};

/* --compare */
int report_compare(struct report *report, struct err *err);
void report_compare_page(struct report *report);
/* The names on the command line from that word on, NULL-terminated; the path of a plug-in stands for its kernel. */
const char **report_names(struct report *report, size_t first);

/* Collect everything that is known; ERR_NOTHING, ERR_USAGE. */
int report_gather(struct report *report, struct err *err);
int report_gather_explain(struct report *report, struct err *err);
struct store;
/* The one machine whose fingerprint begins so, or the one that was measured last (NULL if there is none), as its
 * description; new references. */
json_t *report_machine_find(struct store *store, const char *wanted, struct err *err);
json_t *report_machine_newest(struct store *store, struct err *err);
const char *report_machine_short(struct report *report, const char *fingerprint);
void report_clear(struct report *report);

/* --from */
int report_from(struct report *report, struct err *err);

/* Sections. */
/* A speedup with its interval, drawn as a bar on a logarithmic scale. */
void report_interval(struct report *report, double low, double ratio, double high);
void report_cards(struct report *report);
void report_machine(struct report *report);
void report_section(struct report *report, const struct report_section *section);
void report_curves(struct report *report, const struct report_section *section);
void report_parts(struct report *report, const struct report_section *section);
void report_heat(struct report *report, const struct report_section *section);
void report_effects(struct report *report, const struct report_section *section);
void report_scaling(struct report *report, const struct report_section *section);
void report_roofline(struct report *report, const struct report_section *section);
void report_counters(struct report *report, const struct report_section *section);
void report_progress(struct report *report, const struct report_section *section);

/* The section of this kernel, objective and problem; NULL: there is none. */
struct report_section *report_section_find(const struct report *report, const char *kernel, const char *objective,
                                           const json_t *problem);
void report_heading(struct report *report, const char *text);
/* Adds a chart, which is called after the kernel and what it shows; a figure stands alone. */
void report_chart(struct report *report, const struct report_section *section, const char *what,
                  const struct chart *chart);
void report_figure(struct report *report, const struct report_section *section, const char *what,
                   const struct chart *chart);
/* The title of a chart: "KERNEL PROBLEM: ABOUT". without: a part of the problem that the chart varies; NULL: none. */
const char *report_title(struct report *report, const struct report_section *section, const char *without,
                         const char *about);
void report_command(struct report *report, const char *command); /* a command to copy */
/* A sentence that something is unknown, and the command that would measure it; command may be NULL. */
void report_absent(struct report *report, const char *sentence, const char *command);
double report_shown(const struct report_section *section, double value); /* converts a stored value */
void report_value(const struct report_section *section, double shown, char *text, size_t size);
/* Two cells: a value as shown, and its interval; NAN if unknown. */
void report_cells(struct html_table *table, const struct report_section *section, double shown, double low,
                  double high);
double report_end(const json_t *ci, size_t end); /* NAN if unknown */
/* "3.70x [3.60, 3.80]", "too noisy" for a vague one, "" for none */
void report_ratio(struct speedup speedup, char *text, size_t size);
char *report_time(double seconds, char *text, size_t size); /* "2025-01-31 12:00 UTC" */
/* The factor and unit that make chart values up to `most` readable. */
struct report_scale {
	double factor;
	const char *unit;
};
struct report_scale report_scale(const struct report_section *section, double most);
const char *report_axis(struct report *report, const struct report_section *section, struct report_scale scale);
/* "sweetspot VERB KERNEL MORE --device DEVICE --store FILE", quoted for a shell; in the arena. */
bool report_is_program(const struct report_section *section);
/* The command that runs the recommended configuration of a kernel; NULL: `run` cannot. */
const char *report_again(struct report *report, const struct report_section *section);
const char *report_resume(struct report *report, const struct report_section *section); /* resumes the newest search */
const char *report_command_line(struct report *report, const struct report_section *section, const char *verb,
                                const char *more);
/* The same with the problem, for commands that measure; for a program, its own tune command. */
const char *report_advice(struct report *report, const struct report_section *section, const char *verb,
                          const char *more);
#endif
