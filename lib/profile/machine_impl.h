/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside libsweetspot: identifies this machine from the kernel's files, and compares it with a profile's. */
#ifndef LIB_PROFILE_MACHINE_IMPL_H
#define LIB_PROFILE_MACHINE_IMPL_H
#include "lib/profile/profile_impl.h"

/* Reads below `root` ("": this machine). Unknown members stay 0 or NULL; gpu: the models, one a line. */
void ssp_machine_read(const char *root, struct ssp_arena *arena, struct ssp_machine *machine);
/* The difference, in the arena, or NULL. A fact that only one of them has is not a difference, but something must
 * agree. */
const char *ssp_machine_differs(const struct ssp_machine *there, const struct ssp_machine *here,
                                struct ssp_arena *arena);

/* "machine-0123456789ab.json"; gpu: the model, or nothing. */
enum { SSP_LINK_SIZE = 32 };
void ssp_machine_link(const struct ssp_machine *machine, const char *gpu, size_t gpu_size, char name[SSP_LINK_SIZE]);

/* Lines and lists of CPUs below a root. */
enum { SSP_CPUS_MAX = 8192 };
struct ssp_set {
	bool has[SSP_CPUS_MAX];
	size_t count;
};
__attribute__((format(printf, 4, 5))) bool ssp_line_read(const char *root, char *line, size_t size, const char *format,
                                                         ...);
/* "0-3,8"; numbers beyond the maximum are left out. False if the text is not a list. */
bool ssp_set_parse(const char *text, struct ssp_set *set);
#endif
