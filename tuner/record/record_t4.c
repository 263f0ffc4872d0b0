/* SPDX-License-Identifier: GPL-3.0-or-later */
/* T4 results: {"schema_version", "metadata": {"timeunit"}, "results": [{"configuration", "times", "invalidity",
 * "measurements", "objectives"}]}. The value is the measurement that the objective names; the others are counters. A
 * result failed if its invalidity is not "correct", or if the measurement is not a number. */
#include <math.h>

#include "base/text.h"
#include "tuner/record/record_impl.h"

enum { MEASUREMENTS_MAX = 4096 };
#define T4_FAILED 1e20 /* Kernel Tuner writes this value for a failure */

struct measurement {
	struct scan_text name, unit;
	double value;
};

struct t4 {
	struct scan *scan;
	struct build *build;
	struct build_keys keys;
	double ms; /* the unit of times that do not have their own */
	struct scan_text objective;
	bool named;                       /* a result, or the user, has named the objective */
	bool timed;                       /* the objective has a unit of time */
	struct measurement *measurements; /* of the current result */
	size_t count, room;
};

static const struct {
	const char *name;
	size_t offset;
} costs[] = {
	{"compilation", offsetof(struct record_cost, compile)},
	{"compilation_time", offsetof(struct record_cost, compile)},
	{"framework", offsetof(struct record_cost, framework)},
	{"search_algorithm", offsetof(struct record_cost, search)},
	{"validation", offsetof(struct record_cost, validation)},
};
enum { COSTS = sizeof costs / sizeof *costs };

/* KTT writes numbers as texts. */
static void read_configuration(struct t4 *t4) {
	struct scan_text name;
	struct value value;
	t4->keys.next = 0;
	for (scan_object(t4->scan); scan_member(t4->scan, &name);) {
		int column;
		if (!build_keys_get(&t4->keys, &name, &column)) {
			column = build_column(t4->build, t4->scan, &name);
			build_keys_set(&t4->keys, &name, column);
		}
		if (scan_value(t4->scan, t4->build->scratch, &value) && column >= 0)
			build_value(t4->build, column, value.type == VALUE_WORD ? value_parse(value.as.w) : value);
	}
}

static void read_cost(struct t4 *t4, const struct scan_text *key, struct record_row *row) {
	size_t i = 0;
	while (i < COSTS && !scan_text_is(key, costs[i].name))
		i++;
	if (i == COSTS)
		scan_skip(t4->scan);
	else
		words_cost(t4->scan, &row->cost, costs[i].offset, t4->ms);
}

static void read_runtimes(struct t4 *t4, struct record_row *row) {
	struct scan_reals *samples = &t4->build->samples;
	words_samples(t4->scan, t4->build);
	for (size_t i = 0; i < samples->count; i++) {
		samples->at[i] = words_ms(samples->at[i], t4->ms);
		row->cost.run += samples->at[i] / 1e3;
	}
}

static void read_times(struct t4 *t4, struct record_row *row) {
	struct scan_text key;
	for (scan_object(t4->scan); scan_member(t4->scan, &key);)
		if (scan_text_is(&key, "runtimes") && t4->build->samples.count == 0)
			read_runtimes(t4, row);
		else
			read_cost(t4, &key, row);
}

static void read_invalidity(struct t4 *t4, struct record_row *row) {
	struct scan_text word;
	if (scan_type(t4->scan) != SCAN_TEXT) {
		scan_skip(t4->scan);
		return;
	}
	if (!scan_text(t4->scan, &word))
		return;
	for (int status = RECORD_CORRECT; status <= RECORD_CORRECTNESS; status++)
		if (scan_text_is(&word, record_status_word((enum record_status)status))) {
			row->status = (enum record_status)status;
			return;
		}
	row->status = RECORD_RUNTIME;
}

static void read_measurement(struct t4 *t4, struct measurement *measurement) {
	struct scan_text key;
	for (scan_object(t4->scan); scan_member(t4->scan, &key);)
		if (scan_text_is(&key, "name"))
			scan_text(t4->scan, &measurement->name);
		else if (scan_text_is(&key, "value"))
			words_number(t4->scan, &measurement->value);
		else if (scan_text_is(&key, "unit") && scan_type(t4->scan) == SCAN_TEXT)
			scan_text(t4->scan, &measurement->unit);
		else
			scan_skip(t4->scan);
}

static void read_measurements(struct t4 *t4) {
	t4->count = 0;
	for (scan_array(t4->scan); scan_item(t4->scan);) {
		if (t4->count == MEASUREMENTS_MAX) {
			scan_fail(t4->scan, NULL, "more than %d measurements", MEASUREMENTS_MAX);
			return;
		}
		t4->measurements = mem_room(t4->measurements, t4->count, &t4->room, sizeof *t4->measurements);
		t4->measurements[t4->count] = (struct measurement){.name = {.at = ""}, .unit = {.at = ""}, .value = NAN};
		read_measurement(t4, &t4->measurements[t4->count++]);
	}
}

/* The first objective that any result names is the objective of the file. */
static void read_objectives(struct t4 *t4) {
	struct scan_text name;
	if (scan_type(t4->scan) != SCAN_ARRAY) {
		scan_skip(t4->scan);
		return;
	}
	for (scan_array(t4->scan); scan_item(t4->scan);)
		if (t4->named || scan_type(t4->scan) != SCAN_TEXT)
			scan_skip(t4->scan);
		else if (scan_text(t4->scan, &name) && name.size) {
			t4->objective = name;
			t4->named = true;
		}
}

static bool is_same(const struct scan_text *a, const struct scan_text *b) {
	return a->size == b->size && memcmp(a->at, b->at, a->size) == 0;
}

static bool is_time(const struct t4 *t4) {
	return scan_text_is(&t4->objective, "time");
}

/* Times are in milliseconds. */
static double value_of(struct t4 *t4, const struct measurement *measurement) {
	struct record *record = t4->build->record;
	struct scan_text own = measurement->unit;
	if (own.escaped && (own.at = scan_text_copy(t4->scan, &own, t4->build->scratch)))
		own.size = strlen(own.at);
	double ms = own.at ? words_unit_ms(own.at, own.size) : 0;
	if (ms == 0 && is_time(t4) && measurement->unit.size)
		scan_fail(t4->scan, "use seconds, milliseconds, microseconds or nanoseconds", "unknown \"unit\" of \"time\"");
	t4->timed = t4->timed || ms > 0;
	if (measurement->value >= T4_FAILED)
		return NAN;
	if (ms == 0 && !is_time(t4) && measurement->unit.size && strcmp(record->unit, "ms") == 0) {
		char *unit = scan_text_copy(t4->scan, &measurement->unit, record->arena);
		if (unit)
			text_clean(unit, false);
		record->unit = unit ? unit : "";
	}
	return words_ms(measurement->value, ms > 0 ? ms : is_time(t4) ? t4->ms : 1);
}

static double mean_of(const struct scan_reals *list) {
	double sum = 0;
	for (size_t i = 0; i < list->count; i++)
		sum += list->at[i];
	return list->count ? sum / (double)list->count : NAN;
}

static void use_measurements(struct t4 *t4, struct record_row *row) {
	bool told = false;
	for (size_t i = 0; i < t4->count; i++) {
		const struct measurement *measurement = &t4->measurements[i];
		if (is_same(&measurement->name, &t4->objective)) {
			row->value = value_of(t4, measurement);
			told = true;
		} else if (!isnan(measurement->value)) {
			int counter = build_counter(t4->build, t4->scan, &measurement->name);
			if (counter >= 0)
				build_count(t4->build, counter, measurement->value);
		}
	}
	if (!told && is_time(t4))
		row->value = mean_of(&t4->build->samples);
}

static void read_result(struct t4 *t4) {
	struct scan_text key;
	struct record_row *row = build_begin(t4->build);
	t4->count = 0;
	for (scan_object(t4->scan); scan_member(t4->scan, &key);)
		if (scan_text_is(&key, "configuration"))
			read_configuration(t4);
		else if (scan_text_is(&key, "times"))
			read_times(t4, row);
		else if (scan_text_is(&key, "invalidity"))
			read_invalidity(t4, row);
		else if (scan_text_is(&key, "measurements"))
			read_measurements(t4);
		else if (scan_text_is(&key, "objectives"))
			read_objectives(t4);
		else
			scan_skip(t4->scan);
	use_measurements(t4, row);
	build_end(t4->build, t4->scan);
}

static void read_results(void *context) {
	struct t4 *t4 = context;
	for (scan_array(t4->scan); scan_item(t4->scan);)
		read_result(t4);
}

static void read_metadata(void *context) {
	struct t4 *t4 = context;
	struct scan_text key, unit;
	struct record *record = t4->build->record;
	if (scan_type(t4->scan) != SCAN_OBJECT) {
		scan_skip(t4->scan);
		return;
	}
	for (scan_object(t4->scan); scan_member(t4->scan, &key);)
		if (scan_text_is(&key, "timeunit") && scan_type(t4->scan) == SCAN_TEXT && scan_text(t4->scan, &unit)) {
			t4->ms = words_unit_ms(unit.at, unit.size);
			if (t4->ms == 0)
				scan_fail(t4->scan, "use seconds, milliseconds, microseconds or nanoseconds", "unknown \"timeunit\"");
		} else if (scan_text_is(&key, "device")) {
			words_text(t4->scan, t4->build, &record->device);
		} else if (scan_text_is(&key, "benchmark") || scan_text_is(&key, "kernel_name")) {
			words_text(t4->scan, t4->build, &record->kernel);
		} else {
			scan_skip(t4->scan);
		}
}

static bool t4_read(struct scan *scan, struct build *build) {
	const struct record_choice *choice = &build->choice;
	struct t4 t4 = {.scan = scan, .build = build, .ms = 1, .objective = {.at = "time", .size = 4}};
	if (choice->unit && !(t4.ms = words_unit_ms(choice->unit, strlen(choice->unit))))
		t4.ms = 1;
	if (choice->objective) {
		t4.objective = (struct scan_text){.at = choice->objective, .size = strlen(choice->objective)};
		t4.named = true;
	}
	scan_in_order(scan, "metadata", read_metadata, "results", read_results, &t4);
	free(t4.measurements);
	struct record *record = build->record;
	if (!is_time(&t4) && !t4.timed && strcmp(record->unit, "ms") == 0)
		record->unit = "";
	char *objective = scan_text_copy(scan, &t4.objective, record->arena);
	if (objective) {
		text_clean(objective, false);
		record->objective = objective;
	}
	return !scan->failed;
}

extern const struct record_format record_t4;
const struct record_format record_t4 = {
	.name = "t4",
	.summary = "T4 results",
	.signs = (const char *const[]){"results", NULL},
	.read = t4_read,
};
