/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies of folders to build in, and their removal. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/tree.h"
#include "tests/tap.h"
#include "tuner/program/program_impl.h"

static const struct program_tree_limit wide = {.bytes = 1 << 30, .files = 1000};

static bool sh(const char *line) {
	return system(line) == 0;
}

static int copy(const char *from, const char *to, const char *skip, const struct program_tree_limit *limit,
                struct err *err) {
	*err = (struct err){0};
	return program_tree_copy(from, to, skip, limit, err);
}

static const char make_tree[] =
	"mkdir -p src/deep/er src/.git src/.hidden src/empty && cd src && echo hello >a && dd if=/dev/urandom of=big "
	"bs=4096"
	" count=300 2>/dev/null && printf x >deep/er/b && echo no >.git/c && echo yes >.hidden/d && ln -s a to_a && ln -s "
	". loop"
	" && ln -s nowhere dangling && ln -s /etc absolute && ln -s ../../outside deep/out && ln -s ../a deep/in && mkfifo "
	"pipe"
	" && : >nothing && chmod 751 a && chmod 500 empty && touch -d '2001-02-03 04:05:06.789' a deep deep/er/b"
	" && touch -h -d 2002-01-01 to_a";

/* `ls` and `find` show the same for copy and original, except for what is left out and the link that leads outside. */
static void test_copy(const char *top) {
	struct err err;
	ok(sh(make_tree), "a tree is there");
	char *from = mem_printf("%s/src", top), *to = mem_printf("%s/copy", top),
		 *far = mem_printf("%s/src/deep/../../outside", top);
	ok(copy(from, NULL, NULL, &wide, &err) == 0 && access(to, F_OK) != 0,
	   "a tree can be copied, and the check creates nothing");
	ok(copy(from, to, NULL, &wide, &err) == 0, "a tree is copied %s", err.what);
	ok(sh("diff -r --no-dereference -x .git -x pipe -x out src copy"), "contents and links are the same");
	ok(sh("list() { cd $1 && find . -name .git -prune -o ! -type p ! -name out ! -path . -printf '%P %m %T@ %y %l\\n' "
	      "| sort; };"
	      "(list src) >l1; (list copy) >l2; test -s l1 && diff l1 l2"),
	   "permissions and times are the same, also of folders and links");
	ok(access("copy/.git", F_OK) && access("copy/pipe", F_OK), "no .git and no pipe");
	char target[4096] = "";
	ssize_t size = readlink("copy/deep/out", target, sizeof target - 1);
	ok(size > 0 && strcmp(target, far) == 0, "a link that leads out still leads there: %s", target);
	ok(copy(from, to, NULL, &wide, &err) != 0, "existing files are not overwritten");
	free(from);
	free(to);
	free(far);
}

static void test_limits(const char *top) {
	struct err err;
	char *from = mem_printf("%s/src", top), *to = mem_printf("%s/small", top), *skip = mem_printf("%s/src/deep", top);
	const struct program_tree_limit few = {.bytes = 1 << 30, .files = 5}, little = {.bytes = 1000, .files = 1000};
	ok(copy(from, NULL, NULL, &few, &err) && err.code == ERR_USAGE && strstr(err.hint, "{SOURCE}"), "too many: %s",
	   err.what);
	ok(copy(from, to, NULL, &little, &err) && err.code == ERR_USAGE && strstr(err.hint, "{SOURCE}"), "too much: %s",
	   err.what);
	tree_remove(to);
	ok(copy(from, to, skip, &wide, &err) == 0 && access("small/a", F_OK) == 0 && access("small/deep", F_OK) != 0,
	   "a folder to skip is left out");
	ok(copy("/no/such/folder", NULL, NULL, &wide, &err) && err.code == ERR_USAGE, "no folder: %s", err.what);
	if (geteuid() != 0) {
		sh("chmod 0 src/a");
		ok(copy(from, NULL, NULL, &wide, &err) && strstr(err.what, "/src/a"), "what can't be read is named: %s",
		   err.what);
	} else if (fork() == 0) {
		sh("chmod 755 . src src/empty; chmod 0 src/a");
		_exit(setuid(65534) || !copy(from, NULL, NULL, &wide, &err) || !strstr(err.what, "/src/a"));
	} else {
		int status = 1;
		wait(&status);
		ok(status == 0, "what can't be read is named");
	}
	/* A copy into itself ends. */
	char *inside = mem_printf("%s/src/.hidden/mine", top);
	sh("chmod 755 src/a; mkdir src/.hidden/mine");
	char *deeper = mem_printf("%s/1", inside);
	ok(copy(from, deeper, inside, &wide, &err) == 0 && access("src/.hidden/mine/1/a", F_OK) == 0 &&
	       access("src/.hidden/mine/1/.hidden/mine", F_OK) != 0,
	   "a copy inside of what is copied %s", err.what);
	free(deeper);
	free(inside);
	free(skip);
	free(from);
	free(to);
}

static void test_remove(void) {
	ok(sh("mkdir -p gone/ro/in other && echo 1 >other/keep && ln -s ../other gone/link && ln -s ../../other/keep "
	      "gone/ro/in/k"
	      " && chmod 500 gone/ro/in gone/ro && chmod 0 gone/ro"),
	   "a tree that cannot be entered");
	tree_remove("gone");
	ok(access("gone", F_OK) != 0 && access("other/keep", F_OK) == 0,
	   "a tree that cannot be entered is removed, and the targets of its links stay");
	tree_remove("gone");
	ok(access("gone", F_OK) != 0, "removing nothing is fine");
	ok(sh("mkdir gone && cd gone && name=$(printf '%0200d' 7) && for i in $(seq 60); do mkdir $name && cd -P $name; "
	      "done"),
	   "a tree deeper than a path is long");
	tree_remove("gone");
	ok(access("gone", F_OK) != 0, "a tree deeper than a path is long is removed");
}

int main(void) {
	char top[] = "/tmp/sweetspot-tree-XXXXXX";
	if (!mkdtemp(top) || chdir(top)) {
		printf("Bail out! no folder\n");
		return 99;
	}
	test_copy(top);
	test_limits(top);
	test_remove();
	tree_remove(top);
	ok(access(top, F_OK) != 0, "all is removed");
	return tap_done();
}
