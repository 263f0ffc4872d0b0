/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Capabilities as perf_event_open(2) sees them: those of a nested user namespace do not count. */
#include "base/rights.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"
#include "base/tree.h"
#include "tests/tap.h"

#define FIRST "         0          0 4294967295\n"

static char root[] = "/tmp/sweetspot-rights-XXXXXX";

static char *file_below(const char *name) {
	return mem_printf("%s/proc/self/%s", root, name);
}

/* text NULL: the file does not exist. */
static void file_set(const char *name, const char *text) {
	struct err err = {0};
	char *path = file_below(name);
	remove(path);
	if (text && sys_write_file(path, text, strlen(text), &err))
		printf("# %s\n", err.what);
	free(path);
}

static struct rights rights_of(const char *mask, const char *uid_map) {
	struct rights rights;
	char *status = mem_printf("Name:\ta\nCapPrm:\t000001ffffffffff\nCapEff:\t%s\nSeccomp:\t0\n", mask);
	file_set("status", status);
	file_set("uid_map", uid_map);
	rights_read(&rights, root);
	free(status);
	return rights;
}

static void test_masks(void) {
	struct rights all = rights_of("000001ffffffffff", FIRST), none = rights_of("0000000000000000", FIRST);
	struct rights perfmon = rights_of("0000004000000000", FIRST), admin = rights_of("0000000000200000", FIRST);
	struct rights others = rights_of("000001bfffdfffff", FIRST);
	ok(all.perfmon && all.sys_admin && rights_perf(&all), "root of the first namespace has both");
	ok(perfmon.perfmon && !perfmon.sys_admin && rights_perf(&perfmon), "CAP_PERFMON alone is enough");
	ok(!admin.perfmon && admin.sys_admin && rights_perf(&admin), "CAP_SYS_ADMIN alone is enough");
	ok(!none.perfmon && !none.sys_admin && !rights_perf(&none), "a plain user has neither");
	ok(!rights_perf(&others), "the other capabilities do not help");
}

static void test_namespaces(void) {
	static const char *const nested[] = {
		"         0       1000          1\n",
		"         0     100000      65536\n",
		"         0          0      65536\n",
		"      1000          0 4294967295\n",
		"",
		"         0\n",
		"none\n",
	};
	for (size_t i = 0; i < sizeof nested / sizeof *nested; i++) {
		struct rights rights = rights_of("000001ffffffffff", nested[i]);
		ok(!rights_perf(&rights), "root of a nested namespace has none (map %zu)", i + 1);
	}
	struct rights only = rights_of("000001ffffffffff", NULL);
	ok(rights_perf(&only), "a kernel without user namespaces has only the first");
}

/* A directory and a loop of links fail in reading and in opening, also for root. */
static void test_unreadable(void) {
	char *path = file_below("uid_map");
	struct rights rights = rights_of("000001ffffffffff", NULL);
	bool made = mkdir(path, 0777) == 0;
	rights_read(&rights, root);
	ok(made && !rights_perf(&rights), "a map that cannot be read proves nothing");
	made = rmdir(path) == 0 && symlink("uid_map", path) == 0;
	rights_read(&rights, root);
	ok(made && !rights_perf(&rights), "a map that cannot be opened proves nothing");
	file_set("uid_map", FIRST);
	file_set("status", NULL);
	rights_read(&rights, root);
	ok(!rights_perf(&rights) && !rights.seccomp, "nothing is claimed without /proc/self/status");
	free(path);
}

static void test_seccomp(void) {
	struct rights rights;
	file_set("status", "CapEff:\t0000000000000000\nSeccomp:\t2\nSeccomp_filters:\t1\n");
	rights_read(&rights, root);
	ok(rights.seccomp, "a filter of system calls is seen");
	file_set("status", "CapEff:\t0000000000000000\nSeccomp:\t0\nSeccomp_filters:\t1\n");
	rights_read(&rights, root);
	ok(!rights.seccomp, "the line Seccomp alone decides");
}

/* A fresh user namespace grants every capability and has an empty map. */
static void test_unshared(void) {
	int status = -1;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		struct rights rights;
		if (unshare(CLONE_NEWUSER))
			_exit(77);
		rights_read(&rights, "");
		_exit(rights_perf(&rights));
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		tap_skip("a fresh user namespace", "none can be made here");
	else
		ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a fresh user namespace gives no right to perf");
}

int main(void) {
	struct err err = {0};
	char *folder = mkdtemp(root) ? mem_printf("%s/proc/self", root) : NULL;
	if (!folder || sys_make_dirs(folder, &err)) {
		printf("Bail out! no temporary folder: %s\n", err.what);
		return 1;
	}
	test_masks();
	test_namespaces();
	test_unreadable();
	test_seccomp();
	test_unshared();
	tree_remove(root);
	free(folder);
	return tap_done();
}
