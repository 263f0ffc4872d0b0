/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results of KTT: {"Metadata": {"Device", "TimeUnit"}, "Results": [{"KernelName", "Status", "Configuration": [{"Name",
 * "Value", "ValueType"}], "TotalDuration", "TotalOverhead", "ComputationResults": [{"Duration", "ProfilingData":
 * {"Counters": [{"Name", "Type", "Value"}]}}]}]}. A result with a Status other than Ok is a failure. The value is the
 * duration of all its kernels and of the code between them. */
#include <math.h>

#include "tuner/record/record_impl.h"

struct total {
	double value, weight;
};

struct ktt {
	struct scan *scan;
	struct build *build;
	double ms; /* the unit of all times */
	/* The current result: */
	double duration, extra, total, overhead, moved;
	bool computed;
	/* One of its kernels: */
	struct count {
		int counter;
		double value;
	} * counts;
	size_t count, room;
	/* All of its kernels, by counter. */
	struct total *totals;
	size_t total_count;
};

static void read_param(struct ktt *ktt) {
	struct scan_text key, name = {.at = ""}, type = {.at = ""};
	struct value value = value_int(0);
	for (scan_object(ktt->scan); scan_member(ktt->scan, &key);)
		if (scan_text_is(&key, "Name"))
			scan_text(ktt->scan, &name);
		else if (scan_text_is(&key, "Value"))
			scan_value(ktt->scan, ktt->build->scratch, &value);
		else if (scan_text_is(&key, "ValueType"))
			scan_text(ktt->scan, &type);
		else
			scan_skip(ktt->scan);
	if (value.type == VALUE_INT && scan_text_is(&type, "Double"))
		value = value_real((double)value.as.i);
	int column = ktt->scan->failed ? -1 : build_column(ktt->build, ktt->scan, &name);
	if (column >= 0)
		build_value(ktt->build, column, value);
}

static void read_count(struct ktt *ktt) {
	struct scan_text key, name = {.at = ""};
	double value = NAN;
	for (scan_object(ktt->scan); scan_member(ktt->scan, &key);)
		if (scan_text_is(&key, "Name"))
			scan_text(ktt->scan, &name);
		else if (scan_text_is(&key, "Value"))
			words_number(ktt->scan, &value);
		else
			scan_skip(ktt->scan);
	int counter = ktt->scan->failed || !isfinite(value) ? -1 : build_counter(ktt->build, ktt->scan, &name);
	if (counter < 0)
		return;
	ktt->counts = mem_room(ktt->counts, ktt->count, &ktt->room, sizeof *ktt->counts);
	ktt->counts[ktt->count++] = (struct count){counter, value};
}

static void read_profile(struct ktt *ktt) {
	struct scan_text key;
	if (scan_type(ktt->scan) != SCAN_OBJECT) {
		scan_skip(ktt->scan);
		return;
	}
	for (scan_object(ktt->scan); scan_member(ktt->scan, &key);)
		if (scan_text_is(&key, "Counters") && scan_type(ktt->scan) == SCAN_ARRAY)
			for (scan_array(ktt->scan); scan_item(ktt->scan);)
				read_count(ktt);
		else
			scan_skip(ktt->scan);
}
/* Sums add up over kernels; shares and averages are weighted by the duration of their kernel. */
static bool is_sum(const struct ktt *ktt, int counter) {
	struct scan_text name = ktt->build->counters[counter];
	return name.size > 4 && memcmp(name.at + name.size - 4, ".sum", 4) == 0;
}

static void add_count(struct total *total, bool sums, double value, double weight) {
	if (total->weight == 0)
		total->value = value;
	else if (sums)
		total->value += value;
	else
		total->value = (total->value * total->weight + value * weight) / (total->weight + weight);
	total->weight += weight;
}

static void add_counts(struct ktt *ktt, double duration) {
	for (size_t i = 0; i < ktt->count; i++) {
		size_t counter = (size_t)ktt->counts[i].counter, old = ktt->total_count;
		if (counter >= old) {
			ktt->total_count = counter + 64;
			ktt->totals = mem_grow(ktt->totals, ktt->total_count, sizeof *ktt->totals);
			memset(ktt->totals + old, 0, (ktt->total_count - old) * sizeof *ktt->totals);
		}
		double weight = duration > 0 ? duration : 1;
		add_count(&ktt->totals[counter], is_sum(ktt, (int)counter), ktt->counts[i].value, weight);
	}
	ktt->count = 0;
}

static void use_counts(struct ktt *ktt) {
	for (size_t i = 0; i < ktt->total_count; i++) {
		if (ktt->totals[i].weight > 0 && isfinite(ktt->totals[i].value)) /* sums of huge counts are not */
			build_count(ktt->build, (int)i, ktt->totals[i].value);
		ktt->totals[i] = (struct total){0};
	}
}

static void read_computation(struct ktt *ktt) {
	struct scan_text key;
	double duration = NAN;
	for (scan_object(ktt->scan); scan_member(ktt->scan, &key);)
		if (scan_text_is(&key, "Duration"))
			words_number(ktt->scan, &duration);
		else if (scan_text_is(&key, "ProfilingData"))
			read_profile(ktt);
		else
			scan_skip(ktt->scan);
	ktt->duration += duration;
	ktt->computed = true;
	add_counts(ktt, duration);
}

static void read_status(struct ktt *ktt, struct record_row *row) {
	static const struct {
		const char *word;
		enum record_status status;
	} words[] = {{"Ok", RECORD_CORRECT},
	             {"CompilationFailed", RECORD_COMPILE},
	             {"ValidationFailed", RECORD_CORRECTNESS},
	             {"DeviceLimitsExceeded", RECORD_CONSTRAINTS}};
	struct scan_text word;
	if (!scan_text(ktt->scan, &word))
		return;
	row->status = RECORD_RUNTIME;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (scan_text_is(&word, words[i].word))
			row->status = words[i].status;
}

static void read_list(struct ktt *ktt, void (*one_of)(struct ktt *ktt)) {
	for (scan_array(ktt->scan); scan_item(ktt->scan);)
		one_of(ktt);
}

static void read_member(struct ktt *ktt, const struct scan_text *key, struct record_row *row) {
	const struct {
		const char *name;
		double *to;
	} times[] = {{"TotalDuration", &ktt->total},          {"TotalOverhead", &ktt->overhead},
	             {"ExtraDuration", &ktt->extra},          {"DataMovementOverhead", &ktt->moved},
	             {"SearcherOverhead", &row->cost.search}, {"ValidationOverhead", &row->cost.validation}};
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		if (scan_text_is(key, times[i].name)) {
			words_number(ktt->scan, times[i].to);
			return;
		}
	if (scan_text_is(key, "Configuration"))
		read_list(ktt, read_param);
	else if (scan_text_is(key, "ComputationResults"))
		read_list(ktt, read_computation);
	else if (scan_text_is(key, "Status"))
		read_status(ktt, row);
	else if (scan_text_is(key, "KernelName"))
		words_text(ktt->scan, ktt->build, &ktt->build->record->kernel);
	else
		scan_skip(ktt->scan);
}

static double or_zero(double x) {
	return isfinite(x) ? x : 0;
}

/* The rest of the overhead, without the kinds that are named, is the cost of compiling and launching. */
static void use_times(struct ktt *ktt, struct record_row *row) {
	struct record_cost *cost = &row->cost;
	double value = ktt->computed ? ktt->duration + or_zero(ktt->extra) : ktt->total;
	double rest = or_zero(ktt->overhead) - or_zero(ktt->moved) - or_zero(cost->search) - or_zero(cost->validation);
	row->value = words_ms(value, ktt->ms);
	cost->run = words_ms(or_zero(value), ktt->ms) / 1e3;
	cost->compile = words_ms(rest, ktt->ms) / 1e3;
	cost->framework = words_ms(ktt->moved, ktt->ms) / 1e3;
	cost->search = words_ms(cost->search, ktt->ms) / 1e3;
	cost->validation = words_ms(cost->validation, ktt->ms) / 1e3;
	if (row->status == RECORD_CORRECT && isfinite(row->value))
		scan_push(&ktt->build->samples, row->value);
}

static void read_result(struct ktt *ktt) {
	struct scan_text key;
	struct record_row *row = build_begin(ktt->build);
	ktt->duration = ktt->extra = ktt->overhead = ktt->moved = 0;
	ktt->total = NAN;
	ktt->computed = false;
	for (scan_object(ktt->scan); scan_member(ktt->scan, &key);)
		read_member(ktt, &key, row);
	use_times(ktt, row);
	use_counts(ktt);
	build_end(ktt->build, ktt->scan);
}

static void read_results(void *ktt) {
	read_list(ktt, read_result);
}

static void read_unit(struct ktt *ktt) {
	struct scan_text unit;
	if (!scan_text(ktt->scan, &unit))
		return;
	ktt->ms = words_unit_ms(unit.at, unit.size);
	if (ktt->ms == 0)
		scan_fail(ktt->scan, "use Seconds, Milliseconds, Microseconds or Nanoseconds", "unknown \"TimeUnit\"");
}

static void read_metadata(void *context) {
	struct ktt *ktt = context;
	struct scan_text key;
	for (scan_object(ktt->scan); scan_member(ktt->scan, &key);)
		if (scan_text_is(&key, "TimeUnit"))
			read_unit(ktt);
		else if (scan_text_is(&key, "Device"))
			words_text(ktt->scan, ktt->build, &ktt->build->record->device);
		else
			scan_skip(ktt->scan);
}

static bool ktt_read(struct scan *scan, struct build *build) {
	struct ktt ktt = {.scan = scan, .build = build, .ms = 1};
	scan_in_order(scan, "Metadata", read_metadata, "Results", read_results, &ktt);
	free(ktt.counts);
	free(ktt.totals);
	return !scan->failed;
}

extern const struct record_format record_ktt;
const struct record_format record_ktt = {
	.name = "ktt",
	.summary = "results of KTT, with counters",
	.signs = (const char *const[]){"Results", NULL},
	.read = ktt_read,
};
