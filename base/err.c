/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/err.h"

#include <stdarg.h>

#include "base/text.h"

/* The text is formatted beside the target first, because the arguments may point into it. */
__attribute__((format(printf, 3, 0))) static void fill(char *out, size_t size, const char *format, va_list ap) {
	char text[sizeof((struct err *)0)->what];
	vsnprintf(text, sizeof(text), format, ap);
	text_clean(text, false);
	snprintf(out, size, "%s", text);
}

int err_set(struct err *err, enum err_code code, const char *hint, const char *what, ...) {
	if (!err)
		return -1;
	char kept[sizeof(err->hint)];
	snprintf(kept, sizeof(kept), "%s", hint ? hint : "");
	text_clean(kept, false);
	va_list ap;
	va_start(ap, what);
	fill(err->what, sizeof(err->what), what, ap);
	va_end(ap);
	memcpy(err->hint, kept, sizeof(kept));
	err->code = code;
	return -1;
}

int err_hint(struct err *err, const char *hint, ...) {
	if (!err)
		return -1;
	va_list ap;
	va_start(ap, hint);
	fill(err->hint, sizeof(err->hint), hint, ap);
	va_end(ap);
	return -1;
}

int err_prefix(struct err *err, const char *where, ...) {
	if (!err)
		return -1;
	char text[2 * sizeof(err->what) + 2], prefix[sizeof(err->what)];
	va_list ap;
	va_start(ap, where);
	vsnprintf(prefix, sizeof(prefix), where, ap);
	va_end(ap);
	snprintf(text, sizeof(text), "%s: %s", prefix, err->what);
	text[sizeof(err->what) - 1] = '\0';
	text_clean(text, false);
	memcpy(err->what, text, strlen(text) + 1);
	return -1;
}

int err_exit_status(enum err_code code) {
	switch (code) {
#define ERR_STATUS(name, status, text)                                                                                 \
	case ERR_##name:                                                                                                   \
		return status;
		ERR_CODES(ERR_STATUS)
#undef ERR_STATUS
	}
	return 1;
}

const char *err_meaning(enum err_code code) {
	switch (code) {
#define ERR_TEXT(name, status, text)                                                                                   \
	case ERR_##name:                                                                                                   \
		return text;
		ERR_CODES(ERR_TEXT)
#undef ERR_TEXT
	}
	return "unknown error";
}

void err_print(const struct err *err, FILE *out) {
	fprintf(out, "sweetspot: error: %s\n", err->what[0] ? err->what : err_meaning(err->code));
	if (err->hint[0])
		fprintf(out, "  hint: %s\n", err->hint);
}
