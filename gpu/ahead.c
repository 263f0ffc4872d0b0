/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiles into the cache on disk, in a process that needs no context on a device. */
#include <config.h>

#include <stdlib.h>

#include "gpu/impl.h"
#include "src/base/mem.h"

struct gpu_compiler {
	struct compiler compiler;
};

/* The compiler must be the one that the process with the device finds, which depends on the driver. */
struct gpu_compiler *gpu_compiler_new(struct err *err) {
	struct gpu_compiler *made = mem_alloc(1, sizeof *made);
	struct driver driver;
	struct library_why why;
	int major = driver_open(&driver, &why) ? driver.version / 1000 : 0;
	if (!nvrtc_open(&made->compiler.nvrtc, major, &why)) {
		err_set(err, ERR_UNAVAILABLE, why.fix, "%s", why.reason);
		free(made);
		return NULL;
	}
	made->compiler.folder = cache_folder();
	made->compiler.tried = true;
	return made;
}

void gpu_compiler_free(struct gpu_compiler *made) {
	if (!made)
		return;
	nvrtc_close(&made->compiler.nvrtc);
	free(made->compiler.folder);
	free(made);
}

static bool source_compile(struct compiler *compiler, const struct source *source, struct gpu_ahead *ahead,
                           struct err *err) {
	struct code code;
	enum gpu_failure failure;
	double before = compiler->seconds;
	size_t from_disk = compiler->from_disk;
	if (!compile_source(compiler, source, false, &code, &failure, err))
		return false;
	code_free(&code);
	*ahead = (struct gpu_ahead){
		.kept = true, .from_disk = compiler->from_disk > from_disk, .seconds = compiler->seconds - before};
	return true;
}

bool gpu_compile_ahead(struct gpu_compiler *made, const struct gpu_text *text, int arch, struct gpu_ahead *ahead,
                       struct err *err) {
	struct text_source source;
	*ahead = (struct gpu_ahead){.kept = false};
	if (!text_source_make(&source, text, NULL, arch, NULL) || source.source.unseen || !made->compiler.folder)
		return true;
	return source_compile(&made->compiler, &source.source, ahead, err);
}

bool gpu_compile_ours_ahead(struct gpu_compiler *made, const char *name, const struct gpu_defines *defines, int arch,
                            struct gpu_ahead *ahead, struct err *err) {
	*ahead = (struct gpu_ahead){.kept = false};
	if (!made->compiler.folder)
		return true;
	char *text = source_read(name, err);
	const struct source source = {.name = name, .text = text, .defines = defines, .arch = arch};
	bool fine = text && source_compile(&made->compiler, &source, ahead, err);
	free(text);
	return fine;
}
