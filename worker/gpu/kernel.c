/* SPDX-License-Identifier: BSD-3-Clause */
/* One kernel's time as a metric. */
#include <config.h>

#include <ctype.h>
#include <string.h>

#include "worker/gpu/work.h"

enum { NAMES = 300 };

/* The length without template arguments: of "f<g<1> >" it is 1. */
static size_t plain_length(const char *full) {
	size_t length = strlen(full);
	int depth = 0;
	if (length == 0 || full[length - 1] != '>')
		return length;
	for (size_t i = length; i-- > 0;) {
		depth += full[i] == '>' ? 1 : full[i] == '<' ? -1 : 0;
		if (depth == 0)
			return i;
	}
	return length;
}

bool gpu_name_is(const char *full, const char *name) {
	size_t plain = plain_length(full), length = strlen(name);
	if (strcmp(full, name) == 0)
		return true;
	if (length == 0 || length > plain || memcmp(full + plain - length, name, length) != 0)
		return false;
	return length == plain || full[plain - length - 1] == ':';
}

static void names_list(const struct gpu_work *work, char *text, size_t size) {
	size_t used = 0;
	text[0] = '\0';
	for (size_t i = 0; i < work->function_count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%.80s", i ? ", " : "", work->functions[i].name);
}

int gpu_work_kernel(const struct gpu_work *work, const char *name, double *seconds, struct err *err) {
	uint64_t ns = 0, calls = 0;
	char names[NAMES];
	for (size_t i = 0; i < work->function_count; i++) {
		const struct gpu_function_work *one = &work->functions[i];
		if (gpu_name_is(one->name, name) || strcmp(one->facts.symbol, name) == 0) {
			ns += one->facts.ns;
			calls += one->facts.calls;
		}
	}
	*seconds = 1e-9 * (double)ns;
	if (work->failure[0])
		return err_set(err, ERR_FAILED, NULL, "the kernels cannot be timed: %s", work->failure);
	if (work->processes == 0)
		return err_set(err, ERR_FAILED, NULL, "the program did not use CUDA, so it has no kernel %.100s", name);
	if (work->dropped > 0)
		return err_set(err, ERR_FAILED, NULL, "CUPTI dropped records, so the time of %.100s is not known", name);
	if (ns > 0)
		return 0;
	names_list(work, names, sizeof names);
	return err_set(err, ERR_FAILED, NULL,
	               calls > 0 ? "the kernel %.100s took no time that could be measured%s"
	               : *names  ? "no kernel %.100s ran; these did: %s"
	                         : "no kernel %.100s ran%s",
	               name, calls > 0 ? "" : names);
}
