/* SPDX-License-Identifier: BSD-3-Clause */
/* Our .cu files are data: they are in share/sweetspot/kernels of an installation, or in kernels/ beside data/ in the
 * tree that was built. */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/compile.h"
#include "src/base/mem.h"
#include "src/base/sys.h"

enum { SOURCE_BYTES = 1 << 20 };

/* Names come from kernels' tables, which plug-ins may provide, so they are checked. */
static bool is_safe(const char *name) {
	static const char fine[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
	return name && name[0] && name[0] != '/' && name[strspn(name, fine)] == '\0' && !strstr(name, "..");
}

/* The build tree comes first, because an installed copy may be another version. */
static char *folder_find(struct err *err) {
	static const char *const names[] = {"../kernels", "kernels"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *folder = sys_share_dir(names[i], err);
		char *file = folder ? mem_printf("%s/sweetspot.cuh", folder) : NULL;
		bool found = file && access(file, R_OK) == 0;
		free(file);
		if (found)
			return folder;
		free(folder);
	}
	err_set(err, ERR_FAILED, "install it again, or name the folder share/sweetspot in SWEETSPOT_DATA",
	        "the kernels' GPU sources are missing");
	return NULL;
}

char *source_read(const char *name, struct err *err) {
	if (!is_safe(name)) {
		err_set(err, ERR_USAGE, NULL, "a kernel's source has an unsafe name");
		return NULL;
	}
	char *folder = folder_find(err);
	if (!folder)
		return NULL;
	char *path = mem_printf("%s/%s", folder, name);
	char *text = sys_read_file(path, SOURCE_BYTES, NULL, err);
	free(path);
	free(folder);
	return text;
}
