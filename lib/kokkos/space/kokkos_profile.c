/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles are read by libsweetspot, which is opened where it is installed: this library needs libc alone. */

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "lib/kokkos/space/kokkos_space.h"

#define FUNCTIONS(X)                                                                                                   \
	X(open)                                                                                                            \
	X(kernel)                                                                                                          \
	X(lookup)                                                                                                          \
	X(setting)

static struct {
#define MEMBER(NAME) __typeof__(sweetspot_##NAME) *NAME;
	FUNCTIONS(MEMBER)
	sweetspot_profile *profile; /* NULL: there is none */
} library;
static pthread_once_t opened = PTHREAD_ONCE_INIT;

static bool function_find(void *handle, const char *name, void *function) {
	void *found = dlsym(handle, name);
	memcpy(function, &found, sizeof found);
	return found != NULL;
}

/* Beside this library where it was built, and in lib/ where libexec/sweetspot/ has this one. */
static void *handle_open(void) {
	static const char *const places[] = {"%s/libsweetspot.so.0", "%s/../../lib/libsweetspot.so.0",
	                                     SS_LIBDIR "/libsweetspot.so.0"};
	Dl_info self;
	char path[4096], folder[4096];
	void *handle = NULL;
	if (!dladdr((void *)(uintptr_t)&opened, &self) || !self.dli_fname)
		return NULL;
	const char *slash = strrchr(self.dli_fname, '/');
	snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - self.dli_fname) : 1, slash ? self.dli_fname : ".");
	for (size_t i = 0; i < sizeof places / sizeof *places && !handle; i++)
		if (snprintf(path, sizeof path, places[i], folder) < (int)sizeof path)
			handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	return handle;
}

static void profile_open(void) {
	void *handle = handle_open();
	bool found = handle != NULL;
#define FIND(NAME) found = found && function_find(handle, "sweetspot_" #NAME, &library.NAME);
	FUNCTIONS(FIND)
	if (found)
		library.profile = library.open(NULL, NULL, 0);
}

bool kokkos_profile_knows(void) {
	const char *kernel, *program = program_invocation_short_name;
	size_t length = strlen(program);
	pthread_once(&opened, profile_open);
	for (size_t i = 0; library.profile && (kernel = library.kernel(library.profile, i)); i++)
		if (strncmp(kernel, program, length) == 0 && kernel[length] == ':')
			return true;
	return false;
}

bool ssi_profile_find(const char *kernel, const struct sweetspot_value *problem, size_t count,
                      inside_setting_fn *setting, void *ctx) {
	struct sweetspot_value value;
	pthread_once(&opened, profile_open);
	const sweetspot_config *config =
		library.profile ? library.lookup(library.profile, kernel, NULL, problem, count, NULL) : NULL;
	for (size_t i = 0; config && setting && library.setting(config, i, &value); i++)
		setting(ctx, &value);
	return config != NULL;
}
