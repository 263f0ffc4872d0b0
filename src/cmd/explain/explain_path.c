/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shows which settings make the winner fast: walks from the baseline to the winner one setting at a time, always taking
 * the one that gains most (Fawcett and Hoos, "Analysing differences between algorithm configurations through ablation",
 * 2016). Both ends were measured; a configuration between them uses its measurement if it has one, else the prediction
 * of the response surface. */
#include <ctype.h>
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "src/cmd/explain/explain_table_impl.h"

enum { EXPERIMENTS_MAX = 4 };
static const char PLAIN[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+.";

struct stop {
	double mean, variance; /* of log time */
	bool measured;
};

struct path {
	const struct explain_view *view;
	struct explain_table *table;
	const struct response *response; /* NULL if it predicts nothing */
	const int *from, *to;            /* levels of the baseline and of the winner */
	size_t
		step[STUDY_COLUMNS_MAX]; /* the parameter together with which each one changes; SIZE_MAX: it does not change */
	int *now;                    /* levels of the current configuration */
};

/* Tells whether `name` is a whole word of the condition. */
static bool mentions(const char *condition, const char *name) {
	size_t length = strlen(name);
	for (const char *at = condition; (at = strstr(at, name)); at++) {
		bool begins = at == condition || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
		if (begins && !isalnum((unsigned char)at[length]) && at[length] != '_')
			return true;
	}
	return false;
}

/* The condition that a built-in kernel declares for the parameter; NULL if the kernel is unknown or declares none. */
static const char *condition_of(const struct path *path, const char *name) {
	const struct kernel_list *kernels = app_kernels(path->view->app, NULL);
	const struct kernel_desc *kernel =
		kernels ? kernel_list_find(kernels, study_kernel(path->view->study), app_device_kind(path->view->app), NULL)
				: NULL;
	for (size_t i = 0; kernel && i < kernel->param_count; i++)
		if (strcmp(kernel->params[i].name, name) == 0)
			return kernel->params[i].when;
	return NULL;
}

/* Tells whether the presence of q depends on the value of p. The kernel's declaration decides, then OpenMP's rules; for
 * all other parameters the measured configurations show it. */
static bool depends(const struct path *path, size_t q, size_t p) {
	static const char *const openmp[][2] = {{"places", "proc_bind"}, {"chunk", "schedule"}};
	const char *name = explain_table_param(path->view, path->table, q)->name;
	const char *other = explain_table_param(path->view, path->table, p)->name, *condition = condition_of(path, name);
	bool dependent[STUDY_COLUMNS_MAX];
	if (condition)
		return mentions(condition, other);
	for (size_t i = 0; i < sizeof openmp / sizeof *openmp; i++)
		if (strcmp(name, openmp[i][0]) == 0)
			return strcmp(other, openmp[i][1]) == 0;
	study_dependent(path->view->study, path->table->column[p], dependent);
	return dependent[path->table->column[q]];
}

/* A parameter that is present on one side only cannot change alone: it changes together with the one it depends on. */
static void steps_make(struct path *path) {
	const struct explain_table *table = path->table;
	for (size_t p = 0; p < table->params; p++)
		path->step[p] = path->from[p] == path->to[p] ? SIZE_MAX : p;
	for (size_t q = 0; q < table->params; q++) {
		if (path->step[q] == SIZE_MAX || (path->from[q] == STUDY_ABSENT) == (path->to[q] == STUDY_ABSENT))
			continue;
		for (size_t p = 0; p < table->params && path->step[q] == q; p++)
			if (p != q && path->step[p] != SIZE_MAX && path->from[p] != STUDY_ABSENT && path->to[p] != STUDY_ABSENT &&
			    depends(path, q, p))
				path->step[q] = p;
	}
}

static bool measured_at(const struct path *path, const int *levels, struct stop *stop) {
	const struct explain_table *table = path->table;
	for (size_t r = 0; r < table->rows; r++) {
		if (table->over[r] || memcmp(&table->level[r * table->params], levels, table->params * sizeof *levels) != 0)
			continue;
		*stop = (struct stop){log(table->cost[r]), table->deviation[r] * table->deviation[r], true};
		return true;
	}
	return false;
}

static bool stop_at(const struct path *path, const int *levels, struct stop *stop) {
	if (measured_at(path, levels, stop))
		return true;
	if (!path->response)
		return false;
	*stop = (struct stop){.measured = false};
	response_predict(path->response, levels, 1, &stop->mean, &stop->variance);
	return isfinite(stop->mean);
}

static void levels_change(const struct path *path, size_t step, int *levels) {
	for (size_t p = 0; p < path->table->params; p++)
		if (path->step[p] == step)
			levels[p] = path->to[p];
}

/* The remaining step with the largest gain; SIZE_MAX if none remains or none can be estimated. */
static size_t step_best(const struct path *path, struct stop *best) {
	size_t params = path->table->params, found = SIZE_MAX;
	mem_auto int *levels = mem_alloc(params + 1, sizeof *levels);
	for (size_t p = 0; p < params; p++) {
		struct stop stop;
		if (path->step[p] != p || path->now[p] == path->to[p])
			continue;
		memcpy(levels, path->now, params * sizeof *levels);
		levels_change(path, p, levels);
		if (stop_at(path, levels, &stop) && (found == SIZE_MAX || stop.mean < best->mean)) {
			found = p;
			*best = stop;
		}
	}
	return found;
}

static json_t *level_json(const struct path *path, size_t param, int level) {
	const struct study_column *column = explain_table_param(path->view, path->table, param);
	return level == STUDY_ABSENT ? json_null() : value_json(column->level[level]);
}

static json_t *step_json(const struct path *path, size_t step, const struct stop *from, const struct stop *to) {
	json_t *set = json_object(), *was = json_object();
	double spread = 1.96 * sqrt(from->variance + to->variance), gain = from->mean - to->mean;
	for (size_t p = 0; p < path->table->params; p++) {
		const char *name = explain_table_param(path->view, path->table, p)->name;
		if (path->step[p] != step)
			continue;
		json_object_set_new(set, name, level_json(path, p, path->to[p]));
		json_object_set_new(was, name, level_json(path, p, path->from[p]));
	}
	return json_pack("{s:o,s:o,s:o,s:[o,o],s:b}", "set", set, "was", was, "ratio", js_number(exp(gain)), "ci",
	                 js_number(exp(gain - spread)), js_number(exp(gain + spread)), "measured",
	                 from->measured && to->measured);
}

static json_t *walk(struct path *path) {
	struct stop here, next;
	json_t *steps = json_array();
	size_t step;
	if (!measured_at(path, path->from, &here))
		return steps;
	while ((step = step_best(path, &next)) != SIZE_MAX) {
		json_array_append_new(steps, step_json(path, step, &here, &next));
		levels_change(path, step, path->now);
		here = next;
	}
	if (memcmp(path->now, path->to, path->table->params * sizeof *path->now) != 0)
		json_array_clear(steps);
	return steps;
}

static bool is_plain(const char *word) {
	return *word && *word != '-' && word[strspn(word, PLAIN)] == '\0';
}

/* "P=V .." for a command line; NULL if a word would need quoting. The caller frees it. */
static char *settings_text(const json_t *settings) {
	char *text = mem_strdup("");
	js_members (name, json, settings) {
		char word[96];
		struct value value;
		bool good = value_from_json(json, &value) && value_text(value, word, sizeof word) < (int)sizeof word;
		if (!good || !is_plain(name) || !is_plain(word)) {
			free(text);
			return NULL;
		}
		mem_append(&text, "%s%s=%s", *text ? " " : "", name, word);
	}
	return text;
}

/* The winner with one setting of the baseline. */
static json_t *without_step(const struct path *path, size_t step, const json_t *winner) {
	json_t *config = json_copy((json_t *)winner);
	for (size_t p = 0; p < path->table->params; p++) {
		const char *name = explain_table_param(path->view, path->table, p)->name;
		if (path->step[p] != step)
			continue;
		if (path->from[p] == STUDY_ABSENT)
			json_object_del(config, name);
		else
			json_object_set_new(config, name, level_json(path, p, path->from[p]));
	}
	return config;
}

static void experiment_add(const struct path *path, size_t step, size_t winner, json_t *experiments) {
	const struct study_row *row = study_row(path->view->study, winner);
	const char *kernel = study_kernel(path->view->study);
	js_auto json_t *config = without_step(path, step, row->config);
	mem_auto char *problem = settings_text(row->problem), *own = settings_text(row->config),
				  *other = settings_text(config);
	if (problem && own && other && is_plain(kernel))
		json_array_append_new(experiments, json_pack("{s:o}", "next",
		                                             json_sprintf("sweetspot compare %s %s%s'%s' '%s'", kernel, problem,
		                                                          *problem ? " " : "", other, own)));
}

/* Duels that would replace predicted steps by measured ones: the winner against itself without one of its settings. */
static json_t *experiments_json(const struct path *path, size_t winner, const json_t *steps) {
	json_t *experiments = json_array();
	bool incomplete = json_array_size(steps) == 0;
	js_each (one, steps)
		incomplete = incomplete || !js_bool_or(one, "measured", true);
	for (size_t p = 0; incomplete && p < path->table->params && json_array_size(experiments) < EXPERIMENTS_MAX; p++)
		if (path->step[p] == p)
			experiment_add(path, p, winner, experiments);
	return experiments;
}

static json_t *path_json(struct path *path, size_t from, size_t to, json_t **experiments) {
	const struct explain_table *table = path->table;
	path->from = &table->level[from * table->params];
	path->to = &table->level[to * table->params];
	path->now = mem_alloc(table->params + 1, sizeof *path->now);
	memcpy(path->now, path->from, table->params * sizeof *path->now);
	path->response = explain_table_surrogate(path->table);
	if (path->response && !response_predicts(path->response))
		path->response = NULL;
	steps_make(path);
	json_t *steps = walk(path);
	*experiments = experiments_json(path, table->row[to], steps);
	free(path->now);
	return steps;
}

void explain_path_add(const struct explain_view *view, struct explain_table *table, size_t winner, size_t baseline,
                      json_t *result) {
	js_auto json_t *steps = NULL, *experiments = NULL;
	if (winner == SIZE_MAX || baseline == SIZE_MAX || winner == baseline)
		return;
	struct path path = {.view = view, .table = table};
	size_t from = explain_table_row(table, baseline), to = explain_table_row(table, winner);
	if (from < table->rows && to < table->rows && !table->over[from] && !table->over[to])
		steps = path_json(&path, from, to, &experiments);
	if (json_array_size(steps))
		json_object_set(result, "path", steps);
	if (json_array_size(experiments))
		json_object_set(result, "experiments", experiments);
}
