/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "tuner/result/result.h"
#include "tuner/profile/profile.h"
#include "tuner/sizes/sizes.h"

static int values_check(const json_t *values, struct err *err) {
	bool fits = json_is_object(values);
	js_members (name, one, values)
		fits = fits && *name && json_is_number(json_object_get(one, "value")) &&
		       json_is_string(json_object_get(one, "unit"));
	return fits ? 0 : err_set(err, ERR_USAGE, NULL, "must be an object of values with units");
}

static int check_counted(const json_t *counted, struct err *err) {
	if (values_check(json_object_get(counted, "counters"), err))
		return err_prefix(err, "counters");
	return values_check(json_object_get(counted, "metrics"), err) ? err_prefix(err, "metrics") : 0;
}

/* data/schema/profile.json in C, so that reading a profile does not need a schema library. In addition an interval must
 * not end before it begins. */
typedef int check_fn(const json_t *value, struct err *err);

struct rule {
	const char *name; /* "?name" may be absent, as in older profiles; others may be there */
	check_fn *check;
	const struct rule *members; /* of an object, in place of `check` */
	const char *words;          /* the only ones, as the message says them: "current or stale" */
	bool null;                  /* allowed */
};
#define RULE(key, kind, ...)                                                                                           \
	{ .name = key, .check = check_##kind, ##__VA_ARGS__ }

static const char makes_one[] =
	"`sweetspot export --format json` makes one; the schema is in schema/profile.json among the data";

static int check_refuse(struct err *err, const char *what) {
	return err_set(err, ERR_USAGE, makes_one, "%s", what);
}

/* Is it one of "this, that or those"? */
static bool is_among(const json_t *value, const char *words) {
	const char *word = json_is_string(value) ? json_string_value(value) : "", *end = words + strlen(words);
	for (size_t length; words < end; words += length + (words[length] == ',' ? 2 : 4)) {
		const char * or = strstr(words, " or ");
		length = strcspn(words, ",");
		length = or &&(size_t)(or -words) < length ? (size_t)(or -words) : length;
		if (length == strlen(word) && memcmp(words, word, length) == 0)
			return true;
	}
	return false;
}

static int check_members(const json_t *value, const struct rule *rules, struct err *err);

static int check_rule(const json_t *value, const struct rule *rule, struct err *err) {
	if (rule->null && json_is_null(value))
		return 0;
	if (rule->members)
		return check_members(value, rule->members, err);
	if (!rule->words)
		return rule->check(value, err);
	return is_among(value, rule->words) ? 0 : err_set(err, ERR_USAGE, makes_one, "must be %s", rule->words);
}

static int check_members(const json_t *value, const struct rule *rules, struct err *err) {
	if (!json_is_object(value))
		return check_refuse(err, "must be an object");
	for (; rules->name; rules++) {
		const char *name = rules->name + (*rules->name == '?');
		const json_t *json = json_object_get(value, name);
		if ((json ? check_rule(json, rules, err) : name > rules->name ? 0 : check_refuse(err, "is missing")) != 0)
			return err_prefix(err, "%s", name);
	}
	return 0;
}

static int check_text(const json_t *value, struct err *err) {
	return json_is_string(value) ? 0 : check_refuse(err, "must be a string");
}

static int check_word(const json_t *value, struct err *err) {
	return json_is_string(value) && *json_string_value(value) ? 0
	                                                          : check_refuse(err, "must be a string that is not empty");
}

static bool is_whole(const json_t *value) {
	return json_is_integer(value) || (json_is_real(value) && json_real_value(value) == floor(json_real_value(value)));
}

static int check_whole(const json_t *value, struct err *err) {
	return is_whole(value) ? 0 : check_refuse(err, "must be a whole number");
}

static int check_count(const json_t *value, struct err *err) {
	return is_whole(value) && json_number_value(value) >= 0 ? 0 : check_refuse(err, "must be a whole number from 0");
}

static int check_amount(const json_t *value, struct err *err) {
	return json_is_number(value) && json_number_value(value) >= 0 ? 0 : check_refuse(err, "must be a number from 0");
}

static int check_ratio(const json_t *value, struct err *err) {
	return json_is_number(value) && json_number_value(value) > 0 ? 0 : check_refuse(err, "must be a number above 0");
}

static int check_noise(const json_t *value, struct err *err) {
	return json_is_null(value) || check_amount(value, NULL) == 0 ? 0
	                                                             : check_refuse(err, "must be null or a number from 0");
}

static int check_interval(const json_t *value, struct err *err) {
	const json_t *low = json_array_get(value, 0), *high = json_array_get(value, 1);
	if (json_array_size(value) != 2 || check_amount(low, NULL) || check_amount(high, NULL))
		return check_refuse(err, "must be two numbers from 0");
	return json_number_value(low) <= json_number_value(high) ? 0 : check_refuse(err, "must not end before it begins");
}

/* A speedup may be known to be at least something. */
static int check_gain(const json_t *value, struct err *err) {
	bool open = json_array_size(value) == 2 && json_is_null(json_array_get(value, 1));
	return open && check_amount(json_array_get(value, 0), NULL) == 0 ? 0 : check_interval(value, err);
}

/* "2025-01-31T12:00:00Z" */
static int check_time(const json_t *value, struct err *err) {
	static const char form[] = "0000-00-00T00:00:00Z";
	const char *text = json_is_string(value) ? json_string_value(value) : "";
	bool right = strlen(text) == strlen(form);
	for (size_t i = 0; right && form[i]; i++)
		right = form[i] == '0' ? text[i] >= '0' && text[i] <= '9' : text[i] == form[i];
	int month = 0, day = 0, hour = 0, minute = 0, second = 0;
	if (right)
		sscanf(text, "%*4d-%2d-%2dT%2d:%2d:%2dZ", &month, &day, &hour, &minute, &second);
	if (!right || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60)
		return check_refuse(err, "must be a time like 2025-01-31T12:00:00Z");
	return 0;
}

static int check_fingerprint(const json_t *value, struct err *err) {
	const char *text = json_is_string(value) ? json_string_value(value) : "";
	size_t digits = strncmp(text, "sha256:", 7) == 0 ? strspn(text + 7, "0123456789abcdef") : 0;
	if (digits < 1 || digits > 64 || text[7 + digits])
		return check_refuse(err, "must be \"sha256:\" and hexadecimal digits");
	return 0;
}

static int check_verdict(const json_t *value, struct err *err) {
	enum verdict verdict;
	return json_is_string(value) && verdict_find(json_string_value(value), &verdict)
	           ? 0
	           : check_refuse(err, "must be a verdict, such as faster, slower, tie or undecided");
}

static int check_evidence(const json_t *value, struct err *err) {
	const json_t *differs = json_object_get(value, "differs");
	if (!json_is_boolean(json_object_get(value, "same_work")) || !json_is_array(differs))
		return check_refuse(err, "must say same_work, and what differs");
	js_each (clause, differs)
		if (check_text(clause, err))
			return -1;
	return 0;
}

static int check_schema(const json_t *value, struct err *err) {
	static const char ours[] = "sweetspot-profile/";
	const char *text = json_is_string(value) ? json_string_value(value) : "";
	const char *version = strncmp(text, ours, sizeof ours - 1) == 0 ? text + sizeof ours - 1 : "";
	if (strcmp(version, "1") == 0)
		return 0;
	if (*version < '1' || *version > '9')
		return check_refuse(err, "must be sweetspot-profile/1: this is not a profile");
	return err_set(err, ERR_USAGE, "read it with the version that wrote it, or a newer one",
	               "%.40s was written by a newer version of Sweetspot; this one reads sweetspot-profile/1 only", text);
}

/* Names with numbers, words or booleans: a configuration or a problem. */
static int check_settings(const json_t *value, struct err *err) {
	if (!json_is_object(value))
		return check_refuse(err, "must be an object");
	js_members (name, setting, value) {
		if (!*name)
			return check_refuse(err, "has a member without a name");
		if (!json_is_number(setting) && !json_is_string(setting) && !json_is_boolean(setting)) {
			check_refuse(err, "must be a number, a string or a boolean");
			return err_prefix(err, "%.64s", name);
		}
	}
	return 0;
}

/* Variables that a profile may set; program: NULL for a kernel. */
static int profile_check_variables(const json_t *value, const json_t *program, struct err *err) {
	if (!json_is_object(value))
		return check_refuse(err, "must be an object");
	js_members (name, text, value)
		if (profile_may_set(name, program) ? check_text(text, err)
		                                   : check_refuse(err, "is not a variable that a profile may set"))
			return err_prefix(err, "%.64s", name);
	return 0;
}

/* Names of variables that are left out: those that the profile might set. */
static int check_unset(const json_t *value, const json_t *program, struct err *err) {
	if (!json_is_array(value))
		return check_refuse(err, "must be an array");
	js_each (name, value)
		if (!json_is_string(name) || !profile_may_set(json_string_value(name), program))
			return check_refuse(err, "must hold names of variables that a profile may set");
	return 0;
}

static int check_flag(const json_t *value, struct err *err) {
	return json_is_boolean(value) ? 0 : check_refuse(err, "must be true or false");
}

static int check_object(const json_t *value, struct err *err) {
	return json_is_object(value) ? 0 : check_refuse(err, "must be an object");
}

enum { WORDS_MAX = 4096, TEXT_MAX = 128 << 10 /* the kernel's limit of one argument */, MEMBERS_MAX = 1024 };

static int check_line(const json_t *value, struct err *err) {
	return json_is_string(value) && json_string_length(value) <= TEXT_MAX
	           ? 0
	           : check_refuse(err, "must be a string of at most 128 KiB, or null");
}

static int check_argv(const json_t *argv, struct err *err) {
	size_t count = json_array_size(argv);
	if (count < 1 || count > WORDS_MAX)
		return check_refuse(err, "must be a list of words, at least one");
	js_each (word, argv)
		if (check_line(word, NULL))
			return check_refuse(err, "must hold words of at most 128 KiB only");
	return *json_string_value(json_array_get(argv, 0)) ? 0 : check_refuse(err, "does not name a program");
}

static int check_params(const json_t *params, struct err *err) {
	if (!json_is_object(params) || json_object_size(params) > MEMBERS_MAX)
		return check_refuse(err, "must be an object with at most 1024 members");
	js_members (name, channel, params)
		if (!*name || !is_among(channel, "argument, build, setup, environment or openmp"))
			return check_refuse(err, "must say argument, build, setup, environment or openmp for each parameter");
	return 0;
}

/* checks types and sizes; ERR_USAGE */
static int check_program(const json_t *program, struct err *err) {
	static const struct rule rules[] = {
		RULE("argv", argv),
		RULE("params", params),
		RULE("?folder", line, .null = true),
		RULE("?cwd", line, .null = true),
		RULE("?input", line, .null = true),
		RULE("?build", line, .null = true),
		RULE("?built", line, .null = true),
		RULE("?before_each", line, .null = true),
		RULE("?verify", line, .null = true),
		RULE("?metric", line, .null = true),
		RULE("?line", line, .null = true),
		RULE("?baseline_line", line, .null = true),
		RULE("?setup", line, .null = true),
		RULE("?teardown", line, .null = true),
		RULE("?ready", line, .null = true),
		RULE("?energy_command", line, .null = true),
		{.name = "?expect_output", .words = "same, any, or null", .null = true},
		{.name = "?expect_files", .words = "same, or null", .null = true},
		RULE("?shell", flag),
		RULE("?openmp", flag),
		RULE("?maximize", flag),
		{.name = NULL},
	};
	return check_members(program, rules, err) ? err_hint(err, "tune the program again: `sweetspot tune -- PROGRAM`")
	                                          : 0;
}

static const struct rule baseline_rules[] = {
	RULE("config", settings), RULE("median", amount), RULE("ci", interval, .null = true), {.name = NULL}};
static const struct rule speedup_rules[] = {RULE("ratio", ratio), RULE("ci", gain), {.name = NULL}};
static const struct rule provenance_rules[] = {
	RULE("version", text),  RULE("command", text),      RULE("strategy", text),
	RULE("seed", whole),    RULE("evaluations", count), RULE("measured", time),
	RULE("session", count), RULE("search", count),      {.name = NULL},
};
static const struct rule checked_rules[] = {{.name = "how", .words = "output same, files same, verify or nothing"},
                                            RULE("runs", count),
                                            RULE("?by", text),
                                            RULE("?why", text),
                                            RULE("?except", text),
                                            RULE("?files", text),
                                            {.name = NULL}};
/* The load of a machine that others used meanwhile. */
static const struct rule busy_rules[] = {RULE("load", noise),
                                         RULE("processors", count),
                                         {.name = "?narrower", .words = "processors or cores"},
                                         {.name = NULL}};
static const struct rule entry_rules[] = {
	RULE("kernel", word),
	RULE("source", text),
	RULE("problem", settings),
	RULE("objective", word),
	RULE("config", settings),
	RULE("environment", object),
	RULE("median", amount),
	RULE("ci", interval, .null = true),
	RULE("unit", text),
	{.name = "baseline", .members = baseline_rules, .null = true},
	{.name = "speedup", .members = speedup_rules, .null = true},
	RULE(VERDICT_MEMBER, verdict),
	RULE("noise_floor", noise),
	{.name = "state", .words = "current or stale"},
	{.name = "provenance", .members = provenance_rules},
	RULE("?proven", flag), /* older profiles hold only what was proven */
	RULE("?counted", counted),
	RULE("?program", program),
	{.name = "?checked", .members = checked_rules},
	RULE("?evidence", evidence),
	{.name = "?busy", .members = busy_rules},
	{.name = NULL},
};

static int check_entry(const json_t *value, struct err *err) {
	const json_t *program = json_object_get(value, "program"), *unset = json_object_get(value, "unset");
	if (check_members(value, entry_rules, err))
		return -1;
	if (unset && check_unset(unset, program, err))
		return err_prefix(err, "unset");
	return profile_check_variables(json_object_get(value, "environment"), program, err) ? err_prefix(err, "environment")
	                                                                                    : 0;
}

static int check_entries(const json_t *value, struct err *err) {
	if (!json_is_array(value))
		return check_refuse(err, "must be an array");
	for (size_t i = 0; i < json_array_size(value); i++)
		if (check_entry(json_array_get(value, i), err))
			return err_prefix(err, "entry %zu", i);
	return 0;
}

static int profile_sizes_check(const json_t *sizes, struct err *err);

int profile_check(const json_t *profile, struct err *err) {
	static const struct rule machine_rules[] = {RULE("fingerprint", fingerprint), {.name = NULL}};
	static const struct rule rules[] = {RULE("schema", schema),   RULE("generator", word),
	                                    RULE("created", time),    {.name = "machine", .members = machine_rules},
	                                    RULE("entries", entries), {.name = NULL}};
	const json_t *sizes = json_object_get(profile, "sizes"); /* absent in older profiles, and without ranges of sizes */
	if (check_members(profile, rules, err))
		return -1;
	return sizes ? profile_sizes_check(sizes, err) : 0;
}

static int refuse(struct err *err, size_t at, const char *what) {
	return err_set(err, ERR_USAGE, "`sweetspot export --format json` makes them", "sizes: %zu: %s", at, what);
}

/* Ranges must be ascending and must not overlap. */
static int ranges_check(const json_t *ranges, size_t at, struct err *err) {
	double before = -INFINITY;
	if (json_array_size(ranges) < 1 || json_array_size(ranges) > SIZES_MAX)
		return refuse(err, at, "thresholds: must be 1 to 64 ranges");
	js_each (range, ranges) {
		double from = js_real_or(range, "from", NAN), to = js_real_or(range, "to", NAN);
		if (!(from >= before && to >= from))
			return refuse(err, at, "thresholds: a range must not end before it begins, nor overlap the one before");
		if (check_settings(json_object_get(range, "config"), NULL) ||
		    profile_check_variables(json_object_get(range, "environment"), NULL, NULL))
			return refuse(err, at, "thresholds: a range must have a configuration and its environment");
		before = to;
	}
	return 0;
}

static int profile_sizes_check(const json_t *sizes, struct err *err) {
	if (!json_is_array(sizes))
		return err_set(err, ERR_USAGE, NULL, "sizes: must be an array");
	js_each (one, sizes) {
		if (!*js_string_or(one, "kernel", "") || !*js_string_or(one, "over", ""))
			return refuse(err, one_at, "must name a kernel and the number that its sizes are values of");
		if (check_settings(json_object_get(one, "problem"), NULL) || !json_is_array(json_object_get(one, "measured")))
			return refuse(err, one_at, "must have the rest of the problem, and the measured sizes");
		if (ranges_check(json_object_get(one, "thresholds"), one_at, err))
			return -1;
	}
	return 0;
}
