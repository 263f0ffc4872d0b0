/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses bytes as a profile and writes a profile that passes in all formats. `make fuzz` runs it as a target of
 * libFuzzer, where most are written in one of them. */
#include <stdint.h>
#include <stdio.h>

#include "base/json/js.h"
#include "tests/fuzz.h"
#include "tuner/export/export.h"
#include "tuner/profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const struct export_format export_json, export_env, export_csv;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	enum { FORMATS = 3 };
	const struct export_format *const formats[FORMATS] = {&export_json, &export_env, &export_csv};
	struct err err = {0};
	json_t *profile = js_parse((const char *)data, size, "input", &err);
	static FILE *out;
	if (!profile)
		return 0;
	if (!out)
		out = fopen("/dev/null", "w");
	if (out && profile_check(profile, &err) == 0)
		for (size_t i = 0; i < FORMATS; i++)
			if (fuzz_one_in(16, data, size) || fuzz_hash(data, size) % FORMATS == i)
				formats[i]->write(profile, out, &err);
	if (out)
		fflush(out);
	json_decref(profile);
	return 0;
}
