/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/opt.h"

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

static double unit_seconds(const char *unit) {
	static const struct {
		const char *name;
		double seconds;
	} units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"min", 60}, {"h", 3600}};
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strcmp(unit, units[i].name) == 0)
			return units[i].seconds;
	return -1;
}

int opt_seconds(const char *text, const char *name, double *out, struct err *err) {
	static const char hint[] = "for example 90s, 10m, 1.5h, 250ms";
	size_t digits = strspn(text, "0123456789.");
	double unit = unit_seconds(text + digits);
	char *end = NULL;
	double value = starts_number(text) && unit > 0 ? strtod(text, &end) : -1;
	if (end != text + digits)
		return err_set(err, ERR_USAGE, hint, "--%s takes a duration, not '%s'", name, text);
	if (!(value * unit <= 1e9))
		return err_set(err, ERR_USAGE, hint, "--%s takes at most a billion seconds, not '%s'", name, text);
	*out = value * unit;
	return 0;
}

int opt_limit(const char *text, const char *name, double *out, struct err *err) {
	if (opt_seconds(text, name, out, err))
		return -1;
	if (*out > 0)
		return 0;
	return err_set(err, ERR_USAGE, "for example 90s, 10m, 1.5h, 250ms", "--%s must be greater than 0", name);
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
