/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the sections of the page from the store, in one pass over its searches and their trials. */
#include <math.h>

#include "base/json/js.h"
#include "src/app/app.h"
#include "src/cmd/machine/ceilings.h"
#include "src/cmd/report/report_impl.h"
#include "src/show/results.h"
#include "tuner/profile/profile.h"

/* Finds the time of the serial code, which sweeps measure on the CPU, for each problem of a GPU. */
struct serial_search {
	struct store *store;
	const struct kernel_desc *kernel; /* of the CPU */
	struct report_section *section;
	struct err *err;
	int failed;
};

/* Tells whether the problems have the same values under the names that both have. */
static bool agrees(const json_t *own, const char *text) {
	js_auto json_t *other = js_parse(text, strlen(text), "a search's problem", NULL);
	bool same = other;
	js_members (name, value, other) {
		const json_t *mine = json_object_get(own, name);
		same = same && (!mine || json_equal(mine, value));
	}
	return same;
}

/* words: "P=V P=V" */
static bool has_words(const json_t *config, const char *words) {
	char *copy = mem_strdup(words), *rest = NULL;
	bool has = true;
	for (char *word = strtok_r(copy, " ", &rest); word && has; word = strtok_r(NULL, " ", &rest)) {
		char *equals = strchr(word, '=');
		if (equals)
			*equals = '\0';
		has = equals && strcmp(js_string_or(config, word, ""), equals + 1) == 0;
	}
	free(copy);
	return has;
}

static int serial_outcome(void *ctx, const struct store_trial *outcome) {
	struct serial_search *search = ctx;
	enum trial_status status;
	if (!trial_status_find(outcome->status, &status) || status != TRIAL_CORRECT || !(outcome->value > 0))
		return 0;
	js_auto json_t *config = js_parse(outcome->config, strlen(outcome->config), "a configuration", NULL);
	if (js_int_or(config, "threads", 1) == 1 && has_words(config, search->kernel->serial))
		search->section->serial = outcome->value; /* the newest one stays */
	return 0;
}

static int serial_search(void *ctx, const struct store_row *row) {
	struct serial_search *search = ctx;
	if (strcmp(row->source, search->kernel->source) != 0 || !agrees(search->section->problem, row->problem))
		return 0;
	search->failed = store_outcomes_each(search->store, row->search, serial_outcome, search, search->err);
	return search->failed;
}

static int report_serial(struct report *report, struct store *store, struct err *err) {
	char fingerprint[SHA256_TEXT];
	const struct kernel_list *kernels = app_device(report->app) ? app_kernels(report->app, err) : NULL;
	if (!app_device(report->app))
		return 0;
	if (!kernels || app_fingerprint_host(report->app, fingerprint, err))
		return -1;
	for (size_t i = 0; i < report->section_count; i++) {
		struct report_section *section = &report->sections[i];
		struct serial_search search = {.store = store, .section = section, .err = err};
		search.kernel = kernel_list_find(kernels, section->kernel, "cpu", NULL);
		const struct store_filter filter = {.fingerprint = fingerprint, .kernel = section->kernel, .objective = "time"};
		if (!search.kernel || !search.kernel->serial || strcmp(section->objective, "time") != 0)
			continue;
		if (store_each(store, STORE_SEARCHES, &filter, serial_search, &search, err) || search.failed)
			return -1;
	}
	return 0;
}

static const char METRIC[] = "maximize ";

struct gathering {
	struct report *report;
	struct store *store;
	const char **names; /* kernels named on the command line, NULL-terminated; none selects all */
	json_t *seen;       /* names of all kernels of the store */
	struct report_search *search;
	double least;
	const json_t *repeated; /* numbers of pairs of the search that do not count; may be NULL */
	char *baseline, *best;  /* of the search, in the form of the store; NULL: there is no result */
	struct err *err;
	int failed;
};

static bool is_wanted(const struct gathering *gathering, const char *kernel) {
	return !gathering->names[0] || text_is_listed(kernel, gathering->names);
}

static const char *label_of(struct report *report, const char *objective) {
	const char *metric = strchr(objective, ' ');
	if (strcmp(objective, "edp") == 0)
		return "energy-delay product";
	return metric ? arena_printf(report->arena, "metric %s", metric + 1) : arena_strdup(report->arena, objective);
}

static struct report_section *section_new(struct report *report, const struct store_row *past, json_t *problem) {
	report->sections = mem_grow(report->sections, report->section_count + 1, sizeof *report->sections);
	struct report_section *section = &report->sections[report->section_count++];
	js_auto json_t *plain = json_copy(problem);
	json_object_del(plain, "command"); /* the setting has it */
	mem_auto char *words = results_config(plain, NULL);
	*section = (struct report_section){.kernel = arena_strdup(report->arena, past->kernel),
	                                   .objective = arena_strdup(report->arena, past->objective),
	                                   .problem_text = arena_strdup(report->arena, words),
	                                   .anchor = arena_printf(report->arena, "section-%zu", report->section_count),
	                                   .problem = json_incref(problem),
	                                   .maximize = strncmp(past->objective, METRIC, sizeof METRIC - 1) == 0,
	                                   .label = label_of(report, past->objective)};
	section->unit = trial_unit(past->objective);
	return section;
}

/* Makes room in powers of two, so that the count alone tells when to grow. */
static void *room_for(void *list, size_t count, size_t size) {
	return count == 0 || (count & (count - 1)) == 0 ? mem_grow(list, count ? 2 * count : 1, size) : list;
}

/* Appends the least value so far. */
static void best_add(struct report_search *search, double x, double y) {
	search->best = room_for(search->best, search->best_count, sizeof *search->best);
	search->best[search->best_count++] = (struct chart_point){x, y, NAN, NAN};
}

/* Others disturbed this pair, and it was repeated. */
static bool is_repeated(const struct gathering *gathering, int block) {
	js_each (one, gathering->repeated)
		if (json_is_integer(one) && json_integer_value(one) == block)
			return true;
	return false;
}

static void run_add(struct gathering *gathering, const struct store_trial *outcome) {
	struct report_search *search = gathering->search;
	if (!gathering->baseline || !(outcome->value > 0) || is_repeated(gathering, (int)outcome->block))
		return;
	search->pairs = room_for(search->pairs, search->pair_count, sizeof *search->pairs);
	search->pairs[search->pair_count++] =
		(struct report_run){outcome->block, strcmp(outcome->config, gathering->baseline) != 0, outcome->value};
}

static void tried_add(struct report *report, struct report_search *search, const struct store_trial *outcome,
                      enum trial_status status) {
	bool failed = status != TRIAL_CORRECT && status != TRIAL_CENSORED;
	if (!failed && !(outcome->value > 0))
		return;
	search->tried = room_for(search->tried, search->tried_count, sizeof *search->tried);
	search->tried[search->tried_count++] =
		(struct report_trial){status, outcome->value, arena_strdup(report->arena, outcome->config)};
}

static int on_outcome(void *ctx, const struct store_trial *outcome) {
	struct gathering *gathering = ctx;
	struct report_search *search = gathering->search;
	enum trial_status status = TRIAL_CORRECT;
	bool known = trial_status_find(outcome->status, &status);
	search->trials++;
	if (known)
		search->ends[status]++;
	if (strcmp(outcome->phase, "duel") == 0)
		run_add(gathering, outcome);
	if (strcmp(outcome->phase, "baseline") != 0 && strcmp(outcome->phase, "search") != 0)
		return 0;
	search->evaluations++;
	tried_add(gathering->report, search, outcome, known ? status : TRIAL_RUNTIME);
	if (known && status == TRIAL_CORRECT && gathering->best && strcmp(outcome->config, gathering->best) == 0)
		search->winner = search->tried_count;
	if (known && status == TRIAL_CORRECT && outcome->value > 0 && outcome->value < gathering->least) {
		gathering->least = outcome->value;
		best_add(search, (double)search->evaluations, outcome->value);
	}
	return 0;
}

static struct report_search *search_add(struct report *report, struct report_section *section,
                                        const struct store_row *past) {
	section->searches = mem_grow(section->searches, section->search_count + 1, sizeof *section->searches);
	struct report_search *search = &section->searches[section->search_count++];
	*search = (struct report_search){.id = past->search,
	                                 .source = arena_strdup(report->arena, past->source),
	                                 .strategy = arena_strdup(report->arena, past->strategy),
	                                 .state = arena_strdup(report->arena, past->state),
	                                 .command = arena_strdup(report->arena, past->command),
	                                 .version = arena_strdup(report->arena, past->version),
	                                 .seed = past->seed,
	                                 .valid = past->valid,
	                                 .started = past->started,
	                                 .ended = past->ended,
	                                 .noise = js_real_or(past->result, "noise_floor", past->noise_floor)};
	return search;
}

/* The caller frees it; NULL if the result lacks it. */
static char *config_text(const json_t *result, const char *member) {
	const json_t *config = json_object_get(json_object_get(result, member), "config");
	return config ? js_canonical(config) : NULL;
}

static int on_past(void *ctx, const struct store_row *past) {
	struct gathering *gathering = ctx;
	struct report *report = gathering->report;
	json_object_set_new(gathering->seen, past->kernel, json_true());
	if (!is_wanted(gathering, past->kernel))
		return 0;
	js_auto json_t *problem = js_parse(past->problem, strlen(past->problem), "a search's problem", gathering->err);
	if (!problem)
		return gathering->failed = 1;
	struct report_section *section = report_section_find(report, past->kernel, past->objective, problem);
	if (!section)
		section = section_new(report, past, problem);
	gathering->search = search_add(report, section, past);
	gathering->least = INFINITY;
	if (json_is_object(json_object_get(past->result, "best"))) {
		json_decref(section->tune);
		section->tune = json_incref((json_t *)past->result);
	}
	gathering->repeated = js_at(past->result, "load.repeated_pairs");
	gathering->baseline = config_text(past->result, "baseline");
	gathering->best = config_text(past->result, "best");
	gathering->failed = store_outcomes_each(gathering->store, past->search, on_outcome, gathering, gathering->err) != 0;
	free(gathering->baseline);
	free(gathering->best);
	gathering->baseline = gathering->best = NULL;
	struct report_search *search = gathering->search;
	if (search->best_count && search->best[search->best_count - 1].x < (double)search->evaluations)
		best_add(search, (double)search->evaluations, gathering->least);
	return gathering->failed;
}

static int unknown_fail(struct report *report, const struct gathering *gathering, const char *name, struct err *err) {
	mem_auto const char **known = mem_alloc(json_object_size(gathering->seen) + 1, sizeof *known);
	size_t count = 0;
	struct err ignored = {0};
	js_members (key, value, gathering->seen)
		known[count++] = key;
	if (app_kernel(report->app, name, &ignored)) {
		err_set(err, ERR_NOTHING, NULL, "%s has not been measured on this machine", name);
		err_hint(err, "run `sweetspot tune %s` first", name);
	} else {
		app_name_unknown(report->app, name, &ignored, known, count, err);
	}
	return -1;
}

static void search_clear(struct report_search *search) {
	free(search->best);
	free(search->tried);
	free(search->pairs);
}

static bool is_junk(const struct report_section *section) {
	size_t worked = 0;
	for (size_t i = 0; i < section->search_count; i++)
		worked += section->searches[i].ends[TRIAL_CORRECT];
	return !section->tune && worked == 0;
}

static void section_clear(struct report_section *section) {
	for (size_t i = 0; i < section->search_count; i++)
		search_clear(&section->searches[i]);
	free(section->searches);
	json_decref(section->problem);
	json_decref(section->tune);
	json_decref(section->result);
}

/* Problems of which nothing worked are mistakes, most of the time, and are left out beside others. */
static void junk_hide(struct report *report) {
	size_t kept = 0, junk = 0;
	for (size_t i = 0; i < report->section_count; i++)
		junk += is_junk(&report->sections[i]);
	if (junk == report->section_count)
		return;
	for (size_t i = 0; i < report->section_count; i++)
		if (is_junk(&report->sections[i]))
			section_clear(&report->sections[i]);
		else
			report->sections[kept++] = report->sections[i];
	report->section_count = kept;
	report->hidden = junk;
}

static bool is_alike(const struct report_section *a, const struct report_section *b) {
	return strcmp(a->kernel, b->kernel) == 0 && strcmp(a->problem_text, b->problem_text) == 0 &&
	       strcmp(a->objective, b->objective) == 0;
}

/* Programs of the same name and problem are told apart by their commands. */
static void alike_name(struct report *report) {
	mem_auto const char **texts = mem_alloc(report->section_count + 1, sizeof *texts);
	for (size_t i = 0; i < report->section_count; i++) {
		const struct report_section *section = &report->sections[i];
		mem_auto char *words = results_problem(section->problem);
		texts[i] = section->problem_text;
		for (size_t k = 0; k < report->section_count; k++)
			if (k != i && is_alike(section, &report->sections[k]))
				texts[i] = arena_strdup(report->arena, words);
	}
	for (size_t i = 0; i < report->section_count; i++)
		report->sections[i].problem_text = texts[i];
}

static int check(struct report *report, const struct gathering *gathering, struct err *err) {
	for (size_t i = 0; gathering->names[i]; i++)
		if (!json_object_get(gathering->seen, gathering->names[i]))
			return unknown_fail(report, gathering, gathering->names[i], err);
	if (report->section_count)
		return 0;
	err_set(err, ERR_NOTHING, NULL, "%s does not contain measurements of this machine%s", store_path(gathering->store),
	        report->machines ? ", only of others" : "");
	if (!report->machines)
		return err_hint(err, "run `sweetspot tune` or `sweetspot sweep KERNEL --over P=A,B` first");
	return err_hint(err,
	                "--machine %s shows the machine measured last (`sweetspot store info` lists all), --device cuda "
	                "shows the GPU of this machine",
	                report->other);
}

static const char *source_of(void *ctx, const char *kernel) {
	const struct report *report = ctx;
	const struct kernel_list *kernels = app_kernels(report->app, NULL);
	const struct kernel_desc *found =
		kernels ? kernel_list_find(kernels, kernel, app_device_kind(report->app), NULL) : NULL;
	return found ? found->source : NULL;
}

static void entries_join(struct report *report) {
	js_each (entry, json_object_get(report->profile, "entries")) {
		struct report_section *section =
			report_section_find(report, js_string_or(entry, "kernel", ""), js_string_or(entry, "objective", ""),
		                        json_object_get(entry, "problem"));
		if (section)
			section->entry = entry;
	}
}

static int read_all(struct gathering *gathering, struct err *err) {
	struct report *report = gathering->report;
	struct err none = {0};
	if (report_machine_choose(report, gathering->store, err))
		return -1;
	report->machine = app_machine(report->app, err);
	report->other = report_machine_other(report, gathering->store);
	const char *fingerprint = js_string_or(report->machine, "fingerprint", "");
	const struct store_filter own = {.fingerprint = fingerprint};
	if (store_machine_count(gathering->store, &report->machines, err) ||
	    store_each(gathering->store, STORE_SEARCHES, &own, on_past, gathering, err) || gathering->failed ||
	    check(report, gathering, err))
		return -1;
	if (!gathering->names[0])
		junk_hide(report);
	report->profile = profile_from_store(gathering->store, fingerprint, NULL, source_of, report, &none);
	entries_join(report);
	alike_name(report);
	return report_serial(report, gathering->store, err);
}

int report_gather(struct report *report, struct err *err) {
	if (!app_kernels(report->app, err))
		return -1;
	struct gathering gathering = {
		.report = report, .seen = json_object(), .err = err, .names = report_names(report, 0)};
	gathering.store = store_open(opt_get(report->args, "store", NULL), STORE_READ, err);
	int failed = gathering.store ? read_all(&gathering, err) : -1;
	if (!gathering.store && err->code == ERR_NOTHING)
		err_hint(err, "run `sweetspot tune` first, or choose another store with --store");
	store_close(gathering.store);
	json_decref(gathering.seen);
	if (failed)
		return -1;
	report->ceilings = ceilings_load(report->app, NULL);
	return report_gather_explain(report, err);
}

void report_clear(struct report *report) {
	for (size_t i = 0; i < report->section_count; i++)
		section_clear(&report->sections[i]);
	for (size_t i = 0; i < report->set_count; i++)
		study_set_free(report->sets[i]);
	free(report->sets);
	free(report->sections);
	json_decref(report->profile);
	json_decref(report->diff);
	json_decref(report->sides[0].profile);
	json_decref(report->sides[1].profile);
	json_decref(report->ceilings);
	json_decref(report->regions);
}
