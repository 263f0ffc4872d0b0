/* SPDX-License-Identifier: BSD-3-Clause */
/* Files, folders, clocks and memory limits. */
#ifndef BASE_SYS_H
#define BASE_SYS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* The memory file of the tuner's in which its workers keep what oracles have computed. */
#define SYS_ANSWERS "sweetspot-answers"
/* So many bytes of a program's output are looked at after its end; what is more delays it. */
enum { SYS_OUTPUT_HELD = 64 << 20 };

double sys_now(void);        /* monotonic seconds */
double sys_wall(void);       /* seconds since 1970 */
bool sys_is_denied(int why); /* do sandboxes answer a forbidden call with this errno? */
/* One line of a (proc, sys) file without its newline; false if it cannot be read. */
bool sys_read_line(const char *path, char *line, size_t size);
char *sys_read_file(const char *path, size_t limit, size_t *size,
                    struct err *err); /* a NUL is appended; the caller frees it */
/* Not a pipe, which would be waited for, nor a device, which may have no end. Links are followed. */
bool sys_is_plain_file(const char *path);
/* sys_read_file from an open descriptor, which stays open; where: a description for messages. */
char *sys_read_fd(int fd, const char *where, size_t limit, size_t *size, struct err *err);
/* The absolute path of the running program. Fails if /proc is not mounted or the path does not fit. */
int sys_self_path(char *path, size_t size, struct err *err);
int sys_make_dirs(const char *path, struct err *err); /* like mkdir -p */
/* Writes a temporary file beside it, fsync, rename: a reader sees the old or the new file, never half of one.
 * Symbolic links are followed and permissions kept; a device or a pipe is written directly. */
int sys_write_file(const char *path, const void *data, size_t size, struct err *err);
/* $XDG_DATA_HOME/sweetspot, else $HOME/.local/share/sweetspot; the caller frees it. NULL and err without HOME. */
char *sys_data_dir(struct err *err);
char *sys_cache_dir(struct err *err);  /* the same for $XDG_CACHE_HOME, $HOME/.cache */
char *sys_config_dir(struct err *err); /* the same for $XDG_CONFIG_HOME, $HOME/.config */
/* The installed folder share/sweetspot/NAME, also if the installation was moved or the program runs from its build
 * folder; $SWEETSPOT_DATA/NAME if that is set. The caller frees it; NULL and err if it is missing. */
char *sys_share_dir(const char *name, struct err *err);
const char *sys_site_dir(void);  /* the site's settings: PREFIX/etc/sweetspot */
uint64_t sys_memory_total(void); /* bytes: the smaller of the machine's memory and the cgroup's limit; 0 if unknown */
/* The smallest memory limit in bytes of this process's cgroups (version 1 or 2), UINT64_MAX for none. root: "" for the
 * machine, or a folder with a copy of its /proc/self/cgroup and /sys/fs/cgroup. */
uint64_t sys_cgroup_memory(const char *root);
/* The smallest quota of processor time, in processors: 0.5 is half of one. INFINITY for none. */
double sys_cgroup_processors(const char *root);
#endif
