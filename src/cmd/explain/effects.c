/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports the effect of each parameter on this problem: the ratio of its slowest to its fastest value, and its share of
 * the variance (functional ANOVA, in tuner/model/effects). */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/rng.h"
#include "src/cmd/explain/explain_table_impl.h"
#include "tuner/diagnosis/diagnosis_probe.h"
#include "tuner/model/effects/anova.h"
#include "tuner/model/effects/landscape.h"
#include "tuner/result/result.h"

/* Samples the space. Only the measured rows are known here, so a sample combines levels and presences that occur in
 * them. */
enum { SAMPLES = 1500, PRESENCES_MAX = 64 };

/* A set of parameters that occur together. */
struct presence {
	size_t example, rows;                                           /* one of its rows; the number of its rows */
	double size;                                                    /* number of configurations */
	size_t *seen[STUDY_COLUMNS_MAX], seen_count[STUDY_COLUMNS_MAX]; /* levels of each parameter in these rows */
};

static bool same_presence(const struct explain_table *table, size_t a, size_t b) {
	const int *x = &table->level[a * table->params], *y = &table->level[b * table->params];
	for (size_t p = 0; p < table->params; p++)
		if ((x[p] == STUDY_ABSENT) != (y[p] == STUDY_ABSENT))
			return false;
	return true;
}

static void presence_count(const struct explain_table *table, struct presence *presence) {
	presence->size = 1;
	for (size_t p = 0; p < table->params; p++) {
		mem_auto bool *present = mem_alloc(table->level_count[p] + 1, sizeof *present);
		presence->seen[p] = mem_alloc(table->level_count[p] + 1, sizeof *presence->seen[p]);
		for (size_t r = 0; r < table->rows; r++) {
			int level = table->level[r * table->params + p];
			if (level != STUDY_ABSENT && same_presence(table, r, presence->example))
				present[level] = true;
		}
		for (size_t level = 0; level < table->level_count[p]; level++)
			if (present[level])
				presence->seen[p][presence->seen_count[p]++] = level;
		presence->size *= presence->seen_count[p] ? (double)presence->seen_count[p] : 1;
	}
}

static size_t presences_find(const struct explain_table *table, struct presence *presences) {
	size_t count = 0;
	for (size_t r = 0; r < table->rows; r++) {
		size_t i = 0;
		while (i < count && !same_presence(table, presences[i].example, r))
			i++;
		if (i == PRESENCES_MAX)
			continue;
		if (i == count)
			presences[count++].example = r;
		presences[i].rows++;
	}
	for (size_t i = 0; i < count; i++)
		presence_count(table, &presences[i]);
	return count;
}

static void draw(const struct presence *presence, size_t params, struct rng *rng, int *levels) {
	for (size_t p = 0; p < params; p++)
		levels[p] =
			presence->seen_count[p] ? (int)presence->seen[p][rng_below(rng, presence->seen_count[p])] : STUDY_ABSENT;
}

static const struct presence *choose(const struct presence *presences, size_t count, double total, struct rng *rng) {
	double at = total * rng_unit(rng);
	size_t i = 0;
	for (; i + 1 < count && at >= presences[i].size; i++)
		at -= presences[i].size;
	return &presences[i];
}

static void presences_clear(const struct explain_table *table, struct presence *presences, size_t count) {
	for (size_t i = 0; i < count; i++)
		for (size_t p = 0; p < table->params; p++)
			free(presences[i].seen[p]);
	free(presences);
}

/* Samples the configurations that combine measured levels in a measured set of parameters. *whole is set if every such
 * configuration was measured, and the sample is then just these. The caller frees it. */
static int *explain_table_sample(const struct explain_table *table, size_t *count, bool *whole) {
	struct presence *presences = mem_alloc(PRESENCES_MAX, sizeof *presences);
	size_t kinds = presences_find(table, presences), most = table->rows > SAMPLES ? table->rows : SAMPLES;
	int *sample = mem_alloc(most * (table->params + 1), sizeof *sample);
	double total = 0;
	struct rng rng;
	rng_seed(&rng, 1);
	for (size_t i = 0; i < kinds; i++)
		total += presences[i].size;
	*whole = table->rows <= SAMPLES && total <= (double)table->rows;
	*count = *whole ? table->rows : kinds ? SAMPLES : 0;
	if (*whole)
		memcpy(sample, table->level, table->rows * table->params * sizeof *sample);
	for (size_t i = 0; !*whole && i < *count; i++)
		draw(choose(presences, kinds, total, &rng), table->params, &rng, &sample[i * table->params]);
	presences_clear(table, presences, kinds);
	return sample;
}

enum { INTERACTIONS_MAX = 12 };
static const double SHARE_LEAST = 0.005, OPEN = 10;

static json_t *effect_json(const struct study_column *column, const struct effect *effect) {
	bool known = effect->known;
	return json_pack("{s:s,s:b,s:I,s:o*,s:o*,s:o*,s:o*}", "param", column->name, "known", known, "seen",
	                 (json_int_t)effect->seen, "ratio", known ? js_number(effect->ratio) : NULL, "ci",
	                 known ? js_reals(effect->ci, 2) : NULL, "best",
	                 known ? value_json(column->level[effect->best]) : NULL, "worst",
	                 known ? value_json(column->level[effect->worst]) : NULL);
}

static double weight_of(const json_t *effect) {
	return js_real_or(effect, "share", -1) + 1e-9 * js_real_or(effect, "ratio", 0);
}

/* Largest share first; effects without a share follow by ratio, unknown ones come last. */
static int by_weight(const void *a, const void *b) {
	double x = weight_of(*(json_t *const *)a), y = weight_of(*(json_t *const *)b);
	return (x < y) - (x > y);
}

static json_t *sorted(json_t **items, size_t count, size_t most) {
	json_t *list = json_array();
	if (count)
		qsort(items, count, sizeof *items, by_weight);
	for (size_t i = 0; i < count; i++) {
		if (i < most)
			json_array_append(list, items[i]);
		json_decref(items[i]);
	}
	return list;
}

static void shares_add(json_t *effect, const struct anova_share *share) {
	if (!share->known)
		return;
	json_object_set_new(effect, "share", js_number(share->share));
	json_object_set_new(effect, "share_ci", js_reals(share->ci, 2));
}

static json_t *interactions_json(const struct explain_view *view, const struct explain_table *table,
                                 const struct anova *anova) {
	json_t *found[STUDY_COLUMNS_MAX];
	size_t count = 0;
	for (size_t a = 1; a < table->params; a++)
		for (size_t b = 0; b < a && count < STUDY_COLUMNS_MAX; b++) {
			const struct anova_share *share = anova_pair(anova, a, b);
			if (!share->known || share->share < SHARE_LEAST)
				continue;
			found[count] = json_pack("{s:[s,s]}", "params", explain_table_param(view, table, b)->name,
			                         explain_table_param(view, table, a)->name);
			shares_add(found[count++], share);
		}
	return sorted(found, count, INTERACTIONS_MAX);
}

static json_t *variance_json(const struct anova *anova, bool good) {
	return json_pack("{s:I,s:I,s:o,s:s*,s:o*,s:o*,s:s*}", "rows", (json_int_t)anova->rows, "outliers",
	                 (json_int_t)anova->outliers, "predicted_r2", js_number(anova->predicted_r2), "reason",
	                 good ? NULL : anova->reason, "total", good ? js_number(anova->total) : NULL, "unexplained",
	                 good ? js_number(anova->unexplained) : NULL, "of",
	                 !good             ? NULL
	                 : anova->measured ? "measured"
	                                   : "surrogate");
}

/* Adds shares to the effects, and "interactions" and "variance" to the result. */
static void variance_add(const struct explain_view *view, struct explain_table *table, json_t **effects,
                         json_t *result) {
	struct anova_data data = {0};
	struct anova anova;
	if (!explain_table_response(table, &data.measured) || table->rows == 0)
		return;
	mem_auto int *sample = explain_table_sample(table, &data.samples, &data.whole);
	data.sample = sample;
	data.response = explain_table_surrogate(table);
	bool good = anova_make(&anova, &data) == 0;
	for (size_t p = 0; good && p < table->params; p++)
		shares_add(effects[p], &anova.main[p]);
	if (good)
		json_object_set_new(result, "interactions", interactions_json(view, table, &anova));
	json_object_set_new(result, "variance", variance_json(&anova, good));
	anova_clear(&anova);
}

/* Where an interaction has a larger share than the parameter itself, its effect is another one for each value of the
 * other: an average of them would say little. */
static void dependence_add(json_t *effects, const json_t *interactions) {
	js_each (one, interactions)
		for (size_t side = 0; side < 2; side++) {
			const json_t *params = json_object_get(one, "params"), *other = json_array_get(params, 1 - side);
			js_each (effect, effects)
				if (json_equal(json_object_get(effect, "param"), json_array_get(params, side)) &&
				    js_real_or(one, "share", 0) > js_real_or(effect, "share", 1) &&
				    !json_object_get(effect, "depends_on"))
					json_object_set((json_t *)effect, "depends_on", (json_t *)other);
		}
}

/* Do two rows of a table agree in all parameters but one? */
static bool is_pair(const struct explain_table *table, size_t a, size_t b, size_t param) {
	for (size_t p = 0; p < table->params; p++)
		if (p != param && table->level[a * table->params + p] != table->level[b * table->params + p])
			return false;
	return true;
}

/* Is the slowest value of a parameter faster than its fastest one in some pair of rows that agree in all others? Then
 * the average of such pairs is of none. */
static bool is_turned(const struct explain_table *table, size_t param, const struct effect *effect, double limit) {
	for (size_t a = 0; a < table->rows; a++)
		for (size_t b = 0; b < table->rows && table->level[a * table->params + param] == effect->best; b++)
			if (table->level[b * table->params + param] == effect->worst && is_pair(table, a, b, param) &&
			    table->cost[a] > table->cost[b] * (1 + limit))
				return true;
	return false;
}

static void turns_add(const struct explain_view *view, const struct explain_table *table, const struct effect *effects,
                      json_t **rows) {
	for (size_t p = 0; p < table->params; p++)
		if (effects[p].known && is_turned(table, p, &effects[p], probe_limit(view->study)))
			json_object_set_new(rows[p], "turns", json_true());
}

/* Compares the winner with its neighbours: is it a peak or part of a plateau? */
static json_t *step_json(const struct study_column *column, const struct landscape_step *step) {
	return json_pack("{s:o,s:o,s:o,s:b}", "value", value_json(column->level[step->level]), "ratio",
	                 js_number(step->ratio), "ci", js_reals(step->ci, 2), "measured", step->measured);
}

/* all: also steps that were not measured. A table may lack what cannot exist, such as serial code with eight threads,
 * so that nothing is predicted for it. */
static json_t *param_json(const struct study_column *column, const struct landscape_param *param, bool all) {
	json_t *steps = json_array();
	for (size_t i = 0; i < 2; i++)
		if (param->step[i].level >= 0 && (all || param->step[i].measured) &&
		    (i == 0 || param->step[1].level != param->step[0].level))
			json_array_append_new(steps, step_json(column, &param->step[i]));
	json_t *json = json_pack("{s:s,s:s,s:o,s:I,s:I}", "param", column->name, VERDICT_MEMBER,
	                         landscape_verdict_word(param->verdict), "steps", steps, "near", (json_int_t)param->near,
	                         "wide", (json_int_t)param->wide);
	if (param->ordered && param->first >= 0 && param->last >= param->first)
		json_object_set_new(
			json, "range",
			json_pack("[o,o]", value_json(column->level[param->first]), value_json(column->level[param->last])));
	return json;
}

struct tally {
	size_t sharp, flat, unclear;
};

/* A step down and one up cost more: at the end of the measured values nobody knows that. */
static bool is_peak(const struct landscape_param *param) {
	return param->verdict == LANDSCAPE_SHARP && param->ordered && param->step[0].level >= 0 &&
	       param->step[1].level >= 0 && param->step[0].ratio > 1 + LANDSCAPE_STEP &&
	       param->step[1].ratio > 1 + LANDSCAPE_STEP;
}

/* Only a peak over an ordered parameter makes a winner fragile. It is normal that another word is slower, and that
 * smaller teams take longer, so neither of them counts. */
static struct tally tally_of(const struct explain_view *view, const struct explain_table *table,
                             const struct landscape *landscape) {
	struct tally tally = {0};
	for (size_t p = 0; p < table->params; p++) {
		const struct landscape_param *param = &landscape->param[p];
		if (probe_is_team(explain_table_param(view, table, p)))
			continue;
		tally.sharp += is_peak(param);
		tally.flat += param->verdict == LANDSCAPE_FLAT;
		tally.unclear += param->verdict != LANDSCAPE_FLAT && param->ordered && !is_peak(param);
	}
	return tally;
}

static const char *word_of(const struct tally *tally) {
	if (tally->sharp)
		return "fragile";
	if (tally->flat && !tally->unclear)
		return "plateau";
	return tally->flat ? "partly flat" : "unclear";
}

static json_t *landscape_json(const struct explain_view *view, const struct explain_table *table,
                              const struct landscape *landscape) {
	const struct tally tally = tally_of(view, table, landscape);
	const char *word = word_of(&tally);
	json_t *params = json_array();
	for (size_t p = 0; p < table->params; p++)
		json_array_append_new(
			params, param_json(explain_table_param(view, table, p), &landscape->param[p], !view->item->table));
	return json_pack("{s:s,s:b,s:b,s:o,s:o,s:s*}", VERDICT_MEMBER, word, "fragile", tally.sharp > 0, "plateau",
	                 strcmp(word, "plateau") == 0, "params", params, "predicted_r2", js_number(landscape->predicted_r2),
	                 "reason", *landscape->reason ? landscape->reason : NULL);
}

static json_t *explain_landscape(const struct explain_view *view, struct explain_table *table, size_t winner) {
	struct landscape_data data = {0};
	struct landscape landscape;
	json_t *json = NULL;
	data.winner = explain_table_row(table, winner);
	if (explain_table_response(table, &data.measured) && data.winner < table->rows) {
		data.response = explain_table_surrogate(table);
		if (landscape_make(&landscape, &data) == 0)
			json = landscape_json(view, table, &landscape);
		landscape_clear(&landscape);
	}
	return json;
}

/* Does each of several problems have one value of it, as where sizes grow with the team? Then nobody chooses it there.
 */
static bool is_given(const struct study *study, size_t column) {
	bool several = false;
	for (size_t a = 0; a < study_rows(study); a++)
		for (size_t b = 0; b < a; b++) {
			bool same = study_row(study, a)->level[column] == study_row(study, b)->level[column];
			if (!same && study_same_problem(study, a, b))
				return false;
			several = several || !same;
		}
	return several;
}

void explain_effects_add(const struct explain_view *view, struct explain_table *table, size_t winner, size_t baseline,
                         json_t *result) {
	size_t row = explain_table_row(table, baseline);
	struct effect effects[STUDY_COLUMNS_MAX];
	json_t *rows[STUDY_COLUMNS_MAX];
	const struct effects_table data = {.rows = table->rows,
	                                   .params = table->params,
	                                   .levels = table->level_count,
	                                   .level = table->level,
	                                   .cost = table->cost,
	                                   .over = table->over,
	                                   .today = row < table->rows ? &table->level[row * table->params] : NULL};
	effects_fit(&data, effects); /* with too little data every effect stays unknown, which is not an error */
	for (size_t p = 0; p < table->params; p++) {
		/* No run of a table was cut short: without an upper end a value did not fit the model, and was left out. */
		effects[p].known = effects[p].known && !(view->item->table && effects[p].ci[1] > OPEN * effects[p].ratio);
		rows[p] = effect_json(explain_table_param(view, table, p), &effects[p]);
		if (view->item->table && is_given(view->study, table->column[p]))
			json_object_set_new(rows[p], "given", json_true());
	}
	json_object_set_new(result, "interactions", json_array());
	variance_add(view, table, rows, result);
	turns_add(view, table, effects, rows);
	json_object_set_new(result, "effects", sorted(rows, table->params, STUDY_COLUMNS_MAX));
	dependence_add(json_object_get(result, "effects"), json_object_get(result, "interactions"));
	json_object_set_new(result, "landscape", winner == SIZE_MAX ? NULL : explain_landscape(view, table, winner));
}
