/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists the metrics of a chip for people. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/cupti/chip.h"
#include "gpu/open.h"
#include "src/base/mem.h"

/* Returns the rollup that people usually want for a metric of this type. */
static const char *usual_rollup(CUpti_MetricType type) {
	return type == CUPTI_METRIC_TYPE_COUNTER ? ".sum"
	       : type == CUPTI_METRIC_TYPE_RATIO ? ".ratio"
	                                         : ".avg.pct_of_peak_sustained_elapsed";
}

static json_t *rollups_json(const struct cupti_chip *chip, const char *base, CUpti_MetricType type) {
	size_t count;
	const char *const *rollups = cupti_chip_rollups(chip, base, type, &count);
	json_t *out = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(out, json_string(rollups[i]));
	return out;
}

/* Long lists leave out passes, because each metric takes milliseconds to plan, and rollups, because they are many
 * words. */
enum { PASSES_MOST = 256, ROLLUPS_MOST = 16 };

/* Lists the metrics with this prefix, by type. A prefix that reaches into the rollup selects its metric. */
struct found {
	const struct cupti_chip *chip;
	const char *prefix;
	size_t count;
};

static bool begins(const char *base, const char *prefix) {
	size_t length = strcspn(prefix, ".");
	return strncmp(base, prefix, length) == 0 && (!prefix[length] || !base[length]);
}

static json_t *passes_json(const struct found *found, const char *name) {
	char reason[COUNTER_REASON];
	size_t passes = found->count <= PASSES_MOST ? cupti_chip_passes(found->chip, &name, 1, reason) : 0;
	return passes > 0 ? json_integer((json_int_t)passes) : json_null();
}

static json_t *metric_json(const struct found *found, const char *base, CUpti_MetricType type) {
	static const char *const types[] = {"counter", "ratio", "throughput"};
	struct cupti_properties properties = {.unit = "", .hardware = "", .summary = ""};
	char *name = mem_printf("%s%s", base, usual_rollup(type));
	cupti_chip_properties(found->chip, base, &properties);
	json_t *out =
		json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "name", name, "type", types[type], "unit", properties.unit,
	              "hardware", properties.hardware, "summary", properties.summary, "passes", passes_json(found, name));
	if (found->count <= ROLLUPS_MOST)
		json_object_set_new(out, "rollups", rollups_json(found->chip, base, type));
	free(name);
	return out;
}

static void found_each(struct found *found, json_t *out) {
	for (int t = 0; t < CUPTI_TYPES; t++) {
		for (size_t i = 0; i < found->chip->counts[t]; i++) {
			const char *base = found->chip->metrics[t][i];
			if (!begins(base, found->prefix))
				continue;
			if (out)
				json_array_append_new(out, metric_json(found, base, (CUpti_MetricType)t));
			else
				found->count++;
		}
	}
}

static json_t *metrics_json(const struct cupti_chip *chip, const char *prefix) {
	struct found found = {.chip = chip, .prefix = prefix};
	json_t *out = json_array();
	found_each(&found, NULL);
	found_each(&found, out);
	return out;
}

/* Looking at a device starts the driver but does not create a context. */
static struct cupti_chip *chip_looked_for(char reason[COUNTER_REASON]) {
	struct gpu_facts facts;
	if (gpu_probe(0, &facts))
		return cupti_chip_here(0, reason);
	snprintf(reason, COUNTER_REASON, "a driver is loaded, but no GPU was found");
	return NULL;
}

static struct cupti_chip *chip_asked(const char *name, struct err *err) {
	char reason[COUNTER_REASON], *names = cupti_chips_text();
	struct cupti_chip *chip = NULL;
	if (!names[0]) {
		cupti_chips(reason);
		err_set(err, ERR_UNAVAILABLE, "install CUDA's CUPTI (12.6 or newer), or name the toolkit in CUDA_HOME",
		        "cannot list metrics: %s", reason);
	} else if (name && !(chip = cupti_chip(name, reason))) {
		err_set(err, ERR_USAGE, NULL, "%s", reason);
		err_hint(err, "the chips are %s", names);
	} else if (!name) {
		struct counter_probe probe;
		cupti_probe(&probe);
		snprintf(reason, sizeof reason, "%s", probe.reason);
		if (!probe.usable || !(chip = chip_looked_for(reason))) {
			err_set(err, ERR_UNAVAILABLE, NULL, "cannot tell which chip: %s", reason);
			err_hint(err, "name one with --chip: %s", names);
		}
	}
	free(names);
	return chip;
}

json_t *cupti_list(const char *name, const char *prefix, struct err *err) {
	struct cupti_chip *chip = chip_asked(name, err);
	json_t *metrics = chip ? metrics_json(chip, prefix) : NULL;
	if (metrics && json_array_size(metrics) > 0)
		return json_pack("{s:s, s:o}", "chip", chip->name, "metrics", metrics);
	if (metrics) {
		const char *near = cupti_chip_near(chip, prefix);
		err_set(err, ERR_USAGE, NULL, "%s does not have a metric that begins with \"%.80s\"", chip->name, prefix);
		if (near)
			err_hint(err, "the nearest is %s", near);
	}
	json_decref(metrics);
	return NULL;
}
