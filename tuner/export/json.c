/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/base/json/js.h"
#include "tuner/export/export.h"

static int json_write(const json_t *profile, FILE *out, struct err *err) {
	if (js_write(profile, out) == 0 && fflush(out) == 0)
		return 0;
	return err_set(err, ERR_FAILED, "check the space on the disk, or write elsewhere with -o",
	               "can't write the profile");
}

extern const struct export_format export_json;
const struct export_format export_json = {
	.name = "json",
	.summary = "the profile itself, as programs and `sweetspot profile` read it",
	.write = json_write,
};
