/* SPDX-License-Identifier: BSD-3-Clause */
/* Between libsweetspot and libsweetspot-launcher.so. The launcher calls what it needs of libsweetspot by a table,
 * because a program may contain libsweetspot as an archive. */
#ifndef LIB_KERNEL_KERNEL_IMPL_H
#define LIB_KERNEL_KERNEL_IMPL_H
#include <stdbool.h>

#include "lib/sweetspot.h"

enum { LAUNCHER_ABI = 1 };

struct launcher_host {
	sweetspot_profile *(*open)(const char *path, char *message, size_t size);
	void (*close)(sweetspot_profile *profile);
	const char *(*about)(const sweetspot_profile *profile, const char *what);
	const sweetspot_config *(*lookup)(const sweetspot_profile *profile, const char *kernel, const char *objective,
	                                  const struct sweetspot_value *problem, size_t count,
	                                  struct sweetspot_match *match);
	int (*setting)(const sweetspot_config *config, size_t i, struct sweetspot_value *setting);
	/* for learning */
	sweetspot_context *(*context)(const char *name);
	int (*context_int)(sweetspot_context *context, const char *name, const long long *values, size_t count,
	                   long long otherwise);
	int (*context_real)(sweetspot_context *context, const char *name, const double *values, size_t count,
	                    double otherwise);
	int (*context_word)(sweetspot_context *context, const char *name, const char *const *values, size_t count,
	                    const char *otherwise);
	int (*constraint)(sweetspot_context *context, const char *expression);
	bool (*active)(sweetspot_context *context);
	void (*choose)(sweetspot_context *context, const struct sweetspot_value *problem, size_t count,
	               struct sweetspot_choice *choice);
	int (*level)(const struct sweetspot_choice *choice, const char *name);
	void (*report)(struct sweetspot_choice *choice, double cost);
};

/* Everything fails with false or NULL and a message, of at most SWEETSPOT_MESSAGE bytes. */
struct launcher_kernel;
struct launcher {
	int abi;
	struct launcher_kernel *(*open)(const struct launcher_host *host, const char *path, const char *name,
	                                char *message);
	void (*close)(struct launcher_kernel *kernel);
	bool (*launch)(struct launcher_kernel *kernel, void *stream, void *const *arguments,
	               const struct sweetspot_value *problem, char *message);
	int (*match)(struct launcher_kernel *kernel, const struct sweetspot_value *problem, struct sweetspot_match *match,
	             char *message);
};
#define LAUNCHER_FILE   "libsweetspot-launcher.so"
#define LAUNCHER_SYMBOL "sweetspot_launcher"
#endif
