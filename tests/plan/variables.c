/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings of OpenMP as variables. */
#include <stdlib.h>

#include "base/json/js.h"
#include "tests/tap.h"
#include "tuner/profile/profile.h"
#include "tuner/program/program.h"

static void gives(const char *kernel, const char *config, const char *want, const char *what) {
	json_t *json = json_loads(config, 0, NULL), *env = config_environment(kernel, json);
	char *got = js_canonical(env);
	is_text(got, want, what);
	free(got);
	json_decref(env);
	json_decref(json);
}

int main(void) {
	gives(NULL, "{\"threads\":2,\"proc_bind\":\"false\",\"schedule\":\"dynamic\",\"chunk\":4}",
	      "{\"OMP_DYNAMIC\":\"false\",\"OMP_NUM_THREADS\":\"2\",\"OMP_PROC_BIND\":\"false\",\"OMP_SCHEDULE\":\"dynamic,"
	      "4\"}",
	      "a schedule with a chunk");
	gives(NULL, "{\"threads\":2,\"schedule\":\"static\",\"chunk\":0}",
	      "{\"OMP_DYNAMIC\":\"false\",\"OMP_NUM_THREADS\":\"2\",\"OMP_SCHEDULE\":\"static\"}", "a chunk of 0 is none");
	gives(NULL,
	      "{\"threads\":2,\"schedule\":\"default\",\"wait_policy\":\"default\",\"spincount\":\"default\","
	      "\"blocktime\":\"default\"}",
	      "{\"OMP_DYNAMIC\":\"false\",\"OMP_NUM_THREADS\":\"2\"}", "defaults set nothing");
	gives(NULL, "{\"threads\":2,\"schedule\":\"default\",\"chunk\":4}",
	      "{\"OMP_DYNAMIC\":\"false\",\"OMP_NUM_THREADS\":\"2\"}", "a default schedule sets nothing even with a chunk");
	gives(NULL, "{\"threads\":2,\"wait_policy\":\"active\"}",
	      "{\"OMP_DYNAMIC\":\"false\",\"OMP_NUM_THREADS\":\"2\",\"OMP_WAIT_POLICY\":\"active\"}", "a way to wait");
	gives(NULL, "{\"threads\":2,\"spincount\":30000}",
	      "{\"GOMP_SPINCOUNT\":\"30000\",\"OMP_DYNAMIC\":\"false\",\"OMP_NUM_THREADS\":\"2\"}", "libgomp's spinning");
	gives(NULL, "{\"threads\":2,\"blocktime\":0}",
	      "{\"KMP_BLOCKTIME\":\"0\",\"OMP_DYNAMIC\":\"false\",\"OMP_NUM_THREADS\":\"2\"}",
	      "LLVM's spinning, 0 included");
	gives(NULL, "{\"threads\":2,\"blocktime\":\"infinite\"}",
	      "{\"KMP_BLOCKTIME\":\"infinite\",\"OMP_DYNAMIC\":\"false\",\"OMP_NUM_THREADS\":\"2\"}",
	      "LLVM's threads can spin without end");
	gives("k", "{\"wait_policy\":\"passive\",\"block\":8}",
	      "{\"OMP_WAIT_POLICY\":\"passive\",\"SWEETSPOT_K_BLOCK\":\"8\"}", "beside a kernel's own");
	gives(NULL, "{\"block\":8}", "{}", "what is not of OpenMP is left to others");
	return tap_done();
}
