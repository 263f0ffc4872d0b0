/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is measured on GPUs of other sizes, and which of several blocks is kept. */
#include <math.h>
#include <stdlib.h>

#include "src/cmd/machine/ceilings.h"
#include "tests/tap.h"

/* What src/app/app.c and tuner/worker/kernel_desc.c have, without a GPU behind it. */
static json_t *gpu;
static struct kernel_param params[] = {{.name = "block", .values = "128,256"}, {.name = "per_sm", .values = "1,2,x"}};
static const struct kernel_desc kernel = {.name = "ceiling", .params = params, .param_count = 2};
static bool known = true;

const json_t *app_gpu(struct app *app, struct err *err) {
	(void)app;
	(void)err;
	return gpu;
}
const struct kernel_list *app_kernels(struct app *app, struct err *err) {
	(void)app;
	(void)err;
	return (const struct kernel_list *)&kernel;
}
const struct kernel_desc *kernel_list_find(const struct kernel_list *list, const char *name, const char *device,
                                           struct err *err) {
	(void)list;
	if (!known)
		err_set(err, ERR_USAGE, NULL, "no kernel %s on %s", name, device);
	return known ? &kernel : NULL;
}
const char *app_device(const struct app *app) {
	(void)app;
	return "cuda:1";
}
const char *app_device_kind(const struct app *app) {
	(void)app;
	return "cuda";
}
bool ceiling_better(const struct ceiling_kind *kind, double value, double than) {
	(void)kind;
	return isfinite(value) && (isnan(than) || value > than);
}

static struct ceiling_item *plan_of(double memory, double l2, size_t *count, struct err *err) {
	json_decref(gpu);
	gpu = json_pack("{s:f,s:f}", "memory_bytes", memory, "l2_bytes", l2);
	*count = 0;
	return ceilings_gpu_plan(NULL, count, err);
}

static long long bytes_of(const struct ceiling_item *items, size_t count, const char *name, const char *level) {
	for (size_t i = 0; i < count; i++)
		if (strcmp(items[i].kind->name, name) == 0 &&
		    (!level || (items[i].level && strcmp(items[i].level, level) == 0)))
			return items[i].n;
	return 0;
}

static void sizes_test(void) {
	static const struct {
		const char *what;
		double memory, l2;
		long long dram, cache, transfer;
	} rows[] = {
		{"a large GPU", 80e9, 50 << 20, 1LL << 32, 1 << 24, 1 << 28},
		{"a small one", 0x1p31, 4 << 20, 1LL << 29, 2 << 20, 1 << 28},
		{"one whose memory is hardly larger than its cache", 64 << 20, 32 << 20, 0, 1 << 24, 1 << 24},
		{"one that does not tell its cache", 0x1p33, 0, 1LL << 31, 0, 1 << 28},
		{"one that tells nothing", 0, 0, 0, 0, 0},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err err = {0};
		size_t count;
		struct ceiling_item *items = plan_of(rows[i].memory, rows[i].l2, &count, &err);
		ok(items && bytes_of(items, count, "read", "dram") == rows[i].dram &&
		       bytes_of(items, count, "read", "l2") == rows[i].cache &&
		       bytes_of(items, count, "upload", NULL) == rows[i].transfer,
		   "%s: %lld, %lld, %lld", rows[i].what, bytes_of(items, count, "read", "dram"),
		   bytes_of(items, count, "read", "l2"), bytes_of(items, count, "upload", NULL));
		free(items);
	}
}

static size_t items_of(const struct ceiling_item *items, size_t count, const char *name) {
	size_t found = 0;
	for (size_t i = 0; i < count; i++)
		found += strcmp(items[i].kind->name, name) == 0;
	return found;
}

static void blocks_test(void) {
	struct err err = {0};
	size_t count, left;
	struct ceiling_item *items = plan_of(80e9, 50 << 20, &count, &err);
	ok(items && items_of(items, count, "fp32") == 4 && items_of(items, count, "launch") == 1,
	   "each block with each number of them, where there are any");
	bool own = true;
	for (size_t i = 0; i < count; i++)
		own = own && strcmp(items[i].device, "cuda:1") == 0 && isnan(items[i].value) && items[i].n > 0;
	ok(own, "all of them on the GPU that was asked for");
	for (size_t i = 0; i < count; i++) {
		bool none = strcmp(items[i].kind->name, "barrier") == 0;
		items[i].value = none ? NAN : items[i].block == 256 && items[i].per_sm == 1 ? 2 : 1;
		items[i].samples = none ? NULL : json_pack("[f]", items[i].value);
		items[i].disturbed = true;
	}
	left = ceilings_gpu_best(items, count);
	bool best = left == 17, clean = true;
	for (size_t i = 0; i < left; i++) {
		best = best && (items[i].block == 0 || (items[i].block == 256 && items[i].per_sm == 1));
		clean = clean && isnan(items[i].value) && !items[i].samples && !items[i].disturbed;
	}
	ok(best, "the best of each is left, and none of what could not be measured: %zu", left);
	ok(clean, "what is left is measured anew");
	ok(ceilings_gpu_best(items, 0) == 0, "the best of nothing is nothing");
	free(items);
}

int main(void) {
	struct err err = {0};
	size_t count;
	unsetenv("SWEETSPOT_CEILINGS_PART");
	sizes_test();
	blocks_test();
	setenv("SWEETSPOT_CEILINGS_PART", "1000000", 1);
	struct ceiling_item *items = plan_of(80e9, 50 << 20, &count, &err);
	ok(items && count == 18 && items[0].n == (1LL << 32) / 1000000, "a part of the work, with one size of blocks");
	free(items);
	known = false;
	ok(!plan_of(80e9, 0, &count, &err) && err.code == ERR_USAGE, "a worker without the kernel");
	json_decref(gpu);
	return tap_done();
}
