/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/opt.h"

/* Guards strtoll and strtod, which skip blanks; strtod also accepts "inf", "nan" and hexadecimal numbers. */
static bool starts_number(const char *text) {
	text += *text == '-' || *text == '+';
	text += *text == '.';
	return *text >= '0' && *text <= '9';
}

int opt_int(const struct opt_args *args, const char *name, long long min, long long max, long long fallback,
            long long *out, struct err *err) {
	const char *text = opt_get(args, name, NULL);
	*out = fallback;
	if (!text)
		return 0;
	char *end;
	errno = 0;
	long long value = strtoll(text, &end, 10);
	if (!starts_number(text) || end == text || *end)
		return err_set(err, ERR_USAGE, NULL, "--%s takes a whole number, not '%s'", name, text);
	if (errno || value < min || value > max)
		return err_set(err, ERR_USAGE, NULL, "--%s takes a number from %lld to %lld, not %s", name, min, max, text);
	*out = value;
	return 0;
}

static double unit_seconds(const char *unit, size_t length) {
	static const struct {
		const char *name;
		double seconds;
	} units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"min", 60}, {"h", 3600}};
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strlen(units[i].name) == length && strncmp(unit, units[i].name, length) == 0)
			return units[i].seconds;
	return -1;
}

/* Reads the "1h" of "1h30m" and returns what follows; NULL if it is not a number, with a unit if it is part of a sum.
 */
static const char *part_read(const char *text, bool sum, double *value, double *unit) {
	const char *name = text + strspn(text, "0123456789."), *next = name + strcspn(name, "0123456789.");
	char *end = NULL;
	*unit = unit_seconds(name, (size_t)(next - name));
	*value = starts_number(text) && *unit > 0 && (!sum || next > name) ? strtod(text, &end) : -1;
	return end == name ? next : NULL;
}

int opt_seconds(const char *text, const char *name, double *out, struct err *err) {
	static const char hint[] = "for example 90s, 10m, 1.5h, 1h30m, 250ms";
	double seconds = 0, value, unit, before = INFINITY;
	const char *at = text;
	do {
		at = part_read(at, at > text, &value, &unit);
		if (!at || unit >= before) /* "30m1h" and "1m1m" are typing errors */
			return err_set(err, ERR_USAGE, hint, "--%s takes a duration, not '%s'", name, text);
		seconds += value * unit;
		before = unit;
	} while (*at);
	if (!(seconds <= 1e9))
		return err_set(err, ERR_USAGE, hint, "--%s takes at most a billion seconds, not '%s'", name, text);
	*out = seconds;
	return 0;
}

int opt_limit(const struct opt_args *args, const char *name, double *out, struct err *err) {
	const char *text = opt_get(args, name, NULL);
	if (text && opt_seconds(text, name, out, err))
		return -1;
	if (!text || *out > 0)
		return 0;
	return err_set(err, ERR_USAGE, "for example 90s, 10m, 1.5h, 1h30m, 250ms", "--%s must be greater than 0", name);
}

int opt_share(const struct opt_args *args, const char *name, double *out, struct err *err) {
	const char *text = opt_get(args, name, NULL);
	if (!text)
		return 0;
	size_t digits = strspn(text, "0123456789.");
	char *end = NULL;
	double value = starts_number(text) ? strtod(text, &end) : -1;
	bool percent = strcmp(text + digits, "%") == 0;
	value = percent ? value / 100 : value;
	if (end != text + digits || (text[digits] && !percent) || !(value >= 0))
		return err_set(err, ERR_USAGE, "for example 3% or 0.03", "--%s takes a percentage, not '%.60s'", name, text);
	if (value >= (percent ? 10 : 1)) {
		err_set(err, ERR_USAGE, "at most 1000%", "--%s %.60s is too large", name, text);
		return percent ? -1 : err_hint(err, "write %.60s%%", text);
	}
	*out = value;
	return 0;
}
