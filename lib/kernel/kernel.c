/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds and loads the launcher of tuned kernels. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/inside/inside.h"
#include "lib/kernel/kernel_impl.h"

struct sweetspot_gpu_kernel {
	const struct launcher *launcher; /* NULL: it was not found */
	struct launcher_kernel *kernel;  /* NULL: not opened */
	char message[SWEETSPOT_MESSAGE];
};

static const struct launcher_host host = {.open = sweetspot_open,
                                          .close = sweetspot_close,
                                          .about = sweetspot_about,
                                          .lookup = sweetspot_lookup,
                                          .setting = sweetspot_setting,
                                          .context = sweetspot_context_open,
                                          .context_int = sweetspot_context_int,
                                          .context_real = sweetspot_context_real,
                                          .context_word = sweetspot_context_word,
                                          .constraint = sweetspot_context_constraint,
                                          .active = ssi_context_active,
                                          .choose = sweetspot_choose,
                                          .level = ssi_chosen_level,
                                          .report = sweetspot_report};

/* It is beside this library in the tree that was built, and in libexec beside lib/ of an installation. */
static void *library_open(char *message) {
	static const char *const beside[] = {"", "/.libs", "/../libexec/sweetspot", "/../../libexec/sweetspot"};
	char path[PATH_MAX];
	Dl_info own;
	void *library = NULL;
	int length =
		dladdr(&host, &own) && strchr(own.dli_fname, '/') ? (int)(strrchr(own.dli_fname, '/') - own.dli_fname) : -1;
	for (size_t i = 0; i < sizeof beside / sizeof *beside && length >= 0 && !library; i++)
		if (snprintf(path, sizeof path, "%.*s%s/" LAUNCHER_FILE, length, own.dli_fname, beside[i]) < (int)sizeof path)
			library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		library = dlopen(SSK_LIBEXECDIR "/" LAUNCHER_FILE, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		snprintf(message, SWEETSPOT_MESSAGE, "%s: install the whole of Sweetspot", dlerror());
	return library;
}

static const struct launcher *launcher_find(char *message) {
	void *library = library_open(message);
	const struct launcher *launcher = library ? dlsym(library, LAUNCHER_SYMBOL) : NULL;
	if (launcher && launcher->abi == LAUNCHER_ABI)
		return launcher;
	if (library)
		snprintf(message, SWEETSPOT_MESSAGE, LAUNCHER_FILE " is of another version than libsweetspot");
	return NULL;
}

sweetspot_gpu_kernel *sweetspot_kernel_open(const char *path, const char *name) {
	struct sweetspot_gpu_kernel *kernel = calloc(1, sizeof *kernel);
	if (!kernel)
		return NULL;
	if (!path || !*path)
		snprintf(kernel->message, sizeof kernel->message, "a kernel needs a specification or a source");
	else
		kernel->launcher = launcher_find(kernel->message);
	if (kernel->launcher)
		kernel->kernel = kernel->launcher->open(&host, path, name, kernel->message);
	return kernel;
}

void sweetspot_kernel_close(sweetspot_gpu_kernel *kernel) {
	if (kernel && kernel->kernel)
		kernel->launcher->close(kernel->kernel);
	free(kernel);
}

int sweetspot_kernel_launch(sweetspot_gpu_kernel *kernel, void *stream, void *const *arguments,
                            const struct sweetspot_value *problem) {
	return kernel && kernel->kernel &&
	               kernel->launcher->launch(kernel->kernel, stream, arguments, problem, kernel->message)
	           ? 0
	           : -1;
}

int sweetspot_kernel_match(sweetspot_gpu_kernel *kernel, const struct sweetspot_value *problem,
                           struct sweetspot_match *match) {
	return kernel && kernel->kernel ? kernel->launcher->match(kernel->kernel, problem, match, kernel->message) : -1;
}

const char *sweetspot_kernel_message(const sweetspot_gpu_kernel *kernel) {
	return kernel ? kernel->message : "out of memory";
}
