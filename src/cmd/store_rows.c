/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cmd/store_rows_impl.h"

#include <math.h>
#include <time.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/proc/work.h"
#include "src/show/columns.h"
#include "src/show/measured.h"
#include "src/show/results.h"

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
	const char *verdict = verdict_said(row->result, NULL);
	const char *folder = js_string_or(json_object_get(row->result, "program"), "folder", NULL);
	json_t *evaluations = json_object_get(row->result, "evaluations");
	return json_pack("{s:I,s:o,s:o,s:o,s:o,s:o,s:O?,s:o?,s:O*,s:O*,s:o*,s:o,s:O*}", "search", (json_int_t)row->search,
	                 "kernel", js_text(row->kernel), "problem", parsed(row->problem), "objective",
	                 js_text(row->objective), "state", js_text(row->state), "started", day_json(row->started),
	                 "evaluations", json_is_integer(evaluations) ? evaluations : NULL, VERDICT_MEMBER,
	                 verdict ? js_text(verdict) : NULL, "checked", json_object_get(row->result, "checked"), "evidence",
	                 json_object_get(row->result, "evidence"), "folder", folder ? js_text(folder) : NULL, "speedup",
	                 js_number(speedup_of(row->result).ratio), "ci", js_at(row->result, "speedup.ci"));
}

static int search_add(void *ctx, const struct store_row *row) {
	json_array_append_new(ctx, search_json(row));
	return 0;
}

/* The searches of the store that `only` names, oldest first; NULL and err. */
static json_t *searches_read(struct store *store, const struct store_filter *only, struct err *err) {
	js_auto json_t *list = json_array();
	return store_each(store, STORE_SEARCHES, only, search_add, list, err) ? NULL : json_incref(list);
}

/* An interrupted search has a state instead. One that was killed cannot be told from one that runs. */
static char *verdict_text(const json_t *search) {
	const char *state = js_string_or(search, "state", "?");
	return mem_strdup(verdict_said(search, strcmp(state, "running") == 0 ? "unfinished" : state));
}

static char *gain_text(const json_t *search) {
	struct speedup gain = speedup_read(search);
	gain.ratio = js_real_or(search, "speedup", NAN);
	return verdict_is_faster(search)
	           ? mem_printf("%s%.2fx", speedup_is_wide(gain) ? "at least " : "", speedup_told(gain))
	           : mem_strdup("");
}

static void list_print(struct ui *ui, const json_t *list) {
	static const struct column columns[] = {COLUMN("name", "kernel", .absent = "?"),
	                                        NUMBER("\1search", "search", "#%.0f", 1),
	                                        COLUMN("problem", "problem", .text = column_problem),
	                                        NUMBER("\1tried", "evaluations", "%.0f", 1),
	                                        COLUMN(VERDICT_MEMBER, "", .text = verdict_text),
	                                        COLUMN("\1speedup", "", .text = gain_text),
	                                        COLUMN("when", "started", .absent = ""),
	                                        {0}};
	if (!json_array_size(list))
		puts("the store does not hold any search");
	columns_print(ui, columns, list, stdout);
}

static int rows_list(struct app *app, const struct opt_args *args, struct err *err) {
	if (opt_words(args) > 1)
		return err_set(err, ERR_USAGE, "sweetspot store list --store FILE", "list takes no arguments");
	struct store *store = store_open(opt_get(args, "store", NULL), STORE_READ, err);
	js_auto json_t *list = store ? searches_read(store, NULL, err) : NULL;
	store_close(store);
	if (!list)
		return -1;
	if (opt_has(args, "json"))
		js_print(json_pack("{s:s,s:O}", "schema", "sweetspot-store-list/1", "searches", list));
	else
		list_print(app_ui(app), list);
	return 0;
}

const struct cmd_verb verb_store_list = {
	"list", "sweetspot store list, or sweetspot store merge FILE...", 0, SIZE_MAX, rows_list, {NULL}};

/* "#12" or "12" is a search, anything else a name. 0: it is a name. */
static int64_t number_of(const char *word) {
	char *end;
	const char *digits = word + (*word == '#');
	long long number = *digits >= '0' && *digits <= '9' ? strtoll(digits, &end, 10) : 0;
	return number > 0 && !*end ? number : 0;
}

struct names {
	json_t *known, *through; /* all names; those of what `word` runs: an interpreter, a launcher */
	const char *word;
};

static int name_add(void *ctx, const struct store_row *row) {
	const struct names *names = ctx;
	js_auto json_t *problem = parsed(row->problem);
	const char *command = js_string_or(problem, "command", "");
	mem_auto char *first = mem_printf("%.*s", (int)strcspn(command, " "), command);
	json_object_set_new(names->known, row->kernel, json_true());
	if (strcmp(text_base_name(first), names->word) == 0)
		json_object_set_new(names->through, row->kernel, json_true());
	return 0;
}

/* The keys, with commas between them. The caller frees it. */
static char *keys_text(const json_t *object) {
	char *text = mem_strdup("");
	js_members (key, value, object)
		mem_append(&text, "%s%s", *text ? ", " : "", key);
	text_clean(text, false);
	return text;
}

static void unknown_hint(const struct names *names, struct err *err) {
	mem_auto const char **list = mem_alloc(json_object_size(names->known) + 1, sizeof *list);
	size_t count = 0;
	js_members (key, value, names->known)
		list[count++] = key;
	const char *near = near_word(names->word, list, count);
	mem_auto char *through = keys_text(names->through);
	if (*through)
		err_hint(err, "results have the names of what %.60s runs: %.400s", names->word, through);
	else if (near)
		err_hint(err, "did you mean %s?", near);
}

static int unknown(struct store *store, const char *word, struct err *err) {
	struct names names = {json_object(), json_object(), word};
	if (store_each(store, STORE_NAMES, NULL, name_add, &names, err) == 0) {
		err_set(err, ERR_USAGE, "`sweetspot store list` lists the names and numbers",
		        "the store does not contain \"%.100s\"", word);
		unknown_hint(&names, err);
	}
	json_decref(names.known);
	json_decref(names.through);
	return -1;
}

/* The searches that the word names, at least one; NULL and err. */
static json_t *searches_of(struct store *store, const char *word, struct err *err) {
	int64_t number = number_of(word);
	const struct store_filter only = {.kernel = number ? NULL : word, .search = number};
	json_t *list = searches_read(store, &only, err);
	if (!list || json_array_size(list))
		return list;
	json_decref(list);
	unknown(store, word, err);
	return NULL;
}

static int trial_add(void *ctx, const struct store_trial *trial) {
	json_t *row = json_pack("{s:o}", "phase", js_text(trial->phase));
	json_object_update_new(row, parsed(trial->config));
	json_object_set_new(row, "status", js_text(trial->status));
	json_object_set_new(row, "value", js_number(trial->value));
	if (trial->message && *trial->message)
		json_object_set_new(row, "message", js_text(trial->message));
	json_array_append_new(ctx, row);
	return 0;
}

static int trial_print(void *ctx, const struct store_trial *trial) {
	char value[32];
	js_auto json_t *config = parsed(trial->config);
	mem_auto char *text = results_config(config, NULL);
	snprintf(value, sizeof value, isfinite(trial->value) ? "%.6g" : "-", trial->value);
	table_add(ctx, trial->phase, value, strcmp(trial->status, "correct") == 0 ? "" : trial->status, text,
	          trial->message ? trial->message : "");
	return 0;
}

static int trials_show(struct app *app, struct store *store, int64_t search, struct err *err) {
	struct table *table = table_titled("phase", "\1value", "failed", "configuration", "message", NULL);
	int failed = store_outcomes_each(store, search, trial_print, table, err);
	if (!failed)
		table_end(table, app_ui(app), stdout);
	return failed;
}

static int trials_export(struct store *store, int64_t search, enum measured_format format, struct err *err) {
	js_auto json_t *rows = json_array();
	int failed = store_outcomes_each(store, search, trial_add, rows, err);
	if (!failed)
		measured_write(format, rows, stdout);
	return failed;
}

static int rows_show(struct app *app, const struct opt_args *args, struct err *err) {
	enum measured_format format;
	if (measured_format_read(args, &format, err))
		return -1;
	if (opt_words(args) != 2)
		return err_set(err, ERR_USAGE, "sweetspot store show NAME, or the number of a search from `store list`",
		               "show takes one name or number");
	struct store *store = store_open(opt_get(args, "store", NULL), STORE_READ, err);
	js_auto json_t *list = store ? searches_of(store, opt_word(args, 1), err) : NULL;
	int64_t search = js_int_or(json_array_get(list, json_array_size(list) - 1), "search", 0);
	int failed = !list;
	if (opt_has(args, "json"))
		format = MEASURED_JSON;
	if (!failed)
		failed = format ? trials_export(store, search, format, err) : trials_show(app, store, search, err);
	store_close(store);
	return failed ? -1 : 0;
}

const struct cmd_verb verb_store_show = {"show", NULL, 0, SIZE_MAX, rows_show, {NULL}};

/* Returns what a search ran ("/w/first.py", or a kernel's own name). An interrupted search does not tell its folder. */
static char *program_of(const json_t *search) {
	const char *command = js_string_or(json_object_get(search, "problem"), "command", NULL);
	const char *folder = js_string_or(search, "folder", NULL);
	if (!command || work_passes(js_string_or(search, "kernel", ""))) /* code in the command itself */
		return mem_strdup(command ? command : js_string_or(search, "kernel", ""));
	mem_auto char *word = work_word(command);
	const char *bare = strncmp(word, "./", 2) == 0 ? word + 2 : word;
	return folder && *bare != '/' ? mem_printf("%s/%s", folder, bare) : mem_strdup(bare);
}

/* The searches that are going to be removed. */
struct removal {
	struct store *store;
	json_t *programs; /* {"name": {"program": true}} */
	struct store_removed sum;
	bool several; /* programs of one name */
};

/* Nothing is removed before every word is known. */
static int word_look(struct removal *removal, const char *word, struct err *err) {
	js_auto json_t *list = searches_of(removal->store, word, err);
	struct store_removed found = {0};
	int64_t number = number_of(word);
	if (!list)
		return -1;
	js_each (search, list) {
		const char *name = js_string_or(search, "kernel", "");
		mem_auto char *program = program_of(search);
		if (!json_object_get(removal->programs, name))
			json_object_set_new(removal->programs, name, json_object());
		json_object_set_new(json_object_get(removal->programs, name), program, json_true());
		removal->several =
			removal->several || (!number && json_object_size(json_object_get(removal->programs, name)) > 1);
	}
	int failed = store_remove_look(removal->store, number ? NULL : word, number, &found, err);
	removal->sum.searches += found.searches;
	removal->sum.trials += found.trials;
	return failed;
}

static void removal_print(const struct removal *removal) {
	js_members (name, programs, removal->programs) {
		mem_auto char *text = keys_text(programs), *shown = mem_strdup(name);
		text_clean(shown, false);
		printf("%s: results of %s\n", shown, text);
	}
}

static bool is_answered_yes(const struct store_removed *sum) {
	char line[16] = "";
	printf("remove %lld search%s with %lld trials? [y/N] ", (long long)sum->searches, sum->searches == 1 ? "" : "es",
	       (long long)sum->trials);
	fflush(stdout);
	return fgets(line, sizeof line, stdin) && (*line == 'y' || *line == 'Y');
}

/* Asks at a terminal: 1 for no. Elsewhere a name must not stand for more than one program. */
static int removal_permit(const struct removal *removal, const struct opt_args *args, struct err *err) {
	if (opt_has(args, "yes"))
		return 0;
	if (!opt_has(args, "json") && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
		removal_print(removal);
		return is_answered_yes(&removal->sum) ? 0 : 1;
	}
	if (!removal->several)
		return 0;
	js_members (name, programs, removal->programs) {
		mem_auto char *text = json_object_size(programs) > 1 ? keys_text(programs) : NULL;
		if (text)
			err_set(err, ERR_USAGE, "add --yes to remove all of them, or give the numbers from `sweetspot store list`",
			        "%.60s names %lld searches of several programs: %.300s", name, (long long)removal->sum.searches,
			        text);
	}
	return -1;
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

static int removal_check(struct store *store, const struct opt_args *args, struct err *err) {
	struct removal removal = {.store = store, .programs = json_object()};
	int failed = 0;
	for (size_t i = 1; i < opt_words(args) && !failed; i++)
		failed = word_look(&removal, opt_word(args, i), err);
	failed = failed ? failed : removal_permit(&removal, args, err);
	json_decref(removal.programs);
	return failed;
}

static int rows_rm(struct app *app, const struct opt_args *args, struct err *err) {
	struct store_removed sum = {0};
	(void)app;
	if (opt_words(args) < 2)
		return err_set(err, ERR_USAGE, "sweetspot store rm NAME, or the numbers of searches from `store list`",
		               "rm needs a name or number");
	const char *path = opt_get(args, "store", NULL);
	struct store *looked = store_open(path, STORE_READ, err); /* a store that does not exist is not created */
	int refused = looked ? removal_check(looked, args, err) : -1;
	store_close(looked);
	if (refused > 0)
		puts("nothing was removed");
	if (refused)
		return refused > 0 ? 0 : -1;
	struct store *store = store_open(path, STORE_WRITE, err);
	int failed = !store || words_remove(store, args, &sum, err);
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

const struct cmd_verb verb_store_rm = {"rm", NULL, 0, SIZE_MAX, rows_rm, {NULL}};
