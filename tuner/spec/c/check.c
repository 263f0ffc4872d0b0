/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks that C and CUDA kernels share. */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/json/js.h"
#include "src/base/sys.h"
#include "tuner/space/space.h"
#include "tuner/spec/c/impl.h"

int c_space_check(struct arena *arena, const struct space *space, const char *kernel, struct err *err) {
	for (size_t p = 0; space && p < space_params(space); p++) {
		const char *name = space_param_name(space, p);
		if (strcmp(name, kernel) == 0)
			return err_set(err, ERR_USAGE, "rename one of them", "a parameter has the kernel's name %s", name);
		for (size_t v = 0; v < space_param_values(space, p); v++)
			if (!c_define(arena, name, space_param_value(space, p, v), err))
				return -1;
	}
	return 0;
}

int c_arguments_check(const struct c_argument *first, size_t count, size_t stride, const char *remedy,
                      struct err *err) {
	double total = 0, memory = (double)sys_memory_total();
	bool output = false;
	for (size_t i = 0; i < count; i++) {
		const struct c_argument *argument = (const struct c_argument *)((const char *)first + i * stride);
		total += (double)argument->count * (double)argument->type->bytes;
		output = output || argument->output;
	}
	if (memory > 0 && 2 * total > memory)
		return err_set(err, ERR_USAGE, remedy, "the arguments need %.3g GiB, but the machine has %.3g GiB",
		               total / 0x1p30, memory / 0x1p30);
	return output ? 0
	              : err_set(err, ERR_USAGE, "mark the arguments that the kernel writes: \"AccessType\": \"WriteOnly\"",
	                        "none of the arguments is an output, so that nothing can be verified");
}

int c_file_check(const char *path, const struct stat *was, struct err *err) {
	struct stat now;
	if (stat(path, &now) == 0 && now.st_size == was->st_size && now.st_mtim.tv_sec == was->st_mtim.tv_sec &&
	    now.st_mtim.tv_nsec == was->st_mtim.tv_nsec)
		return 0;
	return err_set(err, ERR_USAGE, "start again: results of two versions must not be mixed",
	               "%s changed during the search", path);
}

int c_baseline_failed(const json_t *baseline, const char *how, const char *message, struct err *err) {
	char *config = js_canonical(baseline);
	err_set(err, ERR_FAILED, "set the Defaults to a configuration that works: the others are compared with it",
	        "the baseline %.150s %s: %.240s", config, how, message);
	free(config);
	return -1;
}
