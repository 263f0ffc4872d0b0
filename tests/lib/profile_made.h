/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Profiles that tests make. */
#ifndef TESTS_LIB_PROFILE_MADE_H
#define TESTS_LIB_PROFILE_MADE_H
#include <jansson.h>
#include <stdlib.h>

#include "lib/profile/profile_impl.h"

#define MADE_HEAD(schema, created, machine)                                                                            \
	"{\"schema\":\"" schema "\",\"generator\":\"test\",\"created\":\"" created "\",\"machine\":" machine               \
	",\"entries\":["
#define MADE_MACHINE "{\"fingerprint\":\"sha256:12\",\"cpu\":\"Made\",\"threads\":4,\"compiler\":\"cc 1\"}"
#define MADE_ENTRY(kernel, problem, config, environment, median, state)                                                \
	"{\"kernel\":\"" kernel "\",\"objective\":\"time\",\"unit\":\"s\",\"problem\":{" problem "},\"config\":{" config   \
	"},\"environment\":{" environment "},\"median\":" median ",\"speedup\":{\"ratio\":2.5},\"state\":\"" state         \
	"\",\"counted\":{\"counters\":{\"cycles\":{\"value\":5,\"unit\":\"\"}},\"metrics\":{}}}"

/* This machine, as the program would write it; one number more in threads makes it another. */
__attribute__((unused)) static json_t *made_here(uint64_t more) {
	struct ssp_arena *arena = ssp_arena_new();
	struct ssp_machine here;
	ssp_machine_read("", arena, &here);
	json_t *json = json_pack("{s:s,s:s,s:I,s:I,s:{s:I}}", "fingerprint", "sha256:12", "cpu", here.cpu ? here.cpu : "",
	                         "threads", (json_int_t)(here.threads + more), "cores", (json_int_t)here.cores, "caches",
	                         "l2", (json_int_t)here.l2);
	if (!here.cpu)
		json_object_del(json, "cpu");
	ssp_arena_free(arena);
	return json;
}

/* A file with one kernel, written anew. */
__attribute__((unused)) static void made_write(const char *path, const char *created, uint64_t more,
                                               const char *kernel) {
	json_t *json = json_pack("{s:s,s:s,s:o,s:[{s:s,s:{s:i},s:{s:i},s:{},s:f,s:s}]}", "schema", "sweetspot-profile/1",
	                         "created", created, "machine", made_here(more), "entries", "kernel", kernel, "problem",
	                         "n", 8, "config", "block", 4, "environment", "median", 1.0, "state", "current");
	if (!json || json_dump_file(json, path, 0) != 0)
		exit(99);
	json_decref(json);
}
#endif
