/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces CUPTI if configure did not find its headers. */
#include <config.h>

#include <stdio.h>

#include "counters/cupti/cupti.h"

static void absent(char reason[COUNTER_REASON]) {
	snprintf(reason, COUNTER_REASON, "this build lacks CUPTI's headers: %.120s", SS_CUPTI_SUMMARY);
}

void cupti_probe(struct counter_probe *probe) {
	*probe = (struct counter_probe){.usable = false};
	absent(probe->reason);
	snprintf(probe->fix, sizeof probe->fix,
	         "install CUDA's headers (12.6 or newer), then configure with CUDA_HOME=FOLDER "
	         "and build again");
}

bool cupti_denied(char reason[COUNTER_REASON]) {
	absent(reason);
	return true;
}

bool cupti_path(char *path, size_t size, char reason[COUNTER_REASON]) {
	(void)path, (void)size;
	absent(reason);
	return false;
}

struct cupti_chip *cupti_chip(const char *name, char reason[COUNTER_REASON]) {
	(void)name;
	absent(reason);
	return NULL;
}

const char *cupti_chip_name(const struct cupti_chip *chip) {
	(void)chip;
	return "";
}

const char *const *cupti_chips(char reason[COUNTER_REASON]) {
	absent(reason);
	return NULL;
}

struct cupti_chip *cupti_chip_here(int index, char reason[COUNTER_REASON]) {
	(void)index;
	absent(reason);
	return NULL;
}

bool cupti_chip_has(const struct cupti_chip *chip, const char *metric, char reason[COUNTER_REASON]) {
	(void)chip, (void)metric;
	absent(reason);
	return false;
}

size_t cupti_chip_passes(const struct cupti_chip *chip, const char *const *metrics, size_t count,
                         char reason[COUNTER_REASON]) {
	(void)chip, (void)metrics, (void)count;
	absent(reason);
	return 0;
}

const char *cupti_chip_unit(const struct cupti_chip *chip, const char *metric, double *scale) {
	(void)chip, (void)metric;
	*scale = 1;
	return "count";
}

json_t *cupti_list(const char *chip, const char *prefix, struct err *err) {
	(void)chip, (void)prefix;
	struct counter_probe probe;
	cupti_probe(&probe);
	err_set(err, ERR_UNAVAILABLE, probe.fix, "%s", probe.reason);
	return NULL;
}

struct cupti_range *cupti_range_new(struct cupti_chip *chip, void *context, const char *const *metrics, size_t count,
                                    char reason[COUNTER_REASON]) {
	(void)chip, (void)context, (void)metrics, (void)count;
	absent(reason);
	return NULL;
}

bool cupti_range_begin(struct cupti_range *range, char reason[COUNTER_REASON]) {
	(void)range;
	absent(reason);
	return false;
}

bool cupti_range_end(struct cupti_range *range, char reason[COUNTER_REASON]) {
	return cupti_range_begin(range, reason);
}

bool cupti_range_settle(struct cupti_range *range, char reason[COUNTER_REASON]) {
	return cupti_range_begin(range, reason);
}

bool cupti_range_more(const struct cupti_range *range) {
	(void)range;
	return false;
}

bool cupti_range_values(struct cupti_range *range, double *values, char reason[COUNTER_REASON]) {
	(void)values;
	return cupti_range_begin(range, reason);
}

void cupti_range_free(struct cupti_range *range) {
	(void)range;
}

struct cupti_range *cupti_launches_new(struct cupti_chip *chip, void *context, const char *const *metrics, size_t count,
                                       size_t most, char reason[COUNTER_REASON]) {
	(void)most;
	return cupti_range_new(chip, context, metrics, count, reason);
}

size_t cupti_launches_room(const struct cupti_range *range) {
	(void)range;
	return 0;
}

bool cupti_launch_begin(struct cupti_range *range, char reason[COUNTER_REASON]) {
	return cupti_range_begin(range, reason);
}

bool cupti_launch_end(struct cupti_range *range, char reason[COUNTER_REASON]) {
	return cupti_range_begin(range, reason);
}

bool cupti_launches_values(struct cupti_range *range, double *values, char reason[COUNTER_REASON]) {
	(void)values;
	return cupti_range_begin(range, reason);
}

bool cupti_activity_start(char reason[COUNTER_REASON]) {
	absent(reason);
	return false;
}

bool cupti_activity_stop(struct cupti_totals *totals, char reason[COUNTER_REASON]) {
	*totals = (struct cupti_totals){.launches = 0};
	absent(reason);
	return false;
}
