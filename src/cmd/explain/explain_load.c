/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads studies from the store or from files. */
#include <unistd.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "src/cmd/explain/explain.h"
#include "src/cmd/machine/ceilings.h"
#include "tuner/diagnosis/diagnosis.h"
#include "tuner/race/unsafe.h"

enum { MACHINE_FILE_MAX = 64 << 20, PROBLEM_NAMES_MAX = 32 };
static const char HINT[] = "run `sweetspot tune %s` first, or read a recording with --from";

/* The kernels named on the command line: those of this program as built now, or names that only the store knows. */
struct wanted {
	struct app *app;
	const struct kernel_list *built_in;
	const struct kernel_desc **kernels; /* an element is NULL if only the store can know the name */
	const char **names;
	size_t count;
	char *metric;    /* the newest search's objective, if it is a metric of a program; NULL: it is not */
	char *elsewhere; /* the device of the newest search that used another one than was asked for; NULL: none did */
	json_t *newest;  /* kernel name -> newest source hash, for the names that only the store knows */
	char *read;      /* the kernel whose trials are being read, for which `unsafe` was made */
	struct unsafe *unsafe; /* NULL if every configuration is safe */
};

static const struct kernel_desc *kernel_of(const struct wanted *wanted, const char *name) {
	for (size_t i = 0; i < wanted->count; i++)
		if (wanted->kernels[i] && strcmp(wanted->names[i], name) == 0)
			return wanted->kernels[i];
	return kernel_list_find(wanted->built_in, name, app_device_kind(wanted->app), NULL);
}

static bool is_named(const struct wanted *wanted, const char *kernel) {
	for (size_t i = 0; i < wanted->count; i++)
		if (strcmp(wanted->names[i], kernel) == 0)
			return true;
	return wanted->count == 0;
}

static int device_keep(void *ctx, const struct store_row *found) {
	struct wanted *wanted = ctx;
	const char *device = js_string_or(found->result, "device", NULL), *asked = app_device(wanted->app);
	if (!device || strcmp(device, asked ? asked : "cpu") == 0)
		return 0;
	free(wanted->elsewhere);
	wanted->elsewhere = mem_strdup(device);
	return 0;
}

static int newest_keep(void *ctx, const struct store_row *found) {
	struct wanted *wanted = ctx;
	enum trial_objective objective;
	json_object_set_new(wanted->newest, found->kernel, json_string(found->source));
	if (is_named(wanted, found->kernel)) {
		free(wanted->metric);
		wanted->metric = trial_objective_find(found->objective, &objective) ? NULL : mem_strdup(found->objective);
	}
	return 0;
}

/* Trials of an older source are ignored, because changed source makes it another kernel. */
static bool is_wanted(void *ctx, const char *kernel, const char *source) {
	const struct wanted *wanted = ctx;
	if (!is_named(wanted, kernel))
		return false;
	const struct kernel_desc *known = kernel_of(wanted, kernel);
	return strcmp(source, known ? known->source : js_string_or(wanted->newest, kernel, "")) == 0;
}

static void unsafe_read(struct wanted *wanted, const char *kernel) {
	const struct kernel_desc *known = kernel_of(wanted, kernel);
	unsafe_free(wanted->unsafe);
	free(wanted->read);
	wanted->unsafe = known && known->unsafe ? unsafe_new(known->unsafe, NULL) : NULL;
	wanted->read = mem_strdup(kernel);
}

static bool is_unsafe(void *ctx, const char *kernel, const json_t *problem, const json_t *config) {
	struct wanted *wanted = ctx;
	if (!wanted->read || strcmp(wanted->read, kernel) != 0)
		unsafe_read(wanted, kernel);
	return wanted->unsafe && unsafe_is(wanted->unsafe, problem, config);
}

static bool is_there(const struct study_set *set, const char *name) {
	for (size_t i = 0; i < study_set_count(set); i++)
		if (strcmp(study_set_at(set, i)->kernel, name) == 0 && study_set_at(set, i)->trials)
			return true;
	return false;
}

/* A kernel that is not there for this device may be there for another one, or have another name. */
static int others_look(const struct study_set *set, struct wanted *wanted, struct store *store,
                       const struct store_filter *own, struct err *err) {
	struct store_filter one = *own;
	for (size_t i = 0; i < wanted->count; i++) {
		one.kernel = wanted->names[i];
		if (!is_there(set, one.kernel) && (store_each(store, STORE_SEARCHES, &one, device_keep, wanted, err) ||
		                                   store_each(store, STORE_NAMES, own, newest_keep, wanted, err)))
			return -1;
	}
	return 0;
}

/* The newest of each name; a large store is read only where none is given. */
static int newest_read(struct wanted *wanted, struct store *store, const struct store_filter *own, struct err *err) {
	struct store_filter one = *own;
	size_t i = 0;
	do {
		one.kernel = wanted->count ? wanted->names[i] : NULL;
		if (store_each(store, STORE_NAMES, &one, newest_keep, wanted, err))
			return -1;
	} while (++i < wanted->count);
	return 0;
}

static int store_read(struct study_set *set, struct wanted *wanted, const char *path, struct err *err) {
	const struct study_choice choice = {
		.ctx = wanted, .kernels = wanted->names, .wanted = is_wanted, .unsafe = is_unsafe};
	const char *fingerprint = app_fingerprint(wanted->app, err), *device = app_device(wanted->app);
	const struct store_filter own = {.fingerprint = fingerprint};
	struct store *store = fingerprint ? store_open(path, STORE_READ, err) : NULL;
	int failed = store ? newest_read(wanted, store, &own, err) : -1;
	if (!failed)
		failed = study_set_store(set, store, fingerprint, device ? device : "cpu", &choice, err) ||
		         others_look(set, wanted, store, &own, err);
	store_close(store);
	return failed;
}

/* The kernels of a file are named as it names them. Only a plug-in is looked at, for its kernel's name. */
static const struct kernel_desc *word_find(const struct wanted *wanted, const char *word, bool from, struct err *bad) {
	if (!from || strchr(word, '/'))
		return app_kernel(wanted->app, word, bad);
	return err_null(err_set(bad, ERR_USAGE, "leave out the name to explain everything in it",
	                        "the file does not contain \"%.100s\"", word));
}

/* A word that does not name a built-in kernel may still name a tuned program or plug-in, so `unknown` is only reported
 * if the store does not have it either. */
static int words_read(struct wanted *wanted, const struct opt_args *args, struct arena *arena, struct err *unknown,
                      struct err *err) {
	bool from = opt_count(args, "from");
	wanted->kernels = arena_alloc(arena, opt_words(args) + 1, sizeof *wanted->kernels);
	wanted->names = arena_alloc(arena, opt_words(args) + 1, sizeof *wanted->names);
	wanted->built_in = from ? NULL : app_kernels(wanted->app, err);
	if (!wanted->built_in && !from)
		return -1;
	for (size_t i = 0; i < opt_words(args); i++) {
		const char *word = opt_word(args, i);
		struct err bad = {0};
		const struct kernel_desc *kernel = word_find(wanted, word, from, &bad);
		if (!kernel && (bad.code != ERR_USAGE || strchr(word, '/'))) {
			*err = bad;
			return -1;
		}
		if (!kernel && unknown->code == ERR_OK)
			*unknown = bad;
		const char *name = kernel ? kernel->name : word;
		if (wanted->count && is_named(wanted, name))
			continue;
		wanted->kernels[wanted->count] = kernel;
		wanted->names[wanted->count++] = name;
	}
	return 0;
}

/* Replaces the suggestion of a built-in kernel by one of what was measured, if a name there is near. */
static int unknown_fail(const struct study_set *set, const struct wanted *wanted, const char *word,
                        const struct err *unknown, struct err *err) {
	size_t count = 0;
	mem_auto const char **names = mem_alloc(json_object_size(wanted->newest) + study_set_count(set) + 1, sizeof *names);
	js_members (name, source, wanted->newest)
		names[count++] = name;
	for (size_t i = 0; i < study_set_count(set); i++)
		names[count++] = study_set_at(set, i)->kernel;
	if (wanted->built_in) {
		app_name_unknown(wanted->app, word, unknown, names, count, err);
	} else {
		const char *near = near_word(word, names, count);
		*err = *unknown;
		if (near)
			err_hint(err, "did you mean %s?", near);
	}
	return -1;
}

/* Reports names that are mistyped, and kernels that were never measured. */
static int check(const struct study_set *set, const struct wanted *wanted, const struct err *unknown, struct err *err) {
	bool any = false;
	for (size_t i = 0; i < wanted->count; i++) {
		bool there = is_there(set, wanted->names[i]);
		any = any || there;
		if (there)
			continue;
		if (!wanted->kernels[i] && unknown->code != ERR_OK)
			return unknown_fail(set, wanted, wanted->names[i], unknown, err);
		err_set(err, ERR_NOTHING, NULL, "%s has not been measured on this machine", wanted->names[i]);
		if (!wanted->elsewhere || wanted->count > 1)
			return err_hint(err, HINT, wanted->names[i]);
		err_set(err, ERR_NOTHING, NULL, "%s has only been measured with --device %s", wanted->names[i],
		        wanted->elsewhere);
		return err_hint(err, "sweetspot explain %s --device %s", wanted->names[i], wanted->elsewhere);
	}
	for (size_t i = 0; i < study_set_count(set); i++)
		any = any || study_set_at(set, i)->trials;
	if (any)
		return 0;
	return err_set(err, ERR_NOTHING,
	               "tune something first: sweetspot tune --openmp -- ./app in.dat, or read a recording with --from",
	               "the store does not have any measurements of this machine");
}

/* A description in words, or a file that has one. New reference. */
static json_t *machine_read(const char *text, struct err *err) {
	if (strchr(text, '=') && access(text, R_OK) != 0)
		return study_machine_words(text, err);
	bool is_stdin = strcmp(text, "-") == 0;
	size_t size;
	mem_auto char *file = is_stdin ? NULL : sys_read_file(text, MACHINE_FILE_MAX, &size, err);
	json_t *machine = NULL;
	if (file && memmem(file, size, "<topology", 9))
		machine = app_machine_recorded(text, err);
	else if (file && file[strspn(file, " \t\r\n\xef\xbb\xbf")] != '{')
		machine = study_machine_likwid(file, err);
	else if (file || is_stdin) {
		js_auto json_t *json = js_load(text, MACHINE_FILE_MAX, err);
		machine = json ? study_machine_json(json, err) : NULL;
	}
	if (file && !machine)
		err_prefix(err, "%s", text);
	return machine;
}

const struct opt explain_from_options[] = {
	{"minimize", 0, "COLUMN", "column to explain, of which less is better", 0},
	{"maximize", 0, "COLUMN", "column to explain, of which more is better", 0},
	{"unit", 0, "U", "its unit if the file does not tell: ms, us, GB/s", 0},
	{"versions", 0, "NAME,..", "columns of a table that are times of versions", OPT_REPEAT},
	{0},
};

/* The words of a list, which may be given several times. */
static size_t words_split(const struct opt_args *args, const char *option, const char *between,
                          const char *words[PROBLEM_NAMES_MAX], struct arena *arena) {
	size_t count = 0;
	char *rest = NULL;
	for (size_t i = 0; i < opt_count(args, option); i++) {
		char *list = arena_strdup(arena, opt_at(args, option, i));
		for (char *word = strtok_r(list, between, &rest); word && count < PROBLEM_NAMES_MAX;
		     word = strtok_r(NULL, between, &rest))
			words[count++] = word + strspn(word, " ");
	}
	return count;
}

static int files_read(struct study_set *set, const struct opt_args *args, struct arena *arena, struct err *err) {
	struct study_reading reading = {.device = opt_has(args, "device") ? opt_get(args, "device", NULL) : NULL,
	                                .objective = opt_get(args, "maximize", opt_get(args, "minimize", NULL)),
	                                .more = opt_has(args, "maximize"),
	                                .unit = opt_get(args, "unit", NULL)};
	const char **names = arena_alloc(arena, PROBLEM_NAMES_MAX, sizeof *names);
	js_auto json_t *machine = NULL;
	const char **versions = arena_alloc(arena, PROBLEM_NAMES_MAX, sizeof *versions);
	if (opt_has(args, "maximize") && opt_has(args, "minimize"))
		return err_set(err, ERR_USAGE, "leave one of them out", "--minimize and --maximize exclude each other");
	reading.problem = names;
	reading.problem_count = words_split(args, "problem", ", ", names, arena);
	reading.versions = versions;
	reading.version_count = words_split(args, "versions", ",", versions, arena);
	if (opt_has(args, "machine") && !(machine = machine_read(opt_get(args, "machine", ""), err)))
		return err_prefix(err, "--machine");
	study_set_assume(set, machine);
	for (size_t i = 0; i < opt_count(args, "from"); i++)
		if (study_set_file(set, opt_at(args, "from", i), &reading, err))
			return -1;
	for (size_t i = 0; i < study_set_count(set); i++)
		if (study_set_at(set, i)->ceilings && ceilings_check(study_set_at(set, i)->ceilings, err))
			return err_prefix(err, "--from");
	return 0;
}

/* A file may contain other kernels than those asked for. */
static void others_leave(struct study_set *set, const struct wanted *wanted) {
	for (size_t i = 0; i < study_set_count(set); i++)
		if (!is_named(wanted, study_set_at(set, i)->kernel))
			study_set_at(set, i)->trials = 0;
}

/* A missing store counts as an empty one; check() then says that nothing was measured. */
static int read_all(struct study_set *set, struct wanted *wanted, const struct opt_args *args, struct arena *arena,
                    struct err *err) {
	struct err unknown = {0};
	if (words_read(wanted, args, arena, &unknown, err))
		return -1;
	int failed = opt_count(args, "from") ? files_read(set, args, arena, err)
	                                     : store_read(set, wanted, opt_get(args, "store", NULL), err);
	if (failed && err->code != ERR_NOTHING)
		return -1;
	*err = (struct err){0};
	others_leave(set, wanted);
	return check(set, wanted, &unknown, err);
}

/* A program that prints what counts has an objective of its own, which nobody wants to type again. */
static char *metric_instead(const struct wanted *wanted, const struct opt_args *args, const struct err *err) {
	bool other = (err->code == ERR_NOTHING || err->code == ERR_USAGE) && !opt_has(args, "objective") && wanted->metric;
	return other ? mem_strdup(wanted->metric) : NULL;
}

struct study_set *explain_load(struct app *app, const struct opt_args *args, const char *objective, struct err *err) {
	struct study_set *set = study_set_new(objective);
	struct wanted wanted = {.app = app, .newest = json_object()};
	struct arena *arena = arena_new();
	int failed = read_all(set, &wanted, args, arena, err);
	mem_auto char *metric = failed ? metric_instead(&wanted, args, err) : NULL;
	json_decref(wanted.newest);
	free(wanted.metric);
	free(wanted.elsewhere);
	unsafe_free(wanted.unsafe);
	free(wanted.read);
	arena_free(arena);
	if (!failed)
		return set;
	study_set_free(set);
	set = NULL;
	if (metric) {
		*err = (struct err){0};
		set = explain_load(app, args, metric, err);
	}
	return set;
}

/* Chooses the problem to explain, and finds the recommendation for it. */

bool explain_of_problem(const struct explain_view *view, size_t row) {
	return study_same_problem(view->study, row, view->problem_row);
}

bool explain_timed(const struct explain_view *view, size_t row) {
	return !study_row(view->study, row)->over && explain_of_problem(view, row);
}

size_t explain_row_of(const struct explain_view *view, const json_t *config) {
	for (size_t i = 0; config && i < study_rows(view->study); i++)
		if (explain_of_problem(view, i) && json_equal(study_row(view->study, i)->config, config))
			return i;
	return SIZE_MAX;
}

size_t explain_problems(const struct study *study, size_t rows[EXPLAIN_PROBLEMS_MAX]) {
	size_t count = 0;
	for (size_t row = 0; row < study_rows(study) && count < EXPLAIN_PROBLEMS_MAX; row++) {
		bool found = false;
		for (size_t i = 0; i < count && !found; i++)
			found = study_same_problem(study, rows[i], row);
		if (!found)
			rows[count++] = row;
	}
	return count;
}

size_t explain_rows(const struct study *study, size_t problem_row) {
	size_t count = 0;
	for (size_t row = 0; row < study_rows(study); row++)
		count += study_same_problem(study, row, problem_row);
	return count;
}

/* Tells whether the problem has every value that --size asks for. */
static bool fits(const json_t *problem, const json_t *size) {
	js_members (name, member, size) {
		struct value asked, is;
		const json_t *own = json_object_get(problem, name);
		if (!own || !value_from_json(member, &asked) || !value_from_json(own, &is) || !value_equal(asked, is))
			return false;
	}
	return true;
}

static const json_t *tune_newest(const struct study_item *item, const json_t *problem, const json_t *size) {
	for (size_t i = json_array_size(item->tunes); i-- > 0;) {
		const json_t *tune = json_array_get(item->tunes, i), *own = json_object_get(tune, "problem");
		if (problem ? json_equal(own, problem) : fits(own, size))
			return tune;
	}
	return NULL;
}

static bool is_first(const struct study *study, size_t row) {
	size_t other = 0;
	while (other < row && !study_same_problem(study, other, row))
		other++;
	return other == row;
}

/* The problem that was tuned last, else the one with the most rows; SIZE_MAX if none fits. It looks at every problem,
 * also beyond EXPLAIN_PROBLEMS_MAX. */
static size_t problem_choose(const struct study *study, const json_t *tune, const json_t *size) {
	size_t best = SIZE_MAX, most = 0;
	for (size_t row = 0; row < study_rows(study); row++) {
		const json_t *problem = study_row(study, row)->problem;
		if (tune && json_equal(problem, json_object_get(tune, "problem")))
			return row;
		size_t count = fits(problem, size) && is_first(study, row) ? explain_rows(study, row) : 0;
		if (count > most) {
			most = count;
			best = row;
		}
	}
	return best;
}

static const char MAXIMIZE[] = "maximize ";

static const char *unit_of(const struct study_set *set) {
	return trial_unit(study_set_objective(set));
}

static void recommend(struct study_item *item, const json_t *tune) {
	study_recommend(item->study, json_object_get(tune, "problem"), js_at(tune, "best.config"),
	                js_at(tune, "baseline.config"));
}

bool explain_view_make(const struct study_set *set, struct study_item *item, const json_t *size,
                       struct explain_view *view) {
	struct app *app = view->app;
	const json_t *tune = tune_newest(item, NULL, size);
	js_auto json_t *own = item->machine ? NULL : ceilings_load(app, NULL);
	study_machine(item->study, item->machine ? item->machine : app_machine(app, NULL),
	              item->ceilings ? item->ceilings : own, item->noise);
	if (tune)
		recommend(item, tune);
	if (strcmp(unit_of(set), "") == 0)
		study_unitless(item->study);
	if (strncmp(study_set_objective(set), MAXIMIZE, strlen(MAXIMIZE)) == 0)
		study_rate(item->study, study_set_objective(set) + strlen(MAXIMIZE), 1);
	study_finish(item->study);
	impossible_times_doubt(item->study);
	size_t chosen = problem_choose(item->study, tune, size);
	*view = (struct explain_view){.study = item->study,
	                              .item = item,
	                              .problem_row = chosen,
	                              .objective = study_set_objective(set),
	                              .unit = unit_of(set),
	                              .app = app,
	                              .args = view->args};
	if (chosen == SIZE_MAX)
		return false;
	view->problem = study_row(item->study, chosen)->problem;
	if (tune && json_equal(json_object_get(tune, "problem"), view->problem))
		view->tune = tune;
	return true;
}
