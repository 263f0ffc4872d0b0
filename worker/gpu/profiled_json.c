/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <math.h>

#include "base/json/js.h"
#include "worker/gpu/work.h"

/* When a device worked: kernels and copies of several streams overlap, so times are those of their union. */
struct sweep {
	uint64_t busy_ns, kernels_ns, until_ns, kernels_until_ns;
	size_t last; /* the span that ends at until_ns */
};

/* Keeps the longest, sorted. Returns how many there are now. */
static size_t gap_keep(struct gpu_gap *gaps, size_t count, size_t most, const struct gpu_gap *gap) {
	size_t at = count;
	while (at > 0 && gaps[at - 1].ns < gap->ns)
		at--;
	if (at == most)
		return count;
	count += count < most;
	memmove(&gaps[at + 1], &gaps[at], (count - at - 1) * sizeof *gaps);
	gaps[at] = *gap;
	return count;
}

/* The part of the span that lies after `until`. */
static uint64_t beyond(const struct cuda_span *span, uint64_t *until) {
	uint64_t from = span->start_ns > *until ? span->start_ns : *until;
	uint64_t ns = span->end_ns > from ? span->end_ns - from : 0;
	*until = span->end_ns > *until ? span->end_ns : *until;
	return ns;
}

size_t gpu_busy_find(const struct cuda_span *spans, size_t count, struct gpu_busy *busy, struct gpu_gap *gaps,
                     size_t most) {
	struct sweep sweep = {.busy_ns = 0};
	size_t found = 0;
	for (size_t i = 0; i < count; i++) {
		const struct cuda_span *span = &spans[i];
		if (i > 0 && span->start_ns > sweep.until_ns) {
			const struct gpu_gap gap = {span->start_ns - sweep.until_ns, sweep.until_ns, sweep.last, i};
			found = gap_keep(gaps, found, most, &gap);
		}
		if (span->function >= CUDA_WAYS)
			sweep.kernels_ns += beyond(span, &sweep.kernels_until_ns);
		sweep.last = span->end_ns >= sweep.until_ns ? i : sweep.last;
		sweep.busy_ns += beyond(span, &sweep.until_ns);
	}
	*busy = (struct gpu_busy){.busy_s = 1e-9 * (double)sweep.busy_ns, .kernels_s = 1e-9 * (double)sweep.kernels_ns};
	if (count > 0)
		busy->span_s = 1e-9 * (double)(sweep.until_ns - spans[0].start_ns);
	return found;
}

enum {
	GAPS = 5,
	REGISTERS_MAX = 1024 /* of a thread; 255 today */,
	WARP = 32,
	SHARED_RESERVED = 1024 /* of each block, by the driver, from 8.0 on */
};

static const char *const ways[CUDA_WAYS] = {"to device", "to host", "on device", "between devices", "on host", "fill"};
static const char *const copies[CUDA_WAYS] = {"copy to device",       "copy to host", "copy on device",
                                              "copy between devices", "copy on host", "fill"};

static json_t *seconds(uint64_t ns) {
	return json_real(1e-9 * (double)ns);
}

static json_t *shape(const uint32_t size[3]) {
	return json_pack("[I, I, I]", (json_int_t)size[0], (json_int_t)size[1], (json_int_t)size[2]);
}

/* Products of these numbers must fit, and the record may be made up. */
static bool is_plausible(const struct cuda_device *device) {
	return device->warps_per_sm > 0 && device->warps_per_sm <= INT16_MAX && device->blocks_per_sm <= INT16_MAX &&
	       device->threads_per_block <= UINT16_MAX && device->registers_per_sm <= INT32_MAX &&
	       device->registers_per_block <= INT32_MAX && device->shared_per_sm <= INT32_MAX;
}

/* NAN if the record of the device is missing. */
static double occupancy(const struct gpu_work *work, const struct cuda_function *function, const char **limiter) {
	const struct cuda_device *device = &work->devices[function->device < CUDA_DEVICES ? function->device : 0];
	const uint64_t threads = (uint64_t)function->block[0] * function->block[1] * function->block[2];
	*limiter = NULL;
	if (!is_plausible(device) || threads == 0 || threads > device->threads_per_block ||
	    function->registers > REGISTERS_MAX || function->shared_static > INT32_MAX)
		return NAN;
	const struct gpu_facts facts = {.major = (int)device->major,
	                                .threads_per_sm = (int)device->warps_per_sm * WARP,
	                                .blocks_per_sm = (int)device->blocks_per_sm,
	                                .registers_per_sm = (int)device->registers_per_sm,
	                                .registers_per_block = (int)device->registers_per_block,
	                                .threads_per_block = (int)device->threads_per_block,
	                                .shared_per_sm = (int)device->shared_per_sm,
	                                .shared_per_block = (int)device->shared_per_sm,
	                                .shared_reserved = device->major >= 8 ? SHARED_RESERVED : 0};
	const struct gpu_function_facts code = {.registers = (int)function->registers,
	                                        .shared_bytes = (int)function->shared_static};
	return gpu_occupancy_of(&facts, &code, (unsigned)threads, function->shared_dynamic, limiter);
}

static json_t *function_json(const struct gpu_work *work, const struct gpu_function_work *one) {
	const struct cuda_function *f = &one->facts;
	const char *limiter;
	double share = occupancy(work, f, &limiter);
	json_t *json = json_pack(
		"{s:o, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:I, s:I, s:I, s:I, s:o}", "name", js_text(one->name),
		"symbol", f->symbol, "calls", (json_int_t)f->calls, "seconds", seconds(f->ns), "least", seconds(f->least_ns),
		"mean", js_number(1e-9 * (double)f->ns / (double)f->calls), "most", seconds(f->most_ns), "grid", shape(f->grid),
		"block", shape(f->block), "grid_varies", f->grids != 0, "block_varies", f->blocks != 0, "registers",
		(json_int_t)f->registers, "shared_static", (json_int_t)f->shared_static, "shared_dynamic",
		(json_int_t)f->shared_dynamic, "local_bytes", (json_int_t)f->local_bytes, "occupancy", js_number(share));
	if (json && limiter)
		json_object_set_new(json, "limited_by", json_string(limiter));
	return json;
}

static json_t *functions_json(const struct gpu_work *work) {
	json_t *rows = json_array();
	for (size_t i = 0; i < work->function_count; i++)
		if (work->functions[i].facts.calls > 0)
			json_array_append_new(rows, function_json(work, &work->functions[i]));
	return rows;
}

static json_t *copies_json(const struct gpu_work *work) {
	json_t *rows = json_array();
	for (size_t i = 0; i < CUDA_WAYS; i++) {
		const struct cuda_copies *c = &work->copies[i];
		if (c->count > 0)
			json_array_append_new(rows, json_pack("{s:s, s:I, s:I, s:o, s:I, s:I, s:o}", "way", ways[i], "count",
			                                      (json_int_t)c->count, "bytes", (json_int_t)c->bytes, "seconds",
			                                      seconds(c->ns), "pageable", (json_int_t)c->pageable, "pageable_bytes",
			                                      (json_int_t)c->pageable_bytes, "pageable_seconds",
			                                      seconds(c->pageable_ns)));
	}
	return rows;
}

static const char *span_name(const struct gpu_work *work, const struct cuda_span *span) {
	if (span->function < CUDA_WAYS)
		return copies[span->function];
	size_t i = (size_t)span->function - CUDA_WAYS;
	return i < work->function_count ? work->functions[i].name : "?";
}

static json_t *gaps_json(const struct gpu_work *work, const struct cuda_span *spans, const struct gpu_gap *gaps,
                         size_t count) {
	json_t *rows = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(rows, json_pack("{s:o, s:o, s:o, s:o}", "seconds", seconds(gaps[i].ns), "at",
		                                      seconds(gaps[i].start_ns - work->first_ns), "after",
		                                      js_text(span_name(work, &spans[gaps[i].before])), "before",
		                                      js_text(span_name(work, &spans[gaps[i].after]))));
	return rows;
}

static json_t *device_json(const struct gpu_work *work, const struct cuda_span *spans, size_t count) {
	const struct cuda_device *device = &work->devices[spans[0].device];
	struct gpu_gap gaps[GAPS];
	struct gpu_busy busy;
	size_t found = gpu_busy_find(spans, count, &busy, gaps, GAPS);
	return json_pack("{s:i, s:o, s:f, s:f, s:f, s:o}", "device", (int)spans[0].device, "name", js_text(device->name),
	                 "span_s", busy.span_s, "busy_s", busy.busy_s, "kernels_s", busy.kernels_s, "gaps",
	                 gaps_json(work, spans, gaps, found));
}

static json_t *devices_json(const struct gpu_work *work) {
	json_t *rows = json_array();
	for (size_t from = 0, to; from < work->span_count; from = to) {
		for (to = from; to < work->span_count && work->spans[to].device == work->spans[from].device; to++)
			;
		json_array_append_new(rows, device_json(work, work->spans + from, to - from));
	}
	return rows;
}

__attribute__((format(printf, 3, 4))) static void note_if(json_t *notes, uint64_t number, const char *format, ...) {
	va_list ap;
	if (number == 0)
		return;
	va_start(ap, format);
	json_array_append_new(notes, json_vsprintf(format, ap));
	va_end(ap);
}

static json_t *notes_json(const struct gpu_work *work) {
	json_t *notes = json_copy(work->notes);
	note_if(
		notes, work->processes == 0,
		"the program did not use CUDA: none of its processes initialised the driver, or they run with other rights");
	note_if(notes, work->failure[0] != '\0', "%s", work->failure);
	note_if(notes, work->unended, "%zu of its processes did not end by themselves, so their last work may be missing",
	        work->unended);
	note_if(notes, work->dropped, "CUPTI dropped %" PRIu64 " records", work->dropped);
	note_if(notes, work->untimed, "%" PRIu64 " kernels have no times, because the GPU did not finish them",
	        work->untimed);
	note_if(notes, work->others, "%" PRIu64 " calls of further functions took %.3g s", work->others,
	        1e-9 * (double)work->others_ns);
	note_if(notes, work->spans_lost, "the GPU's busy times do not include the last %" PRIu64 " kernels and copies",
	        work->spans_lost);
	return notes;
}

json_t *gpu_work_json(const struct gpu_work *work) {
	double span = work->last_ns > work->first_ns ? 1e-9 * (double)(work->last_ns - work->first_ns) : 0;
	return json_pack("{s:I, s:f, s:o, s:o, s:o, s:o}", "processes", (json_int_t)work->processes, "span_s", span,
	                 "functions", functions_json(work), "copies", copies_json(work), "devices", devices_json(work),
	                 "notes", notes_json(work));
}
