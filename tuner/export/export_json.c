/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/export/export.h"
#include "tuner/export/export_impl.h"

static int json_write(const struct profile *profile, FILE *out, struct err *err) {
	return export_document(json_incref((json_t *)profile->json), out, "profile", err);
}

const struct export_format export_json = {
	.name = "json",
	.summary = "the profile itself, as programs and `sweetspot profile` read it",
	.data = true,
	.write = json_write,
};
