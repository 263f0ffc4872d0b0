/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "base/csv.h"
#include "base/json/js.h"
#include "base/sys.h"
#include "src/app/lock.h"
#include "src/cmd/run/run_impl.h"
#include "src/plan/program_plan.h"
#include "src/show/results.h"

enum { CELL = 400 };

/* The names of all rows' members, in the order of their appearance, without those of another list. New reference. */
static json_t *names_of(const json_t *rows, const char *part, const json_t *others) {
	json_t *names = json_object();
	js_each (row, rows) {
		js_members (name, value, json_object_get(row, part))
			if (!json_object_get(others, name))
				json_object_set_new(names, name, json_true());
	}
	return names;
}

static void value_print(const json_t *json, FILE *out) {
	struct value value;
	char text[CELL] = "";
	if (json && value_from_json(json, &value) && value_text(value, text, sizeof text) < (int)sizeof text)
		csv_write(text, out);
	putc(',', out);
}

static void settings_print(const json_t *names, const json_t *settings, FILE *out) {
	js_members (name, ignored, names)
		value_print(json_object_get(settings, name), out);
}

static void machine_print(const json_t *machine, FILE *out) {
	static const char *const counts[] = {"packages", "numa_nodes", "cores", "threads"}, *const caches[] = {"l1d", "l2",
	                                                                                                       "l3"};
	bool any = false;
	for (size_t i = 0; i < 7; i++) {
		const json_t *of = i < 4 ? machine : json_object_get(machine, "caches");
		const char *name = i < 4 ? counts[i] : caches[i - 4];
		double value = js_real_or(of, name, 0);
		if (!(value >= 1))
			continue;
		fprintf(out, "%s%s=%.0f", any ? " " : "# machine: ", name, value);
		any = true;
	}
	if (any)
		putc('\n', out);
}

static void names_print(const json_t *names, const char *after, FILE *out) {
	size_t count = 0;
	js_members (name, ignored, names) {
		fputs(count++ ? "," : "", out);
		csv_write(name, out);
	}
	fputs(count ? after : "", out);
}

static void row_print(const json_t *problem, const json_t *config, const json_t *row, FILE *out) {
	const json_t *samples = json_object_get(row, "samples");
	size_t count = json_array_size(samples);
	for (size_t i = 0; i < (count ? count : 1); i++) {
		settings_print(problem, json_object_get(row, "problem"), out);
		settings_print(config, json_object_get(row, "config"), out);
		if (count && strcmp(js_string_or(row, "status", "correct"), "correct") == 0)
			fprintf(out, "%.9g", json_number_value(json_array_get(samples, i)));
		putc('\n', out);
	}
}

/* One line for each sample; a configuration that failed has one with an empty time. machine may be NULL. */
static void sweep_csv_print(const char *kernel, const char *device, const json_t *machine, const json_t *rows,
                            FILE *out) {
	js_auto json_t *problem = names_of(rows, "problem", NULL), *config = names_of(rows, "config", problem);
	fprintf(out, "# kernel: %s\n# device: %s\n", kernel, device);
	machine_print(machine, out);
	if (json_object_size(problem)) {
		fputs("# problem: ", out);
		names_print(problem, "\n", out);
	}
	names_print(problem, ",", out);
	names_print(config, ",", out);
	fputs("time_s\n", out);
	js_each (row, rows)
		row_print(problem, config, row, out);
}

/* Ratios between the rows of a sweep: speedup over the serial code, strong and weak scaling. */
/* Members that only one side has do not count: a GPU's kernel may have more of them. */
static bool agrees(const json_t *a, const json_t *b, const char *but, const char *but_too) {
	js_members (name, value, a) {
		const json_t *other = json_object_get(b, name);
		bool left_out = (but && strcmp(name, but) == 0) || (but_too && strcmp(name, but_too) == 0);
		if (other && !left_out && !json_equal(value, other))
			return false;
	}
	return true;
}

static void add(json_t *row, const char *name, double value) {
	if (isfinite(value))
		json_object_set_new(row, name, json_real(value));
}

static void serial_add(const struct sweep *sweep, json_t *row) {
	js_each (serial, sweep->serials) {
		if (agrees(json_object_get(row, "problem"), json_object_get(serial, "problem"), NULL, NULL)) {
			add(row, "serial_speedup", js_real_or(serial, "median", NAN) / js_real_or(row, "median", NAN));
			return;
		}
	}
}

static bool same_device(const json_t *a, const json_t *b) {
	return strcmp(js_string_or(a, "device", ""), js_string_or(b, "device", "")) == 0;
}

/* Finds the row with the least of `param` that otherwise agrees; `size` is the part of the problem that grows with it.
 * Parameters that appear with the second thread, such as the schedule, are on one side only. */
static const json_t *least_row(const struct sweep *sweep, const json_t *row, const char *param, const char *size) {
	const json_t *least = NULL;
	js_each (other, sweep->rows) {
		const json_t *config = json_object_get(other, "config");
		if (same_device(row, other) && agrees(json_object_get(row, "config"), config, param, NULL) &&
		    agrees(json_object_get(row, "problem"), json_object_get(other, "problem"), size, param) &&
		    (!least || js_real_or(config, param, NAN) < js_real_or(json_object_get(least, "config"), param, NAN)))
			least = other;
	}
	return least;
}

static bool is_swept(const struct sweep *sweep, const char *name) {
	for (size_t a = 0; a < sweep->axis_count; a++)
		if (strcmp(sweep->axes[a].name, name) == 0 && sweep->axes[a].count > 1)
			return true;
	return false;
}

static void scaling_add(const struct sweep *sweep, json_t *row, const char *param) {
	const json_t *one = least_row(sweep, row, param, sweep->weak.size);
	double gain = js_real_or(one, "median", NAN) / js_real_or(row, "median", NAN);
	double more =
		js_real_or(json_object_get(row, "config"), param, NAN) / js_real_or(json_object_get(one, "config"), param, NAN);
	if (js_real_or(json_object_get(one, "config"), param, NAN) != 1)
		return;
	if (sweep->weak.size) {
		add(row, "weak_efficiency", gain);
		return;
	}
	if (strcmp(param, "threads") == 0)
		add(row, "thread_speedup", gain);
	add(row, "efficiency", gain / more);
}

/* Adds to each row "serial_speedup", "thread_speedup", "efficiency" and "weak_efficiency", where they are known. */
static void sweep_ratios(struct sweep *sweep) {
	const char *param = sweep->weak.param ? sweep->weak.param : "threads";
	bool scales = sweep->weak.size || is_swept(sweep, param);
	js_each (row, sweep->rows) {
		serial_add(sweep, row);
		if (scales)
			scaling_add(sweep, row, param);
	}
}

static const struct opt options[] = {
	OPT_GROUP("What to measure"),
	{"over", 'o', "P=A,B,..", "parameter or size to sweep, and its values", OPT_REPEAT},
	{"weak", 0, "RULE", "size that grows with the team: n=threads*K, ..", 0},
	{"devices", 0, "D,D", "sweep on several devices, for example cpu,cuda", 0},
	OPT_GROUP("Measuring"),
	{"plan", 0, NULL, "only print what would be run", 0},
	{"alone", 0, NULL, "do not measure the serial code", 0},
	{"counters", 'c', "NAME,..", "counters or groups, counted in separate runs", OPT_REPEAT},
	OPT_GROUP("Results"),
	{"export", 0, "FORMAT", "print csv; for a program also markdown or json", 0},
	{"no-store", 0, NULL, "keep nothing in the store", 0},
	OPT_GROUP("Output"),
	{"show", 0, "NAME,..", "further columns: figures, metrics or counters", OPT_REPEAT},
	{0},
};

/* Counts in a separate run, whose times are not used. */
static int row_count(struct sweep *sweep, struct manual *manual, const json_t *problem, const json_t *config,
                     json_t *row, struct err *err) {
	struct trial_result result = {0};
	int failed = manual_count(manual, &sweep->counters, problem, config, &result, err) ||
	             manual_store_trial(&sweep->kept, "counters", 0, problem, config, &result, err);
	if (!failed)
		trial_counters_add(row, &result);
	trial_result_clear(&result);
	return failed ? -1 : 0;
}

static int row_trial(struct sweep *sweep, struct sweep_device *device, const json_t *problem, const json_t *config,
                     struct err *err) {
	struct manual *manual = &device->manual;
	struct trial_request request = manual_request(manual, config);
	struct trial_result result = {0};
	request.problem = problem;
	int failed = manual->runner.run(manual->runner.ctx, &request, &result, err) ||
	             manual_store_trial(&sweep->kept, "sweep", 0, problem, config, &result, err);
	json_t *one = failed ? NULL : sweep_row_json(manual, problem, config, &result);
	if (one && sweep->compares_devices)
		json_object_set_new(one, "device", json_string(device->word));
	if (one && sweep->counters.count && result.status == TRIAL_CORRECT)
		failed = row_count(sweep, manual, problem, config, one, err);
	if (one)
		json_array_append_new(sweep->rows, one);
	trial_result_clear(&result);
	return failed ? -1 : 0;
}

/* The configuration of a row, and its problem, which is a new reference too. NULL and err. */
static json_t *row_config(struct sweep *sweep, struct sweep_device *device, size_t row, json_t **problem,
                          struct err *err) {
	js_auto json_t *over = json_object();
	*problem = json_copy(device->manual.problem);
	return sweep_combination(sweep, device, row, *problem, over, err)
	           ? NULL
	           : manual_config(&device->manual, *problem, over, err);
}

static int row_measure(struct sweep *sweep, struct sweep_device *device, size_t row, struct err *err) {
	js_auto json_t *problem = NULL, *config = row_config(sweep, device, row, &problem, err);
	return !config || sweep_serial(sweep, device, problem, err) || row_trial(sweep, device, problem, config, err) ? -1
	                                                                                                              : 0;
}

static int device_measure(struct sweep *sweep, struct sweep_device *device, struct err *err) {
	int failed = 0;
	double begun = sys_now();
	for (size_t row = 0; row < device->total && !failed; row++) {
		if (*app_interrupt(sweep->app))
			failed =
				err_set(err, ERR_INTERRUPTED, NULL, "interrupted after %zu of %zu combinations", row, device->total);
		else
			failed = row_measure(sweep, device, row, err);
		double each = (sys_now() - begun) / (double)(row + 1);
		ui_progress(app_ui(sweep->app), "sweep%s%s  %zu/%zu  ETA %.0f s", sweep->compares_devices ? " " : "",
		            sweep->compares_devices ? device->word : "", row + 1, device->total,
		            each * (double)(device->total - row - 1));
	}
	return failed;
}

/* The store has a session for each device, because a machine with a GPU is another one. */
static int device_run(struct sweep *sweep, struct sweep_device *device, struct err *err) {
	sweep->kept = (struct manual_store){.strategy = "sweep", .total = (double)device->total};
	int failed = (sweep->compares_devices && app_device_change(sweep->app, device->word, err)) ||
	             manual_store_begin(&sweep->kept, &device->manual, sweep->args, err) ||
	             device_measure(sweep, device, err);
	return manual_store_end(&sweep->kept, failed, err);
}

static int measure(struct sweep *sweep, struct err *err) {
	int lock = lock_take(app_ui(sweep->app), app_interrupt(sweep->app), err), failed = lock < 0 ? -1 : 0;
	for (size_t d = 0; d < sweep->device_count && !failed; d++)
		failed = device_run(sweep, &sweep->device[d], err);
	ui_progress_end(app_ui(sweep->app));
	if (lock >= 0)
		lock_release(lock);
	sweep_ratios(sweep);
	return failed;
}

static int row_plan(struct sweep *sweep, struct sweep_device *device, size_t row, json_t *rows, struct err *err) {
	js_auto json_t *problem = NULL, *config = row_config(sweep, device, row, &problem, err);
	if (config)
		json_array_append_new(rows, json_pack("{s:O,s:O,s:s*}", "config", config, "problem", problem, "device",
		                                      sweep->compares_devices ? device->word : NULL));
	return config ? 0 : -1;
}

static int plan(struct sweep *sweep, struct err *err) {
	js_auto json_t *rows = json_array();
	int failed = 0;
	for (size_t d = 0; d < sweep->device_count && !failed; d++) {
		struct sweep_device *device = &sweep->device[d];
		if (sweep->compares_devices && app_device_change(sweep->app, device->word, err))
			failed = -1;
		for (size_t row = 0; row < device->total && !failed; row++)
			failed = row_plan(sweep, device, row, rows, err);
	}
	const struct manual *manual = &sweep->device[0].manual;
	if (!failed)
		sweep_plan_print(sweep->args, manual->kernel->name, manual_request(manual, NULL).samples, rows);
	return failed;
}

static void people_print(struct sweep *sweep) {
	struct sweep_table table = {.rows = sweep->rows,
	                            .serials = sweep->serials,
	                            .axes = sweep->axes,
	                            .axis_count = sweep->axis_count,
	                            .weak = sweep->weak.size};
	for (size_t i = 0; i < opt_count(sweep->args, "show"); i++) {
		char *list = arena_strdup(sweep->arena, opt_at(sweep->args, "show", i)), *rest = NULL;
		for (char *name = strtok_r(list, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest))
			if (table.show_count < SWEEP_SHOW_MAX)
				table.show[table.show_count++] = name;
	}
	sweep_table_print(app_ui(sweep->app), &table);
}

static json_t *document(struct sweep *sweep) {
	const struct sweep_device *last = &sweep->device[sweep->device_count - 1];
	json_t *over = json_array(), *devices = sweep->compares_devices ? json_array() : NULL, *serials = sweep->serials;
	for (size_t a = 0; a < sweep->axis_count; a++)
		json_array_append_new(over, json_string(sweep->axes[a].name));
	for (size_t d = 0; devices && d < sweep->device_count; d++)
		json_array_append_new(devices, json_string(sweep->device[d].word));
	return json_pack("{s:s,s:s,s:s,s:O?,s:o,s:O,s:o*,s:s*,s:O*,s:O*}", "schema", "sweetspot-sweep/1", "kernel",
	                 last->manual.kernel->name, "device", last->word, "machine", app_machine(sweep->app, NULL), "over",
	                 over, "rows", sweep->rows, "devices", devices, "weak",
	                 sweep->weak.size ? opt_get(sweep->args, "weak", "") : NULL, "serial", json_array_get(serials, 0),
	                 "serials", json_array_size(serials) ? serials : NULL);
}

static void show(struct sweep *sweep) {
	const struct sweep_device *last = &sweep->device[sweep->device_count - 1];
	if (opt_has(sweep->args, "export")) {
		js_auto json_t *rows = json_copy(sweep->rows);
		json_array_extend(rows, sweep->serials);
		sweep_csv_print(last->manual.kernel->name, last->word, app_machine(sweep->app, NULL), rows, stdout);
	} else if (opt_has(sweep->args, "json")) {
		js_print(document(sweep));
	} else {
		people_print(sweep);
	}
}

/* With several devices a word need only be known to the kernel of one of them. */
static int words_check(const struct sweep *sweep, const struct err *last, struct err *err) {
	uint64_t refused = UINT64_MAX;
	for (size_t d = 0; d < sweep->device_count; d++)
		refused &= sweep->device[d].manual.refused;
	if (refused)
		*err = *last;
	return refused ? -1 : 0;
}

static int devices_open(struct sweep *sweep, struct err *err) {
	const char *devices = opt_get(sweep->args, "devices", NULL), *device = app_device(sweep->app);
	char *list = arena_strdup(sweep->arena, devices ? devices : device ? device : "cpu"), *rest = NULL;
	struct err last = {0};
	sweep->compares_devices = devices != NULL;
	if (devices && device)
		return err_set(err, ERR_USAGE, "leave --device out", "--devices and --device exclude each other");
	for (char *word = strtok_r(list, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest)) {
		if (sweep->device_count == SWEEP_DEVICES_MAX)
			return err_set(err, ERR_USAGE, NULL, "at most %d devices can be compared", SWEEP_DEVICES_MAX);
		struct sweep_device *one = &sweep->device[sweep->device_count++];
		one->word = word;
		one->manual.lenient = devices ? &last : NULL;
		if ((devices && app_device_change(sweep->app, word, err)) ||
		    manual_open(&one->manual, sweep->app, sweep->args, opt_words(sweep->args), err))
			return -1;
		counters_words_free(&sweep->counters);
		if (manual_counters(&one->manual, sweep->args, &sweep->counters, err))
			return -1;
		one->manual.lenient = NULL;
	}
	if (sweep->device_count == 0)
		return err_set(err, ERR_USAGE, "for example: --devices cpu,cuda", "--devices is empty");
	return words_check(sweep, &last, err);
}

static int options_check(const struct opt_args *args, struct err *err) {
	const char *other = opt_first_of(args, program_options);
	if (other)
		return err_set(err, ERR_USAGE, "put -- before the program: sweetspot sweep --param B=16,64 -- ./app '{B}'",
		               "--%s needs a program after --", other);
	if (opt_has(args, "export") && strcmp(opt_get(args, "export", ""), "csv") != 0)
		return err_set(err, ERR_USAGE,
		               "--export csv writes a table that `sweetspot explain --from` reads, --json a document",
		               "a sweep of a kernel is only exported as csv");
	return 0;
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	if (opt_dashes(args))
		return sweep_program(app, args, err);
	if (options_check(args, err))
		return -1;
	struct sweep sweep = {.app = app,
	                      .args = args,
	                      .arena = arena_new(),
	                      .alone = opt_has(args, "alone"),
	                      .rows = json_array(),
	                      .serials = json_array()};
	int failed = devices_open(&sweep, err) || sweep_axes_read(&sweep, err) || sweep_axes_check(&sweep, err) ||
	                     (opt_has(args, "plan") ? plan(&sweep, err) : measure(&sweep, err))
	                 ? -1
	                 : 0;
	if (json_array_size(sweep.rows))
		show(&sweep);
	for (size_t d = 0; d < sweep.device_count; d++)
		manual_close(&sweep.device[d].manual);
	counters_words_free(&sweep.counters);
	json_decref(sweep.rows);
	json_decref(sweep.serials);
	arena_free(sweep.arena);
	return failed;
}

const struct cmd cmd_sweep = {
	.name = "sweep",
	.summary = "measure every combination of the values given",
	.usage = "sweep --param P=A,B,.. [OPTION...] -- PROGRAM [ARG...]\n"
			 "sweep KERNEL [P=V...] --over P=A,B,.. [--over ...] [OPTION...]",
	.options = (const struct opt *const[]){manual_what_options, cmd_device_options, program_options, options,
                                           manual_options, cmd_store_options, NULL},
	.notes = "Values are a list, 1..8, 0..64+8 or 16..512*2. Parameters that are not swept\n"
			 "have the value of the baseline.",
	.examples = "sweetspot sweep --param B=16..64*2 -- ./app --block {B} in.dat\n"
				"sweetspot sweep fw n=512 --over block=16..128*2 --over threads=1,2",
	.run = run,
};
