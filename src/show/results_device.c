/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "src/show/results.h"

enum { CELL = 48 };

/* "32x8", "256" */
static void shape_text(const json_t *shape, char *text, size_t size) {
	long long x = json_integer_value(json_array_get(shape, 0)), y = json_integer_value(json_array_get(shape, 1)),
			  z = json_integer_value(json_array_get(shape, 2));
	if (z > 1)
		snprintf(text, size, "%lldx%lldx%lld", x, y, z);
	else if (y > 1)
		snprintf(text, size, "%lldx%lld", x, y);
	else
		snprintf(text, size, "%lld", x);
}

static void row_add(struct table *table, const json_t *kernel) {
	char registers[CELL], shared[CELL], spills[CELL], block[CELL], grid[CELL], occupancy[CELL];
	double share = js_real_or(kernel, "occupancy", NAN);
	bool known = json_is_integer(json_object_get(kernel, "registers")); /* OpenCL does not tell */
	bool spilled = json_is_integer(json_object_get(kernel, "spill_bytes"));
	snprintf(registers, CELL, known ? "%lld" : "-", (long long)js_int_or(kernel, "registers", 0));
	ui_bytes(js_real_or(kernel, "shared_bytes", 0), shared, CELL);
	ui_bytes(js_real_or(kernel, "spill_bytes", 0), spills, CELL);
	if (!spilled)
		snprintf(spills, CELL, "-");
	shape_text(json_object_get(kernel, "block"), block, CELL);
	shape_text(json_object_get(kernel, "grid"), grid, CELL);
	snprintf(occupancy, CELL, isfinite(share) ? "%.0f %%" : "-", 100 * share);
	table_add(table, js_string_or(kernel, "function", "?"), grid, block, registers, shared, spills, occupancy,
	          js_string_or(kernel, "limiter", "-"));
}

static void clock_print(const json_t *gpu, FILE *out) {
	double mhz = js_real_or(gpu, "sm_mhz", NAN), most = js_real_or(gpu, "sm_mhz_max", NAN);
	double celsius = js_real_or(gpu, "temperature_c", NAN), watts = js_real_or(gpu, "power_w", NAN);
	const char *throttle = js_string_or(gpu, "throttle", "");
	const char *platform = js_string_or(gpu, "platform", NULL);
	fprintf(out, "%s (%s%s%s:%lld)", js_string_or(gpu, "name", "GPU"), platform ? platform : "", platform ? ", " : "",
	        worker_device_kind(gpu), (long long)js_int_or(gpu, "index", 0));
	if (mhz > 0)
		fprintf(out, most > 0 ? ", %.0f of %.0f MHz" : ", %.0f MHz", mhz, most);
	if (celsius > 0)
		fprintf(out, ", %.0f C", celsius);
	if (watts > 0)
		fprintf(out, ", %.0f W", watts);
	fprintf(out, *throttle ? ", slowed down by: %s\n" : "\n", throttle);
}

void results_device_print(struct ui *ui, const json_t *gpu, FILE *out) {
	static const char *const titles[] = {"GPU function", "\1grid",   "\1block",     "\1registers",
	                                     "\1shared",     "\1spills", "\1occupancy", "limited by"};
	const json_t *kernels = json_object_get(gpu, "kernels");
	if (!json_is_object(gpu))
		return;
	clock_print(gpu, out);
	if (json_array_size(kernels) == 0)
		return;
	struct table *table = table_new(sizeof titles / sizeof *titles, titles);
	js_each (kernel, kernels)
		row_add(table, kernel);
	table_end(table, ui, out);
}
