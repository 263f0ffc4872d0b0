/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernel Tuner's cache files: {"device_name", "kernel_name", "problem_size", "tune_params_keys", "tune_params",
 * "objective", "cache": {key: row}}, times in milliseconds. A row failed if its time is a word or 1e20, or if it has
 * an "__error__". Kernel Tuner writes a row at a time and closes the brackets only at the end. */
#include <math.h>

#include "base/text.h"
#include "tuner/record/record_impl.h"

bool words_text(struct scan *scan, struct build *build, const char **out) {
	struct scan_text text;
	if (scan_type(scan) != SCAN_TEXT)
		return scan_skip(scan);
	char *copy = scan_text(scan, &text) ? scan_text_copy(scan, &text, build->record->arena) : NULL;
	if (!copy)
		return false;
	text_clean(copy, false);
	*out = copy;
	return true;
}

static bool add_extent(struct scan *scan, struct build *build, const char **out) {
	struct value value;
	char text[64];
	if (scan_type(scan) == SCAN_OBJECT || scan_type(scan) == SCAN_ARRAY)
		return scan_skip(scan);
	if (!scan_value(scan, build->scratch, &value))
		return false;
	if (value.type != VALUE_WORD)
		value_text(value, text, sizeof text);
	*out = arena_printf(build->record->arena, "%s%s%.*s", *out, **out ? "x" : "", 200,
	                    value.type == VALUE_WORD ? value.as.w : text);
	return true;
}

/* 4096, "n" and [64, 48] as "4096", "n" and "64x48" */
static bool words_problem(struct scan *scan, struct build *build, const char **out) {
	*out = "";
	if (scan_type(scan) != SCAN_ARRAY)
		return add_extent(scan, build, out);
	for (scan_array(scan); scan_item(scan);)
		if (strlen(*out) > 200)
			scan_skip(scan);
		else
			add_extent(scan, build, out);
	return !scan->failed;
}

/* The depth of a row: the object, and "cache" in it. A text that ends there has only whole rows. */
enum { KT_OPEN_DEPTH = 2 };
#define KT_FAILED 1e20

/* Kinds of members that are not parameters; from KIND_COST downwards they are places in costs[]. */
enum { KIND_OTHER = -1, KIND_TIME = -2, KIND_TIMES = -3, KIND_ERROR = -4, KIND_OBJECTIVE = -5, KIND_COST = -6 };

static const struct {
	const char *name;
	int kind;
} members[] = {{"time", KIND_TIME}, {"times", KIND_TIMES}, {"__error__", KIND_ERROR}};

static const struct {
	const char *name;
	size_t offset;
} costs[] = {
	{"compile_time", offsetof(struct record_cost, compile)},
	{"benchmark_time", offsetof(struct record_cost, run)},
	{"framework_time", offsetof(struct record_cost, framework)},
	{"strategy_time", offsetof(struct record_cost, search)},
	{"verification_time", offsetof(struct record_cost, validation)},
};

struct kt {
	struct scan *scan;
	struct build *build;
	struct build_keys keys;
	const char *cache; /* its place, if it comes before the parameters */
	bool has_keys, has_params, has_cache;
	double objective; /* the row's value of an objective that is not time */
	const char *rate; /* the file's objective, if it is derived from the time */
	bool timed;       /* a row has had a time */
	double ms;        /* the unit of times */
};

/* The objectives that Kernel Tuner maximises; all of them are derived from the time, which is used in their
 * place. Source: Kernel Tuner's documentation, Optimization objectives. */
static bool is_rate(const char *objective) {
	static const char *const rates[] = {"fitness",  "GFLOP/s",  "TFLOP/s", "GB/s",   "TB/s",
	                                    "GFLOPS/W", "TFLOPS/W", "GFLOP/J", "TFLOP/J"};
	return text_is_one_of(objective, rates);
}

static bool is_time(const struct kt *kt) {
	return strcmp(kt->build->record->objective, "time") == 0;
}

static int member_kind(const struct kt *kt, const struct scan_text *key) {
	int column = build_column_find(kt->build, key);
	if (column >= 0)
		return column;
	for (size_t i = 0; i < sizeof members / sizeof *members; i++)
		if (scan_text_is(key, members[i].name))
			return members[i].kind;
	for (size_t i = 0; i < sizeof costs / sizeof *costs; i++)
		if (scan_text_is(key, costs[i].name))
			return KIND_COST - (int)i;
	return scan_text_is(key, kt->rate ? kt->rate : kt->build->record->objective) ? KIND_OBJECTIVE : KIND_OTHER;
}

static enum record_status status_of(const struct scan_text *word) {
	if (scan_text_is(word, "InvalidConfig"))
		return RECORD_CONSTRAINTS;
	return scan_text_is(word, "CompilationFailedConfig") ? RECORD_COMPILE : RECORD_RUNTIME;
}

static void read_time(struct scan *scan, struct record_row *row) {
	struct scan_text word;
	if (scan_type(scan) == SCAN_TEXT) {
		if (scan_text(scan, &word))
			row->status = status_of(&word);
		return;
	}
	words_number(scan, &row->value);
	if (!(row->value < KT_FAILED) && row->status == RECORD_CORRECT)
		row->status = RECORD_RUNTIME;
}

static void read_error(struct scan *scan, struct record_row *row) {
	struct scan_text word = {.at = ""};
	enum scan_type type = scan_type(scan);
	if (type == SCAN_TEXT ? scan_text(scan, &word) && word.size : scan_skip(scan) && type == SCAN_TRUE)
		row->status = status_of(&word);
}

static void read_param(struct kt *kt, int column) {
	struct value value;
	if (scan_value(kt->scan, kt->build->scratch, &value))
		build_value(kt->build, column, value);
}

static void read_member(struct kt *kt, int kind, struct record_row *row) {
	switch (kind) {
	case KIND_OTHER:
		scan_skip(kt->scan);
		return;
	case KIND_TIME:
		read_time(kt->scan, row);
		return;
	case KIND_TIMES:
		words_samples(kt->scan, kt->build);
		return;
	case KIND_ERROR:
		read_error(kt->scan, row);
		return;
	case KIND_OBJECTIVE:
		words_number(kt->scan, &kt->objective);
		return;
	default:
		if (kind >= 0)
			read_param(kt, kind);
		else
			words_cost(kt->scan, &row->cost, costs[KIND_COST - kind].offset, 1);
	}
}

static void read_row(struct kt *kt) {
	struct scan_text key;
	struct record_row *row = build_begin(kt->build);
	kt->keys.next = 0;
	kt->objective = NAN;
	for (scan_object(kt->scan); scan_member(kt->scan, &key);) {
		int kind;
		if (!build_keys_get(&kt->keys, &key, &kind)) {
			kind = member_kind(kt, &key);
			build_keys_set(&kt->keys, &key, kind);
		}
		read_member(kt, kind, row);
	}
	if (!is_time(kt))
		row->value = kt->objective;
	else if (isfinite(row->value))
		row->value = words_ms(row->value, kt->ms);
	else if (kt->rate && !kt->timed && row->status == RECORD_CORRECT && isfinite(kt->objective)) {
		kt->build->record->objective = kt->rate;
		kt->build->record->unit = "";
		row->value = kt->objective;
	}
	kt->timed = kt->timed || (is_time(kt) && isfinite(row->value));
	build_end(kt->build, kt->scan);
}

static void read_cache(struct kt *kt) {
	struct scan_text key;
	for (scan_object(kt->scan); scan_member(kt->scan, &key);)
		read_row(kt);
	kt->has_cache = true;
}

static void read_keys(struct kt *kt) {
	struct scan_text name;
	for (scan_array(kt->scan); scan_item(kt->scan);)
		if (scan_text(kt->scan, &name))
			build_column(kt->build, kt->scan, &name);
	kt->has_keys = true;
}

static void read_list(struct kt *kt, int column) {
	struct value value;
	if (scan_type(kt->scan) != SCAN_ARRAY) {
		scan_skip(kt->scan);
		return;
	}
	for (scan_array(kt->scan); scan_item(kt->scan);)
		if (scan_value(kt->scan, kt->build->scratch, &value))
			build_list_value(kt->build, column, value);
}

/* Once the names are known, other members are not parameters. */
static void read_params(struct kt *kt) {
	struct scan_text name;
	for (scan_object(kt->scan); scan_member(kt->scan, &name);) {
		int column = kt->has_keys ? build_column_find(kt->build, &name) : build_column(kt->build, kt->scan, &name);
		if (column >= 0)
			read_list(kt, column);
		else
			scan_skip(kt->scan);
	}
	kt->has_params = true;
}

static void read_objective(struct kt *kt) {
	struct record *record = kt->build->record;
	const char *name = "time";
	words_text(kt->scan, kt->build, &name);
	if (kt->build->choice.objective)
		return;
	if (is_rate(name))
		kt->rate = name;
	if (!*name || kt->rate)
		return;
	record->objective = name;
	record->unit = is_time(kt) ? "ms" : "";
}

static void read_top(struct kt *kt, const struct scan_text *key) {
	struct record *record = kt->build->record;
	if (scan_text_is(key, "device_name"))
		words_text(kt->scan, kt->build, &record->device);
	else if (scan_text_is(key, "kernel_name"))
		words_text(kt->scan, kt->build, &record->kernel);
	else if (scan_text_is(key, "problem_size"))
		words_problem(kt->scan, kt->build, &record->problem);
	else if (scan_text_is(key, "tune_params_keys"))
		read_keys(kt);
	else if (scan_text_is(key, "tune_params"))
		read_params(kt);
	else if (scan_text_is(key, "objective"))
		read_objective(kt);
	else if (!scan_text_is(key, "cache"))
		scan_skip(kt->scan);
	else if (kt->has_keys || kt->has_params)
		read_cache(kt);
	else {
		kt->cache = kt->scan->at;
		scan_skip(kt->scan);
	}
}

static bool kt_read(struct scan *scan, struct build *build) {
	const struct record_choice *choice = &build->choice;
	struct kt kt = {.scan = scan, .build = build, .ms = 1};
	struct scan_text key;
	if (choice->unit && !(kt.ms = words_unit_ms(choice->unit, strlen(choice->unit))))
		kt.ms = 1;
	if (choice->objective && strcmp(choice->objective, "time") != 0) {
		build->record->objective = arena_strdup(build->record->arena, choice->objective);
		build->record->unit = choice->unit ? arena_strdup(build->record->arena, choice->unit) : "";
	}
	scan->open_depth = KT_OPEN_DEPTH;
	for (scan_object(scan); scan_member(scan, &key);)
		read_top(&kt, &key);
	if (!scan_end(scan))
		return false;
	if (kt.cache && build->column_count) {
		scan->at = kt.cache;
		read_cache(&kt);
	}
	if (!kt.has_cache)
		scan_fail(scan, NULL, build->column_count ? "\"cache\" is missing" : "\"tune_params_keys\" is missing");
	return !scan->failed;
}

extern const struct record_format record_kt;
const struct record_format record_kt = {
	.name = "kt",
	.summary = "Kernel Tuner's cache files",
	.signs = (const char *const[]){"tune_params_keys", "tune_params", "cache", NULL},
	.read = kt_read,
};
