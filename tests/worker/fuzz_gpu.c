/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of libsweetspot-cuda with any content give JSON that keeps what doc/protocol.md promises. A record has 700
 * kB, so the bytes are steps that fill one: a kind, a place, a value. The test `gpu_records` calls this with random
 * steps, `make fuzz` runs it as a target of libFuzzer, where one input in 16 is written as JSON, and one in 256 keeps
 * mangled symbols, because a process of its own reads them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/text.h"
#include "tests/fuzz.h"
#include "worker/gpu/work.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FEW = 8, SPANS = 64, RECORDS = 6 };

struct input {
	const uint8_t *at, *end;
};

static void require(bool condition) {
	if (!condition)
		abort();
}

static uint8_t byte(struct input *input) {
	return input->at < input->end ? *input->at++ : 0;
}

/* Small numbers, limits and their neighbours, or any eight bytes. */
static uint64_t number(struct input *input) {
	static const uint64_t limits[] = {CUDA_FUNCTIONS, CUDA_DEVICES, CUDA_RANGES, CUDA_METRICS,      CUDA_SPANS,
	                                  INT16_MAX,      UINT16_MAX,   INT32_MAX,   UINT32_MAX,        INT64_MAX,
	                                  UINT64_MAX,     GPU_INDEX,    CUDA_WAYS,   CUDA_FUNCTIONS + 3};
	uint8_t kind = byte(input);
	uint64_t value = 0;
	if (kind < 128)
		return kind;
	if (kind < 240)
		return limits[kind % (sizeof limits / sizeof *limits)] + (uint64_t)((kind >> 4) % 3) - 1;
	for (int i = 0; i < 8; i++)
		value = value << 8 | byte(input);
	return value;
}

static void text(struct input *input, char *to, size_t size) {
	size_t length = byte(input);
	if (length == 255) { /* without an end */
		memset(to, 'f', size);
		return;
	}
	for (size_t i = 0; i < length && i < size; i++)
		to[i] = (char)byte(input);
}

static void header_set(struct input *input, struct cuda_record *raw) {
	uint32_t *const small[] = {&raw->function_count, &raw->range_count, &raw->metric_count, &raw->passes,
	                           &raw->cupti,          &raw->ended,       &raw->range_room,   &raw->size};
	uint64_t *const large[] = {&raw->begun_ns, &raw->first_ns,  &raw->last_ns,    &raw->dropped,  &raw->untimed,
	                           &raw->others,   &raw->others_ns, &raw->span_count, &raw->span_room};
	size_t field = byte(input) % (sizeof small / sizeof *small + sizeof large / sizeof *large);
	if (field < sizeof small / sizeof *small)
		*small[field] = (uint32_t)number(input);
	else
		*large[field - sizeof small / sizeof *small] = number(input);
}

static void function_set(struct input *input, struct cuda_function *f) {
	size_t bin = byte(input) % CUDA_SIZES;
	uint64_t *const large[] = {&f->calls, &f->ns, &f->least_ns, &f->most_ns, &f->launched[bin], &f->counted[bin]};
	uint32_t *const small[] = {&f->grid[0],        &f->grid[1],     &f->block[0], &f->block[1],
	                           &f->block[2],       &f->registers,   &f->device,   &f->shared_static,
	                           &f->shared_dynamic, &f->local_bytes, &f->grids,    &f->blocks};
	size_t field = byte(input) % (sizeof small / sizeof *small + sizeof large / sizeof *large + 1);
	if (field == 0)
		text(input, f->symbol, sizeof f->symbol);
	else if (field <= sizeof large / sizeof *large)
		*large[field - 1] = number(input);
	else
		*small[field - 1 - sizeof large / sizeof *large] = (uint32_t)number(input);
}

static void device_set(struct input *input, struct cuda_device *device) {
	size_t field = byte(input) % 11;
	if (field == 10)
		text(input, device->name, sizeof device->name);
	else
		(&device->major)[field] = (uint32_t)number(input);
}

static void copies_set(struct input *input, struct cuda_copies *copies) {
	(&copies->count)[byte(input) % 6] = number(input);
}

static void range_set(struct input *input, struct cuda_range *range) {
	static const double values[] = {0, 1, -1, NAN, INFINITY, 1e308, -1e308, 5e-324};
	range->function = (uint32_t)number(input);
	range->settled = byte(input) & 1;
	range->launch = number(input);
	for (size_t i = 0; i < CUDA_METRICS; i++)
		range->values[i] = values[byte(input) % 8];
}

static void span_set(struct input *input, struct cuda_span *span) {
	span->start_ns = number(input);
	span->end_ns = span->start_ns + number(input);
	span->function = (uint16_t)number(input);
	span->device = byte(input) % (CUDA_DEVICES + 1);
}

static void step(struct input *input, struct cuda_record *raw, struct cuda_span *spans) {
	uint8_t kind = byte(input), at = byte(input);
	switch (kind % 7) {
	case 0:
		header_set(input, raw);
		break;
	case 1:
		function_set(input, &raw->functions[at % FEW]);
		break;
	case 2:
		device_set(input, &raw->devices[at % CUDA_DEVICES]);
		break;
	case 3:
		copies_set(input, &raw->copies[at % CUDA_WAYS]);
		break;
	case 4:
		range_set(input, &raw->ranges[at % FEW]);
		break;
	case 5:
		span_set(input, &spans[at % SPANS]);
		break;
	default:
		text(input, raw->failure, sizeof raw->failure);
	}
}

static void mangled_clear(struct cuda_record *raw) {
	for (size_t i = 0; i < FEW; i++)
		if (demangle_is_needed(raw->functions[i].symbol))
			raw->functions[i].symbol[0] = '\0';
}

/* Only what the steps can reach was changed. */
static void raw_clear(struct cuda_record *raw) {
	memset(raw, 0, offsetof(struct cuda_record, ranges));
	memset(raw->ranges, 0, FEW * sizeof *raw->ranges);
	memset(raw->functions, 0, FEW * sizeof *raw->functions);
	memcpy(raw->magic, CUDA_RECORD_MAGIC, sizeof raw->magic);
	raw->size = sizeof *raw;
	raw->function_count = 3;
	raw->metric_count = 2;
	raw->span_room = raw->span_count = SPANS;
}

static void check_text(const json_t *text) {
	const char *at = json_string_value(text);
	require(at != NULL);
	for (size_t length; *at; at += length) {
		length = text_utf8(at, strlen(at));
		require(length > 0 && (length > 1 || ((unsigned char)*at >= ' ' && *at != 0x7f)));
	}
}

static void check_functions(const struct gpu_work *work, const json_t *json) {
	size_t i, called = 0;
	json_t *row;
	for (i = 0; i < work->function_count; i++)
		called += work->functions[i].facts.calls > 0;
	require(json_array_size(json_object_get(json, "functions")) == called);
	json_array_foreach(json_object_get(json, "functions"), i, row) {
		double share = js_real_or(row, "occupancy", 0);
		check_text(json_object_get(row, "name"));
		check_text(json_object_get(row, "symbol"));
		require(share >= 0 && js_real_or(row, "seconds", -1) >= 0);
	}
}

static void check_spans(const struct gpu_work *work) {
	for (size_t i = 0; i < work->span_count; i++) {
		const struct cuda_span *span = &work->spans[i];
		require(span->function == UINT16_MAX || span->function < CUDA_WAYS + work->function_count);
		require(i == 0 || span[-1].device < span->device ||
		        (span[-1].device == span->device && span[-1].start_ns <= span->start_ns));
	}
	for (size_t i = 0; i < work->range_count; i++)
		require(work->ranges[i].function < work->function_count);
}

static void check_devices(const json_t *json) {
	json_t *device, *gap;
	size_t i, k;
	json_array_foreach(json_object_get(json, "devices"), i, device) {
		double busy = js_real_or(device, "busy_s", -1);
		require(busy >= 0 && js_real_or(device, "kernels_s", -1) >= 0);
		require(busy <= js_real_or(device, "span_s", -1) * (1 + 1e-9) + 1e-9);
		json_array_foreach(json_object_get(device, "gaps"), k, gap) {
			check_text(json_object_get(gap, "after"));
			check_text(json_object_get(gap, "before"));
		}
	}
}

static void check_counts(const struct gpu_work *work, json_t *json) {
	static const struct counter_backend cupti = {.name = "cupti"}, rusage = {.name = "rusage"};
	struct counter_event events[] = {{.name = "a", .backend = &cupti, .event = "sm__cycles_active.max"},
	                                 {.name = "b", .backend = &rusage, .event = "x"},
	                                 {.name = "c", .backend = &cupti, .event = "dram__bytes.sum"},
	                                 {.name = "d", .backend = NULL}};
	const struct counter_plan plan = {.events = events, .event_count = sizeof events / sizeof *events};
	double totals[sizeof events / sizeof *events];
	gpu_counts_add(json, work, &plan, NULL, totals);
	char *written = json_dumps(json, JSON_COMPACT);
	require(written != NULL);
	free(written);
}

static void check_work(const struct gpu_work *work) {
	struct err err = {0};
	double seconds;
	size_t i;
	json_t *json = gpu_work_json(work), *note;
	require(json != NULL);
	check_functions(work, json);
	check_devices(json);
	json_array_foreach(json_object_get(json, "notes"), i, note) check_text(note);
	require(gpu_work_kernel(work, "f", &seconds, &err) == 0 || err.code == ERR_FAILED);
	require(seconds >= 0);
	check_counts(work, json);
	json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static struct cuda_record raw;
	struct cuda_span spans[SPANS] = {{0}};
	struct input input = {data, data + size};
	struct gpu_work *work = gpu_work_new();
	for (int i = 0; i < RECORDS && input.at < input.end; i++) {
		raw_clear(&raw);
		while (input.at < input.end && *input.at != 255)
			step(&input, &raw, spans);
		byte(&input);
		size_t count = raw.span_count < raw.span_room ? (size_t)raw.span_count : (size_t)raw.span_room;
		if (!gpu_record_check(&raw))
			continue;
		if (!fuzz_one_in(256, data, size))
			mangled_clear(&raw);
		gpu_record_add(work, &raw, spans, count < SPANS ? count : SPANS);
	}
	gpu_records_end(work);
	check_spans(work);
	if (fuzz_one_in(16, data, size))
		check_work(work);
	gpu_work_free(work);
	return 0;
}
