/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of CUDA programs: names of kernels, times in which a device worked, and counters by function. With the name
 * of a record it prints what was counted, for the shell test. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/expr/expr.h"
#include "base/json/js.h"
#include "base/rng.h"
#include "base/tree.h"
#include "worker/gpu/work.h"
#include "tests/tap.h"

static int record_print(const char *path) {
	struct cuda_record *record = mem_alloc(1, sizeof *record);
	FILE *file = fopen(path, "re");
	if (!file || fread(record, 1, sizeof *record, file) == 0)
		return 1;
	printf("room %u\nfailure %s\n", record->range_room, record->failure);
	for (uint32_t f = 0; f < record->function_count; f++) {
		printf("%s", record->functions[f].symbol);
		for (uint32_t i = 0; i < record->range_count; i++)
			if (record->ranges[i].function == f && record->ranges[i].settled)
				printf(" %d", (int)record->ranges[i].launch);
		putchar('\n');
	}
	for (uint32_t i = 0; i < record->range_count; i++)
		printf("value %g %g\n", record->ranges[i].values[0], record->ranges[i].values[1]);
	fclose(file);
	free(record);
	return 0;
}

static void test_names(void) {
	static const struct {
		const char *full, *name;
		bool same;
	} cases[] = {{"f", "f", true},
	             {"ns::f", "f", true},
	             {"ns::f", "ns::f", true},
	             {"a::ns::f", "ns::f", true},
	             {"ns::f<int, g<float> >", "f", true},
	             {"ns::f<int, g<float> >", "ns::f", true},
	             {"ns::f<int>", "ns::f<int>", true},
	             {"ns::f<int>", "int", false},
	             {"ns::off", "f", false},
	             {"ns::f<g>", "g", false},
	             {"ns::f", "s::f", false},
	             {"f", "", false},
	             {"", "f", false},
	             {">", "f", false},
	             {"f>", "f", false}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		ok(gpu_name_is(cases[i].full, cases[i].name) == cases[i].same, "\"%s\" is%s the kernel \"%s\"", cases[i].full,
		   cases[i].same ? "" : " not", cases[i].name);
}

enum { TICKS = 200, SPANS = 12, TRIALS = 2000, MOST = 3 };

static int earlier(const void *a, const void *b) {
	const struct cuda_span *x = a, *y = b;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* Against a line of ticks, each of which is painted. */
static bool busy_right(struct rng *rng) {
	struct cuda_span spans[SPANS];
	struct gpu_gap gaps[MOST];
	struct gpu_busy busy;
	char line[TICKS] = "";
	size_t count = 1 + rng_below(rng, SPANS), painted = 0, kernels = 0, longest = 0, first = TICKS, last = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t start = 1 + rng_below(rng, TICKS - 50);
		spans[i] = (struct cuda_span){.start_ns = start,
		                              .end_ns = start + rng_below(rng, 20),
		                              .function = (uint16_t)rng_below(rng, 2 * CUDA_WAYS)};
		first = start < first ? start : first;
		last = spans[i].end_ns > last ? spans[i].end_ns : last;
		for (uint64_t t = start; t < spans[i].end_ns; t++)
			line[t] |= spans[i].function >= CUDA_WAYS ? 3 : 1;
	}
	qsort(spans, count, sizeof *spans, earlier);
	size_t found = gpu_busy_find(spans, count, &busy, gaps, MOST);
	for (size_t t = first, run = 0; t < last; t++) {
		painted += line[t] != 0;
		kernels += line[t] == 3;
		run = line[t] ? 0 : run + 1;
		longest = run > longest ? run : longest;
	}
	bool good = llround(busy.busy_s * 1e9) == (long long)painted &&
	            llround(busy.kernels_s * 1e9) == (long long)kernels &&
	            llround(busy.span_s * 1e9) == (long long)(last - first) && found <= MOST;
	for (size_t i = 0; i < found; i++)
		good = good && gaps[i].ns > 0 && (i == 0 || gaps[i].ns <= gaps[i - 1].ns) && gaps[i].after < count &&
		       spans[gaps[i].after].start_ns == gaps[i].start_ns + gaps[i].ns &&
		       spans[gaps[i].before].end_ns == gaps[i].start_ns;
	/* A span without length can divide a gap. */
	return good && (found == 0 ? longest == 0 : gaps[0].ns <= longest);
}

static void test_busy(void) {
	struct rng rng;
	bool good = true;
	rng_seed(&rng, 7);
	for (int i = 0; i < TRIALS; i++)
		good = good && busy_right(&rng);
	ok(good, "times and gaps of %d random timelines are those of a painted line", TRIALS);
	struct gpu_busy busy;
	ok(gpu_busy_find(NULL, 0, &busy, NULL, 0) == 0 && busy.span_s == 0, "nothing takes no time");
}

static struct cuda_record *record_new(void) {
	struct cuda_record *record = mem_alloc(1, sizeof *record);
	*record =
		(struct cuda_record){.size = sizeof *record,
	                         .ended = 1,
	                         .function_count = 2,
	                         .range_count = 3,
	                         .metric_count = 2,
	                         .passes = 1,
	                         .functions = {{.symbol = "short", .calls = 9, .launched = {[5] = 8, [9] = 1}, .ns = 10},
	                                       {.symbol = "long", .calls = 1, .launched = {1}, .ns = 90}},
	                         .ranges = {{0, 1, 1, 5, {10, 4}}, {1, 1, 1, 0, {7, NAN}}, {0, 1, 1, 9, {30, 8}}}};
	memcpy(record->magic, CUDA_RECORD_MAGIC, sizeof record->magic);
	return record;
}

static struct gpu_work *work_of(const struct cuda_record *record, const char *folder) {
	char *path = mem_printf("%s/run.host.1", folder);
	FILE *file = fopen(path, "we");
	ok(file && fwrite(record, sizeof *record, 1, file) == 1 && fclose(file) == 0, "a record");
	free(path);
	return gpu_work_read(&(struct gpu_watch){.folder = (char *)folder});
}

static const json_t *spread(const json_t *work, size_t function, const char *kind, size_t i) {
	const json_t *row = json_array_get(json_object_get(work, "functions"), function);
	return json_array_get(json_object_get(row, kind), i);
}

static bool is_spread(const json_t *row, double least, double mean, double most) {
	return js_real_or(row, "least", NAN) == least && js_real_or(row, "mean", NAN) == mean &&
	       js_real_or(row, "most", NAN) == most;
}

static void test_counts(const char *folder) {
	char reason[COUNTER_REASON];
	const struct cupti_chip *chip = cupti_chip("gh100", reason);
	if (!chip) {
		tap_skip("counters by function", reason);
		return;
	}
	const struct counter_backend *cupti = counter_find("cupti");
	struct counter_event events[] = {
		{.name = "a", .unit = "", .backend = cupti, .event = "a.sum"},
		{.name = "missing", .unit = "", .reason = "not here"},
		{.name = "b", .unit = "s", .backend = cupti, .event = "b.sum"},
		{.name = "again", .unit = "", .backend = counter_find("cupti-functions"), .event = "a.sum"},
	};
	struct err err;
	struct counter_metric metric = {"G", "ratio", "%", "a / b", expr_parse("a / b", &err)};
	const struct counter_plan plan = {.events = events, .event_count = 4, .metrics = &metric, .metric_count = 1};
	struct arena *arena = arena_new();
	struct cuda_record *record = record_new();
	struct gpu_work *work = work_of(record, folder);
	json_t *json = gpu_work_json(work);
	ok(strcmp(gpu_counts_metrics(arena, &plan), "a.sum,b.sum") == 0, "what CUPTI is asked for");
	double totals[4];
	gpu_counts_add(json, work, &plan, chip, totals);
	ok(totals[0] == 110 + 7 && totals[3] == totals[0] && isnan(totals[1]),
	   "an amount of a run is that of all launches");
	ok(strcmp(js_string_or(json_array_get(json_object_get(json, "functions"), 0), "name", ""), "long") == 0,
	   "the longest function is the first");
	ok(is_spread(spread(json, 1, "counters", 0), 10, 110 / 9.0, 30),
	   "least and most of a counter, and the mean of all launches");
	ok(is_spread(spread(json, 1, "metrics", 0), 2.5, 23.75 / 9, 3.75),
	   "a metric has least, mean and most, launch by launch");
	ok(is_spread(spread(json, 1, "counters", 2), 10, 110 / 9.0, 30), "two names of a metric have its values");
	ok(is_spread(spread(json, 0, "counters", 0), 7, 7, 7), "each function has its own counts");
	ok(json_is_null(json_object_get(spread(json, 0, "metrics", 0), "mean")), "nothing is made up");
	json_decref(json);
	gpu_work_free(work);
	record->function_count = CUDA_FUNCTIONS + 1;
	work = work_of(record, folder);
	ok(work->processes == 0 && json_array_size(work->notes) == 1, "a record with too many functions is refused");
	gpu_work_free(work);
	record->function_count = 1;
	work = work_of(record, folder);
	ok(work->range_count == 2, "a launch of a function that is not there is left out");
	gpu_work_free(work);
	free(record);
	expr_free(metric.expr);
	arena_free(arena);
}

int main(int argc, char **argv) {
	char folder[] = "/tmp/sweetspot-read-XXXXXX";
	if (argc > 1)
		return record_print(argv[1]);
	if (!mkdtemp(folder))
		return 99;
	test_names();
	test_busy();
	test_counts(folder);
	tree_remove(folder);
	return tap_done();
}
