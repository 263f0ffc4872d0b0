/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <pthread.h>

#include "counters/cupti/cupti_impl.h"
#include "base/mem.h"
#include "base/text.h"

/* NULL and the reason. */
static CUpti_Profiler_Host_Object *cupti_host_new(const char *chip, const uint8_t *availability,
                                                  char reason[COUNTER_REASON]) {
	const struct cupti_library *cupti = cupti_library(reason);
	CUPTI_PARAMS(CUpti_Profiler_Host_Initialize, host, .profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER,
	             .pChipName = chip, .pCounterAvailabilityImage = availability);
	if (!cupti || !cupti_fine(cupti->cuptiProfilerHostInitialize(&host), chip, reason))
		return NULL;
	return host.pHostObject;
}

static void cupti_host_free(CUpti_Profiler_Host_Object *host) {
	char reason[COUNTER_REASON];
	const struct cupti_library *cupti = cupti_library(reason);
	CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize, end, .pHostObject = host);
	if (cupti && host)
		cupti->cuptiProfilerHostDeinitialize(&end);
}

static bool image_make(const struct cupti_library *cupti, struct cupti_config *config, char reason[COUNTER_REASON]) {
	CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize, size, .pHostObject = config->host);
	if (!cupti_fine(cupti->cuptiProfilerHostGetConfigImageSize(&size), "the size of the configuration", reason))
		return false;
	config->size = size.configImageSize;
	config->image = mem_alloc(config->size + 1, 1);
	CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage, get, .pHostObject = config->host, .configImageSize = config->size,
	             .pConfigImage = config->image);
	CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses, passes, .configImageSize = config->size,
	             .pConfigImage = config->image);
	if (!cupti_fine(cupti->cuptiProfilerHostGetConfigImage(&get), "the configuration", reason) ||
	    !cupti_fine(cupti->cuptiProfilerHostGetNumOfPasses(&passes), "the number of passes", reason))
		return false;
	config->passes = passes.numOfPasses;
	return true;
}

bool cupti_config_make(struct cupti_config *config, const char *chip, const uint8_t *availability,
                       const char *const *metrics, size_t count, char reason[COUNTER_REASON]) {
	*config = (struct cupti_config){.host = cupti_host_new(chip, availability, reason)};
	const struct cupti_library *cupti = config->host ? cupti_library(reason) : NULL;
	CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics, add, .pHostObject = config->host,
	             .ppMetricNames = (const char **)metrics, .numMetrics = count);
	return cupti && cupti_fine(cupti->cuptiProfilerHostConfigAddMetrics(&add), "these metrics", reason) &&
	       image_make(cupti, config, reason);
}

void cupti_config_clear(struct cupti_config *config) {
	cupti_host_free(config->host);
	free(config->image);
	*config = (struct cupti_config){.host = NULL};
}

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

/* "GB10B GB202 ..", NULL on failure; the caller frees it. */
static char *cupti_chips_text(void) {
	char reason[COUNTER_REASON], *text = mem_strdup("");
	for (const char *const *name = cupti_chips(reason); name && *name; name++)
		mem_append(&text, "%s%s", *text ? " " : "", *name);
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

/* False if the chip does not have this metric, with or without a rollup. */
static bool cupti_chip_properties(const struct cupti_chip *chip, const char *metric,
                                  struct cupti_properties *properties) {
	char reason[COUNTER_REASON];
	const struct cupti_library *cupti = cupti_library(reason);
	CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties, get, .pHostObject = chip->host, .pMetricName = metric);
	if (!cupti || cupti->cuptiProfilerHostGetMetricProperties(&get) != CUPTI_SUCCESS)
		return false;
	*properties = (struct cupti_properties){get.metricType, get.pDimUnit ? get.pDimUnit : "",
	                                        get.pHwUnit ? get.pHwUnit : "", get.pDescription ? get.pDescription : ""};
	return true;
}

/* Returns the rollups of a metric (".sum", ".avg.per_second", ..) and their number in *count, 0 if the metric is
 * unknown. */
static const char *const *cupti_chip_rollups(const struct cupti_chip *chip, const char *metric, CUpti_MetricType type,
                                             size_t *count) {
	char reason[COUNTER_REASON];
	const struct cupti_library *cupti = cupti_library(reason);
	CUPTI_PARAMS(CUpti_Profiler_Host_GetSubMetrics, get, .pHostObject = chip->host, .metricType = type,
	             .pMetricName = metric);
	bool fine = cupti && cupti->cuptiProfilerHostGetSubMetrics(&get) == CUPTI_SUCCESS;
	*count = fine ? get.numOfSubmetrics : 0;
	return fine ? get.ppSubMetrics : NULL;
}

/* Returns the chip's metric with the nearest name, rollups aside; NULL if none is near. */
static const char *cupti_chip_near(const struct cupti_chip *chip, const char *base) {
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

/* Lists the metrics of a chip for people. */

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
	mem_auto char *name = mem_printf("%s%s", base, usual_rollup(type));
	cupti_chip_properties(found->chip, base, &properties);
	json_t *out =
		json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "name", name, "type", types[type], "unit", properties.unit,
	              "hardware", properties.hardware, "summary", properties.summary, "passes", passes_json(found, name));
	if (found->count <= ROLLUPS_MOST)
		json_object_set_new(out, "rollups", rollups_json(found->chip, base, type));
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
