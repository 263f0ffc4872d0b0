/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts accesses to global memory by instruction, which CUPTI patches for it ("CUPTI SASS Metrics API" and
 * "SASS Source Correlation" in CUPTI's documentation). What is loaded already is patched when it is first launched. */
#include <stdlib.h>

#include "counters/cupti/cupti_impl.h"
#include "base/mem.h"

/* The sectors that warps accessed, and those that as many bytes need at least. */
enum { METRICS = 2 };
static const char *const metrics[METRICS] = {"smsp__sass_sectors_mem_global", "smsp__sass_sectors_mem_global_ideal"};

struct cupti_lines {
	const struct cupti_library *cupti;
	CUcontext context;
	uint32_t device;
	CUpti_SassMetrics_Config config[METRICS];
	bool set, enabled;
	CUpti_SassMetrics_Data *data;
	CUpti_SassMetrics_InstanceValue *values;
	size_t records, instances;
};

static bool lines_set(struct cupti_lines *lines, const char *chip, char reason[COUNTER_REASON]) {
	for (size_t i = 0; i < METRICS; i++) {
		CUPTI_PARAMS(CUpti_SassMetrics_GetProperties, get, .pChipName = chip, .pMetricName = metrics[i]);
		if (!cupti_fine(lines->cupti->cuptiSassMetricsGetProperties(&get), metrics[i], reason))
			return false;
		lines->config[i] = (CUpti_SassMetrics_Config){get.metric.metricId, CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU};
	}
	CUPTI_PARAMS(CUpti_SassMetricsSetConfig, set, .numOfMetricConfig = METRICS, .pConfigs = lines->config,
	             .deviceIndex = lines->device);
	CUPTI_PARAMS(CUpti_SassMetricsEnable, enable, .ctx = lines->context, .enableLazyPatching = 1);
	lines->set = cupti_fine(lines->cupti->cuptiSassMetricsSetConfig(&set), "the metrics of instructions", reason);
	lines->enabled =
		lines->set && cupti_fine(lines->cupti->cuptiSassMetricsEnable(&enable), "counting by instruction", reason);
	return lines->enabled;
}

struct cupti_lines *cupti_lines_new(struct cupti_chip *chip, void *context, int device, char reason[COUNTER_REASON]) {
	const struct cupti_library *cupti = cupti_library(reason);
	if (!cupti)
		return NULL;
	struct cupti_lines *lines = mem_alloc(1, sizeof *lines);
	*lines = (struct cupti_lines){.cupti = cupti, .context = context, .device = (uint32_t)device};
	if (lines_set(lines, cupti_chip_name(chip), reason))
		return lines;
	cupti_lines_free(lines);
	return NULL;
}

bool cupti_lines_end(struct cupti_lines *lines, char reason[COUNTER_REASON]) {
	CUPTI_PARAMS(CUpti_SassMetricsGetDataProperties, found, .ctx = lines->context);
	if (!cupti_fine(lines->cupti->cuptiSassMetricsGetDataProperties(&found), "the counted instructions", reason))
		return false;
	lines->records = found.numOfPatchedInstructionRecords;
	lines->instances = found.numOfInstances * METRICS;
	lines->data = mem_alloc(lines->records + 1, sizeof *lines->data);
	lines->values = mem_alloc(lines->records * lines->instances + 1, sizeof *lines->values);
	for (size_t i = 0; i < lines->records; i++)
		lines->data[i] = (CUpti_SassMetrics_Data){.structSize = CUpti_SassMetricsFlushData_Params_STRUCT_SIZE,
		                                          .pInstanceValues = &lines->values[i * lines->instances]};
	CUPTI_PARAMS(CUpti_SassMetricsFlushData, flush, .ctx = lines->context,
	             .numOfPatchedInstructionRecords = lines->records, .numOfInstances = found.numOfInstances,
	             .pMetricsData = lines->data);
	return lines->records == 0 ||
	       cupti_fine(lines->cupti->cuptiSassMetricsFlushData(&flush), "the counts of instructions", reason);
}

bool cupti_lines_get(const struct cupti_lines *lines, size_t i, struct cupti_access *access) {
	if (i >= lines->records || !lines->data[i].functionName)
		return false;
	const CUpti_SassMetrics_Data *data = &lines->data[i];
	*access = (struct cupti_access){.function = data->functionName, .offset = data->pcOffset, .code = data->cubinCrc};
	for (size_t v = 0; v < lines->instances; v++) {
		double value = (double)data->pInstanceValues[v].value;
		access->sectors += data->pInstanceValues[v].metricId == lines->config[0].metricId ? value : 0;
		access->least += data->pInstanceValues[v].metricId == lines->config[1].metricId ? value : 0;
	}
	return true;
}

void cupti_lines_free(struct cupti_lines *lines) {
	if (!lines)
		return;
	CUPTI_PARAMS(CUpti_SassMetricsDisable, disable, .ctx = lines->context);
	CUPTI_PARAMS(CUpti_SassMetricsUnsetConfig, unset, .deviceIndex = lines->device);
	if (lines->enabled)
		lines->cupti->cuptiSassMetricsDisable(&disable);
	if (lines->set)
		lines->cupti->cuptiSassMetricsUnsetConfig(&unset);
	free(lines->data);
	free(lines->values);
	free(lines);
}

static uint32_t code_sum(const void *code, size_t size) {
	char reason[COUNTER_REASON];
	const struct cupti_library *cupti = cupti_library(reason);
	CUpti_GetCubinCrcParams get = {.size = CUpti_GetCubinCrcParamsSize, .cubin = code, .cubinSize = size};
	return cupti && cupti->cuptiGetCubinCrc(&get) == CUPTI_SUCCESS ? (uint32_t)get.cubinCrc : 0;
}

int cupti_line_of(const void *code, size_t size, const struct cupti_access *access, char *file, size_t room) {
	char reason[COUNTER_REASON];
	const struct cupti_library *cupti = cupti_library(reason);
	CUpti_GetSassToSourceCorrelationParams get = {.size = CUpti_GetSassToSourceCorrelationParamsSize,
	                                              .cubin = code,
	                                              .cubinSize = size,
	                                              .functionName = access->function,
	                                              .pcOffset = access->offset};
	int line = cupti && (access->code == 0 || access->code == code_sum(code, size)) &&
	                   cupti->cuptiGetSassToSourceCorrelation(&get) == CUPTI_SUCCESS && get.fileName
	               ? (int)get.lineNumber
	               : 0;
	snprintf(file, room, "%s", line > 0 ? get.fileName : "");
	free(get.fileName);
	free(get.dirName);
	return line;
}
