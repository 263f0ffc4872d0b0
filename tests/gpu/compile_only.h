/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The compiler without a device, for tests of sources. */
#ifndef TESTS_GPU_COMPILE_ONLY_H
#define TESTS_GPU_COMPILE_ONLY_H
#include <stdlib.h>

#include "gpu/backend.h"

/* Compiles for any architecture without a GPU, and loads nothing. arch is 75, 80, 90...; returns the facts of all
 * functions in an array to free(3), *count of them. NULL with err: ERR_FAILED has the compiler's first error.
 * barely_optimised: only whether it compiles matters. NVRTC 13 needs a fraction of the time then, and the facts are not
 * those of the code that would run. */
static inline struct gpu_compiled *gpu_compile_only(const char *source, const struct gpu_defines *defines, int arch,
                                                    bool barely_optimised, size_t *count, struct err *err) {
	static const char *const fast[] = {"--Ofast-compile=max", "--minimal", NULL};
	struct compiler compiler = {.seconds = 0};
	struct library_why why;
	struct code code = {.image = NULL};
	enum gpu_failure failure;
	*count = 0;
	if (!nvrtc_open(&compiler.nvrtc, 0, &why)) {
		err_set(err, ERR_UNAVAILABLE, why.fix, "%s", why.reason);
		return NULL;
	}
	char *text = source_read(source, err);
	const struct source what = {.name = source,
	                            .text = text,
	                            .options = barely_optimised && compiler.nvrtc.major >= 13 ? fast : NULL,
	                            .defines = defines,
	                            .arch = arch};
	struct gpu_compiled *functions = NULL;
	if (text && compile_source(&compiler, &what, false, &code, &failure, err)) {
		functions = code.functions;
		*count = code.count;
		code.functions = NULL;
	}
	code_free(&code);
	free(text);
	free(compiler.folder);
	nvrtc_close(&compiler.nvrtc);
	return functions;
}

#endif
