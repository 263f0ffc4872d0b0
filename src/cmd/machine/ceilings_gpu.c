/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ceilings of a GPU: every block size that the kernel offers gets a brief look, and only the best one is measured.
 */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "src/cmd/machine/ceilings.h"

enum { VALUES_MAX = 16, PARTS_MAX = 1 << 20 };
static const double MEMORY_BYTES = 0x1p32, L2_BYTES = 0x1p24, TRANSFER_BYTES = 0x1p28;

struct plan {
	struct ceiling_item *items;
	size_t count;
	const char *device;
	double memory, l2;
	long long parts; /* divides the work, and leaves only one block size: for tests */
	int blocks[VALUES_MAX], per_sm[VALUES_MAX];
	size_t block_count, per_sm_count;
};

static double least(double a, double b) {
	return a < b ? a : b;
}

/* Returns 0 if the memory is too small for its rate to differ from the cache's, or if the size of the cache is unknown.
 */
static double bytes_of(const struct plan *plan, const struct ceiling_gpu *gpu) {
	double fits = plan->memory / 4;
	if (!gpu->level)
		return least(TRANSFER_BYTES, fits);
	if (strcmp(gpu->level, "l2") == 0)
		return least(least(L2_BYTES, plan->l2 / 2), fits);
	double bytes = least(MEMORY_BYTES, fits);
	return bytes >= 2 * plan->l2 ? bytes : 0;
}

static void add(struct plan *plan, const struct ceiling_gpu *gpu, long long n, int block, int per_sm) {
	plan->items = mem_grow(plan->items, plan->count + 1, sizeof *plan->items);
	plan->items[plan->count++] = (struct ceiling_item){.kind = &gpu->kind,
	                                                   .level = gpu->level,
	                                                   .device = plan->device,
	                                                   .block = block,
	                                                   .per_sm = per_sm,
	                                                   .n = n,
	                                                   .value = NAN};
}

static void gpu_add(struct plan *plan, const struct ceiling_gpu *gpu) {
	long long n = (gpu->kind.n ? gpu->kind.n : (long long)bytes_of(plan, gpu)) / plan->parts;
	if (n < 1 && gpu->kind.n == 0)
		return;
	n = n < 1 ? 1 : n;
	if (!gpu->launched)
		add(plan, gpu, n, 0, 0);
	for (size_t b = 0; gpu->launched && b < plan->block_count; b++)
		for (size_t p = 0; p < plan->per_sm_count; p++)
			add(plan, gpu, n, plan->blocks[b], plan->per_sm[p]);
}

/* Reads numbers such as "128,256", at most `room` of them. */
static size_t numbers_read(const char *text, int *numbers, size_t room) {
	size_t count = 0;
	for (char *end; text && *text && count < room; text = *end ? end + 1 : end) {
		long number = strtol(text, &end, 10);
		if (end == text || number < 1 || number > PARTS_MAX)
			break;
		numbers[count++] = (int)number;
	}
	return count;
}

static size_t values_of(const struct kernel_desc *kernel, const char *name, int *numbers) {
	for (size_t i = 0; i < kernel->param_count; i++)
		if (strcmp(kernel->params[i].name, name) == 0)
			return numbers_read(kernel->params[i].values, numbers, VALUES_MAX);
	return 0;
}

static long long parts_read(void) {
	int parts = 1;
	numbers_read(getenv("SWEETSPOT_CEILINGS_PART"), &parts, 1);
	return parts;
}

struct ceiling_item *ceilings_gpu_plan(struct app *app, size_t *count, struct err *err) {
	const json_t *gpu = app_gpu(app, err);
	const struct kernel_list *kernels = gpu ? app_kernels(app, err) : NULL;
	const struct kernel_desc *kernel = kernels ? kernel_list_find(kernels, "ceiling", app_device_kind(app), err) : NULL;
	if (!kernel)
		return NULL;
	struct plan plan = {.device = app_device(app),
	                    .memory = js_real_or(gpu, "memory_bytes", 0),
	                    .l2 = js_real_or(gpu, "l2_bytes", 0),
	                    .parts = parts_read()};
	plan.block_count = values_of(kernel, "block", plan.blocks);
	plan.per_sm_count = values_of(kernel, "per_sm", plan.per_sm);
	if (plan.parts > 1)
		plan.block_count = plan.per_sm_count = 1;
	for (const struct ceiling_gpu *one = ceiling_gpus; one->kind.name; one++)
		gpu_add(&plan, one);
	*count = plan.count;
	return plan.items;
}

static bool same_ceiling(const struct ceiling_item *a, const struct ceiling_item *b) {
	return a->kind == b->kind;
}

size_t ceilings_gpu_best(struct ceiling_item *items, size_t count) {
	size_t kept = 0;
	for (size_t i = 0, next; i < count; i = next) {
		size_t best = i;
		for (next = i + 1; next < count && same_ceiling(&items[i], &items[next]); next++)
			if (ceiling_better(items[next].kind, items[next].value, items[best].value))
				best = next;
		struct ceiling_item item = items[best];
		bool measured = !isnan(item.value);
		for (size_t k = i; k < next; k++)
			json_decref(items[k].samples);
		item.value = NAN;
		item.samples = NULL;
		item.disturbed = false;
		if (measured)
			items[kept++] = item;
	}
	return kept;
}
