/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to this folder. */
#ifndef SRC_CMD_REPORT_REPORT_IMPL_H
#define SRC_CMD_REPORT_REPORT_IMPL_H
#include "base/mem.h"
#include "src/cmd/explain/explain.h"
#include "src/cmd/report/chart/chart.h"
#include "src/cmd/report/html.h"

/* The charts of a page, as drawn; left_out: the number of others. */
enum { CHARTS_MAX = 150 };
struct charts {
	struct html *html;
	struct arena *arena;
	struct chart charts[CHARTS_MAX];
	size_t count, left_out;
};

/* Adds a figure with the chart and its description. id: any text; a unique id is derived from it. Charts beyond a limit
 * are counted but not drawn, because the tables have the same numbers. */
void charts_add(struct charts *charts, const char *id, const struct chart *chart);

/* Adds a line to a chart of at most 16, with room for that many points. A line without points is not drawn. */
struct chart_series *chart_line(struct arena *arena, struct chart *chart, const char *name, enum chart_style style,
                                size_t most);
void chart_dot(struct chart_series *line, double x, double y, double low, double high);
const struct chart_mark *chart_mark(struct arena *arena, double x, double y);

/* The data of the page. Each kernel, problem and objective has a section of its own. */
struct report_trial {
	enum trial_status status;
	double value;
	const char *config; /* JSON */
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
/* Applies --machine. */
int report_machine_choose(struct report *report, struct store *store, struct err *err);
/* Short fingerprint of the machine that was measured last, for hints; "" if the store is empty. */
const char *report_machine_other(struct report *report, struct store *store);
void report_clear(struct report *report);

/* The document of `report --json`; a new reference. Puts the sections in its order: those that gain most come first. */
json_t *report_document(struct report *report);
/* The first screen: a line for each result of the document. */
void report_answers(struct report *report, const json_t *document);
struct report_line {
	const char *anchor, *name, *about; /* the place that it leads to, and what it is about */
};
/* The problem, and the objective where it is not time; lives as long as the report. */
const char *report_about(const struct report *report, const struct report_section *section);
/* Begins a section that is folded behind its heading and its verdict; it ends with </section></details>. */
void report_fold(struct report *report, const struct report_line *line, const char *verdict);
const char *report_program(const json_t *document); /* the name of a program whose regions were tuned */

/* Sections. */
/* Intervals below each other share a logarithmic scale, which holds 1 and all that were added. */
struct report_ruler {
	double low, high;
};
#define REPORT_RULER                                                                                                   \
	{ 1 / 1.1, 1.1 }
void report_ruler_add(struct report_ruler *ruler, struct speedup gain);
/* A speedup with its interval as a bar; nothing for one that says nothing. */
void report_interval(struct html *html, const struct report_ruler *ruler, struct speedup gain);
void report_section(struct report *report, const struct report_section *section);
/* A part of a section: when it is on the page, and what writes it with its heading. */
struct report_part {
	enum { REPORT_EXPLAINED, REPORT_STORED } when; /* there is a result of explain; the page is about a store */
	void (*put)(struct report *report, const struct report_section *section);
};
extern const struct report_part report_curves, report_parts, report_effects, report_scaling, report_counters,
	report_progress;
void report_weak(struct report *report, const struct report_section *section);

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
/* A sentence that something is unknown, and the command that would measure it; command may be NULL. */
void report_absent(struct report *report, const char *sentence, const char *command);
double report_shown(const struct report_section *section, double value); /* converts a stored value */
struct shown report_value(const struct report_section *section, double shown);
/* Two cells: a value as shown, and its interval; NAN if unknown. */
void report_cells(struct html_table *table, const struct report_section *section, double shown, double low,
                  double high);
double report_end(const json_t *ci, size_t end); /* NAN if unknown */
/* "3.70x [3.60, 3.80]", "too noisy" for a vague one, "" for none */
struct shown report_ratio(struct speedup speedup);
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
const char *report_command_line(struct report *report, const struct report_section *section, const char *verb,
                                const char *more);
/* The same with the problem, for commands that measure; for a program, its own tune command. */
const char *report_advice(struct report *report, const struct report_section *section, const char *verb,
                          const char *more);

enum { CURVES_LINES = 12, CURVES_POINTS = 200 }; /* of a chart */

/* Lines of a study: the least time at each value of a parameter over all other parameters, perhaps with one line for
 * each value of a second parameter. */

struct slice {
	const char *name; /* the value of the second parameter, with its name if it is a number; or NULL */
	size_t *rows, count;
	double least;
};
/* Makes the lines in the arena, least time first, and returns their number. split: the second parameter, SIZE_MAX for
 * none. */
size_t slice_make(struct report *report, const struct report_section *section, size_t column, size_t split,
                  struct slice **slices);
/* Stores the parameters with several values on this problem, largest effect first, and returns their number. */
size_t slice_params(const struct report_section *section, size_t columns[STUDY_COLUMNS_MAX]);
/* The best second parameter for `column`, words before numbers; SIZE_MAX for none. */
size_t slice_split(const struct report_section *section, size_t column);
/* Calls for the section; for the only one of a table in which each problem has a row, once for each problem. */
void slice_each_problem(struct report *report, const struct report_section *section,
                        void (*fn)(struct report *report, const struct report_section *section));
/* The text of a level, in the arena. */
const char *slice_level(struct report *report, const struct study_column *column, int level);
/* The column of the problem's size: the number that most other problems differ in alone; SIZE_MAX: there is none. */
size_t slice_size(const struct report_section *section);
/* The row of serial code; SIZE_MAX: there is none. */
size_t slice_serial(const struct report_section *section);
/* The row of the configuration that `tune` proved faster than the baseline; SIZE_MAX: there is none. */
size_t slice_winner(const struct report_section *section);
#endif
