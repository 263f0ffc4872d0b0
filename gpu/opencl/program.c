/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds programs from source or from a binary. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "gpu/opencl/impl.h"
#include "src/base/mem.h"

static const size_t LOG_LARGEST = 16 << 20, BINARY_LARGEST = 32 << 20;

static char *log_read(struct opencl *ocl, opencl_program program) {
	const struct opencl_calls *calls = ocl->calls;
	size_t size = 0;
	if (calls->build_info(program, ocl->device, OPENCL_BUILD_LOG, 0, NULL, &size) != OPENCL_SUCCESS ||
	    size > LOG_LARGEST)
		size = 0;
	char *log = mem_alloc(size + 1, 1);
	if (size && calls->build_info(program, ocl->device, OPENCL_BUILD_LOG, size, log, NULL) != OPENCL_SUCCESS)
		log[0] = '\0';
	log[size] = '\0';
	return log;
}

/* The first line with "error:" in it, as Clang's compilers, and so most of OpenCL's, write it; then with "error". */
static const char *error_line(const char *log) {
	const char *found = strstr(log, "error:");
	found = found ? found : strstr(log, "error");
	while (found && found > log && found[-1] != '\n')
		found--;
	return found;
}

static void build_failed(struct opencl *ocl, opencl_program program, const char *name, int32_t result) {
	char text[32], *log = log_read(ocl, program);
	const char *line = error_line(log);
	if (line)
		gpu_fail(ocl->gpu, GPU_COMPILE, "%.*s", (int)strcspn(line, "\n"), line);
	else
		gpu_fail(ocl->gpu, GPU_COMPILE, "%s does not compile: %s", name, opencl_result_text(result, text, sizeof text));
	free(log);
}

opencl_program opencl_build(struct opencl *ocl, const char *name, const char *text, const char *options) {
	int32_t result = OPENCL_SUCCESS;
	opencl_program program = ocl->calls->program_source(ocl->context, 1, &text, NULL, &result);
	if (!opencl_succeeded(ocl, "clCreateProgramWithSource", result))
		return NULL;
	result = ocl->calls->program_build(program, 1, &ocl->device, options, NULL, NULL);
	if (result == OPENCL_SUCCESS)
		return program;
	build_failed(ocl, program, name, result);
	opencl_program_free(ocl, program);
	return NULL;
}

opencl_program opencl_load(struct opencl *ocl, const char *binary, size_t size, const char *options) {
	const unsigned char *bytes = (const unsigned char *)binary;
	int32_t status = OPENCL_SUCCESS, result = OPENCL_SUCCESS;
	opencl_program program = ocl->calls->program_binary(ocl->context, 1, &ocl->device, &size, &bytes, &status, &result);
	if (!program || result != OPENCL_SUCCESS)
		return NULL;
	if (status == OPENCL_SUCCESS &&
	    ocl->calls->program_build(program, 1, &ocl->device, options, NULL, NULL) == OPENCL_SUCCESS)
		return program;
	opencl_program_free(ocl, program);
	return NULL;
}

char *opencl_binary(struct opencl *ocl, opencl_program program, size_t *size) {
	*size = 0;
	if (ocl->calls->program_info(program, OPENCL_PROGRAM_BINARY_SIZES, sizeof *size, size, NULL) != OPENCL_SUCCESS ||
	    *size == 0 || *size > BINARY_LARGEST)
		return NULL;
	char *binary = mem_alloc(*size, 1);
	unsigned char *to = (unsigned char *)binary;
	if (ocl->calls->program_info(program, OPENCL_PROGRAM_BINARIES, sizeof to, &to, NULL) == OPENCL_SUCCESS)
		return binary;
	free(binary);
	return NULL;
}

void opencl_program_free(struct opencl *ocl, opencl_program program) {
	if (program)
		ocl->calls->program_release(program);
}
