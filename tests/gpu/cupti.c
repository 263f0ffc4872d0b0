/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks our tables against CUPTI's host API, which works without a GPU. Each portable event has a metric on each
 * chip, each group can be counted together, the default one in a single pass, and a wrong name is refused with the
 * nearest. */
#include <math.h>
#include <stdlib.h>

#include "counters/cupti/cupti.h"
#include "counters/plan/plan_impl.h"
#include "gpu/backend.h"
#include "base/json/js.h"
#include "tests/tap.h"

enum { METRICS_MAX = 64, CHIPS_MAX = 64 };

/* The range profiler needs compute capability 7.5: not Volta. */
static bool is_profiled(const char *chip) {
	return strncmp(chip, "GV1", 3) != 0;
}

/* These chips use the host's memory, which our counters do not cover: Orin, Spark and Thor. */
static bool is_integrated(const char *chip) {
	return strlen(chip) == 5 && chip[4] == 'B';
}

static bool is_metric(const char *backend) {
	return strcmp(backend, "cupti") == 0 || strcmp(backend, "cupti-functions") == 0;
}

/* The first source that the chip has; NULL: none. */
static const char *metric_of(const struct cupti_chip *chip, const struct table_event *event) {
	char reason[COUNTER_REASON];
	for (size_t i = 0; i < event->source_count; i++)
		if (is_metric(event->sources[i].backend) && cupti_chip_has(chip, event->sources[i].event, reason))
			return event->sources[i].event;
	return NULL;
}

/* Reasons of stalls, and instructions, that only some architectures have. */
static bool is_of_some(const char *event) {
	return strcmp(event, "launch_stall_constant") == 0 || strcmp(event, "launch_stall_tensor") == 0 ||
	       strcmp(event, "gpu_tensor_gmma") == 0;
}

static bool asks_cupti(const struct table_event *event) {
	return event->source_count > 0 && is_metric(event->sources[0].backend);
}

static void events_test(const struct counter_tables *tables, const struct cupti_chip *chip) {
	const char *name = cupti_chip_name(chip), *missing = "";
	size_t events = 0, found = 0;
	for (size_t i = 0; i < tables->event_count; i++) {
		const struct table_event *event = &tables->events[i];
		if (!asks_cupti(event) || (is_integrated(name) && strstr(event->name, "_dram")))
			continue;
		bool has = metric_of(chip, event);
		if (!has && is_of_some(event->name))
			continue;
		events++;
		if (has)
			found++;
		else
			missing = event->name;
	}
	ok(events > 30 && found == events, "%s has a metric for each of our events %s", name, missing);
}

/* A source that no chip has would be a word that was misspelt. */
static void sources_test(const struct counter_tables *tables, struct cupti_chip *const *chips, size_t count) {
	char reason[COUNTER_REASON];
	const char *missing = "";
	for (size_t i = 0; i < tables->event_count; i++) {
		for (size_t s = 0; s < tables->events[i].source_count && asks_cupti(&tables->events[i]); s++) {
			size_t having = 0;
			for (size_t c = 0; c < count; c++)
				having += cupti_chip_has(chips[c], tables->events[i].sources[s].event, reason);
			missing = having ? missing : tables->events[i].sources[s].event;
		}
	}
	ok(!*missing, "some chip has each of our metrics %s", missing);
}

static size_t group_passes(const struct counter_tables *tables, const struct cupti_chip *chip, const char *group_name) {
	const struct table_group *group = table_group_find(tables, group_name);
	const char *metrics[METRICS_MAX];
	char reason[COUNTER_REASON] = "";
	size_t count = 0;
	for (size_t i = 0; group && i < group->event_count && count < METRICS_MAX; i++) {
		const struct table_event *event = table_event_find(tables, group->events[i]);
		const char *metric = event ? metric_of(chip, event) : NULL;
		if (metric)
			metrics[count++] = metric;
	}
	size_t passes = count > 0 ? cupti_chip_passes(chip, metrics, count, reason) : 0;
	if (!passes)
		printf("# %s on %s: %s\n", group_name, cupti_chip_name(chip), reason);
	return passes;
}

static void passes_test(const struct counter_tables *tables, const struct cupti_chip *chip) {
	static const char *const many[] = {"GPU_MEM",   "GPU_SHARED", "GPU_PIPES",    "GPU_OCC",
	                                   "GPU_FLOPS", "GPU_PEAK",   "GPU_FUNCTIONS"};
	const char *name = cupti_chip_name(chip);
	size_t single = group_passes(tables, chip, "GPU"), good = 0;
	ok(single == 1, "%s counts the group GPU in one pass", name);
	for (size_t i = 0; i < sizeof many / sizeof *many; i++)
		good += group_passes(tables, chip, many[i]) > 0;
	ok(good == sizeof many / sizeof *many, "%s can count each other group together", name);
}

static void names_test(const struct cupti_chip *chip) {
	char reason[COUNTER_REASON] = "";
	double scale = 0;
	ok(cupti_chip_has(chip, "dram__bytes.sum.per_second", reason), "a rollup of a rollup is a metric");
	ok(!cupti_chip_has(chip, "dram__byts.sum", reason) && strstr(reason, "dram__bytes.sum"), "the nearest: %s", reason);
	ok(!cupti_chip_has(chip, "dram__bytes", reason) && strstr(reason, "dram__bytes.sum"), "no rollup: %s", reason);
	ok(!cupti_chip_has(chip, "dram__bytes.summ", reason) && strstr(reason, "dram__bytes.sum"),
	   "a mistyped rollup is answered with the right one: %s", reason);
	ok(!cupti_chip_has(chip, "", reason) && reason[0], "an empty name is not a metric: %s", reason);
	char *endless = malloc(100001);
	memset(endless, 'a', 100000);
	endless[100000] = '\0';
	ok(!cupti_chip_has(chip, endless, reason) && reason[0], "a name of 100000 letters is not a metric");
	free(endless);
	ok(strcmp(cupti_chip_unit(chip, "gpu__time_duration.sum", &scale), "s") == 0 && fabs(scale * 1e9 - 1) < 1e-12,
	   "nanoseconds become seconds");
	ok(strcmp(cupti_chip_unit(chip, "dram__bytes.sum", &scale), "B") == 0 && scale == 1, "bytes are bytes");
	ok(strcmp(cupti_chip_unit(chip, "smsp__inst_executed.sum", &scale), "count") == 0, "instructions are a count");
	ok(strcmp(cupti_chip_unit(chip, "sm__warps_active.avg.pct_of_peak_sustained_active", &scale), "%") == 0,
	   "parts of a peak are percents");
}

static void chips_test(const struct cupti_chip *chip) {
	char reason[COUNTER_REASON] = "";
	ok(cupti_chip("GH100", reason) == chip && cupti_chip("gh100", reason) == chip,
	   "a chip is opened once, in any case");
	ok(!cupti_chip("gh10", reason) && strstr(reason, "GH100"), "an unknown chip: %s", reason);
	ok(!cupti_chip("", reason) && reason[0], "no name, no chip");
}

static size_t list_count(const char *chip, const char *prefix, struct err *err) {
	json_t *list = cupti_list(chip, prefix, err);
	size_t count = json_array_size(json_object_get(list, "metrics"));
	json_decref(list);
	return count;
}

static void list_test(void) {
	struct err err = {0};
	json_t *list = cupti_list("gh100", "lts__t_sector_hit_rate", &err);
	const json_t *row = json_array_get(json_object_get(list, "metrics"), 0);
	ok(js_real_or(row, "passes", 0) == 2 && strcmp(js_string_or(row, "type", ""), "ratio") == 0 &&
	       json_array_size(json_object_get(row, "rollups")) > 0,
	   "a list has passes, type and rollups");
	json_decref(list);
	ok(list_count("gh100", "", &err) > 3000, "GH100 has thousands of metrics");
	ok(list_count("gh100", "dram__bytes.sum", &err) == 1, "a whole name is one");
	ok(list_count("gh100", "nothing_like_it", &err) == 0 && err.code == ERR_USAGE, "no such prefix: %s", err.what);
	ok(list_count("gx100", "", &err) == 0 && err.code == ERR_USAGE && strstr(err.hint, "GH100"), "no such chip: %s",
	   err.what);
}

/* A machine with this chip and nothing else. */
static bool good(void *ctx, const struct counter_backend *backend, const char *event, const struct counter_loop *loop,
                 char reason[COUNTER_REASON]) {
	static char anything;
	const struct counter_site site = {.threads = 1, .gpu = (struct gpu *)&anything};
	(void)loop;
	reason[0] = '\0';
	if (strcmp(backend->name, "cupti") == 0)
		return cupti_chip_has(ctx, event, reason);
	return strcmp(backend->name, "cupti-activity") == 0 && backend->can(event, &site, reason);
}

static struct counter_plan *plan_of(struct arena *arena, const struct counter_tables *tables, struct cupti_chip *chip,
                                    const char *word) {
	const struct counter_judge judge = {chip, "", good, "cuda"};
	const char *const words[] = {word, NULL};
	struct err err = {0};
	return counter_plan_new(arena, tables, words, NULL, &judge, &err);
}

static bool plan_counts(const struct counter_plan *plan) {
	for (size_t i = 0; plan && i < plan->event_count; i++)
		if (!plan->events[i].backend)
			return false;
	return plan && plan->event_count > 0;
}

static void aliases_test(struct arena *arena, const struct counter_tables *tables, struct cupti_chip *chip) {
	static const char *const nvprof[] = {"achieved_occupancy",
	                                     "sm_efficiency",
	                                     "gld_throughput",
	                                     "gst_throughput",
	                                     "gld_efficiency",
	                                     "gst_efficiency",
	                                     "shared_load_throughput",
	                                     "shared_store_throughput",
	                                     "dram_read_throughput",
	                                     "dram_write_throughput",
	                                     "l2_hit_rate",
	                                     "warp_execution_efficiency",
	                                     "issue_slot_utilization",
	                                     "flop_count_sp",
	                                     "flop_count_dp"};
	for (size_t i = 0; i < sizeof nvprof / sizeof *nvprof; i++) {
		struct counter_plan *plan = plan_of(arena, tables, chip, nvprof[i]);
		ok(plan_counts(plan) && plan->metric_count == 1 && strcmp(plan->metrics[0].name, nvprof[i]) == 0,
		   "nvprof's %s is %s", nvprof[i], plan && plan->metric_count ? plan->metrics[0].formula : "nothing");
		counter_plan_clear(plan);
	}
}

static void auto_test(struct arena *arena, const struct counter_tables *tables, struct cupti_chip *chip) {
	struct counter_plan *plan = plan_of(arena, tables, chip, "auto");
	const char *names[METRICS_MAX];
	char reason[COUNTER_REASON];
	size_t count = 0, others = 0, activity = 0;
	for (size_t i = 0; plan && i < plan->metric_count; i++) {
		activity += strcmp(plan->metrics[i].group, "GPU_ACTIVITY") == 0;
		others += strcmp(plan->metrics[i].group, "GPU_ACTIVITY") != 0 && strcmp(plan->metrics[i].group, "GPU") != 0;
	}
	for (size_t i = 0; plan && i < plan->event_count && count < METRICS_MAX; i++)
		if (plan->events[i].backend && strcmp(plan->events[i].backend->name, "cupti") == 0)
			names[count++] = plan->events[i].event;
	ok(plan_counts(plan) && activity > 0 && others == 0, "auto on a GPU is GPU and GPU_ACTIVITY, all counted");
	ok(count > 8 && cupti_chip_passes(chip, names, count, reason) == 1, "%zu metrics of it in one pass", count);
	counter_plan_clear(plan);
}

static struct counter_tables *tables_read(struct err *err) {
	const char *source = getenv("SRCDIR");
	char folder[512];
	snprintf(folder, sizeof folder, "%s/data", source ? source : ".");
	return counter_tables_load_from(folder, err);
}

/* Which lines of a source do the instructions of its code belong to? */
static bool lines_of(struct compiler *compiler, const char *const *options, uint32_t sum, bool seen[8]) {
	static const char text[] =
		"extern \"C\" __global__ void f(float *y, const float *x, int n) {\n\tint i = threadIdx.x;\n"
		"\tfloat far = x[i * n];\n\n\ty[i] = far;\n}\n";
	const struct source source = {.name = "far.cu", .text = text, .options = options, .arch = 90, .users = true};
	struct code code = {.image = NULL};
	enum gpu_failure failure;
	struct err err;
	char file[64];
	bool fine = compile_source(compiler, &source, true, &code, &failure, &err);
	memset(seen, 0, 8 * sizeof *seen);
	for (unsigned offset = 0; fine && offset < 1024; offset += 16) {
		const struct cupti_access access = {.function = "f", .offset = offset, .code = sum};
		int line = cupti_line_of(code.image, code.size, &access, file, sizeof file);
		if (line > 0 && line < 8 && strcmp(file, "far.cu") == 0)
			seen[line] = true;
	}
	code_free(&code);
	return fine;
}

static void lines_test(void) {
	static const char *const kept[] = {"-lineinfo", NULL};
	struct compiler compiler = {.seconds = 0, .tried = true};
	struct library_why why;
	bool seen[8], none[8];
	if (!nvrtc_open(&compiler.nvrtc, 0, &why)) {
		tap_skip("lines of a source", why.reason);
		return;
	}
	ok(lines_of(&compiler, kept, 0, seen) && seen[3] && seen[5] && !seen[4],
	   "instructions belong to the lines of their source");
	ok(lines_of(&compiler, NULL, 0, none) && !none[3] && !none[5], "code without lines has none");
	ok(lines_of(&compiler, kept, 1, none) && !none[3] && !none[5], "other code of the same function has none");
	nvrtc_close(&compiler.nvrtc);
}

int main(void) {
	char reason[COUNTER_REASON] = "";
	struct err err = {0};
	struct cupti_chip *chips[CHIPS_MAX], *gh100;
	size_t count = 0;
	const char *all[CHIPS_MAX], *const *names = cupti_chips(reason);
	struct counter_tables *tables = tables_read(&err);
	if (!ok(tables, "the tables can be read %s", err.what))
		return tap_done();
	for (; names && names[count] && count < CHIPS_MAX; count++)
		all[count] = names[count];
	if (count == 0) {
		tap_skip("metrics of chips", reason);
		counter_tables_free(tables);
		return tap_done();
	}
	struct arena *arena = arena_new();
	size_t opened = 0;
	for (size_t i = 0; i < count; i++) {
		if (is_profiled(all[i]) && ok(chips[opened] = cupti_chip(all[i], reason), "%s can be opened", all[i])) {
			events_test(tables, chips[opened]);
			passes_test(tables, chips[opened++]);
		}
	}
	sources_test(tables, chips, opened);
	gh100 = cupti_chip("gh100", reason);
	if (ok(gh100, "GH100 is among them")) {
		names_test(gh100);
		chips_test(gh100);
		aliases_test(arena, tables, gh100);
		auto_test(arena, tables, gh100);
		list_test();
	}
	lines_test();
	arena_free(arena);
	counter_tables_free(tables);
	return tap_done();
}
