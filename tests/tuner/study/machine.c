/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Machines that somebody describes: impossible ones are refused. */
#include <jansson.h>

#include "tests/mutate.h"
#include "tuner/study/study.h"

static void refused(const char *text) {
	struct err err = {0};
	json_t *json = json_loads(text, 0, NULL), *machine;
	machine = json ? study_machine_json(json, &err) : study_machine_words(text, &err);
	ok(!machine && err.code == ERR_USAGE && *err.what, "refused: %s (%s)", text, err.what);
	json_decref(machine);
	json_decref(json);
}

static void accepted(const char *text) {
	struct err err = {0};
	json_t *json = json_loads(text, 0, NULL), *machine;
	machine = json ? study_machine_json(json, &err) : study_machine_words(text, &err);
	ok(machine, "accepted: %s (%s)", text, err.what);
	json_decref(machine);
	json_decref(json);
}

int main(void) {
	static const char file[] = "{\"machine\":{\"packages\":2,\"numa_nodes\":4,\"llcs\":4,\"cores\":16,\"threads\":32,"
							   "\"caches\":{\"l1d\":32768,\"l2\":1048576,\"l3\":0}}}";
	static const char words[] = "packages=2 numa_nodes=2 cores=16,threads=32 llcs=4 l1d=32K l2=1M l3=16MiB";
	accepted(file);
	accepted(words);
	accepted("{\"cores\":4}");
	accepted("{\"cores\":0, \"caches\":{\"l3\":null}}");
	refused("{}");
	refused("[1]");
	refused("{\"cores\":-1}");
	refused("{\"cores\":1e300}");
	refused("{\"cores\":1.5}");
	refused("{\"cores\":\"4\"}");
	refused("{\"cores\":8,\"threads\":4}");
	refused("{\"cores\":1,\"packages\":2}");
	refused("{\"cores\":1,\"caches\":7}");
	refused("{\"caches\":{\"l1d\":65536,\"l3\":32768}}");
	refused("{\"caches\":{\"l2\":-1}}");
	refused("cores=0");
	refused("cores=8 threads=4");
	refused("packages=4 cores=2");
	refused("l1=1M l2=32K");
	mutate_all(file, sizeof file - 1, "{}[]\":,-.0159eEnul", 4000);
	mutate_all(words, sizeof words - 1, "= ,KMGiB0159-.e", 4000);
	return tap_done();
}
