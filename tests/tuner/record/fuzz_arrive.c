/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bytes of any file become UTF-8, or as they are where they are not text, or are refused with a message. The test
 * `arrive` calls this with changed archives, `make fuzz` runs it as a target of libFuzzer. What other programs unpack
 * is left out, because a process would be started for each input. -1: refused. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tuner/record/record_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct err err = {0};
	if (size && strchr("B\xfd\x28", *data))
		return -1;
	char *bytes = mem_alloc(size + SCAN_PAD, 1);
	memcpy(bytes, data, size);
	char *text = record_arrive("input", bytes, &size, &err);
	if (text ? text[size] != '\0' : err.code != ERR_USAGE || !*err.what)
		abort();
	free(text);
	return text ? 0 : -1;
}
