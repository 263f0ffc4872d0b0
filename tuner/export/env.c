/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shell text to be sourced. One entry: its variables are exported. Several: a function for each, and what all of them
 * agree on is exported at once. Names are made of letters, digits and "_"; values stand in single quotes; comments hold
 * no control characters: nothing in a profile can become a command. */
#include <config.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/js.h"
#include "src/base/mem.h"
#include "src/base/value.h"
#include "tuner/export/export.h"

static const char *member_text(const json_t *entry, const char *key) {
	return js_string_or(entry, key, "");
}

static double number_at(const json_t *object, const char *key) {
	return json_number_value(json_object_get(object, key));
}

/* As a comment shows it, and as names need it. Caller frees. */
static char *problem_text(const json_t *entry, const char *lead, const char *between) {
	char *text = mem_strdup("");
	const char *key;
	json_t *json;
	json_object_foreach(json_object_get(entry, "problem"), key, json) {
		char number[64] = "";
		struct value value;
		if (!json_is_string(json) && value_from_json(json, &value))
			value_text(value, number, sizeof number);
		char *longer =
			mem_printf("%s%s%s%s%s", text, lead, key, between, json_is_string(json) ? json_string_value(json) : number);
		free(text);
		text = longer;
	}
	return text;
}

static void put_comment(FILE *out, const char *text) {
	fputs("# ", out);
	for (; *text; text++)
		putc(iscntrl((unsigned char)*text) ? '?' : *text, out);
	putc('\n', out);
}

static void put_title(FILE *out, const json_t *entry) {
	const json_t *speedup = json_object_get(entry, "speedup"), *ci = json_object_get(speedup, "ci");
	char *problem = problem_text(entry, " ", "=");
	char *gain = json_is_null(speedup)
	                 ? mem_strdup("no baseline to compare with")
	                 : mem_printf("%.2f times as fast as the baseline (%.2f .. %.2f): %s", number_at(speedup, "ratio"),
	                              json_number_value(json_array_get(ci, 0)), json_number_value(json_array_get(ci, 1)),
	                              member_text(entry, "verdict"));
	char *title = mem_printf("%s%s: %s", member_text(entry, "kernel"), problem, gain);
	put_comment(out, title);
	if (strcmp(member_text(entry, "state"), "stale") == 0)
		put_comment(out, "stale: the kernel's source has changed since this was measured");
	free(title);
	free(gain);
	free(problem);
	/* Variables are not all of it where values are arguments. */
	const char *line = json_string_value(json_object_get(json_object_get(entry, "program"), "line"));
	if (line) {
		char *whole = mem_printf("in full: %s", line);
		put_comment(out, whole);
		free(whole);
	}
}

static void put_export(FILE *out, const char *indent, const char *name, const char *value) {
	fprintf(out, "%sexport %s='", indent, name);
	for (; *value; value++) {
		if (*value == '\'')
			fputs("'\\''", out);
		else
			putc(*value, out);
	}
	fputs("'\n", out);
}

static bool is_shared(const char *name) {
	return strncmp(name, "OMP_", 4) == 0;
}

/* A variable of ours concerns the entries of its kernel, one of OpenMP concerns all. */
static bool is_concerned(const json_t *other, const json_t *entry, const char *name) {
	return is_shared(name) || strcmp(member_text(other, "kernel"), member_text(entry, "kernel")) == 0 ||
	       json_object_get(json_object_get(other, "environment"), name);
}

static bool is_agreed(const json_t *entries, const json_t *entry, const char *name, const char *value) {
	for (size_t i = 0; i < json_array_size(entries); i++) {
		const json_t *other = json_array_get(entries, i);
		const char *theirs = json_string_value(json_object_get(json_object_get(other, "environment"), name));
		if (is_concerned(other, entry, name) && (!theirs || strcmp(theirs, value) != 0))
			return false;
	}
	return true;
}

static void put_agreed(FILE *out, const json_t *entries) {
	json_t *done = json_object();
	for (size_t i = 0; i < json_array_size(entries); i++) {
		const json_t *entry = json_array_get(entries, i);
		const char *name;
		json_t *value;
		json_object_foreach(json_object_get(entry, "environment"), name, value) {
			if (json_object_get(done, name) || !is_agreed(entries, entry, name, json_string_value(value)))
				continue;
			put_export(out, "", name, json_string_value(value));
			json_object_set_new(done, name, json_true());
		}
	}
	json_decref(done);
}

/* What another entry's function may have left behind, and places that would bind where this says not to. */
static void put_unset(FILE *out, const char *indent, const json_t *entries, const json_t *entry) {
	const json_t *own = json_object_get(entry, "environment");
	json_t *names = json_object();
	if (json_object_get(own, "OMP_PROC_BIND") && !json_object_get(own, "OMP_PLACES"))
		json_object_set_new(names, "OMP_PLACES", json_true());
	for (size_t i = 0; i < json_array_size(entries); i++) {
		const json_t *other = json_array_get(entries, i);
		const char *name;
		json_t *value;
		json_object_foreach(json_object_get(other, "environment"), name, value) {
			if (!json_object_get(own, name) && is_concerned(entry, other, name))
				json_object_set_new(names, name, json_true());
		}
	}
	const char *name;
	json_t *value;
	json_object_foreach(names, name, value) fprintf(out, "%sunset %s\n", indent, name);
	json_decref(names);
}

static void put_variables(FILE *out, const char *indent, const json_t *entries, const json_t *entry) {
	const char *name;
	json_t *value;
	put_unset(out, indent, entries, entry);
	json_object_foreach(json_object_get(entry, "environment"), name, value)
		put_export(out, indent, name, json_string_value(value));
}

/* "sweetspot_use_fw_n1024"; unique among those in `taken`. Caller frees. */
static char *function_name(const json_t *entry, json_t *taken) {
	char *problem = problem_text(entry, "_", "");
	char *base = mem_printf("sweetspot_use_%s%s", member_text(entry, "kernel"), problem);
	for (char *c = base; *c; c++)
		if (!isascii((unsigned char)*c) || !isalnum((unsigned char)*c))
			*c = '_';
	char *name = mem_strdup(base);
	for (int i = 2; json_object_get(taken, name); i++) {
		free(name);
		name = mem_printf("%s_%d", base, i);
	}
	json_object_set_new(taken, name, json_true());
	free(base);
	free(problem);
	return name;
}

static void put_functions(FILE *out, const json_t *entries) {
	json_t *taken = json_object();
	for (size_t i = 0; i < json_array_size(entries); i++) {
		const json_t *entry = json_array_get(entries, i);
		char *name = function_name(entry, taken);
		putc('\n', out);
		put_title(out, entry);
		fprintf(out, "%s() {\n", name);
		put_variables(out, "\t", entries, entry);
		fputs("\t:\n}\n", out); /* a body is never empty */
		free(name);
	}
	json_decref(taken);
}

static int env_write(const json_t *profile, FILE *out, struct err *err) {
	const json_t *entries = json_object_get(profile, "entries");
	put_comment(out, "Sweetspot's recommendations for this machine: source this file, as with `. ./FILE`.");
	put_comment(out, member_text(json_object_get(profile, "machine"), "fingerprint"));
	if (json_array_size(entries) == 1) {
		put_title(out, json_array_get(entries, 0));
		put_variables(out, "", entries, json_array_get(entries, 0));
	} else {
		put_comment(out,
		            "What all recommendations agree on is set here. Call the function of the kernel and problem that");
		put_comment(out, "you run next for all of its settings.");
		put_agreed(out, entries);
		put_functions(out, entries);
	}
	if (fflush(out) == 0 && !ferror(out))
		return 0;
	return err_set(err, ERR_FAILED, "check the space on the disk, or write elsewhere with -o",
	               "can't write the variables");
}

extern const struct export_format export_env;
const struct export_format export_env = {
	.name = "env",
	.summary = "shell variables to source: OMP_* and SWEETSPOT_<KERNEL>_<PARAMETER>",
	.write = env_write,
};
