/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Modules are shared objects, and their kernels are tables in them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/gpu/emulator/block.h"
#include "tests/gpu/emulator/device.h"
#include "tests/gpu/emulator/function.h"
#include "tests/gpu/emulator/memory.h"
#include "tests/gpu/emulator/stream.h"

struct module {
	void *handle;
	const struct emulated_module *code;
	struct function *functions;
};

/* The image holds no length: it is in its header, with the table of sections in the end. */
static size_t image_size(const void *image) {
	const ElfW(Ehdr) *header = image;
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_type != ET_DYN)
		return 0;
	return header->e_shoff + (size_t)header->e_shentsize * header->e_shnum;
}

static bool write_all(int fd, const char *bytes, size_t size) {
	ssize_t written = 1;
	for (; size > 0 && written > 0; size -= (size_t)written, bytes += written)
		written = write(fd, bytes, size);
	return size == 0;
}

/* A file of its own for each, as the loader knows files by their names. */
static void *load(const void *image, size_t size) {
	const char *folder = getenv("TMPDIR");
	char path[512];
	void *handle = NULL;
	if (snprintf(path, sizeof path, "%s/emulated-XXXXXX", folder ? folder : "/tmp") >= (int)sizeof path)
		return NULL;
	int fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return NULL;
	/* Its code may call libm, and names no libraries. */
	if (write_all(fd, image, size) && dlopen("libm.so.6", RTLD_NOW | RTLD_GLOBAL))
		handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		fprintf(stderr, "emulator: %s\n", dlerror());
	close(fd);
	unlink(path);
	return handle;
}

CU_EXPORT CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned count, int *options, void **values) {
	CUresult result = context_ready();
	size_t size = result == CUDA_SUCCESS ? image_size(image) : 0;
	(void)count, (void)options, (void)values;
	if (size == 0)
		return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_IMAGE;
	struct module *module = calloc(1, sizeof *module);
	if (!module)
		return CUDA_ERROR_OUT_OF_MEMORY;
	module->handle = load(image, size);
	module->code = module->handle ? dlsym(module->handle, "emulated_module") : NULL;
	if (!module->code || module->code->abi != EMULATED_ABI) {
		if (module->handle)
			dlclose(module->handle);
		free(module);
		return CUDA_ERROR_NO_BINARY_FOR_GPU;
	}
	*module->code->services = &block_services;
	*out = module;
	return CUDA_SUCCESS;
}

CU_EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image) {
	return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

CU_EXPORT CUresult cuModuleUnload(CUmodule module) {
	if (!module)
		return CUDA_ERROR_INVALID_HANDLE;
	streams_finish(NULL);
	for (struct function *function = module->functions, *next; function; function = next) {
		next = function->next;
		free(function);
	}
	dlclose(module->handle);
	free(module);
	return context_ready();
}

CU_EXPORT CUresult cuModuleGetFunction(CUfunction *out, CUmodule module, const char *name) {
	CUresult result = context_ready();
	char symbol[512];
	if (result != CUDA_SUCCESS || !module)
		return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_HANDLE;
	for (struct function *function = module->functions; function; function = function->next)
		if (strcmp(function->name, name) == 0) {
			*out = function;
			return CUDA_SUCCESS;
		}
	snprintf(symbol, sizeof symbol, "emulated_kernel_%s", name);
	const struct emulated_kernel *kernel = dlsym(module->handle, symbol);
	struct function *function = kernel ? calloc(1, sizeof *function) : NULL;
	if (!function || strlen(name) >= sizeof function->name) {
		free(function);
		return kernel ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_NOT_FOUND;
	}
	*function = (struct function){module->functions, kernel, module->code, SHARED_PER_BLOCK, ""};
	strcpy(function->name, name);
	*out = module->functions = function;
	return CUDA_SUCCESS;
}

CU_EXPORT CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *size, CUmodule module, const char *name) {
	CUresult result = context_ready();
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;
	if (result != CUDA_SUCCESS || !module)
		return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_HANDLE;
	void *found = dlsym(module->handle, name);
	if (!found || !dladdr1(found, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol)
		return CUDA_ERROR_NOT_FOUND;
	memory_variable(found, symbol->st_size, true);
	if (address)
		*address = (uintptr_t)found;
	if (size)
		*size = symbol->st_size;
	return CUDA_SUCCESS;
}
