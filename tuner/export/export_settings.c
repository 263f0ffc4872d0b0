/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/export/export_impl.h"

#include "base/json/js.h"
#include "base/mem.h"

static bool is_shared(const char *name) {
	return strncmp(name, "OMP_", 4) == 0;
}

static bool is_left_out(const struct profile_entry *entry, const char *name) {
	js_each (one, entry->unset)
		if (strcmp(json_string_value(one), name) == 0)
			return true;
	return false;
}

/* One of our variables concerns the entries of its kernel, a variable of OpenMP concerns all entries. */
static bool is_concerned(const struct profile_entry *other, const struct profile_entry *entry, const char *name) {
	return is_shared(name) || strcmp(other->kernel, entry->kernel) == 0 || json_object_get(other->environment, name) ||
	       is_left_out(other, name);
}

static bool is_agreed(const struct profile *profile, const struct profile_entry *entry, const char *name,
                      const char *value) {
	for (size_t i = 0; i < profile->count; i++) {
		const struct profile_entry *other = &profile->entries[i];
		const char *theirs = json_string_value(json_object_get(other->environment, name));
		if (is_concerned(other, entry, name) && (!theirs || strcmp(theirs, value) != 0))
			return false;
	}
	return true;
}

void export_settings_agreed(const struct profile *profile, FILE *out, export_setter *set) {
	json_t *done = json_object();
	for (size_t i = 0; i < profile->count; i++) {
		const struct profile_entry *entry = &profile->entries[i];
		js_members (name, value, entry->environment) {
			if (json_object_get(done, name) || !is_agreed(profile, entry, name, json_string_value(value)))
				continue;
			set(out, name, json_string_value(value));
			json_object_set_new(done, name, json_true());
		}
	}
	json_decref(done);
}

static void unset(const struct profile *profile, const struct profile_entry *entry, FILE *out, export_setter *set) {
	const json_t *own = entry->environment;
	js_auto json_t *names = json_object();
	if (json_object_get(own, "OMP_PROC_BIND") && !json_object_get(own, "OMP_PLACES"))
		json_object_set_new(names, "OMP_PLACES", json_true());
	js_each (left, entry->unset)
		json_object_set_new(names, json_string_value(left), json_true());
	for (size_t i = 0; i < profile->count; i++) {
		const struct profile_entry *other = &profile->entries[i];
		const char *name;
		json_t *value;
		json_object_foreach((json_t *)other->environment, name, value) {
			if (!json_object_get(own, name) && is_concerned(entry, other, name))
				json_object_set_new(names, name, json_true());
		}
	}
	const char *name;
	json_t *value;
	json_object_foreach(names, name, value) set(out, name, NULL);
}

void export_settings_of(const struct profile *profile, const struct profile_entry *entry, FILE *out,
                        export_setter *set) {
	unset(profile, entry, out, set);
	js_members (name, value, entry->environment)
		set(out, name, json_string_value(value));
}

int export_module(const struct profile *profile, FILE *out, const char *lead, export_titler *title, export_setter *set,
                  struct err *err) {
	for (size_t i = 0; i < profile->count; i++) {
		mem_auto char *text = export_title_text(&profile->entries[i]);
		title(out, text);
	}
	if (profile->count == 1) {
		export_settings_of(profile, &profile->entries[0], out, set);
	} else {
		export_comment(
			out, lead,
			"These settings are the same in all recommendations; export one kernel for all of its settings.");
		export_settings_agreed(profile, out, set);
	}
	return export_end(out, "module", err);
}

/* Names that are in `taken` are not used again. */
static void values_put(const struct profile_entry *entry, const char *prefix, json_t *taken, FILE *out,
                       export_setter *set) {
	js_members (key, json, entry->config) {
		mem_auto char *text = mem_strdup(key), *value = export_value_text(json);
		export_upper(text);
		mem_auto char *start = mem_printf("%s_", prefix), *name = export_name(start, text, taken);
		set(out, name, value);
	}
}

int export_settings_entries(const struct profile *profile, FILE *out, export_environment *environment,
                            export_setter *set, struct err *err) {
	js_auto json_t *taken = json_object(), *prefixes = json_object();
	for (size_t i = 0; i < profile->count; i++) {
		const struct profile_entry *entry = &profile->entries[i];
		mem_auto char *prefix = export_entry_name("SWEETSPOT_", entry, prefixes);
		export_upper(prefix);
		putc('\n', out);
		export_title(out, "# ", entry);
		environment(out, prefix, entry);
		values_put(entry, prefix, taken, out, set);
	}
	return export_end(out, "variables", err);
}
