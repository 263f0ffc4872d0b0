/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/expr/expr.h"
#include "base/json/js.h"
#include "base/sys.h"
#include "src/app/lock.h"
#include "src/cmd/run/run_impl.h"
#include "src/plan/program_plan.h"
#include "src/show/results.h"

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

/* The values of a sweep: --over, and --weak. */
enum { NAMES_MAX = 8 };
static const char weak_example[] = "write --weak n=threads*1024, or --weak 'n^2~threads'";

static int axis_read(struct sweep *sweep, const char *text, size_t *total, struct err *err) {
	const char *equals = strchr(text, '=');
	struct axis *axis = &sweep->axes[sweep->axis_count];
	if (!equals || equals == text)
		return err_set(err, ERR_USAGE, "write --over threads=1,2", "--over %s does not give any values", text);
	if (sweep->axis_count == SWEEP_AXES_MAX)
		return err_set(err, ERR_USAGE, "sweep in several runs", "at most %d parameters can be swept", SWEEP_AXES_MAX);
	char *name = arena_strdup(sweep->arena, text);
	name[equals - text] = '\0';
	axis->name = name;
	if (domain_parse(equals + 1, sweep->arena, &axis->values, &axis->count, err))
		return err_prefix(err, "--over %s", name);
	sweep->axis_count++;
	if (axis->count > SWEEP_ROWS_MAX / *total)
		return err_set(err, ERR_USAGE, "give fewer values, or use `sweetspot tune`",
		               "at most %d combinations can be swept", SWEEP_ROWS_MAX);
	*total *= axis->count;
	return 0;
}

/* SIZE^POWER~PARAM, where ^POWER may be left out. */
static int weak_power_read(struct sweep_weak *weak, char *size, char *param, struct err *err) {
	char *power = strchr(size, '^'), *end = NULL;
	weak->power = 1;
	if (power) {
		*power++ = '\0';
		weak->power = strtod(power, &end);
	}
	if (!*size || !*param || (power && (end == power || *end || !(weak->power >= 1 && weak->power <= 9))))
		return err_set(err, ERR_USAGE, weak_example, "--weak cannot be read");
	weak->size = size;
	weak->param = param;
	return 0;
}

static int weak_read(struct sweep *sweep, const char *text, struct err *err) {
	char *copy = arena_strdup(sweep->arena, text), *tilde = strchr(copy, '~'), *equals = strchr(copy, '=');
	if (tilde) {
		*tilde = '\0';
		return weak_power_read(&sweep->weak, copy, tilde + 1, err);
	}
	if (!equals || equals == copy || !equals[1])
		return err_set(err, ERR_USAGE, weak_example, "--weak %s does not say how the size grows", text);
	*equals = '\0';
	sweep->weak.size = copy;
	sweep->weak.formula = equals + 1;
	struct expr *expr = expr_parse(sweep->weak.formula, err);
	expr_free(expr);
	return expr ? 0 : err_prefix(err, "--weak");
}

/* Reads --over and --weak; the names and values are checked later, against each device's kernel. */
static int sweep_axes_read(struct sweep *sweep, struct err *err) {
	size_t total = 1;
	if (opt_count(sweep->args, "over") == 0)
		return err_set(err, ERR_USAGE, "for example: sweetspot sweep gol --over threads=1,2", "--over is missing");
	for (size_t i = 0; i < opt_count(sweep->args, "over"); i++)
		if (axis_read(sweep, opt_at(sweep->args, "over", i), &total, err))
			return -1;
	const char *weak = opt_get(sweep->args, "weak", NULL);
	return weak ? weak_read(sweep, weak, err) : 0;
}

static const char *axis_word(struct arena *arena, const struct axis *axis, size_t i) {
	char number[64];
	if (axis->values[i].type == VALUE_WORD)
		return arena_printf(arena, "%s=%s", axis->name, axis->values[i].as.w);
	value_text(axis->values[i], number, sizeof number);
	return arena_printf(arena, "%s=%s", axis->name, number);
}

static bool value_known(struct sweep *sweep, const struct sweep_device *device, const struct axis *axis, size_t i,
                        struct err *err) {
	js_auto json_t *problem = json_object(), *config = json_object();
	return params_word(&device->manual.params, axis_word(sweep->arena, axis, i), problem, config, err) == 0;
}

/* An axis without any value on this device is left out there: a team on a GPU, a block of threads on the CPU. */
static void device_axis(struct sweep *sweep, struct sweep_device *device, const struct axis *axis, bool *known,
                        struct err *last) {
	struct axis *own = &device->axes[device->axis_count];
	*own = (struct axis){axis->name, arena_alloc(sweep->arena, axis->count, sizeof *own->values), 0};
	for (size_t i = 0; i < axis->count; i++) {
		struct err err = {0};
		if (value_known(sweep, device, axis, i, &err)) {
			own->values[own->count++] = axis->values[i];
			known[i] = true;
		} else {
			*last = err;
		}
	}
	if (own->count == 0)
		return;
	device->axis_count++;
	device->total *= own->count;
}

static int weak_check(const struct sweep *sweep, struct err *err) {
	const char *param = sweep->weak.param ? sweep->weak.param : "threads";
	bool swept = false, fixed = true;
	if (!sweep->weak.size)
		return 0;
	for (size_t a = 0; a < sweep->axis_count; a++) {
		swept = swept || strcmp(sweep->axes[a].name, param) == 0;
		fixed = fixed && strcmp(sweep->axes[a].name, sweep->weak.size) != 0;
	}
	if (!fixed)
		return err_set(err, ERR_USAGE, "leave it out of --over", "--weak sets %s", sweep->weak.size);
	if (!swept && sweep->weak.param)
		return err_set(err, ERR_USAGE, "for example: --over threads=1,2,4", "--weak needs --over %s", param);
	return 0;
}

/* Keeps of each axis the values that the device's kernel has. ERR_USAGE for a value that no device has; call it after
 * all devices are open. */
static int sweep_axes_check(struct sweep *sweep, struct err *err) {
	for (size_t d = 0; d < sweep->device_count; d++)
		sweep->device[d].total = 1;
	for (size_t a = 0; a < sweep->axis_count; a++) {
		const struct axis *axis = &sweep->axes[a];
		bool *known = arena_alloc(sweep->arena, axis->count, sizeof *known);
		struct err last = {0};
		for (size_t d = 0; d < sweep->device_count; d++)
			device_axis(sweep, &sweep->device[d], axis, known, &last);
		for (size_t i = 0; i < axis->count; i++)
			if (!known[i]) {
				*err = last;
				return -1;
			}
	}
	return weak_check(sweep, err);
}

static double member_number(const json_t *problem, const json_t *config, const char *name) {
	double value = js_real_or(config, name, NAN);
	return isnan(value) ? js_real_or(problem, name, NAN) : value;
}

/* The size given belongs to 1 of the parameter. */
static double weak_size(const struct sweep_weak *weak, const json_t *problem, const json_t *config, struct err *err) {
	if (weak->param)
		return js_real_or(problem, weak->size, NAN) * pow(member_number(problem, config, weak->param), 1 / weak->power);
	struct expr *expr = expr_parse(weak->formula, err);
	struct value values[NAMES_MAX];
	size_t count = expr ? expr_name_count(expr) : 0;
	double size = NAN;
	for (size_t i = 0; i < count && i < NAMES_MAX; i++)
		values[i] = (struct value){.type = VALUE_REAL, .as.r = member_number(problem, config, expr_name(expr, i))};
	struct value out;
	if (expr && count <= NAMES_MAX && expr_eval(expr, values, &out))
		size = value_number(out);
	expr_free(expr);
	return size;
}

static int weak_apply(struct sweep *sweep, struct sweep_device *device, json_t *problem, const json_t *config,
                      struct err *err) {
	const struct sweep_weak *weak = &sweep->weak;
	double size = round(weak_size(weak, problem, config, err));
	if (!isfinite(size))
		return err_set(err, ERR_USAGE, weak_example, "--weak does not give a number for %s", weak->size);
	const char *word = arena_printf(sweep->arena, "%s=%.0f", weak->size, size);
	return params_word(&device->manual.params, word, problem, NULL, err) ? err_prefix(err, "--weak") : 0;
}

/* Adds the values of combination number `row`, in which the last axis varies fastest. */
static int sweep_combination(struct sweep *sweep, struct sweep_device *device, size_t row, json_t *problem,
                             json_t *config, struct err *err) {
	for (size_t a = device->axis_count; a-- > 0;) {
		const struct axis *axis = &device->axes[a];
		const char *word = axis_word(sweep->arena, axis, row % axis->count);
		row /= axis->count;
		if (params_word(&device->manual.params, word, problem, config, err))
			return -1;
	}
	return sweep->weak.size ? weak_apply(sweep, device, problem, config, err) : 0;
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
		sweep_show(&sweep);
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
