/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "base/text.h"
#include "tuner/race/deviation.h"
#include "tuner/tune/bench_impl.h"

struct tune_sources_query {
	const char *kernel, *source, *objective, *fingerprint;
	const json_t *problem;
	const struct space *space;
	uint64_t start;
	int64_t search; /* the new search itself, which is never its own source */
	int64_t until;  /* trials stored later are ignored */
};

/* A configuration of the earlier search. */
struct seen {
	uint64_t index;
	double away; /* distance of its values from the levels they were mapped to */
	size_t order;
	struct strategy_outcome outcome;
};
struct reading {
	const struct space *space;
	uint64_t start;
	json_t *known; /* configuration text -> index in seen; -1: it cannot be mapped */
	struct seen *seen;
	size_t count;
};

static double log_distance(double a, double b) {
	if (a == b)
		return 0;
	return a > 0 && b > 0 ? fabs(log(a / b)) : INFINITY;
}

/* The level with this value, or with the nearest number if the value lies between two levels; -1: none. */
static int level_of(const struct space *space, size_t param, struct value wanted, double *away) {
	double number = value_number(wanted), best = INFINITY;
	bool over = false, under = false;
	int level = -1;
	for (size_t i = 0; i < space_param_values(space, param); i++) {
		struct value value = space_param_value(space, param, i);
		if (value_equal(value, wanted)) {
			*away = 0;
			return (int)i;
		}
		double distance = log_distance(number, value_number(value));
		over = over || value_number(value) > number;
		under = under || value_number(value) < number;
		if (distance < best) {
			best = distance;
			level = (int)i;
		}
	}
	*away = best;
	return over && under ? level : -1;
}

/* Maps a configuration to values of this space; NULL if that is not possible. */
static json_t *config_mapped(const struct space *space, const json_t *config, double *away) {
	json_t *mapped = json_object();
	*away = 0;
	js_members (name, member, config) {
		struct value value;
		double distance = 0;
		int param = space_param_find(space, name);
		int level =
			param >= 0 && value_from_json(member, &value) ? level_of(space, (size_t)param, value, &distance) : -1;
		if (level < 0) {
			json_decref(mapped);
			return NULL;
		}
		*away += distance;
		json_object_set_new(mapped, name, value_json(space_param_value(space, (size_t)param, (size_t)level)));
	}
	return mapped;
}

static bool index_of(const struct reading *reading, const char *text, uint64_t *index, double *away) {
	js_auto json_t *config = js_parse(text, strlen(text), "a configuration", NULL);
	js_auto json_t *mapped = json_is_object(config) ? config_mapped(reading->space, config, away) : NULL;
	const uint64_t *fallback = reading->start == UINT64_MAX ? NULL : &reading->start;
	return mapped && space_config_read(reading->space, mapped, fallback, index, NULL) == 0;
}

/* -1: it cannot be mapped to this space. */
static int64_t seen_find(struct reading *reading, const char *config) {
	const json_t *known = json_object_get(reading->known, config);
	if (known)
		return json_integer_value(known);
	struct seen fresh = {.order = reading->count, .outcome.result = STRATEGY_FAILURE};
	int64_t at = -1;
	if (index_of(reading, config, &fresh.index, &fresh.away)) {
		at = (int64_t)reading->count;
		reading->seen = mem_grow(reading->seen, reading->count + 1, sizeof *reading->seen);
		reading->seen[reading->count++] = fresh;
	}
	json_object_set_new(reading->known, config, json_integer(at));
	return at;
}

/* The last row of a configuration holds its merged value, unless that attempt failed. */
static int row_use(void *ctx, const struct store_trial *trial) {
	struct reading *reading = ctx;
	enum trial_status status;
	int64_t at = trial_status_find(trial->status, &status) ? seen_find(reading, trial->config) : -1;
	if (at < 0)
		return 0;
	struct strategy_outcome *outcome = &reading->seen[at].outcome;
	if (trial->elapsed > 0 && isfinite(trial->elapsed))
		outcome->seconds += trial->elapsed;
	bool number = trial->value > 0 && isfinite(trial->value);
	if (outcome->result == STRATEGY_VALUE && status != TRIAL_CORRECT)
		return 0;
	if (status == TRIAL_CORRECT || status == TRIAL_CENSORED)
		outcome->result = !number ? STRATEGY_FAILURE : status == TRIAL_CORRECT ? STRATEGY_VALUE : STRATEGY_CENSORED;
	else
		outcome->result = STRATEGY_FAILURE;
	outcome->value = outcome->result == STRATEGY_FAILURE ? 0 : trial->value;
	outcome->deviation =
		outcome->result == STRATEGY_VALUE ? deviation_of_median(trial->samples, trial->sample_count) : 0;
	return 0;
}

static int by_index(const void *a, const void *b) {
	const struct seen *x = a, *y = b;
	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	if (x->away != y->away)
		return x->away < y->away ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static double rank(const struct strategy_outcome *outcome) {
	return outcome->result == STRATEGY_VALUE ? outcome->value : INFINITY;
}

static int by_value(const void *a, const void *b) {
	const struct seen *x = a, *y = b;
	if (rank(&x->outcome) != rank(&y->outcome))
		return rank(&x->outcome) < rank(&y->outcome) ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static int by_order(const void *a, const void *b) {
	const struct seen *x = a, *y = b;
	return (x->order > y->order) - (x->order < y->order);
}

static void twins_drop(struct reading *reading) {
	size_t kept = 0;
	if (reading->count)
		qsort(reading->seen, reading->count, sizeof *reading->seen, by_index);
	for (size_t i = 0; i < reading->count; i++)
		if (kept == 0 || reading->seen[kept - 1].index != reading->seen[i].index)
			reading->seen[kept++] = reading->seen[i];
	reading->count = kept;
}

static void thin(struct reading *reading) {
	const size_t max = SOURCE_OUTCOMES_MAX, half = max / 2;
	if (reading->count <= max)
		return;
	qsort(reading->seen, reading->count, sizeof *reading->seen, by_value);
	for (size_t i = 0; i < max - half; i++) {
		size_t from = half + i * (reading->count - half) / (max - half);
		reading->seen[half + i] = reading->seen[from];
	}
	reading->count = max;
}

static void data_make(struct reading *reading, struct tune_source_data *data) {
	twins_drop(reading);
	thin(reading);
	if (reading->count)
		qsort(reading->seen, reading->count, sizeof *reading->seen, by_order);
	data->count = reading->count;
	data->index = mem_alloc(reading->count + 1, sizeof *data->index);
	data->outcome = mem_alloc(reading->count + 1, sizeof *data->outcome);
	for (size_t i = 0; i < reading->count; i++) {
		data->index[i] = reading->seen[i].index;
		data->outcome[i] = reading->seen[i].outcome;
	}
}

int tune_source_read(struct store *store, int64_t search, int64_t until, const struct space *space, uint64_t start,
                     struct tune_source_data *data, struct err *err) {
	struct reading reading = {.space = space, .start = start, .known = json_object()};
	*data = (struct tune_source_data){0};
	int failed = store_evaluations_each(store, search, until, row_use, &reading, err);
	if (!failed)
		data_make(&reading, data);
	free(reading.seen);
	json_decref(reading.known);
	return failed;
}

void tune_source_clear(struct tune_source_data *data) {
	free(data->index);
	free(data->outcome);
	*data = (struct tune_source_data){0};
}

enum { RELATIVES_READ = 64 /* the most to look into, in case their configurations do not fit this space */ };
/* A search that could be a source. */
struct relative {
	int64_t search;
	bool elsewhere, other_source;
	double distance; /* of its problem */
	char *name, *kind;
};
static double member_distance(const json_t *a, const json_t *b) {
	double x = json_number_value(a), y = json_number_value(b);
	if (json_equal((json_t *)a, (json_t *)b))
		return 0;
	return json_is_number(a) && json_is_number(b) && x > 0 && y > 0 ? fabs(log(x / y)) : 1;
}

/* The distance of two numbers is the logarithm of their ratio, of anything else 1. */
static double problem_distance(const json_t *a, const json_t *b) {
	double sum = 0;
	js_members (name, member, a)
		sum += member_distance(member, json_object_get(b, name));
	js_members (name, member, b)
		sum += json_object_get(a, name) ? 0 : 1;
	return sum;
}

/* A name for people: "n=1024, another source, on Xeon". Caller frees. */
static char *name_of(const json_t *problem, const struct relative *relative, const json_t *machine) {
	char *text = mem_strdup("");
	const char *gpu = js_string_or(json_object_get(machine, "gpu"), "name", NULL);
	js_members (name, member, problem) {
		struct value value;
		char shown[64] = "?";
		if (value_from_json(member, &value))
			value_text(value, shown, sizeof shown);
		mem_append(&text, "%s%s=%s", *text ? " " : "", name, shown);
	}
	mem_append(&text, "%s%s%s", relative->other_source ? ", another source" : "",
	           relative->elsewhere ? ", on " : ", this machine",
	           !relative->elsewhere ? ""
	           : gpu                ? gpu
	                                : js_string_or(machine, "cpu", "another machine"));
	text_clean(text, false);
	return text;
}

static int relative_add(void *ctx, const struct store_row *found) {
	struct tune_sources *sources = ctx;
	const struct tune_sources_query *query = sources->query;
	js_auto json_t *problem = js_parse(found->problem, strlen(found->problem), "a problem", NULL);
	if (found->search != query->search && json_is_object(problem)) {
		struct relative relative = {.search = found->search,
		                            .elsewhere = strcmp(found->fingerprint, query->fingerprint) != 0,
		                            .other_source = !query->source || strcmp(found->source, query->source) != 0,
		                            .distance = problem_distance(problem, query->problem)};
		relative.name = name_of(problem, &relative, found->machine);
		relative.kind = mem_printf("%s %s %s", found->fingerprint, found->source, found->problem);
		sources->relatives = mem_grow(sources->relatives, sources->relative_count + 1, sizeof *sources->relatives);
		sources->relatives[sources->relative_count++] = relative;
	}
	return 0;
}

static int by_likeness(const void *a, const void *b) {
	const struct relative *x = a, *y = b;
	if (x->elsewhere != y->elsewhere)
		return x->elsewhere ? 1 : -1;
	if (x->other_source != y->other_source)
		return x->other_source ? 1 : -1;
	if (x->distance != y->distance)
		return x->distance > y->distance ? 1 : -1;
	return (x->search < y->search) - (x->search > y->search);
}

static int source_add(struct tune_sources *sources, struct store *store, const struct relative *relative,
                      struct err *err) {
	const struct tune_sources_query *query = sources->query;
	struct tune_source_data *data = &sources->data[sources->count];
	if (tune_source_read(store, relative->search, query->until, query->space, query->start, data, err))
		return -1;
	if (data->count == 0) {
		tune_source_clear(data);
		return 0;
	}
	sources->list[sources->count] = (struct strategy_source){
		.name = relative->name, .count = data->count, .index = data->index, .outcome = data->outcome};
	sources->search[sources->count++] = relative->search;
	return 0;
}

static bool is_full(const struct tune_sources *sources, size_t at) {
	size_t same = 0;
	for (size_t i = 0; i < at; i++)
		for (size_t k = 0; k < sources->count; k++)
			same += sources->search[k] == sources->relatives[i].search &&
			        strcmp(sources->relatives[i].kind, sources->relatives[at].kind) == 0;
	return same >= SOURCES_OF_A_KIND;
}

static int sources_pick(struct tune_sources *sources, struct store *store, struct err *err) {
	if (sources->relative_count)
		qsort(sources->relatives, sources->relative_count, sizeof *sources->relatives, by_likeness);
	for (size_t i = 0; i < sources->relative_count && i < RELATIVES_READ && sources->count < SOURCES_MAX; i++)
		if (!is_full(sources, i) && source_add(sources, store, &sources->relatives[i], err))
			return -1;
	return 0;
}

static int sources_restore(struct tune_sources *sources, struct store *store, const json_t *wanted, struct err *err) {
	js_each (search, wanted)
		for (size_t k = 0; k < sources->relative_count; k++) {
			if (sources->relatives[k].search != json_integer_value(search) || sources->count == SOURCES_MAX)
				continue;
			if (source_add(sources, store, &sources->relatives[k], err))
				return -1;
			break;
		}
	return 0;
}

static struct tune_sources *tune_sources_new(struct store *store, const struct tune_sources_query *query,
                                             const json_t *wanted, struct err *err) {
	const struct store_filter kin = {.kernel = query->kernel, .objective = query->objective};
	struct tune_sources *sources = mem_alloc(1, sizeof *sources);
	sources->query = query;
	int failed = store_each(store, STORE_RELATIVES, &kin, relative_add, sources, err);
	if (!failed)
		failed = wanted ? sources_restore(sources, store, wanted, err) : sources_pick(sources, store, err);
	sources->query = NULL;
	if (!failed)
		return sources;
	tune_sources_free(sources);
	return NULL;
}

void tune_sources_free(struct tune_sources *sources) {
	if (!sources)
		return;
	for (size_t i = 0; i < sources->count; i++)
		tune_source_clear(&sources->data[i]);
	for (size_t i = 0; i < sources->relative_count; i++) {
		free(sources->relatives[i].name);
		free(sources->relatives[i].kind);
	}
	free(sources->relatives);
	free(sources);
}

/* Their numbers; new reference */
static json_t *tune_sources_searches(const struct tune_sources *sources) {
	json_t *array = json_array();
	for (size_t i = 0; sources && i < sources->count; i++)
		json_array_append_new(array, json_integer(sources->search[i]));
	return array;
}

static json_t *plan_new(const struct tune *tune, uint64_t budget, struct err *err) {
	int64_t until = 0;
	if (store_last_trial(tune->task->store, &until, err))
		return NULL;
	return json_pack("{s:I,s:I,s:i}", "budget", (json_int_t)budget, "until", (json_int_t)until, "ahead",
	                 (int)tune->bench.ahead.depth);
}

/* wanted: the searches of an earlier plan; NULL: there was none. */
static int sources_find(struct tune *tune, const json_t *plan, const json_t *wanted, struct err *err) {
	const struct tune_task *task = tune->task;
	if (wanted ? json_array_size(wanted) == 0 : !task->prior.transfer)
		return 0;
	mem_auto char *objective = tune_objective(task);
	const struct tune_sources_query query = {.kernel = task->kernel,
	                                         .source = task->source,
	                                         .objective = objective,
	                                         .fingerprint = task->fingerprint ? task->fingerprint : "",
	                                         .problem = task->problem,
	                                         .space = task->space,
	                                         .start = task->start,
	                                         .search = tune->memory.id,
	                                         .until = js_int_or(plan, "until", 0)};
	tune->memory.sources = tune_sources_new(task->store, &query, wanted, err);
	return tune->memory.sources ? 0 : -1;
}

int tune_plan_make(struct tune *tune, uint64_t budget, json_t **plan, struct err *err) {
	struct store *store = tune->task->store;
	if (tune->task->resume && store_plan_get(store, tune->memory.id, plan, err))
		return -1;
	if (*plan)
		return sources_find(tune, *plan, json_object_get(*plan, "sources"), err);
	*plan = plan_new(tune, budget, err);
	if (!*plan || sources_find(tune, *plan, NULL, err))
		return -1;
	json_object_set_new(*plan, "sources", tune_sources_searches(tune->memory.sources));
	return store_plan_set(store, tune->memory.id, *plan, err);
}
