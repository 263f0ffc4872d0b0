/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "src/show/columns.h"
#include "src/show/results.h"

/* "32x8", "256" */
static char *shape_text(const json_t *shape, double *number) {
	long long x = json_integer_value(json_array_get(shape, 0)), y = json_integer_value(json_array_get(shape, 1)),
			  z = json_integer_value(json_array_get(shape, 2));
	(void)number;
	return z > 1   ? mem_printf("%lldx%lldx%lld", x, y, z)
	       : y > 1 ? mem_printf("%lldx%lld", x, y)
	               : mem_printf("%lld", x);
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
	static const struct column columns[] = {COLUMN("GPU function", "function", .absent = "?"),
	                                        COLUMN("\1grid", "grid", .text = shape_text),
	                                        COLUMN("\1block", "block", .text = shape_text),
	                                        NUMBER("\1registers", "registers", "%.0f", 1), /* OpenCL does not tell */
	                                        COLUMN("\1shared", "shared_bytes", .text = column_bytes),
	                                        COLUMN("\1spills", "spill_bytes", .text = column_bytes),
	                                        NUMBER("\1occupancy", "occupancy", "%.0f %%", 100),
	                                        COLUMN("limited by", "limiter"),
	                                        {0}};
	if (!json_is_object(gpu))
		return;
	clock_print(gpu, out);
	columns_print(ui, columns, json_object_get(gpu, "kernels"), out);
}
