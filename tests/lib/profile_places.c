/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Places that are searched for profiles, and the choice of this machine's. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"
#include "base/tree.h"
#include "tests/lib/profile_made.h"
#include "tests/tap.h"

static char why[SWEETSPOT_MESSAGE];

static void write_at(const char *root, const char *name, const char *created, uint64_t more, const char *kernel) {
	char *path = mem_printf("%s/%s", root, name);
	made_write(path, created, more, kernel);
	free(path);
}

static void text_at(const char *root, const char *name, const char *text) {
	struct err err = {0};
	char *path = mem_printf("%s/%s", root, name);
	if (sys_write_file(path, text, strlen(text), &err) != 0)
		exit(99);
	free(path);
}

/* The first kernel of the opened profile; "" without one. The caller frees it. */
static char *opened(const char *path) {
	sweetspot_profile *profile = sweetspot_open(path, why, sizeof why);
	char *name = mem_strdup(profile ? sweetspot_kernel(profile, 0) : "");
	sweetspot_close(profile);
	return name;
}

static void opens(const char *path, const char *kernel, const char *what) {
	char *name = opened(path);
	if (!is_text(name, kernel, what))
		printf("# %s\n", why);
	free(name);
}

static void refuses(const char *path, const char *reason, const char *what) {
	char *name = opened(path);
	ok(!*name && strstr(why, reason), "%s: %s", what, why);
	free(name);
}

static void check_order(const char *root) {
	char *data = mem_printf("%s/data", root), *config = mem_printf("%s/config", root);
	char *deep[] = {mem_printf("%s/sweetspot", data), mem_printf("%s/sweetspot", config)};
	setenv("XDG_DATA_HOME", data, 1);
	setenv("XDG_CONFIG_HOME", config, 1);
	unsetenv("SWEETSPOT_PROFILE");
	mkdir(data, 0700);
	mkdir(config, 0700);
	mkdir(deep[0], 0700);
	write_at(deep[0], "profile-1.json", "2025-01-01T00:00:00Z", 0, "data");
	opens(NULL, "data", "tune's profile is found");
	write_at(config, "sweetspot", "2025-01-01T00:00:00Z", 0, "config");
	opens(NULL, "config", "settings come first, and may be a file");
	write_at(config, "sweetspot", "2025-01-01T00:00:00Z", 1, "config");
	opens(NULL, "data", "a foreign profile in a default place is passed over");
	setenv("SWEETSPOT_PROFILE", deep[1], 1);
	opens(NULL, "config", "a foreign profile is taken where it is named");
	ok(strstr(why, "threads there") != NULL, "a foreign profile that was named is reported: %s", why);
	setenv("SWEETSPOT_PROFILE", "/nowhere/at/all", 1);
	refuses(NULL, "/nowhere/at/all", "a missing named file is not replaced by another");
	unsetenv("SWEETSPOT_PROFILE");
	free(data);
	free(config);
	free(deep[0]);
	free(deep[1]);
}

static void check_folder(const char *root) {
	char *fleet = mem_printf("%s/fleet", root);
	mkdir(fleet, 0700);
	refuses(fleet, "no profile of this machine", "an empty folder");
	write_at(fleet, "profile-b.json", "2025-03-01T00:00:00Z", 3, "other");
	refuses(fleet, "1 of other machines", "a fleet without this machine");
	write_at(fleet, "profile-c.json", "2025-01-01T00:00:00Z", 0, "older");
	opens(fleet, "older", "this machine's among others");
	write_at(fleet, "profile-a.json", "2025-02-01T00:00:00Z", 0, "newer");
	opens(fleet, "newer", "the newer of two");
	text_at(fleet, "broken.json", "{");
	write_at(fleet, "newest.txt", "2026-01-01T00:00:00Z", 0, "newest");
	opens(fleet, "newer", "broken files, and other names than .json, do no harm");
	char *pipe = mem_printf("%s/pipe.json", fleet);
	ok(mkfifo(pipe, 0600) == 0, "a pipe");
	opens(fleet, "newer", "a pipe in a folder is not waited for");
	refuses(pipe, "not a regular file", "a pipe that is named is not waited for");
	free(pipe);
	free(fleet);
}

static void check_schema(const char *root) {
	char *path = mem_printf("%s/one.json", root);
	text_at(root, "one.json", MADE_HEAD("sweetspot-profile/2", "x", MADE_MACHINE) "]}");
	refuses(path, "newer than this libsweetspot", "a newer schema");
	text_at(root, "one.json", MADE_HEAD("sweetspot-profile/0x", "x", MADE_MACHINE) "]}");
	refuses(path, "unknown schema", "one that never was");
	text_at(root, "one.json", MADE_HEAD("other/1", "x", MADE_MACHINE) "]}");
	refuses(path, "not a Sweetspot profile", "another document");
	text_at(root, "one.json", MADE_HEAD("sweetspot-profile/1", "x", "{}") "]}");
	refuses(path, "fingerprint", "lacks a fingerprint");
	text_at(root, "one.json", MADE_HEAD("sweetspot-profile/1", "x", "{\"fingerprint\":\"sha256:1\"}") "]}");
	sweetspot_profile *profile = sweetspot_open(path, NULL, 0);
	ok(sweetspot_about(profile, "foreign") != NULL, "a machine that nothing is said of is foreign");
	sweetspot_close(profile);
	free(path);
}

int main(void) {
	char root[] = "/tmp/sweetspot-profile-XXXXXX";
	if (!mkdtemp(root))
		return 99;
	check_order(root);
	check_folder(root);
	check_schema(root);
	tree_remove(root);
	return tap_done();
}
