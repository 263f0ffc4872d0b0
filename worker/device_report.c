/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "worker/device_report.h"

#include "base/json/js.h"
#include "worker/kernel/word.h"

enum { LAUNCHED_MAX = 64 };

double device_watch(struct gpu *gpu) {
	if (!gpu) {
		return 0;
	}
	gpu_launches_forget(gpu);
	return gpu_compile_seconds(gpu);
}

static json_t *triple(const unsigned size[3]) {
	return json_pack("[i, i, i]", (int)size[0], (int)size[1], (int)size[2]);
}

/* OpenCL does not tell registers, and only CUDA's compiler tells spills. */
static json_t *launched_json(const struct gpu_launched *launched, enum gpu_kind kind) {
	const struct gpu_function_facts *facts = &launched->facts;
	return json_pack(
		"{s:o, s:o, s:I, s:i, s:o, s:o, s:o, s:I, s:o, s:o}", "function", word_clean_json(launched->function),
		"registers", kind == GPU_OPENCL ? json_null() : json_integer(facts->registers), "shared_bytes",
		(json_int_t)facts->shared_bytes + launched->shape.shared, "local_bytes", facts->local_bytes, "spill_bytes",
		kind == GPU_CUDA ? json_integer(facts->spill_bytes) : json_null(), "block", triple(launched->shape.block),
		"grid", triple(launched->shape.grid), "launches", (json_int_t)launched->launches, "occupancy",
		js_number(launched->occupancy), "limiter", word_or_null(launched->limiter));
}

/* Each function once for each shape; launches in further shapes are left out. */
static json_t *launches_json(const struct gpu *gpu) {
	struct gpu_launched launched[LAUNCHED_MAX];
	size_t count = gpu_launches(gpu, launched, LAUNCHED_MAX);
	json_t *array = json_array();
	for (size_t i = 0; i < count && i < LAUNCHED_MAX; i++) {
		json_array_append_new(array, launched_json(&launched[i], gpu_facts(gpu)->kind));
	}
	return array;
}

json_t *device_report(struct gpu *gpu, const struct gpu_health *health, double compiled_s, int64_t runs) {
	const struct gpu_facts *facts = gpu_facts(gpu);
	char throttle[160];
	gpu_throttle_words(health->throttle, throttle, sizeof throttle);
	json_t *json = json_pack("{s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:I, s:o}", "name",
	                         word_clean_json(facts->name), "index", facts->index, "sm_mhz", js_number(health->sm_mhz),
	                         "sm_mhz_max", js_number(health->sm_mhz_max), "memory_mhz", js_number(health->memory_mhz),
	                         "temperature_c", js_number(health->temperature_c), "power_w", js_number(health->power_w),
	                         "throttle", word_clean_json(throttle), "compile_s", gpu_compile_seconds(gpu) - compiled_s,
	                         "runs", (json_int_t)runs, "kernels", launches_json(gpu));
	if (facts->platform[0]) {
		json_object_set_new(json, "platform", word_clean_json(facts->platform));
	}
	return json;
}
