/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/store_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/json/js.h"
#include "src/base/json/verdict.h"
#include "src/base/mem.h"
#include "src/base/near.h"
#include "src/show/measured.h"
#include "src/show/results.h"
#include "tuner/store/remove.h"

enum { NAMES_MAX = 64 };

static json_t *parsed(const char *text) {
	json_t *json = js_parse(text, strlen(text), "the store", NULL);
	return json ? json : json_object();
}

static json_t *day_json(double seconds) {
	char text[32];
	time_t at = (time_t)seconds;
	struct tm tm;
	bool good = seconds > 0 && seconds < 253402300800.0 && localtime_r(&at, &tm);
	return good && strftime(text, sizeof text, "%Y-%m-%d %H:%M", &tm) ? json_string(text) : json_null();
}

/* A search as an object of `store list --json`. */
static json_t *search_json(const struct store_row *row) {
	const json_t *speedup = json_object_get(row->result, "speedup");
	json_t *json = json_pack("{s:I,s:o,s:o,s:o,s:o,s:o}", "search", (json_int_t)row->search, "kernel",
	                         js_text(row->kernel), "problem", parsed(row->problem), "objective",
	                         js_text(row->objective), "state", js_text(row->state), "started", day_json(row->started));
	const char *verdict = js_string_or(row->result, "verdict", NULL);
	json_t *evaluations = json_object_get(row->result, "evaluations");
	json_object_set_new(json, "evaluations", json_is_integer(evaluations) ? json_incref(evaluations) : json_null());
	json_object_set_new(json, "verdict", verdict ? js_text(verdict) : json_null());
	json_object_set(json, "checked", json_object_get(row->result, "checked"));
	json_object_set(json, "evidence", json_object_get(row->result, "evidence"));
	json_object_set_new(json, "speedup", js_number(js_real_or(speedup, "ratio", NAN)));
	return json;
}

static int search_add(void *ctx, const struct store_row *row) {
	json_array_append_new(ctx, search_json(row));
	return 0;
}

/* The searches of the store, oldest first; NULL and err. */
static json_t *searches_read(struct store *store, struct err *err) {
	json_t *list = json_array();
	if (store_each(store, STORE_SEARCHES, NULL, search_add, list, err) == 0)
		return list;
	json_decref(list);
	return NULL;
}

static void list_print(struct ui *ui, const json_t *list) {
	static const char *const titles[] = {"name", "search", "problem", "tried", "verdict", "speedup", "when"};
	struct table *table = table_new(sizeof titles / sizeof *titles, titles);
	size_t i;
	json_t *one;
	table_right(table, 1);
	table_right(table, 3);
	table_right(table, 5);
	if (!json_array_size(list))
		puts("the store does not hold any search");
	json_array_foreach((json_t *)list, i, one) {
		char number[32], tried[32], speedup[32] = "";
		double ratio = js_real_or(one, "speedup", NAN);
		char *problem = results_problem(json_object_get(one, "problem"));
		snprintf(number, sizeof number, "#%lld", (long long)js_int_or(one, "search", 0));
		long long evaluations = (long long)js_int_or(one, "evaluations", -1); /* an interrupted search may lack it */
		snprintf(tried, sizeof tried, evaluations < 0 ? "-" : "%lld", evaluations);
		if (verdict_is_faster(one))
			snprintf(speedup, sizeof speedup, "%.2fx", ratio);
		table_add(table, js_string_or(one, "kernel", "?"), number, problem, tried,
		          js_string_or(one, "verdict", js_string_or(one, "state", "?")), speedup,
		          js_string_or(one, "started", ""));
		free(problem);
	}
	if (json_array_size(list))
		table_print(table, ui, stdout);
	table_free(table);
}

int store_rows_list(struct app *app, const struct opt_args *args, struct err *err) {
	if (opt_words(args) > 1)
		return err_set(err, ERR_USAGE, "sweetspot store list --store FILE", "list takes no arguments");
	struct store *store = store_open(opt_get(args, "store", NULL), STORE_READ, err);
	json_t *list = store ? searches_read(store, err) : NULL;
	store_close(store);
	if (!list)
		return -1;
	if (opt_has(args, "json")) {
		json_t *document = json_pack("{s:s,s:O}", "schema", "sweetspot-store-list/1", "searches", list);
		js_write(document, stdout);
		json_decref(document);
	} else {
		list_print(app_ui(app), list);
	}
	json_decref(list);
	return 0;
}

/* "#12" or "12" is a search, anything else a name. 0: it is a name. */
static int64_t number_of(const char *word) {
	char *end;
	const char *digits = word + (*word == '#');
	long long number = *digits >= '0' && *digits <= '9' ? strtoll(digits, &end, 10) : 0;
	return number > 0 && !*end ? number : 0;
}

static int unknown(const json_t *list, const char *word, struct err *err) {
	const char *names[NAMES_MAX];
	size_t count = 0, i;
	json_t *one;
	json_array_foreach((json_t *)list, i, one) if (count < NAMES_MAX) names[count++] = js_string_or(one, "kernel", "");
	const char *near = near_word(word, names, count);
	err_set(err, ERR_USAGE, "`sweetspot store list` lists the names and numbers",
	        "the store does not contain \"%.100s\"", word);
	return near ? err_hint(err, "did you mean %s?", near) : -1;
}

/* The newest search that the word names; 0 and err. */
static int64_t newest(const json_t *list, const char *word, struct err *err) {
	int64_t number = number_of(word), found = 0;
	size_t i;
	json_t *one;
	json_array_foreach((json_t *)list, i, one) {
		int64_t search = js_int_or(one, "search", 0);
		if (number ? search == number : strcmp(js_string_or(one, "kernel", ""), word) == 0)
			found = search;
	}
	if (!found)
		unknown(list, word, err);
	return found;
}

static int trial_add(void *ctx, const struct store_trial *trial) {
	json_t *row = json_pack("{s:o}", "phase", js_text(trial->phase)), *config = parsed(trial->config);
	json_object_update(row, config);
	json_object_set_new(row, "status", js_text(trial->status));
	json_object_set_new(row, "value", js_number(trial->value));
	if (trial->message && *trial->message)
		json_object_set_new(row, "message", js_text(trial->message));
	json_array_append_new(ctx, row);
	json_decref(config);
	return 0;
}

static int trial_print(void *ctx, const struct store_trial *trial) {
	char value[32];
	json_t *config = parsed(trial->config);
	char *text = results_config(config, NULL);
	snprintf(value, sizeof value, isfinite(trial->value) ? "%.6g" : "-", trial->value);
	table_add(ctx, trial->phase, value, strcmp(trial->status, "correct") == 0 ? "" : trial->status, text,
	          trial->message ? trial->message : "");
	free(text);
	json_decref(config);
	return 0;
}

static int trials_show(struct app *app, struct store *store, int64_t search, struct err *err) {
	static const char *const titles[] = {"phase", "value", "failed", "configuration", "message"};
	struct table *table = table_new(sizeof titles / sizeof *titles, titles);
	table_right(table, 1);
	int failed = store_outcomes_each(store, search, trial_print, table, err);
	if (!failed)
		table_print(table, app_ui(app), stdout);
	table_free(table);
	return failed;
}

static int trials_export(struct store *store, int64_t search, enum measured_format format, struct err *err) {
	json_t *rows = json_array();
	int failed = store_outcomes_each(store, search, trial_add, rows, err);
	if (!failed)
		measured_write(format, rows, stdout);
	json_decref(rows);
	return failed;
}

int store_rows_show(struct app *app, const struct opt_args *args, struct err *err) {
	enum measured_format format;
	if (measured_format_read(args, &format, err))
		return -1;
	if (opt_words(args) != 2)
		return err_set(err, ERR_USAGE, "sweetspot store show NAME, or the number of a search from `store list`",
		               "show takes one name or number");
	struct store *store = store_open(opt_get(args, "store", NULL), STORE_READ, err);
	json_t *list = store ? searches_read(store, err) : NULL;
	int64_t search = list ? newest(list, opt_word(args, 1), err) : 0;
	int failed = search == 0;
	if (opt_has(args, "json"))
		format = MEASURED_JSON;
	if (!failed)
		failed = format ? trials_export(store, search, format, err) : trials_show(app, store, search, err);
	json_decref(list);
	store_close(store);
	return failed ? -1 : 0;
}

/* Checks every word before anything is removed. */
static int words_check(const json_t *list, const struct opt_args *args, struct err *err) {
	for (size_t i = 1; i < opt_words(args); i++)
		if (!newest(list, opt_word(args, i), err))
			return -1;
	return 0;
}

static int words_remove(struct store *store, const struct opt_args *args, struct store_removed *sum, struct err *err) {
	for (size_t i = 1; i < opt_words(args); i++) {
		struct store_removed one = {0};
		int64_t number = number_of(opt_word(args, i));
		if (store_remove(store, number ? NULL : opt_word(args, i), number, &one, err))
			return -1;
		sum->searches += one.searches;
		sum->trials += one.trials;
	}
	return 0;
}

int store_rows_rm(struct app *app, const struct opt_args *args, struct err *err) {
	struct store_removed sum = {0};
	(void)app;
	if (opt_words(args) < 2)
		return err_set(err, ERR_USAGE, "sweetspot store rm NAME, or the numbers of searches from `store list`",
		               "rm needs a name or number");
	const char *path = opt_get(args, "store", NULL);
	struct store *looked = store_open(path, STORE_READ, err); /* a store that does not exist is not created */
	store_close(looked);
	struct store *store = looked ? store_open(path, STORE_WRITE, err) : NULL;
	json_t *list = store ? searches_read(store, err) : NULL;
	int failed = !list || words_check(list, args, err) || words_remove(store, args, &sum, err);
	json_decref(list);
	store_close(store);
	if (failed)
		return -1;
	if (opt_has(args, "json"))
		printf("{\"schema\":\"sweetspot-store-rm/1\",\"searches\":%lld,\"trials\":%lld}\n", (long long)sum.searches,
		       (long long)sum.trials);
	else
		printf("removed %lld search%s with %lld trials\n", (long long)sum.searches, sum.searches == 1 ? "" : "es",
		       (long long)sum.trials);
	return 0;
}
