/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/record/record_impl.h"

#define RECORD(name) extern const struct record_format record_##name;
#include "tuner/record/registry.def"
#undef RECORD

#define RECORD(name) &record_##name,
static const struct record_format *const record_registry[] = {
#include "tuner/record/registry.def"
	NULL};
#undef RECORD

static const struct record_format *format_of(const struct scan_text *key) {
	for (const struct record_format *const *format = record_registry; *format; format++)
		for (const char *const *sign = (*format)->signs; *sign; sign++)
			if (scan_text_is(key, *sign))
				return *format;
	return NULL;
}

const struct record_format *record_detect(struct scan *scan) {
	const struct record_format *format = NULL;
	struct scan look = *scan;
	struct scan_text key;
	scan_object(&look);
	while (!format && scan_member(&look, &key))
		if (!(format = format_of(&key)))
			scan_skip(&look);
	if (!format && !look.failed) {
		look.at = look.start;
		scan_fail(&look, "cache files of Kernel Tuner, T4 results and results of KTT can be read",
		          "unknown format of recorded configurations");
	}
	return format;
}
