/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"
#include "base/tree.h"
#include "tuner/regions/impl.h"
#include "tuner/regions/runs_impl.h"
#include "tuner/regions/output_impl.h"

enum { WORD_SHOWN = 32 };
/* Numbers that differ by less are the same but for rounding; whole numbers only if a double cannot hold all of their
 * digits. */
static const double ROUNDED = 1e-6, ROUNDED_ABSOLUTE = 1e-14, WHOLE_EXACT = 1e15;

struct known {
	double low, high; /* of runs without changes */
	bool varies;      /* a text that is not the same in all of them */
};

struct regions_outputs {
	char *first; /* the first run without changes, and its words */
	struct words words;
	struct known *known; /* one a word */
	size_t plain, changed;
	bool varies;    /* runs without changes differ in more than numbers */
	bool any_order; /* of lines */
	char **waiting; /* runs with changes, in the order in which they came */
	size_t *waiting_size;
};

struct regions_outputs *regions_outputs_new(void) {
	struct regions_outputs *outputs = mem_alloc(1, sizeof *outputs);
	*outputs = (struct regions_outputs){0};
	return outputs;
}

void regions_outputs_free(struct regions_outputs *outputs) {
	if (!outputs)
		return;
	for (size_t i = 0; i < outputs->changed; i++)
		free(outputs->waiting[i]);
	free(outputs->waiting);
	free(outputs->waiting_size);
	free(outputs->words.of);
	free(outputs->known);
	free(outputs->first);
	free(outputs);
}

/* Words that both have; SIZE_MAX: they are of different kinds. */
static size_t alike(const struct words *a, const struct words *b) {
	size_t count = a->count < b->count ? a->count : b->count;
	if (a->count != b->count && !(a->is_cut && b->is_cut))
		return SIZE_MAX;
	for (size_t i = 0; i < count; i++)
		if (a->of[i].is_number != b->of[i].is_number)
			return SIZE_MAX;
	return count;
}

static bool is_same_text(const struct word *a, const struct word *b) {
	return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

static double distance(double a, double b) {
	double larger = fmax(fabs(a), fabs(b));
	return a == b || fabs(a - b) <= ROUNDED_ABSOLUTE ? 0 : fabs(a - b) / larger;
}

static bool is_rounded(const struct word *word, double by) {
	return by <= ROUNDED && (!word->is_whole || fabs(word->value) > WHOLE_EXACT);
}

static char *text_copy(const char *text, size_t size) {
	char *copy = mem_alloc(size + 2, 1); /* another end of line may be added */
	memcpy(copy, text, size);
	return copy;
}

static void first_keep(struct regions_outputs *outputs, const char *text, size_t size) {
	outputs->first = text_copy(text, size);
	outputs->words = regions_words_read(outputs->first, size);
	outputs->known = mem_alloc(outputs->words.count + 1, sizeof *outputs->known);
	for (size_t i = 0; i < outputs->words.count; i++)
		outputs->known[i] = (struct known){outputs->words.of[i].value, outputs->words.of[i].value, false};
}

static void plain_join(struct regions_outputs *outputs, const char *text, size_t size) {
	char *copy = text_copy(text, size), *aligned = text_copy(text, size);
	size_t aligned_size = size;
	bool same = regions_lines_align(&outputs->words, aligned, &aligned_size);
	outputs->any_order = outputs->any_order || same;
	struct words words =
		outputs->any_order ? regions_words_read(aligned, aligned_size) : regions_words_read(copy, size);
	size_t count = alike(&outputs->words, &words);
	outputs->varies = outputs->varies || count == SIZE_MAX;
	if (count < outputs->words.count)
		outputs->words.count = count;
	for (size_t i = 0; !outputs->varies && i < count; i++) {
		struct known *known = &outputs->known[i];
		known->low = fmin(known->low, words.of[i].value);
		known->high = fmax(known->high, words.of[i].value);
		known->varies = known->varies || (!words.of[i].is_number && !is_same_text(&words.of[i], &outputs->words.of[i]));
	}
	free(words.of);
	free(aligned);
	free(copy);
}

void regions_outputs_any_order(struct regions_outputs *outputs) {
	outputs->any_order = true;
}

void regions_outputs_add(struct regions_outputs *outputs, const char *text, size_t size, bool changed) {
	if (changed) {
		outputs->waiting = mem_grow(outputs->waiting, outputs->changed + 1, sizeof *outputs->waiting);
		outputs->waiting_size = mem_grow(outputs->waiting_size, outputs->changed + 1, sizeof *outputs->waiting_size);
		outputs->waiting[outputs->changed] = text_copy(text, size);
		outputs->waiting_size[outputs->changed++] = size;
	} else if (outputs->plain++ == 0) {
		first_keep(outputs, text, size);
	} else {
		plain_join(outputs, text, size);
	}
}

static void word_show(const struct word *word, char *text, size_t size) {
	size_t length = word->length < WORD_SHOWN ? word->length : WORD_SHOWN;
	snprintf(text, size, "%.*s", (int)length, word->text);
	for (char *c = text; *c; c++)
		if (!isprint((unsigned char)*c))
			*c = '?';
}

static void differs(struct regions_output *output, const struct word *now, const struct word *before) {
	char a[WORD_SHOWN + 1], b[WORD_SHOWN + 1];
	if (output->status == REGIONS_OUTPUT_DIFFERS)
		return;
	output->status = REGIONS_OUTPUT_DIFFERS;
	word_show(now, a, sizeof a);
	word_show(before, b, sizeof b);
	snprintf(output->example, sizeof output->example, "%s instead of %s", a, b);
}

/* A number counts if runs without changes agree about it, but for rounding. A time with two digits may agree by
 * accident.
 */
static bool is_known(const struct regions_outputs *outputs, size_t i) {
	const struct known *known = &outputs->known[i];
	double by = distance(known->low, known->high);
	if (!outputs->words.of[i].is_number)
		return !known->varies;
	return (by == 0 || is_rounded(&outputs->words.of[i], by)) && !regions_words_timing(&outputs->words, i);
}

static void changed_judge(const struct regions_outputs *outputs, size_t number, struct regions_output *output) {
	if (outputs->any_order)
		regions_lines_align(&outputs->words, outputs->waiting[number], &outputs->waiting_size[number]);
	struct words words = regions_words_read(outputs->waiting[number], outputs->waiting_size[number]);
	size_t count = alike(&outputs->words, &words);
	if (count == SIZE_MAX) {
		output->status = REGIONS_OUTPUT_DIFFERS;
		snprintf(output->example, sizeof output->example, "%zu words and numbers instead of %zu", words.count,
		         outputs->words.count);
	}
	for (size_t i = 0; output->status != REGIONS_OUTPUT_DIFFERS && i < count; i++) {
		const struct word *now = &words.of[i], *before = &outputs->words.of[i];
		if (!is_known(outputs, i))
			continue;
		double by = now->is_number ? distance(now->value, before->value) : 0;
		if (now->is_number ? by > 0 && !is_rounded(before, by) : !is_same_text(now, before))
			differs(output, now, before);
		else if (by > 0)
			output->status = REGIONS_OUTPUT_ROUNDED;
		output->largest = fmax(output->largest, by);
	}
	free(words.of);
}

struct regions_output regions_outputs_judge(const struct regions_outputs *outputs) {
	struct regions_output output = {.status = REGIONS_OUTPUT_UNKNOWN};
	size_t numbers = 0;
	if (!outputs || outputs->plain < 2 || outputs->changed == 0)
		return output;
	if (outputs->varies)
		return (struct regions_output){.status = REGIONS_OUTPUT_VARIES};
	for (size_t i = 0; i < outputs->words.count; i++)
		numbers += outputs->words.of[i].is_number && is_known(outputs, i);
	output.status = numbers ? REGIONS_OUTPUT_SAME : REGIONS_OUTPUT_NONE;
	for (size_t i = 0; output.status != REGIONS_OUTPUT_DIFFERS && i < outputs->changed; i++)
		changed_judge(outputs, i, &output);
	return output;
}

bool regions_outputs_empty(const struct regions_outputs *outputs) {
	return outputs && outputs->plain && outputs->words.count == 0;
}

const char *regions_output_word(enum regions_output_status status) {
	static const char *const words[] = {"unknown", "none", "varies", "same", "rounded", "differs"};
	return words[status];
}

enum { REPEATS = 2 };
static const double WAIT_SHARE = 0.5; /* of the time left for a run that others disturbed and its repetitions */

char *regions_preload(const char *library) {
	const char *now = getenv("LD_PRELOAD");
	return now && *now ? mem_printf("%s:%s", library, now) : mem_strdup(library);
}

static struct program *program_open(struct regions_runs *runs, struct err *err) {
	static const char *const params[] = {
		"LD_PRELOAD", "SWEETSPOT_OMP_TABLE", "SWEETSPOT_OMP_RECORD", "OMP_PROC_BIND", "OMP_PLACES", "OMP_WAIT_POLICY",
		NULL};
	struct program_spec spec = runs->options->program;
	spec.params = params;
	spec.baseline = runs->plain;
	spec.verify = runs->printed ? runs->verify : spec.verify;
	return program_new(&spec, runs->options->worker, err);
}

/* The worker hands what the program printed to a command, which may read it as often as it likes. */
static void printed_keep(struct regions_runs *runs) {
	const char *verify = runs->options->program.verify;
	runs->printed = mem_printf("%s/printed", runs->scratch.path);
	char *quoted = program_quote(runs->printed);
	runs->verify = mem_printf("head -c %d /dev/stdin >%s\n%s", REGIONS_OUTPUT_MOST, quoted, verify ? verify : "");
	free(quoted);
}

int regions_runs_open(struct regions_runs *runs, const struct regions_options *options, struct err *err) {
	*runs = (struct regions_runs){
		.options = options, .plain = json_object(), .environment = json_object(), .started = sys_now()};
	scratch_tidy(SCRATCH_REGIONS);
	int failed = scratch_open(&runs->scratch, SCRATCH_REGIONS, err);
	if (!failed)
		printed_keep(runs);
	runs->program = failed ? NULL : program_open(runs, err);
	runs->busy = busy_new();
	runs->outputs = regions_outputs_new();
	return runs->program ? 0 : -1;
}

void regions_runs_close(struct regions_runs *runs) {
	busy_free(runs->busy);
	program_free(runs->program);
	regions_outputs_free(runs->outputs);
	free(runs->verify);
	free(runs->printed);
	scratch_close(&runs->scratch);
	json_decref(runs->plain);
	json_decref(runs->environment);
}

double regions_left(const struct regions_runs *runs, double budget_s) {
	return budget_s - (sys_now() - runs->started);
}

/* A program that prints more than the worker keeps for a command runs without one. */
static int trial(struct regions_runs *runs, const struct trial_request *request, struct trial_result *result,
                 struct err *err) {
	const struct program_spec *spec = &runs->options->program;
	struct runner runner = program_runner(runs->program);
	int failed = runner.run(runner.ctx, request, result, err);
	if (failed || result->status != TRIAL_CORRECTNESS || runs->done || spec->verify || spec->expect_same ||
	    !runs->printed)
		return failed;
	free(runs->printed);
	runs->printed = NULL;
	trial_result_clear(result);
	program_free(runs->program);
	runs->program = program_open(runs, err);
	if (!runs->program)
		return -1;
	runner = program_runner(runs->program);
	return runner.run(runner.ctx, request, result, err);
}

/* changed: with settings of ours. */
static void printed_read(struct regions_runs *runs, bool changed) {
	struct err none = {0};
	size_t size;
	char *text = runs->printed ? sys_read_file(runs->printed, REGIONS_OUTPUT_MOST, &size, &none) : NULL;
	if (text)
		regions_outputs_add(runs->outputs, text, size, changed);
	free(text);
}

static int interrupted(const struct regions_runs *runs, struct err *err) {
	const volatile int *flag = runs->options->interrupt;
	return flag && *flag ? err_set(err, ERR_INTERRUPTED, NULL, "interrupted") : 0;
}

/* A run that was lost with its worker is repeated by a new one, unless that keeps happening. */
static int trial_repeat(struct regions_runs *runs, const struct trial_request *request, const char *records,
                        struct trial_result *result, struct err *err) {
	int failed = trial(runs, request, result, err);
	for (int again = 0; !failed && result->lost && again < REPEATS; again++) {
		trial_result_clear(result);
		if (records) /* of the run that was lost */
			tree_remove(records);
		failed =
			interrupted(runs, err) || (records && sys_make_dirs(records, err)) || trial(runs, request, result, err);
	}
	return failed ? -1 : 0;
}

/* records: the folder in which the library leaves its records, or NULL. */
static int measure(struct regions_runs *runs, const json_t *config, double limit_s, const char *records,
                   double *seconds, struct err *err) {
	const struct regions_options *options = runs->options;
	const struct trial_request request = {.config = config,
	                                      .seed = options->seed,
	                                      .samples = 1,
	                                      .whole_program = true,
	                                      .counters = runs->counting ? options->counters : NULL,
	                                      .slow = runs->counting && options->slow,
	                                      .timeout_s = limit_s > 0 ? limit_s : options->timeout_s};
	struct trial_result result = {0};
	int failed = trial_repeat(runs, &request, records, &result, err);
	busy_look(runs->busy);
	if (!failed && result.status != TRIAL_CORRECT) {
		runs->failures[result.status]++;
		snprintf(runs->failure, sizeof runs->failure, "%s", trial_status_text(result.status));
	}
	if (!failed && result.status != TRIAL_CORRECT)
		failed = err_set(err, ERR_NOTHING, "run it by itself to see why", "the program %s%s%s",
		                 trial_status_text(result.status), *result.message ? ": " : "", result.message);
	*seconds = failed ? 0 : result.value;
	trial_result_clear(&result);
	runs->done += !failed;
	return failed;
}

static void tell(const struct regions_runs *runs, const char *phase) {
	const struct regions_options *options = runs->options;
	if (options->progress)
		options->progress(options->progress_ctx, phase, runs->done + 1, runs->all);
}

int regions_run_recorded(struct regions_runs *runs, const struct regions_table *table,
                         const struct regions_record *known, double limit_s, const char *phase, struct regions_run *run,
                         struct err *err) {
	char *text = table ? regions_table_text(table, known) : NULL;
	char *file = mem_printf("%s/table", runs->scratch.path), *records = mem_printf("%s/records", runs->scratch.path);
	char *prefix = mem_printf("%s/run", records), *preload = regions_preload(runs->options->library);
	json_t *config = json_pack("{s:s,s:s}", "LD_PRELOAD", preload, "SWEETSPOT_OMP_RECORD", prefix);
	int failed = interrupted(runs, err) || sys_make_dirs(records, err) ||
	             (text && sys_write_file(file, text, strlen(text), err));
	if (text)
		json_object_set_new(config, "SWEETSPOT_OMP_TABLE", json_string(file));
	*run = (struct regions_run){0};
	tell(runs, phase);
	failed = failed || measure(runs, config, limit_s, records, &run->seconds, err);
	if (!failed && !(run->record = regions_record_read(records, err)))
		failed = -1;
	if (!failed && run->record->processes > 1)
		regions_outputs_any_order(runs->outputs);
	if (!failed && table && table->busy) /* nothing is changed where it only looks */
		printed_read(runs, false);
	tree_remove(records);
	json_decref(config);
	free(preload);
	free(prefix);
	free(records);
	free(file);
	free(text);
	return failed ? -1 : 0;
}

int regions_run_quiet(struct regions_runs *runs, const struct regions_table *table, const struct regions_record *known,
                      double limit_s, const char *phase, double budget_s, struct regions_run *run, struct err *err) {
	if (regions_run_recorded(runs, table, known, limit_s, phase, run, err))
		return -1;
	double waiting = regions_record_waiting(run->record);
	for (int again = 0; again < REPEATS && waiting > REGIONS_BUSY; again++) {
		struct regions_run other;
		double left = regions_left(runs, budget_s) - run->seconds;
		if (left < 0)
			break;
		busy_wait_seen(runs->busy, WAIT_SHARE * left, runs->options->interrupt);
		if (regions_run_recorded(runs, table, known, limit_s, phase, &other, err))
			return -1;
		double now = regions_record_waiting(other.record);
		if (now < waiting) {
			regions_record_free(run->record);
			*run = other;
			waiting = now;
		} else {
			regions_record_free(other.record);
		}
	}
	runs->waiting = fmax(runs->waiting, waiting);
	return 0;
}

static json_t *tuned_config(const struct regions_runs *runs, const char *table, const char *prefix) {
	char *preload = regions_preload(runs->options->library);
	json_t *config = json_pack("{s:s,s:s}", "LD_PRELOAD", preload, "SWEETSPOT_OMP_TABLE", table);
	json_object_update(config, runs->environment);
	if (prefix)
		json_object_set_new(config, "SWEETSPOT_OMP_RECORD", json_string(prefix));
	free(preload);
	return config;
}

int regions_run_plain(struct regions_runs *runs, const char *table, bool records, double limit_s, const char *phase,
                      struct regions_run *run, struct err *err) {
	char *folder = records ? mem_printf("%s/records", runs->scratch.path) : NULL;
	char *prefix = records ? mem_printf("%s/run", folder) : NULL;
	json_t *config = table ? tuned_config(runs, table, prefix) : json_incref(runs->plain);
	struct err none = {0};
	*run = (struct regions_run){0};
	tell(runs, phase);
	int failed = interrupted(runs, err) || (records && sys_make_dirs(folder, err)) ||
	             measure(runs, config, limit_s, folder, &run->seconds, err);
	if (!failed)
		printed_read(runs, table != NULL);
	if (!failed && records)
		run->record = regions_record_read(folder, &none);
	if (records)
		tree_remove(folder);
	json_decref(config);
	free(prefix);
	free(folder);
	return failed ? -1 : 0;
}
