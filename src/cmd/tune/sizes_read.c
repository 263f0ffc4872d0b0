/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "src/cmd/tune/cmd_tune_sizes_impl.h"
#include "tuner/space/domain.h"

/* A range of whole numbers with at most this many values is treated as a list. */
static const double FEW = 8;
static const char hint[] = "for example: sweetspot tune fw --sizes n=256..8192";

struct reading {
	struct tune_session *session;
	struct tune_sizes *sizes;
	struct arena *arena;
};

static int by_size(const void *a, const void *b) {
	const double *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* Recognises "A..B" without a step and returns its ends. */
static bool is_span(const char *text, double ends[2], bool *whole) {
	const char *dots = strstr(text, "..");
	if (!dots || strpbrk(text, ",*+") || dots == text)
		return false;
	mem_auto char *low = mem_printf("%.*s", (int)(dots - text), text);
	struct value a = value_parse(low), b = value_parse(dots + 2);
	*whole = a.type == VALUE_INT && b.type == VALUE_INT;
	ends[0] = value_number(a);
	ends[1] = value_number(b);
	return ends[1] > ends[0] && !(*whole && ends[1] - ends[0] < FEW);
}

static int list_read(struct reading *reading, const char *text, struct err *err) {
	struct sizes_plan *plan = &reading->sizes->plan;
	struct value *values;
	if (domain_parse(text, reading->arena, &values, &plan->count, err))
		return err_prefix(err, "--sizes");
	if (plan->count > SIZES_MAX)
		return err_set(err, ERR_USAGE, "give fewer sizes, or a range A..B, within which they are chosen",
		               "--sizes gives %zu sizes, which are too many", plan->count);
	reading->sizes->list = mem_alloc(plan->count, sizeof *reading->sizes->list);
	for (size_t i = 0; i < plan->count; i++)
		reading->sizes->list[i] = value_number(values[i]);
	qsort(reading->sizes->list, plan->count, sizeof *reading->sizes->list, by_size);
	plan->list = reading->sizes->list;
	return 0;
}

static int plan_check(const struct tune_sizes *sizes, struct err *err) {
	const struct sizes_plan *plan = &sizes->plan;
	for (size_t i = 0; i < (plan->list ? plan->count : 1); i++) {
		double n = plan->list ? plan->list[i] : plan->from;
		if (!(n > 0 && isfinite(n)))
			return err_set(err, ERR_USAGE, hint, "--sizes takes numbers above 0");
	}
	return 0;
}

static int words_read(struct reading *reading, const char *text, struct err *err) {
	struct sizes_plan *plan = &reading->sizes->plan;
	const char *equals = strchr(text, '=');
	double ends[2];
	if (!equals || equals == text)
		return err_set(err, ERR_USAGE, hint, "--sizes %s does not give any sizes", text);
	reading->sizes->over = mem_printf("%.*s", (int)(equals - text), text);
	if (!is_span(equals + 1, ends, &plan->whole))
		return list_read(reading, equals + 1, err) || plan_check(reading->sizes, err) ? -1 : 0;
	plan->from = ends[0];
	plan->to = ends[1];
	return plan_check(reading->sizes, err);
}

static int item_add(struct tune_session *session, struct tune_sizes *sizes, double n, struct err *err) {
	mem_auto char *word = tune_sizes_word(sizes, n);
	struct tune_item *item = tune_item_kernel_at(session->app, sizes->kernel, session->args, word, err);
	if (!item)
		return -1;
	session->items = mem_grow(session->items, session->count + 1, sizeof *session->items);
	sizes->of_item = mem_grow(sizes->of_item, session->count + 1, sizeof *sizes->of_item);
	sizes->of_item[session->count] = n;
	session->items[session->count++] = item;
	return 0;
}

static int items_add(struct tune_session *session, struct tune_sizes *sizes, struct err *err) {
	const struct sizes_plan *plan = &sizes->plan;
	const double ends[] = {plan->from, plan->to}, *all = plan->list ? plan->list : ends;
	for (size_t i = 0; i < (plan->list ? plan->count : 2); i++)
		if (item_add(session, sizes, all[i], err))
			return -1;
	return 0;
}

static int kernel_read(struct tune_session *session, struct tune_sizes *sizes, struct err *err) {
	if (opt_words(session->args) != 1)
		return err_set(err, ERR_USAGE, hint, "--sizes takes exactly one kernel");
	size_t count;
	const struct kernel_desc **kernels = app_kernels_named(session->app, session->args, &count, err);
	int failed = kernels ? 0 : -1;
	if (!failed && count != 1)
		failed =
			err_set(err, ERR_USAGE, "name one of its kernels: PLUGIN.so:KERNEL", "--sizes takes exactly one kernel");
	if (!failed)
		sizes->kernel = kernels[0];
	free(kernels);
	return failed;
}

int tune_sizes_read(struct tune_session *session, struct err *err) {
	struct tune_sizes *sizes = mem_alloc(1, sizeof *sizes);
	struct reading reading = {.session = session, .sizes = sizes, .arena = arena_new()};
	session->sizes = sizes;
	int failed = kernel_read(session, sizes, err) || words_read(&reading, opt_get(session->args, "sizes", ""), err) ||
	                     items_add(session, sizes, err)
	                 ? -1
	                 : 0;
	arena_free(reading.arena);
	return failed;
}

void tune_sizes_free(struct tune_sizes *sizes) {
	if (!sizes)
		return;
	free(sizes->over);
	free(sizes->list);
	free(sizes->of_item);
	free(sizes);
}

char *tune_sizes_word(const struct tune_sizes *sizes, double n) {
	return mem_printf("%s=%.15g", sizes->over, n);
}
