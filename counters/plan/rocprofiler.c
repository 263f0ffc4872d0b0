/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of the counters of AMD's GPUs, from the list that ROCprofiler brings (counter_defs.yaml). It has had two forms:
 * a mapping from names whose keys are chips with slashes between (ROCm 6), and a sequence of objects with a sequence of
 * chips (ROCm 7). Neither needs more of YAML than its lines. */

#include "base/json/js.h"
#include "base/text.h"
#include "counters/plan/plan.h"

enum { TEXT_MAX = 1000 };

/* The counter that the lines are about. */
struct entry {
	char name[100], summary[TEXT_MAX], formula[TEXT_MAX];
	size_t deep;          /* indentation of `description:` while its text goes on; 0: it does not */
	bool here, elsewhere; /* the chip has it; the lines are about other chips */
};

/* Is the chip among those of "gfx950/gfx942:" or "- gfx942"? */
static bool has_chip(const char *text, const char *chip) {
	for (size_t length; *text == 'g'; text += length + (text[length] == '/')) {
		length = strcspn(text, "/: ");
		if (length == strlen(chip) && strncasecmp(text, chip, length) == 0)
			return true;
	}
	return false;
}

static const char *value_of(const char *text, const char *key) {
	size_t length = strlen(key);
	return strncmp(text, key, length) == 0 ? text + length + strspn(text + length, " ") : NULL;
}

static void entry_end(struct entry *entry, const char *prefix, json_t *out) {
	size_t length = strlen(entry->summary);
	if (length > 1 && entry->summary[0] == '\'' && entry->summary[length - 1] == '\'') {
		memmove(entry->summary, entry->summary + 1, length - 1);
		entry->summary[length - 2] = '\0';
	}
	if (entry->here && strncasecmp(entry->name, prefix, strlen(prefix)) == 0)
		json_array_append_new(out, json_pack("{s:s, s:s, s:s, s:s}", "name", entry->name, "type",
		                                     entry->formula[0] ? "metric" : "counter", "formula", entry->formula,
		                                     "summary", entry->summary));
	*entry = (struct entry){.name = ""};
}

static void line_read(struct entry *entry, const char *line, const char *chip, const char *prefix, json_t *out) {
	size_t indent = strspn(line, " "), used = strlen(entry->summary);
	const char *text = line + indent, *value = value_of(text, "- name:");
	bool item = strncmp(text, "- ", 2) == 0, key = indent == 0 && text_ends_with(text, ":");
	if (entry->deep && indent > entry->deep) {
		snprintf(entry->summary + used, TEXT_MAX - used, " %s", text);
		return;
	}
	entry->deep = 0;
	if (value || key) {
		entry_end(entry, prefix, out);
		snprintf(entry->name, sizeof entry->name, "%.*s", (int)strcspn(value ? value : text, ":"),
		         value ? value : text);
	} else if ((value = value_of(text, "description:"))) {
		snprintf(entry->summary, TEXT_MAX, "%s", value);
		entry->deep = indent;
	} else if (strncmp(text, item ? "- gfx" : "gfx", item ? 5 : 3) == 0) {
		bool found = has_chip(text + (item ? 2 : 0), chip);
		entry->elsewhere = !found && (entry->elsewhere || !item);
		entry->here = entry->here || found;
	} else if (strcmp(text, "- architectures:") == 0)
		entry->elsewhere = true;
	else if ((value = value_of(text, "expression:")) && entry->here && !entry->elsewhere)
		snprintf(entry->formula, TEXT_MAX, "%s", value);
}

static json_t *file_read(FILE *file, const char *chip, const char *prefix) {
	json_t *out = json_array();
	struct entry entry = {.name = ""};
	mem_auto char *line = NULL;
	size_t size = 0;
	while (getline(&line, &size, file) > 0) {
		text_clean(line, false);
		for (size_t length = strlen(line); length && line[length - 1] == ' '; length--)
			line[length - 1] = '\0';
		if (line[strspn(line, " ")] != '#')
			line_read(&entry, line, chip, prefix, out);
	}
	entry_end(&entry, prefix, out);
	return out;
}

bool rocprofiler_is_chip(const char *chip) {
	return chip && strncasecmp(chip, "gfx", 3) == 0;
}

json_t *rocprofiler_list(const char *chip, const char *prefix, struct err *err) {
	const char *rocm = getenv("ROCM_PATH");
	mem_auto char *path = mem_printf("%s/share/rocprofiler-sdk/counter_defs.yaml", rocm && *rocm ? rocm : "/opt/rocm");
	FILE *file = fopen(path, "re");
	json_t *metrics = file ? file_read(file, chip, prefix) : NULL;
	if (file)
		fclose(file);
	if (json_array_size(metrics) > 0)
		return json_pack("{s:s, s:s, s:o}", "chip", chip, "list", path, "metrics", metrics);
	json_decref(metrics);
	if (!file)
		err_set(err, ERR_UNAVAILABLE, "install rocprofiler-sdk, or set ROCM_PATH to where ROCm is",
		        "the counters of %.40s are in ROCprofiler's list, and %s is missing", chip, path);
	else
		err_set(err, ERR_USAGE, "chips are called gfx90a, gfx942, ..; without a name, all of a chip are listed",
		        "%s does not have a counter of %.40s that begins with \"%.80s\"", path, chip, prefix);
	return NULL;
}
