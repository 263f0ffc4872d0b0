/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The output of likwid-topology is a machine with sound numbers, or refused with a message. The test `mutated_likwid`
 * calls this with changed texts, `make fuzz` runs it as a target of libFuzzer. -1: refused. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tuner/study/study.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct err err = {0};
	char *text = mem_alloc(size + 1, 1);
	memcpy(text, data, size);
	json_t *machine = study_machine_likwid(text, &err);
	if (machine ? study_machine_check(machine, NULL) != 0 : err.code != ERR_USAGE || !*err.what)
		abort();
	free(text);
	bool read = machine != NULL;
	json_decref(machine);
	return read ? 0 : -1;
}
