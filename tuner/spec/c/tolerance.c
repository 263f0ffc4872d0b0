/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tolerance: how far outputs may be from the reference. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "src/base/json/js.h"
#include "tuner/spec/c/impl.h"

static const char HINT[] = "\"Tolerance\": 1e-3, or {\"Absolute\": 1e-3, \"Relative\": 1e-5, \"Share\": 0.01}";

static int member_read(const char *key, const json_t *value, struct c_tolerance *tolerance, struct err *err) {
	const struct {
		const char *key;
		double *to, most;
	} members[] = {{"Absolute", &tolerance->absolute, HUGE_VAL},
	               {"Relative", &tolerance->relative, HUGE_VAL},
	               {"Share", &tolerance->share, 1}};
	for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
		double number = json_number_value(value);
		if (strcmp(key, members[i].key) != 0)
			continue;
		if (!json_is_number(value) || !(number >= 0 && number <= members[i].most) || isinf(number))
			return err_set(err, ERR_USAGE, HINT, "Tolerance: %s is not a number from 0%s", key,
			               members[i].most == 1 ? " to 1" : "");
		*members[i].to = number;
		tolerance->given = tolerance->given || members[i].to != &tolerance->share;
		return 0;
	}
	return err_set(err, ERR_USAGE, HINT, "Tolerance: \"%.40s\" is unknown", key);
}

int c_tolerance_read(const json_t *json, struct c_tolerance *tolerance, struct err *err) {
	json_t *member = json_object_get(json, "Tolerance"), *value;
	const char *key;
	*tolerance = (struct c_tolerance){.given = false};
	if (!member || json_is_null(member))
		return 0;
	if (json_is_number(member))
		return member_read("Absolute", member, tolerance, err);
	if (!json_is_object(member))
		return err_set(err, ERR_USAGE, HINT, "Tolerance is neither a number nor an object");
	json_object_foreach(member, key, value) {
		if (member_read(key, value, tolerance, err))
			return -1;
	}
	return 0;
}

static bool is_set(const struct c_tolerance *tolerance) {
	return tolerance->given || tolerance->share > 0;
}

int c_tolerances_read(const json_t *kernel, struct c_argument *first, size_t count, size_t stride, struct err *err) {
	struct c_tolerance common;
	if (c_tolerance_read(kernel, &common, err))
		return -1;
	for (size_t i = 0; i < count; i++) {
		struct c_argument *argument = (struct c_argument *)(void *)((char *)first + i * stride);
		if (!argument->output && is_set(&argument->tolerance))
			return err_set(err, ERR_USAGE, "add \"Output\": 1", "argument %s has a Tolerance but is not an output",
			               argument->name);
		if (argument->output && !is_set(&argument->tolerance))
			argument->tolerance = common;
	}
	return 0;
}
