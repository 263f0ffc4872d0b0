/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdarg.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "src/cmd/machine/ceilings.h"

enum { COLUMNS_MAX = 24, CELL = 24 };

/* Finds a ceiling, or returns NULL; level may be NULL. Borrowed. */
static const json_t *ceilings_find(const json_t *ceilings, const char *name, const char *level, int threads) {
	js_each (one, ceilings)
		if (strcmp(js_string_or(one, "name", ""), name) == 0 && js_int_or(one, "threads", 0) == threads &&
		    (!level || strcmp(js_string_or(one, "level", ""), level) == 0))
			return one;
	return NULL;
}

/* Prints three digits, and common magnitudes without an exponent. */
static void number(double value, char text[CELL]) {
	snprintf(text, CELL, value >= 100 && value < 1e7 ? "%.0f" : "%.3g", value);
}

/* Collects the thread counts in ascending order, in which they were measured. */
static size_t thread_counts(const json_t *ceilings, int counts[COLUMNS_MAX]) {
	size_t count = 0;
	js_each (one, ceilings) {
		int threads = (int)js_int_or(one, "threads", 0);
		size_t known = 0;
		while (known < count && counts[known] != threads)
			known++;
		if (known == count && count < COLUMNS_MAX && !json_object_get(one, "from"))
			counts[count++] = threads;
	}
	return count;
}

struct grid {
	const json_t *ceilings;
	struct table *table;
	int counts[COLUMNS_MAX];
	size_t count;
};

static void grid_begin(struct grid *grid, const json_t *ceilings, const char *first, const char *unit) {
	char titles[COLUMNS_MAX][CELL];
	const char *pointers[COLUMNS_MAX + 2] = {first, unit};
	*grid = (struct grid){.ceilings = ceilings};
	grid->count = thread_counts(ceilings, grid->counts);
	for (size_t i = 0; i < grid->count; i++) {
		snprintf(titles[i], CELL, "%d thread%s", grid->counts[i], grid->counts[i] == 1 ? "" : "s");
		pointers[i + 2] = titles[i];
	}
	grid->table = table_new(grid->count + 2, pointers);
	for (size_t i = 0; i < grid->count; i++)
		table_right(grid->table, i + 2);
}

/* Skips the row if it was not measured with any number of threads. */
static void grid_row(struct grid *grid, const char *title, const struct ceiling_kind *kind, const char *level) {
	char cells[COLUMNS_MAX][CELL];
	const char *pointers[COLUMNS_MAX + 2] = {title, kind->unit};
	bool any = false;
	for (size_t i = 0; i < grid->count; i++) {
		const json_t *one = ceilings_find(grid->ceilings, kind->name, level, grid->counts[i]);
		snprintf(cells[i], CELL, "-");
		if (one)
			number(js_real_or(one, "value", 0), cells[i]);
		any = any || one;
		pointers[i + 2] = cells[i];
	}
	if (any)
		table_row(grid->table, pointers);
}

static void grid_end(struct grid *grid, struct ui *ui) {
	table_print(grid->table, ui, stdout);
	table_free(grid->table);
	putchar('\n');
}

static void bandwidths_print(struct ui *ui, const json_t *ceilings) {
	struct grid grid;
	grid_begin(&grid, ceilings, "bandwidth", "");
	for (size_t level = 0; ceiling_levels[level]; level++)
		for (const struct ceiling_kind *kind = ceiling_kinds; kind->name; kind++)
			if (kind->group == CEILING_BANDWIDTH) {
				char title[CELL];
				snprintf(title, sizeof title, "%s %s", ceiling_levels[level], kind->name);
				grid_row(&grid, title, kind, ceiling_levels[level]);
			}
	grid_end(&grid, ui);
}

static void group_print(struct ui *ui, const json_t *ceilings, enum ceiling_group group, const char *title) {
	struct grid grid;
	grid_begin(&grid, ceilings, title, "");
	for (const struct ceiling_kind *kind = ceiling_kinds; kind->name; kind++)
		if (kind->group == group)
			grid_row(&grid, kind->name, kind, NULL);
	grid_end(&grid, ui);
}

static void pairs_print(const json_t *ceilings) {
	const json_t *best = NULL, *worst = NULL;
	js_each (one, ceilings) {
		double value = js_real_or(one, "value", 0);
		if (!json_object_get(one, "from"))
			continue;
		best = !best || value < js_real_or(best, "value", 0) ? one : best;
		worst = !worst || value > js_real_or(worst, "value", 0) ? one : worst;
	}
	if (!best)
		return;
	char low[CELL], high[CELL];
	number(js_real_or(best, "value", 0), low);
	number(js_real_or(worst, "value", 0), high);
	printf("A cache line takes %s ns from core to core (%d to %d)", low, (int)js_int_or(best, "from", 0),
	       (int)js_int_or(best, "to", 0));
	if (worst != best)
		printf(" to %s ns (%d to %d)", high, (int)js_int_or(worst, "from", 0), (int)js_int_or(worst, "to", 0));
	printf(".\n");
}

/* Shows the best block sizes, if any ceiling used blocks. */
static void gpu_row(struct table *table, const json_t *one) {
	const char *name = js_string_or(one, "name", "?"), *level = js_string_or(one, "level", NULL);
	const struct ceiling_gpu *gpu = ceiling_gpu_find(name, level);
	char title[CELL], value[CELL], block[CELL] = "-", per_sm[CELL] = "-";
	snprintf(title, sizeof title, "%s%s%.18s", level ? level : "", level ? " " : "", name);
	number(js_real_or(one, "value", 0), value);
	if (json_object_get(one, "block")) {
		snprintf(block, sizeof block, "%d", (int)js_int_or(one, "block", 0));
		snprintf(per_sm, sizeof per_sm, "%d", (int)js_int_or(one, "per_sm", 0));
	}
	table_add(table, title, value, js_string_or(one, "unit", ""), block, per_sm, gpu ? gpu->summary : "");
}

static void gpus_print(struct ui *ui, const json_t *ceilings) {
	struct table *table = table_titled("ceiling", "\1most", "", "\1block", "\1blocks/SM", "of", NULL);
	js_each (one, ceilings)
		gpu_row(table, one);
	table_end(table, ui, stdout);
	printf(
		"\nCosts (us) are the lowest measured. Bytes read and bytes written both count. Block and blocks/SM are those "
		"of the best result.\n");
}

static void ceilings_print(struct ui *ui, const json_t *ceilings) {
	if (json_object_get(json_array_get(ceilings, 0), "device")) {
		gpus_print(ui, ceilings);
		return;
	}
	bandwidths_print(ui, ceilings);
	group_print(ui, ceilings, CEILING_PEAK, "peak");
	group_print(ui, ceilings, CEILING_COST, "cost");
	pairs_print(ceilings);
	printf("Bytes read and bytes written both count, without the lines that plain stores read first.\n");
}

__attribute__((format(printf, 2, 3))) static void line(const char *name, const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	printf("%-14s ", name);
	vprintf(format, ap);
	putchar('\n');
	va_end(ap);
}

static void gpu_print(const json_t *gpu) {
	if (!gpu)
		return;
	struct shown memory = ui_bytes(js_real_or(gpu, "memory_bytes", 0));
	if (json_object_get(gpu, "platform")) {
		bool sized = json_object_get(gpu, "memory_bytes");
		line(strcmp(worker_device_kind(gpu), "hip") == 0 ? "GPU" : "OpenCL", "%s, %s %s, %lld compute units%s%s",
		     js_string_or(gpu, "name", "?"), js_string_or(gpu, "platform", "?"),
		     js_string_or(gpu, "driver_version", "?"), (long long)js_int_or(gpu, "sms", 0), sized ? ", " : "",
		     sized ? memory.text : "");
		return;
	}
	line("GPU", "%s, compute capability %s, %lld SMs, %s", js_string_or(gpu, "name", "?"),
	     js_string_or(gpu, "compute_capability", "?"), (long long)js_int_or(gpu, "sms", 0), memory.text);
	line("NVRTC", "%s", js_string_or(gpu, "nvrtc", "?"));
}

/* For a run on the CPU, which OpenCL devices there are, or why there are none. */
static void opencl_print(struct app *app) {
	const json_t *opencl = json_object_get(app_devices(app, NULL), "opencl"),
				 *devices = json_object_get(opencl, "devices");
	js_each (device, devices) {
		line(device_at ? "" : "OpenCL", "%s %s (%s)", js_string_or(device, "device", "?"),
		     js_string_or(device, "name", "?"), js_string_or(device, "platform", "?"));
	}
	if (!json_array_size(devices))
		line("OpenCL", "not available: %s", js_string_or(opencl, "reason", "the worker does not say"));
}

static void people_print(struct app *app, const json_t *machine) {
	const json_t *caches = json_object_get(machine, "caches"), *openmp = json_object_get(machine, "openmp");
	static const char *const levels[] = {"l1d", "l2", "l3"};
	line("fingerprint", "%s", js_string_or(machine, "fingerprint", "?"));
	line("processor", "%s", js_string_or(machine, "cpu", "unknown"));
	line("topology", "%lld package(s), %lld NUMA node(s), %lld core(s), %lld hardware thread(s)",
	     (long long)js_int_or(machine, "packages", 0), (long long)js_int_or(machine, "numa_nodes", 0),
	     (long long)js_int_or(machine, "cores", 0), (long long)js_int_or(machine, "threads", 0));
	const json_t *kinds = json_object_get(machine, "kinds"), *kind;
	for (size_t i = 0; (kind = json_array_get(kinds, i)); i++)
		line("kind of cores", "%s: %lld core(s), %lld hardware thread(s)", js_string_or(kind, "name", "?"),
		     (long long)js_int_or(kind, "cores", 0), (long long)js_int_or(kind, "threads", 0));
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
		double bytes = js_real_or(caches, levels[i], 0);
		if (bytes > 0)
			line(levels[i], "%s", ui_bytes(bytes).text);
	}
	line("memory", "%s", ui_bytes((double)sys_memory_total()).text);
	line("hypervisor", "%s", js_string_or(machine, "hypervisor", "not virtualised"));
	gpu_print(json_object_get(machine, "gpu"));
	if (!json_object_get(machine, "gpu"))
		opencl_print(app);
	line("compiler", "%s", js_string_or(machine, "compiler", "?"));
	line("flags", "%s", js_string_or(machine, "cflags", "?"));
	line("OpenMP", "%s %lld", js_string_or(openmp, "runtime", "?"), (long long)js_int_or(openmp, "version", 0));
}

static const struct opt options[] = {
	OPT_GROUP("Measuring"),
	{"ceilings", 0, NULL, "measure the highest bandwidths and arithmetic rates", 0},
	{"samples", 'n', "N", "timed samples of each ceiling (21)", 0},
	{0},
};

static int show(struct app *app, const struct opt_args *args, const json_t *machine, const json_t *ceilings) {
	js_auto json_t *document = json_pack("{s:s}", "schema", ceilings ? "sweetspot-ceilings/1" : "sweetspot-machine/1");
	json_object_update(document, (json_t *)machine);
	if (ceilings)
		json_object_set(document, "ceilings", (json_t *)ceilings);
	if (opt_has(args, "json"))
		js_write(document, stdout);
	else
		people_print(app, machine);
	if (ceilings && !opt_has(args, "json")) {
		putchar('\n');
		ceilings_print(app_ui(app), ceilings);
	}
	return 0;
}

/* The results are shown even if the file cannot be written. */
static int ceilings_run(struct app *app, const struct opt_args *args, const json_t *machine, struct err *err) {
	long long samples;
	if (opt_int(args, "samples", 1, 10000, 21, &samples, err))
		return -1;
	js_auto json_t *ceilings = ceilings_measure(app, (int)samples, err);
	if (!ceilings)
		return -1;
	show(app, args, machine, ceilings);
	return ceilings_save(app, ceilings, err);
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	if (opt_has(args, "samples") && !opt_has(args, "ceilings"))
		return err_set(err, ERR_USAGE, "sweetspot machine --ceilings --samples 9", "--samples needs --ceilings");
	const json_t *machine = app_machine(app, err);
	if (!machine)
		return -1;
	return opt_has(args, "ceilings") ? ceilings_run(app, args, machine, err) : show(app, args, machine, NULL);
}

const struct cmd cmd_machine = {
	.name = "machine",
	.summary = "show this machine and its fingerprint, or measure its limits",
	.usage = "machine [OPTION...]",
	.options = (const struct opt *const[]){options, cmd_device_options, NULL},
	.notes = "The fingerprint covers topology, processor, compiler, flags and OpenMP runtime,\n"
			 "and does not contain the host name. Measuring the ceilings takes half a minute,\n"
			 "longer on large machines and GPUs; explain and report compare results with them.",
	.examples = "sweetspot machine\n"
				"sweetspot machine --ceilings",
	.run = run,
};
