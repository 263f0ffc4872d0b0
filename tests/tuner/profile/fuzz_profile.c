/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For libFuzzer: parses bytes as a profile, and writes what passes in all formats. From the top of a build:
 *     clang -g -fsanitize=fuzzer,address,undefined -I. -I$SRC $SRC/tests/tuner/profile/fuzz_profile.c
 * $SRC/src/base/[!p]*.c \ $SRC/tuner/profile/check.c $SRC/tuner/export/[!r]*.c -ljansson -lm -o fuzz_profile */
#include <config.h>

#include <stdint.h>
#include <stdio.h>

#include "src/base/json/js.h"
#include "tuner/export/export.h"
#include "tuner/profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const struct export_format export_json, export_env, export_csv;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	const struct export_format *const formats[] = {&export_json, &export_env, &export_csv};
	struct err err = {0};
	json_t *profile = js_parse((const char *)data, size, "input", &err);
	if (!profile)
		return 0;
	FILE *out = fopen("/dev/null", "w");
	if (out && profile_check(profile, &err) == 0)
		for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
			formats[i]->write(profile, out, &err);
	if (out)
		fclose(out);
	json_decref(profile);
	return 0;
}
