/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values of a sweep: --over, and --weak. */
#include <math.h>

#include "base/expr/expr.h"
#include "base/json/js.h"
#include "src/cmd/run/run_impl.h"
#include "tuner/space/space.h"

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

int sweep_axes_read(struct sweep *sweep, struct err *err) {
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
	int bad = params_word(&device->manual.params, axis_word(sweep->arena, axis, i), problem, config, err);
	return bad == 0;
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

int sweep_axes_check(struct sweep *sweep, struct err *err) {
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

int sweep_combination(struct sweep *sweep, struct sweep_device *device, size_t row, json_t *problem, json_t *config,
                      struct err *err) {
	for (size_t a = device->axis_count; a-- > 0;) {
		const struct axis *axis = &device->axes[a];
		const char *word = axis_word(sweep->arena, axis, row % axis->count);
		row /= axis->count;
		if (params_word(&device->manual.params, word, problem, config, err))
			return -1;
	}
	return sweep->weak.size ? weak_apply(sweep, device, problem, config, err) : 0;
}
