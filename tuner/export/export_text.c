/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <math.h>

#include "base/hash.h"
#include "base/json/js.h"
#include "base/mem.h"
#include "base/stats.h"
#include "base/value.h"
#include "lib/profile/lookup.h"
#include "tuner/export/export_impl.h"

const struct profile_entry *export_trials_entry(const struct profile *profile, const char *format, struct err *err) {
	const struct profile_entry *entry = profile->entries;
	if (profile->count != 1 || !json_array_size(json_object_get(entry->json, "trials")))
		err_set(err, ERR_USAGE, "name one kernel, from a store that has its trials",
		        "%s holds every configuration of one search, but there are %zu", format, profile->count);
	else if (strcmp(entry->unit, "s") != 0)
		err_set(err, ERR_USAGE, "use json or csv, which hold every objective", "%s holds times, not %s", format,
		        entry->objective);
	else
		return entry;
	return NULL;
}

double export_trial_ms(const json_t *trial) {
	const json_t *samples = json_object_get(trial, "samples");
	size_t count = json_array_size(samples);
	mem_auto double *x = mem_alloc(count + 1, sizeof *x);
	for (size_t i = 0; i < count; i++)
		x[i] = json_number_value(json_array_get(samples, i)) * 1e3;
	return count ? stats_median(x, count) : NAN;
}

json_t *export_samples_ms(const json_t *trial) {
	json_t *out = json_array();
	js_each (sample, json_object_get(trial, "samples"))
		json_array_append_new(out, js_number(json_number_value(sample) * 1e3));
	return out;
}

json_t *export_timestamp(const json_t *trial) {
	static const char format[] = "%Y-%m-%dT%H:%M:%S+00:00";
	char text[40];
	if (!text_time(js_real_or(trial, "started", 0), format, text, sizeof text))
		text_time(0, format, text, sizeof text);
	return json_string(text);
}

char *export_value_text(const json_t *value) {
	struct value read;
	if (json_is_string(value))
		return mem_strdup(json_string_value(value));
	if (json_is_boolean(value))
		return mem_strdup(json_is_true(value) ? "1" : "0");
	return json_is_number(value) && value_from_json(value, &read) ? value_string(read) : mem_strdup("");
}

/* " n=1024" for each member of the problem; caller frees. */
static char *export_problem(const struct profile_entry *entry, const char *lead, const char *between) {
	char *text = mem_strdup("");
	js_members (key, json, entry->problem) {
		mem_auto char *value = export_value_text(json);
		mem_append(&text, "%s%s%s%s", lead, key, between, value);
	}
	return text;
}

/* With controls of direction a line shows other code than it holds. */
static void controls_replace(char *text) {
	for (size_t left = strlen(text), length; left; text += length, left -= length) {
		length = text_utf8(text, left);
		length = length ? length : 1;
		if (text_is_control(text, length))
			memset(text, '?', length);
	}
}

bool export_is_hidden(const char *text, size_t length) {
	return !strchr("\t\r\n", *text) && text_is_control(text, length);
}

void export_bytes(FILE *out, const char *text, export_byte_fn *plain, export_hidden_fn *hidden) {
	for (size_t left = strlen(text), length; left; text += length, left -= length) {
		length = text_utf8(text, left);
		length = length ? length : 1;
		if (export_is_hidden(text, length))
			hidden(out, text, length);
		else
			for (size_t i = 0; plain && i < length; i++)
				plain(out, text[i]);
	}
}

void export_hidden_each(FILE *out, const char *text, export_hidden_fn *fn) {
	export_bytes(out, text, NULL, fn);
}

void export_hex(FILE *out, const char *text, size_t length) {
	for (size_t i = 0; i < length; i++)
		fprintf(out, "%02x", (unsigned char)text[i]);
}

/* For make and Tcl a backslash at the end would continue the comment on the next line. */
void export_comment(FILE *out, const char *lead, const char *text) {
	size_t length = strlen(text);
	mem_auto char *tame = mem_strdup(text);
	controls_replace(tame);
	fprintf(out, "%s%s%s", lead, tame, length && text[length - 1] == '\\' ? " .\n" : "\n");
}

void export_heading(FILE *out, const char *lead, const struct profile *profile, const char *use) {
	mem_auto char *first =
		mem_printf("Sweetspot's recommendations for %s machine: %s", profile->foreign ? "another" : "this", use);
	export_comment(out, lead, first);
	export_comment(out, lead, profile->machine.fingerprint);
}

/* Nothing else was proven, or the program's own values are left out. */
static bool is_baseline(const struct profile_entry *entry) {
	return entry->keeps || (ssp_use_of(entry->json) != SSP_PROVEN && json_object_size(entry->config) == 0);
}

/* Is the setting another one than the baseline, and not proven to be faster? */
static bool is_open(const struct profile_entry *entry) {
	return ssp_use_of(entry->json) == SSP_OPEN && !is_baseline(entry);
}

/* Noise can make the interval of an undecided comparison as wide as (0.00 .. 2060647.85), which says nothing. */
static char *gain_text(const struct profile_entry *entry) {
	struct speedup speedup = entry->speedup;
	if (is_baseline(entry))
		return mem_printf("%s, because %s%s", entry->program ? "as it is run today" : "the baseline",
		                  entry->verdict == VERDICT_NOT_SAME ? "what is faster does not do the same work"
		                                                     : "nothing is proven to be faster",
		                  entry->verdict == VERDICT_UNDECIDED ? " (undecided)" : "");
	if (isnan(speedup.ratio))
		return mem_strdup("not compared with a baseline");
	if (entry->verdict == VERDICT_UNDECIDED)
		return mem_strdup("compared with the baseline, but the measurements were too noisy to decide");
	if (verdict_is_faster(entry->json) && speedup_is_wide(speedup)) {
		mem_auto char *gain = speedup_gain_text(speedup, "as fast as the baseline");
		return mem_printf("%s: %s", gain, verdict_said(entry->json, ""));
	}
	return mem_printf("%.2f times as fast as the baseline (%.2f .. %.2f): %s", speedup.ratio, speedup.low, speedup.high,
	                  verdict_word(entry->verdict));
}

static char *busy_text(const struct profile_entry *entry) {
	const json_t *busy = json_object_get(entry->json, "busy");
	if (!busy)
		return mem_strdup("");
	return mem_printf("; %s on a busy machine (load %.3g)",
	                  entry->verdict == VERDICT_UNDECIDED ? "measured" : "decided", js_real_or(busy, "load", NAN));
}

char *export_title_text(const struct profile_entry *entry) {
	mem_auto char *problem = export_problem(entry, " ", "="), *gain = gain_text(entry), *busy = busy_text(entry);
	char *title = mem_printf("%s%s: %s%s%s", entry->kernel, problem, gain,
	                         is_open(entry) ? "; not proven to be faster" : "", busy);
	controls_replace(title);
	return title;
}

void export_title(FILE *out, const char *lead, const struct profile_entry *entry) {
	mem_auto char *title = export_title_text(entry);
	export_comment(out, lead, title);
	mem_auto char *checked = verdict_checked(entry->json), *how = checked ? mem_printf("checked: %s", checked) : NULL;
	if (how)
		export_comment(out, lead, how);
	if (strcmp(entry->state, "stale") == 0)
		export_comment(out, lead, "stale: the kernel's source has changed since this was measured");
	/* The variables are not the whole setting if some values are arguments. */
	const char *line = js_string_or(entry->program, "line", NULL);
	if (line) {
		mem_auto char *whole = mem_printf("in full: %s", line);
		export_comment(out, lead, whole);
	}
}

enum { NAME_MAX_LENGTH = 38 }; /* with a number behind it 40 */

char *export_name(const char *prefix, const char *text, json_t *taken) {
	mem_auto char *base = mem_printf("%s%s", prefix, text);
	for (char *c = base; *c; c++)
		if (!isascii((unsigned char)*c) || !isalnum((unsigned char)*c))
			*c = '_';
	if (strlen(base) > NAME_MAX_LENGTH) /* the beginning, and a hash of all of it */
		sprintf(base + NAME_MAX_LENGTH - 9, "_%08x", (unsigned)hash_text(base));
	char *name = mem_strdup(base);
	for (int i = 2; json_object_get(taken, name); i++) {
		free(name);
		name = mem_printf("%s_%d", base, i);
	}
	json_object_set_new(taken, name, json_true());
	return name;
}

char *export_entry_name(const char *prefix, const struct profile_entry *entry, json_t *taken) {
	/* The command of a program is its problem, and too long for a name. */
	mem_auto char *problem = entry->program ? mem_strdup("") : export_problem(entry, "_", "");
	mem_auto char *text = mem_printf("%s%s", entry->kernel, problem);
	char *name = export_name(prefix, text, taken);
	return name;
}

void export_upper(char *name) {
	for (; *name; name++)
		if (*name >= 'a' && *name <= 'z')
			*name = (char)(*name - 'a' + 'A');
}

int export_document(json_t *document, FILE *out, const char *what, struct err *err) {
	int failed = js_write(document, out);
	json_decref(document);
	return export_end(out, what, err) || failed ? -1 : 0;
}

int export_end(FILE *out, const char *what, struct err *err) {
	if (fflush(out) == 0 && !ferror(out))
		return 0;
	return err_set(err, ERR_FAILED, "check the space on the disk, or write elsewhere with -o", "cannot write the %s",
	               what);
}

static void put_octal(FILE *out, const char *text, size_t length) {
	fputs("'\"$(printf '", out);
	export_octal(out, text, length);
	fputs("')\"'", out);
}

void export_shell_quoted(FILE *out, const char *value) {
	putc('\'', out);
	for (size_t left = strlen(value), length; left; value += length, left -= length) {
		length = text_utf8(value, left);
		length = length ? length : 1;
		if (*value == '\r' || export_is_hidden(value, length))
			put_octal(out, value, length);
		else if (*value == '\'')
			fputs("'\\''", out);
		else
			fwrite(value, 1, length, out);
	}
	putc('\'', out);
}
