/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which commands a probe runs: those that measure a built-in kernel, and no other words. */
#include <stdlib.h>
#include <string.h>

#include "src/cmd/explain/explain_probe_impl.h"
#include "tests/tap.h"
#include "tuner/fleet/fleet_words.h"
#include "tuner/program/program.h"

static struct kernel_list *kernels;

/* In the place of src/app/app.c. */
const struct kernel_list *app_kernels(struct app *app, struct err *err) {
	(void)app;
	(void)err;
	return kernels;
}

const char *app_device_kind(const struct app *app) {
	(void)app;
	return "cpu";
}

static bool becomes(const char *command, const char *wanted) {
	struct err err = {0};
	char **words = explain_words(NULL, command, &err);
	char *line = words ? program_join((const char *const *)words, true) : strdup("(refused)");
	bool same = strcmp(line, wanted) == 0;
	if (!same)
		printf("# %s -> %s\n", command, line);
	words_free(words);
	free(line);
	return same;
}

static void test_good(void) {
	ok(becomes("sweetspot sweep fw n=64 --over threads=1,2 --counters MEM",
	           "sweep fw n=64 --over threads=1,2 --counters MEM"),
	   "a sweep");
	ok(becomes("sweetspot compare fw n=64 'threads=1 block=8' \"threads=2\"",
	           "compare fw n=64 'threads=1 block=8' threads=2"),
	   "words with blanks stay one word");
	ok(becomes("sweetspot compare fw 'graph='\\''a b'\\''' 'threads=2'", "compare fw 'graph='\\''a b'\\''' threads=2"),
	   "quotes within quotes");
	ok(becomes("sweetspot machine --ceilings", "machine --ceilings"), "ceilings");
	ok(becomes("sweetspot run fw n=64 block=8 threads=2 --counters MEM",
	           "sweep fw n=64 block=8 --counters MEM --over threads=2"),
	   "a run becomes a sweep, which is kept");
	ok(becomes("sweetspot run fw --counters MEM", "run fw --counters MEM"), "a run without settings stays one");
}

static void test_bad(void) {
	static const char *const bad[] = {"",
	                                  "sweetspot",
	                                  "rm -rf /",
	                                  "sh -c 'sweetspot sweep fw'",
	                                  "sweetspot tune -- reboot",
	                                  "sweetspot apply fw -- reboot",
	                                  "sweetspot sweep ./libevil.so --over threads=1",
	                                  "sweetspot sweep evil.so:fw --over threads=1",
	                                  "sweetspot sweep nobody --over threads=1",
	                                  "sweetspot sweep --over threads=1",
	                                  "sweetspot sweep fw --over",
	                                  "sweetspot sweep fw --over --store",
	                                  "sweetspot sweep fw -- reboot",
	                                  "sweetspot sweep fw threads",
	                                  "sweetspot sweep fw =1",
	                                  "sweetspot sweep fw --timeout 1e9",
	                                  "sweetspot compare fw 'threads=1",
	                                  "sweetspot machine --ceilings --json",
	                                  "sweetspot machine fw"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(becomes(bad[i], "(refused)"), "refused: %s", bad[i]);
}

static void test_many(void) {
	char command[4096] = "sweetspot sweep fw";
	for (int i = 0; i < 400; i++)
		strcat(command, " a=1");
	ok(becomes(command, "(refused)"), "refused: more words than there is room for");
}

int main(void) {
	json_t *kernel = json_pack("{s:s,s:s,s:s,s:[],s:[],s:[]}", "name", "fw", "summary", "a kernel", "source",
	                           "sha256:00", "params", "problem", "constraints");
	json_t *description = json_pack("{s:i,s:[o]}", "protocol", 1, "kernels", kernel);
	struct err err = {0};
	kernels = kernel_list_new(description, NULL, &err);
	if (!kernels)
		printf("# %s\n", err.what);
	ok(kernels, "there is a kernel");
	test_good();
	test_bad();
	test_many();
	kernel_list_free(kernels);
	json_decref(description);
	return tap_done();
}
