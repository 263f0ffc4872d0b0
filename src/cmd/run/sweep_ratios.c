/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ratios between the rows of a sweep: speedup over the serial code, strong and weak scaling. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "base/json/js.h"
#include "src/cmd/run/sweep.h"

/* Members that only one side has do not count: a GPU's kernel may have more of them. */
static bool agrees(const json_t *a, const json_t *b, const char *but, const char *but_too) {
	const char *name;
	json_t *value;
	json_object_foreach((json_t *)a, name, value) {
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
	size_t i;
	json_t *serial;
	json_array_foreach(sweep->serials, i, serial) {
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
	size_t i;
	json_t *other;
	json_array_foreach(sweep->rows, i, other) {
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

void sweep_ratios(struct sweep *sweep) {
	const char *param = sweep->weak.param ? sweep->weak.param : "threads";
	bool scales = sweep->weak.size || is_swept(sweep, param);
	size_t i;
	json_t *row;
	json_array_foreach(sweep->rows, i, row) {
		serial_add(sweep, row);
		if (scales)
			scaling_add(sweep, row, param);
	}
}
