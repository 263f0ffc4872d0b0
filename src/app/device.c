/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/app/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INDEX_MAX = 999 };

const struct device device_cpu = {.word = "cpu", .kind = "cpu"};

int device_read(const char *word, struct device *device, struct err *err) {
	char *end;
	*device = device_cpu;
	if (strcmp(word, "cpu") == 0)
		return 0;
	bool first = strcmp(word, "cuda") == 0, digit = strncmp(word, "cuda:", 5) == 0 && word[5] >= '0' && word[5] <= '9';
	long index = digit ? strtol(word + 5, &end, 10) : 0;
	if (!first && (!digit || *end || index > INDEX_MAX))
		return err_set(err, ERR_USAGE, "the device is cpu, cuda, or cuda:N for the Nth GPU", "unknown device \"%.60s\"",
		               word);
	snprintf(device->word, sizeof device->word, "cuda:%ld", index);
	device->kind = "cuda";
	return 0;
}
