/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hiprtc, where it is installed, compiles for GPUs of AMD's that are not there. */
#include <stdlib.h>
#include <string.h>

#include "gpu/backend.h"
#include "gpu/hip/hip_impl.h"
#include "base/sys.h"
#include "tests/tap.h"

static const char text[] = "#include <hip/hip_runtime.h>\n"
						   "extern \"C\" __global__ void scale(float *y, const float *x, int n) {\n"
						   "	__shared__ float part[BLOCK];\n"
						   "	int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
						   "	part[threadIdx.x] = i < n ? x[i] : 0;\n"
						   "	__syncthreads();\n"
						   "	if (i < n)\n"
						   "		y[i] = 2 * part[BLOCK - 1 - threadIdx.x];\n"
						   "}\n";

static bool compiles(struct compiler *compiler, const char *device, const char *const *options, struct code *code,
                     struct err *err) {
	enum gpu_failure failure = GPU_FINE;
	const struct source source = {
		.name = "scale.hip", .text = text, .options = options, .device = device, .users = true, .seen = ""};
	*err = (struct err){.code = ERR_OK};
	return compile_source(compiler, &source, false, code, &failure, err);
}

/* Debian's hiprtc does not contain the headers. */
static bool lacks_headers(struct compiler *compiler) {
	const char *const options[] = {"-DBLOCK=64", "--offload-arch=gfx90a", NULL};
	struct code code;
	struct err err;
	bool lacks =
		!compiles(compiler, "gfx90a", options, &code, &err) && strstr(err.what, "hip_runtime.h' file not found");
	code_free(&code);
	return lacks;
}

static void check_one(struct compiler *compiler, const char *arch) {
	char option[64];
	const char *const options[] = {"-DBLOCK=64", option, NULL};
	struct code code;
	struct err err;
	snprintf(option, sizeof option, "--offload-arch=%s", arch);
	bool fine = compiles(compiler, arch, options, &code, &err);
	ok(fine && code.size > 0, "%s: %zu bytes %s", arch, code.size, err.what);
	code_free(&code);
}

int main(void) {
	static const char *const archs[] = {"gfx906", "gfx908", "gfx90a", "gfx1030"};
	const char *const without[] = {"--offload-arch=gfx90a", NULL};
	struct compiler compiler = {.tried = true}; /* no cache */
	struct library_why why;
	struct code code;
	struct err err;
	if (!hiprtc_open(&compiler.nvrtc, 0, &why)) {
		tap_skip("hiprtc compiles", why.reason);
		return tap_done();
	}
	if (lacks_headers(&compiler)) {
		tap_skip("hiprtc compiles", "the headers of HIP are missing (Debian: libamdhip64-dev)");
		nvrtc_close(&compiler.nvrtc);
		return tap_done();
	}
	for (size_t i = 0; i < sizeof archs / sizeof *archs; i++)
		check_one(&compiler, archs[i]);
	bool fine = compiles(&compiler, "gfx90a", without, &code, &err);
	ok(!fine && err.code == ERR_FAILED && strncmp(err.what, "scale.hip:3:", 12) == 0,
	   "the first error of the compiler: %s", err.what);
	nvrtc_close(&compiler.nvrtc);
	return tap_done();
}
