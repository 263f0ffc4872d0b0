/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a machine, JSON or words: they are refused with a message, or describe one that can exist. The test
 * `machine` calls this with mutated texts, `make fuzz` runs it as a target of libFuzzer. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/study/study.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
	if (!condition)
		abort();
}

static void check_host(const json_t *machine) {
	struct study *study = study_new("kernel", "cpu");
	study_machine(study, machine, NULL, 0.01);
	const struct study_host *host = study_host(study);
	require(host->packages >= 0 && host->cores >= 0 && host->threads >= 0 && host->numa_nodes >= 0);
	require(!host->cores || host->packages <= host->cores);
	require(!host->threads || (host->cores <= host->threads && host->packages <= host->threads));
	for (int i = 1; i <= 3; i++) {
		require(host->cache[i] >= 0 && host->cache[i] <= 1e15);
		require(host->cache[i] == 0 || host->cache[1] <= host->cache[i]);
	}
	study_free(study);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct err err = {0};
	json_t *json = js_parse((const char *)data, size, "input", NULL), *machine;
	char *words = mem_alloc(size + 1, 1);
	memcpy(words, data, size);
	machine = json ? study_machine_json(json, &err) : study_machine_words(words, &err);
	if (machine)
		check_host(machine);
	else
		require(err.code == ERR_USAGE && *err.what);
	json_decref(machine);
	json_decref(json);
	free(words);
	return 0;
}
