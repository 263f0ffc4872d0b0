/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"

/* Relative to the program's folder, which is bin or libexec/sweetspot of an installation, a build folder in the
 * sources, or the sources. */
static const char *const places[] = {"../share/sweetspot", "../../share/sweetspot", "../data", "data"};

static bool program_folder(char *path, size_t size) {
	char *slash = sys_self_path(path, size, NULL) ? NULL : strrchr(path, '/');
	if (slash)
		*slash = '\0';
	return slash;
}

/* Returns the path, or frees it and returns NULL if the folder does not exist. */
static char *folder_or_null(char *path) {
	if (access(path, R_OK | X_OK) == 0)
		return path;
	free(path);
	return NULL;
}

static char *beside_program(const char *name) {
	char program[PATH_MAX], *found = NULL;
	if (!program_folder(program, sizeof program))
		return NULL;
	for (size_t i = 0; !found && i < sizeof places / sizeof *places; i++)
		found = folder_or_null(mem_printf("%s/%s/%s", program, places[i], name));
	return found;
}

char *sys_share_dir(const char *name, struct err *err) {
	const char *given = getenv("SWEETSPOT_DATA");
	char *found = given ? folder_or_null(mem_printf("%s/%s", given, name)) : beside_program(name);
	if (!found && !given)
		found = folder_or_null(mem_printf("%s/%s", SS_PKGDATADIR, name));
	if (!found)
		err_set(err, ERR_FAILED, "install it again, or name the folder share/sweetspot in SWEETSPOT_DATA",
		        "the data folder \"%s\" is missing%s%s", name, given ? " in " : "", given ? given : "");
	return found;
}

const char *sys_site_dir(void) {
	return SS_SYSCONFDIR "/sweetspot";
}
