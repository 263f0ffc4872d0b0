/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "counters/cupti/chip.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/cupti/config.h"
#include "src/base/mem.h"
#include "src/base/near.h"

enum { METRIC_NAME = 200 };

struct chips {
	pthread_mutex_t lock;
	struct cupti_chip *first;
};

static struct chips *chips(void) {
	static struct chips only = {.lock = PTHREAD_MUTEX_INITIALIZER};
	return &only;
}

const char *const *cupti_chips(char reason[COUNTER_REASON]) {
	const struct cupti_library *cupti = cupti_library(reason);
	CUPTI_PARAMS(CUpti_Profiler_Host_GetSupportedChips, get, .numChips = 0);
	if (!cupti || !cupti_fine(cupti->cuptiProfilerHostGetSupportedChips(&get), "the list of chips", reason))
		return NULL;
	static _Thread_local const char *names[257];
	size_t count = get.numChips < 256 ? get.numChips : 256;
	for (size_t i = 0; i < count; i++)
		names[i] = get.ppChipNames[i];
	names[count] = NULL;
	return names;
}

char *cupti_chips_text(void) {
	char reason[COUNTER_REASON], *text = mem_strdup("");
	for (const char *const *name = cupti_chips(reason); name && *name; name++) {
		char *longer = mem_printf("%s%s%s", text, *text ? " " : "", *name);
		free(text);
		text = longer;
	}
	return text;
}

/* Returns the chip's name as CUPTI spells it; NULL with the nearest name if CUPTI does not know the chip. */
static const char *chip_spelt(const char *name, char reason[COUNTER_REASON]) {
	const char *const *all = cupti_chips(reason);
	char upper[24];
	size_t i = 0, count = 0;
	for (; name[i] && i + 1 < sizeof upper; i++)
		upper[i] = (char)toupper((unsigned char)name[i]);
	upper[i] = '\0';
	for (; all && all[count]; count++)
		if (strcmp(all[count], upper) == 0)
			return all[count];
	const char *near = all ? near_word(upper, all, count) : NULL;
	if (all)
		snprintf(reason, COUNTER_REASON, "CUPTI does not know the chip \"%.40s\"%s%s", name,
		         near ? "; the nearest is " : "", near ? near : "");
	return NULL;
}

static bool bases_read(const struct cupti_library *cupti, struct cupti_chip *chip, char reason[COUNTER_REASON]) {
	for (int t = 0; t < CUPTI_TYPES; t++) {
		CUPTI_PARAMS(CUpti_Profiler_Host_GetBaseMetrics, get, .pHostObject = chip->host,
		             .metricType = (CUpti_MetricType)t);
		if (!cupti_fine(cupti->cuptiProfilerHostGetBaseMetrics(&get), "the metrics of the chip", reason))
			return false;
		chip->metrics[t] = mem_alloc(get.numMetrics + 1, sizeof *chip->metrics[t]);
		chip->counts[t] = get.numMetrics;
		memcpy(chip->metrics[t], get.ppMetricNames, get.numMetrics * sizeof *chip->metrics[t]);
	}
	return true;
}

static struct cupti_chip *chip_open(const char *name, char reason[COUNTER_REASON]) {
	const struct cupti_library *cupti = cupti_library(reason);
	CUpti_Profiler_Host_Object *host = cupti ? cupti_host_new(name, NULL, reason) : NULL;
	if (!host)
		return NULL;
	struct cupti_chip *chip = mem_alloc(1, sizeof *chip);
	snprintf(chip->name, sizeof chip->name, "%s", name);
	chip->host = host;
	if (bases_read(cupti, chip, reason))
		return chip;
	cupti_host_free(host);
	for (int t = 0; t < CUPTI_TYPES; t++)
		free(chip->metrics[t]);
	free(chip);
	return NULL;
}

struct cupti_chip *cupti_chip(const char *name, char reason[COUNTER_REASON]) {
	const char *spelt = chip_spelt(name, reason);
	struct chips *all = chips();
	if (!spelt)
		return NULL;
	pthread_mutex_lock(&all->lock);
	struct cupti_chip *chip = all->first;
	while (chip && strcmp(chip->name, spelt) != 0)
		chip = chip->next;
	if (!chip && (chip = chip_open(spelt, reason))) {
		chip->next = all->first;
		all->first = chip;
	}
	pthread_mutex_unlock(&all->lock);
	return chip;
}

const char *cupti_chip_name(const struct cupti_chip *chip) {
	return chip->name;
}

struct cupti_chip *cupti_chip_here(int index, char reason[COUNTER_REASON]) {
	const struct cupti_library *cupti = cupti_library(reason);
	CUPTI_PARAMS(CUpti_Profiler_Initialize, start, .pPriv = NULL);
	CUPTI_PARAMS(CUpti_Device_GetChipName, get, .deviceIndex = (size_t)index);
	if (!cupti || !cupti_fine(cupti->cuptiProfilerInitialize(&start), "the profiler", reason) ||
	    !cupti_fine(cupti->cuptiDeviceGetChipName(&get), "the chip of the device", reason))
		return NULL;
	return cupti_chip(get.pChipName, reason);
}

bool cupti_chip_properties(const struct cupti_chip *chip, const char *metric, struct cupti_properties *properties) {
	char reason[COUNTER_REASON];
	const struct cupti_library *cupti = cupti_library(reason);
	CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties, get, .pHostObject = chip->host, .pMetricName = metric);
	if (!cupti || cupti->cuptiProfilerHostGetMetricProperties(&get) != CUPTI_SUCCESS)
		return false;
	*properties = (struct cupti_properties){get.metricType, get.pDimUnit ? get.pDimUnit : "",
	                                        get.pHwUnit ? get.pHwUnit : "", get.pDescription ? get.pDescription : ""};
	return true;
}

const char *const *cupti_chip_rollups(const struct cupti_chip *chip, const char *metric, CUpti_MetricType type,
                                      size_t *count) {
	char reason[COUNTER_REASON];
	const struct cupti_library *cupti = cupti_library(reason);
	CUPTI_PARAMS(CUpti_Profiler_Host_GetSubMetrics, get, .pHostObject = chip->host, .metricType = type,
	             .pMetricName = metric);
	bool fine = cupti && cupti->cuptiProfilerHostGetSubMetrics(&get) == CUPTI_SUCCESS;
	*count = fine ? get.numOfSubmetrics : 0;
	return fine ? get.ppSubMetrics : NULL;
}

const char *cupti_chip_near(const struct cupti_chip *chip, const char *base) {
	const size_t count = chip->counts[0] + chip->counts[1] + chip->counts[2];
	const char **all = mem_alloc(count + 1, sizeof *all), **end = all;
	for (int t = 0; t < CUPTI_TYPES; t++) {
		memcpy(end, chip->metrics[t], chip->counts[t] * sizeof *all);
		end += chip->counts[t];
	}
	const char *near = near_word(base, all, count);
	free(all);
	return near;
}

/* Explains why a name is refused. length: of its part before the first dot. */
static void name_explain(const struct cupti_chip *chip, const char *metric, size_t length,
                         char reason[COUNTER_REASON]) {
	char base[METRIC_NAME];
	struct cupti_properties properties;
	size_t count = 0;
	snprintf(base, sizeof base, "%.*s", (int)length, metric);
	bool known = cupti_chip_properties(chip, base, &properties);
	const char *const *rollups = known ? cupti_chip_rollups(chip, base, properties.type, &count) : NULL;
	const char *near = known ? near_word(metric + length, rollups, count) : cupti_chip_near(chip, base);
	if (known)
		snprintf(reason, COUNTER_REASON, "%.16s needs a rollup, such as %.100s%.40s", chip->name, base,
		         near        ? near
		         : count > 0 ? properties.type == CUPTI_METRIC_TYPE_COUNTER ? ".sum" : rollups[0]
		                     : "");
	else if (near)
		snprintf(reason, COUNTER_REASON, "%.16s lacks this metric; the nearest is %.100s%.40s", chip->name, near,
		         metric + length);
	else
		snprintf(reason, COUNTER_REASON, "%.16s does not have a metric %.100s", chip->name, metric);
}

bool cupti_chip_has(const struct cupti_chip *chip, const char *metric, char reason[COUNTER_REASON]) {
	struct cupti_properties properties;
	size_t base = strcspn(metric, ".");
	if (strlen(metric) < METRIC_NAME && metric[base] && cupti_chip_properties(chip, metric, &properties))
		return true;
	name_explain(chip, metric, base, reason);
	return false;
}

size_t cupti_chip_passes(const struct cupti_chip *chip, const char *const *metrics, size_t count,
                         char reason[COUNTER_REASON]) {
	struct cupti_config config;
	size_t passes = cupti_config_make(&config, chip->name, NULL, metrics, count, reason) ? config.passes : 0;
	cupti_config_clear(&config);
	return passes;
}

const char *cupti_chip_unit(const struct cupti_chip *chip, const char *metric, double *scale) {
	static const struct {
		const char *theirs, *ours;
		double scale;
	} units[] = {{"nanosecond", "s", 1e-9}, {"byte", "B", 1}, {"byte/second", "B/s", 1}, {"percent", "%", 1}};
	struct cupti_properties properties;
	*scale = 1;
	if (!chip || !cupti_chip_properties(chip, metric, &properties))
		return "count";
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (strcmp(properties.unit, units[i].theirs) == 0) {
			*scale = units[i].scale;
			return units[i].ours;
		}
	}
	const char *rollup = strchr(metric, '.');
	bool ratio = properties.type == CUPTI_METRIC_TYPE_RATIO;
	return ratio && rollup && strcmp(rollup, ".pct") == 0 ? "%" : ratio || strpbrk(properties.unit, "/") ? "" : "count";
}
