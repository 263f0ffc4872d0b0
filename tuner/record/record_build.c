/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/hash.h"
#include "base/stats.h"
#include "base/text.h"
#include "tuner/record/record_impl.h"

bool words_number(struct scan *scan, double *out) {
	*out = NAN;
	return scan_type(scan) == SCAN_NUMBER ? scan_number(scan, out) : scan_skip(scan);
}

bool words_samples(struct scan *scan, struct build *build) {
	return scan_type(scan) == SCAN_ARRAY ? scan_reals(scan, &build->samples) : scan_skip(scan);
}

double words_ms(double time, double unit_ms) {
	return unit_ms < 1 ? time / round(1 / unit_ms) : time * unit_ms;
}

bool words_cost(struct scan *scan, struct record_cost *cost, size_t offset, double unit_ms) {
	double time;
	if (words_number(scan, &time))
		*(double *)((char *)cost + offset) = words_ms(time, unit_ms) / 1e3;
	return !scan->failed;
}

double words_unit_ms(const char *unit, size_t size) {
	static const struct {
		const char *name; /* the first letters decide, because published files have "miliseconds" */
		double ms;
		bool whole;
	} units[] = {
		{"s", 1e3, true},           {"sec", 1e3, false},        {"ms", 1, true},
		{"mil", 1, false},          {"us", 1e-3, true},         {"mic", 1e-3, false},
		{"ns", 1e-6, true},         {"nano", 1e-6, false},      {"usec", 1e-3, false},
		{"\xc2\xb5s", 1e-3, false}, {"\xce\xbcs", 1e-3, false}, {"nsec", 1e-6, false},
		{"msec", 1, false},         {"min", 60e3, false},       {"h", 3600e3, true},
		{"hour", 3600e3, false},
	};
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		size_t length = strlen(units[i].name);
		if ((units[i].whole ? size == length : size > length - 1) && strncasecmp(unit, units[i].name, length) == 0)
			return units[i].ms;
	}
	return 0;
}

/* The values of one parameter, in a hash table. */

/* Equal values (2 and 2.0) have equal hashes. */
static uint64_t value_hash(struct value value) {
	uint64_t h = 0;
	if (value.type == VALUE_WORD) {
		h = hash_text(value.as.w);
	} else {
		double real = value_number(value) + 0.0; /* -0 is 0 */
		memcpy(&h, &real, sizeof h);
	}
	h *= UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 32;
}

static size_t slot_of(const struct column *column, struct value value) {
	size_t at = value_hash(value) & column->mask;
	while (column->slots[at] && !value_equal(column->values[column->slots[at] - 1].value, value))
		at = (at + 1) & column->mask;
	return at;
}

static void column_rehash(struct column *column) {
	size_t slots = column->slots ? (column->mask + 1) * 2 : 32;
	free(column->slots);
	column->slots = mem_alloc(slots, sizeof *column->slots);
	column->mask = slots - 1;
	for (size_t i = 0; i < column->count; i++)
		column->slots[slot_of(column, column->values[i].value)] = (uint32_t)i + 1;
}

static int column_add(struct column *column, struct value value, size_t slot) {
	column->values = mem_room(column->values, column->count, &column->room, sizeof *column->values);
	column->values[column->count] = (struct column_value){value, UINT32_MAX};
	column->slots[slot] = (uint32_t)++column->count;
	return (int)(column->last = column->count - 1);
}

/* The place of the value, which is added if it is new. */
static int column_place(struct column *column, struct value value) {
	if (column->last < column->count && value_equal(column->values[column->last].value, value))
		return (int)column->last;
	if (!column->slots || column->count * 2 > column->mask)
		column_rehash(column);
	size_t slot = slot_of(column, value);
	if (!column->slots[slot])
		return column_add(column, value, slot);
	return (int)(column->last = column->slots[slot] - 1);
}

static void build_figures(struct record *record) {
	uint64_t rows = space_valid(record->space);
	mem_auto double *values = mem_alloc(rows, sizeof *values), *costs = mem_alloc(rows, sizeof *costs);
	for (uint64_t i = 0; i < rows; i++) {
		const struct record_row *row = &record->rows[i];
		if (row->status != RECORD_CORRECT)
			continue;
		if (!record->correct || row->value < record->optimum) {
			record->optimum = row->value;
			record->best = i;
		}
		if (!record->correct || row->value > record->worst)
			record->worst = row->value;
		costs[record->correct] = record_row_cost(row);
		values[record->correct++] = row->value;
	}
	record->median = stats_median(values, record->correct);
	record->median_cost = stats_median(costs, record->correct);
}

int build_column_find(const struct build *build, const struct scan_text *name) {
	for (size_t i = 0; i < build->column_count; i++)
		if (build->columns[i].name_size == name->size && memcmp(build->columns[i].name, name->at, name->size) == 0)
			return (int)i;
	return -1;
}

int build_column(struct build *build, struct scan *scan, const struct scan_text *name) {
	int found = build_column_find(build, name);
	if (found >= 0)
		return found;
	if (build->column_count == SPACE_PARAMS_MAX)
		return scan_fail(scan, NULL, "more than %d parameters", SPACE_PARAMS_MAX) - 1;
	const char *copy = scan_text_copy(scan, name, build->scratch);
	if (!copy)
		return -1;
	build->columns[build->column_count] = (struct column){.name = copy, .name_size = strlen(copy)};
	return (int)build->column_count++;
}

/* NaN is how pandas writes that a row lacks a parameter. */
static bool is_nan(struct value value) {
	return value.type == VALUE_REAL && isnan(value.as.r);
}

void build_list_value(struct build *build, int column, struct value value) {
	struct column *of = &build->columns[column];
	if (is_nan(value))
		return;
	/* A new value may move them all. */
	size_t at = column_place(of, value);
	struct column_value *listed = &of->values[at];
	if (listed->rank == UINT32_MAX)
		listed->rank = of->listed++;
}

static bool is_counter(const struct build *build, size_t counter, const struct scan_text *name) {
	const struct scan_text *known = &build->counters[counter];
	return known->size == name->size && memcmp(known->at, name->at, name->size) == 0;
}

int build_counter(struct build *build, struct scan *scan, const struct scan_text *name) {
	size_t count = build->counter_count, at = build->counter_next;
	for (size_t i = 0; i < count; i++, at++) {
		if (at >= count)
			at = 0;
		if (is_counter(build, at, name)) {
			build->counter_next = at + 1;
			return (int)at;
		}
	}
	if (count == COUNTERS_MAX)
		return scan_fail(scan, NULL, "more than %d counters", COUNTERS_MAX) - 1;
	char *copy = scan_text_copy(scan, name, build->record->arena);
	if (!copy)
		return -1;
	text_clean(copy, false);
	build->counters[count] = *name;
	build->counter_names[count] = copy;
	return (int)build->counter_count++;
}

struct record_row *build_begin(struct build *build) {
	build->row = (struct record_row){.value = NAN};
	build->samples.count = 0;
	build->counter_next = 0;
	build->counted = false;
	for (size_t i = 0; i < SPACE_PARAMS_MAX; i++)
		build->places[i] = SPACE_ABSENT;
	return &build->row;
}

void build_value(struct build *build, int column, struct value value) {
	if (!is_nan(value))
		build->places[column] = column_place(&build->columns[column], value);
}

static void begin_counts(struct build *build, size_t from) {
	if (build->count_room < build->counter_count) {
		build->count_room = build->counter_count * 2;
		build->counts = mem_grow(build->counts, build->count_room, sizeof *build->counts);
		if (from > build->count_room)
			from = 0;
	}
	for (size_t i = from; i < build->count_room; i++)
		build->counts[i] = NAN;
}

void build_count(struct build *build, int counter, double count) {
	size_t old = build->count_room;
	if (!build->counted)
		begin_counts(build, 0);
	else if ((size_t)counter >= old)
		begin_counts(build, old);
	build->counted = true;
	build->counts[counter] = count;
}

static double *keep(struct arena *arena, const double *x, size_t count) {
	double *copy = arena_alloc(arena, count, sizeof *copy);
	if (count)
		memcpy(copy, x, count * sizeof *copy);
	return copy;
}

static double cost_of(double seconds) {
	return isfinite(seconds) && seconds > 0 ? seconds : 0;
}

static void check_row(struct record_row *row) {
	if (row->status == RECORD_CORRECT && !isfinite(row->value))
		row->status = RECORD_RUNTIME;
	if (row->status != RECORD_CORRECT)
		row->value = NAN;
	struct record_cost *cost = &row->cost;
	*cost = (struct record_cost){cost_of(cost->compile), cost_of(cost->run), cost_of(cost->framework),
	                             cost_of(cost->search), cost_of(cost->validation)};
}

bool build_end(struct build *build, struct scan *scan) {
	if (scan->failed)
		return false;
	if (build->row_count == DOMAIN_MAX)
		return scan_fail(scan, NULL, "more than %d configurations", DOMAIN_MAX);
	build->rows = mem_room(build->rows, build->row_count, &build->row_room, sizeof *build->rows);
	struct arena *arena = build->record->arena;
	struct raw_row *raw = &build->rows[build->row_count++];
	check_row(&build->row);
	*raw = (struct raw_row){.row = build->row, .place_count = (uint32_t)build->column_count};
	raw->row.sample_count = build->samples.count;
	raw->row.samples = keep(arena, build->samples.at, build->samples.count);
	if (build->counted) {
		raw->row.counters = keep(arena, build->counts, build->counter_count);
		raw->counter_count = (uint32_t)build->counter_count;
	}
	int *places = arena_alloc(build->scratch, build->column_count, sizeof *places);
	memcpy(places, build->places, build->column_count * sizeof *places);
	raw->places = places;
	return true;
}

static void column_free(struct column *column) {
	free(column->values);
	free(column->slots);
}

struct build *build_new(const struct record_choice *choice) {
	struct build *build = mem_alloc(1, sizeof *build);
	if (choice)
		build->choice = *choice;
	struct arena *arena = arena_new();
	build->scratch = arena_new();
	build->record = mem_alloc(1, sizeof *build->record);
	*build->record = (struct record){
		.arena = arena, .format = "", .kernel = "", .device = "", .problem = "", .objective = "time", .unit = "ms"};
	return build;
}

void build_free(struct build *build) {
	for (size_t i = 0; i < build->column_count; i++)
		column_free(&build->columns[i]);
	free(build->rows);
	free(build->samples.at);
	free(build->counts);
	arena_free(build->scratch);
	record_free(build->record);
	free(build);
}

/* Times and rates of 0 are failures, scores are not. */
static bool is_above_zero(const struct record *record) {
	return strcmp(record->unit, "ms") == 0 || strchr(record->objective, '/') || strchr(record->unit, '/');
}

/* The least and the largest value of the rows that worked. */
static void range_find(struct build *build, double *least, double *most) {
	bool above = is_above_zero(build->record);
	*least = INFINITY;
	*most = -INFINITY;
	for (size_t i = 0; i < build->row_count; i++) {
		struct record_row *row = &build->rows[i].row;
		if (row->status == RECORD_CORRECT && above && !(row->value > 0)) {
			row->status = RECORD_RUNTIME;
			row->value = NAN;
		}
		if (row->status != RECORD_CORRECT)
			continue;
		*least = fmin(*least, row->value);
		*most = fmax(*most, row->value);
	}
}

/* Is more of what has this name or unit better: "GFLOP/s", "score", "accuracy"? */
static bool record_more_is_better(const char *name) {
	static const char *const less[] = {"error", "miss", "loss", "latency", "time", "cost", "energy", "duration"};
	static const char *const more[] = {"/s",       "/w",        "/j",      "per_s",      "per s",     "flops",
	                                   "score",    "accuracy",  "fitness", "throughput", "bandwidth", "speedup",
	                                   "speed-up", "occupancy", "fps",     "iops",       "reward",    "performance"};
	for (size_t i = 0; i < sizeof less / sizeof *less; i++)
		if (strcasestr(name, less[i]))
			return false;
	for (size_t i = 0; i < sizeof more / sizeof *more; i++)
		if (strcasestr(name, more[i]))
			return true;
	return false;
}

/* Searches compare logarithms and minimise, so that all values become positive numbers of which less is better. A line
 * puts them between 1 and 2. */
static void values_turn(struct build *build) {
	struct record *record = build->record;
	double least, most;
	if (build->choice.objective && strcmp(build->choice.objective, record->objective) == 0)
		record->more = build->choice.more;
	else if (strcmp(record->unit, "ms") != 0) {
		record->more = record_more_is_better(record->objective) || record_more_is_better(record->unit);
		record->guessed = true;
	}
	range_find(build, &least, &most);
	record->sense = !(least > 0) ? RECORD_LINE : record->more ? RECORD_MORE : RECORD_LESS;
	double range = most > least ? most - least : 1;
	record->base = record->more ? most + range : least - range;
	record->step = record->more ? -range : range;
	for (size_t i = 0; i < build->row_count; i++) {
		double *value = &build->rows[i].row.value;
		if (record->sense == RECORD_MORE)
			*value = 1 / *value;
		else if (record->sense == RECORD_LINE)
			*value = 1 + (record->more ? most - *value : *value - least) / range;
	}
}

struct record *build_finish(struct build *build, const char *name, struct err *err) {
	struct record *record = build->record;
	values_turn(build);
	if (build_space(build, err) != 0)
		return err_null(err_prefix(err, "%s", name));
	build_figures(record);
	if (!record->correct)
		return err_null(err_set(err, ERR_USAGE, "a recorded space needs at least one configuration that worked",
		                        "%s: none of %llu configurations worked", name,
		                        (unsigned long long)space_valid(record->space)));
	build->record = NULL;
	return record;
}

double record_shown(const struct record *record, double value) {
	return record->sense == RECORD_LESS   ? value
	       : record->sense == RECORD_MORE ? 1 / value
	                                      : record->base + record->step * value;
}
