/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces CUPTI if configure did not find its headers. */
#include "counters/cupti/cupti.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

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

json_t *cupti_list(const char *chip, const char *prefix, struct err *err) {
	struct counter_probe probe;
	cupti_probe(&probe);
	err_set(err, ERR_UNAVAILABLE, probe.fix, "%s", probe.reason);
	return NULL;
}

bool cupti_activity_stop(struct cupti_totals *totals, char reason[COUNTER_REASON]) {
	*totals = (struct cupti_totals){.launches = 0};
	absent(reason);
	return false;
}

const char *cupti_chip_unit(const struct cupti_chip *chip, const char *metric, double *scale) {
	*scale = 1;
	return "count";
}

/* Functions that give the reason, and those that only callers of these would reach. */
#define REFUSE(result, head, ...)                                                                                      \
	head(__VA_ARGS__) {                                                                                                \
		absent(reason);                                                                                                \
		return result;                                                                                                 \
	}
#define WHY   char reason[COUNTER_REASON]
#define CHIP  const struct cupti_chip *chip
#define RANGE struct cupti_range *range
REFUSE(true, bool cupti_denied, WHY)
REFUSE(false, bool cupti_path, char *path, size_t size, WHY)
REFUSE(NULL, struct cupti_chip *cupti_chip, const char *name, WHY)
REFUSE(NULL, struct cupti_chip *cupti_chip_here, int index, WHY)
REFUSE(false, bool cupti_chip_has, CHIP, const char *metric, WHY)
REFUSE(0, size_t cupti_chip_passes, CHIP, const char *const *metrics, size_t count, WHY)
REFUSE(NULL, struct cupti_range *cupti_range_new, struct cupti_chip *chip, void *context, const char *const *metrics,
       size_t count, WHY)
REFUSE(false, bool cupti_range_begin, RANGE, WHY)
REFUSE(false, bool cupti_range_end, RANGE, WHY)
REFUSE(false, bool cupti_range_settle, RANGE, WHY)
REFUSE(false, bool cupti_range_values, RANGE, double *values, WHY)
REFUSE(NULL, struct cupti_range *cupti_launches_new, struct cupti_chip *chip, void *context, const char *const *metrics,
       size_t count, size_t most, WHY)
REFUSE(false, bool cupti_launch_begin, RANGE, WHY)
REFUSE(false, bool cupti_launch_end, RANGE, WHY)
REFUSE(false, bool cupti_launches_values, RANGE, double *values, WHY)
REFUSE(false, bool cupti_activity_start, WHY)
REFUSE(NULL, struct cupti_lines *cupti_lines_new, struct cupti_chip *chip, void *context, int device, WHY)
REFUSE(false, bool cupti_lines_end, struct cupti_lines *lines, WHY)

const char *cupti_chip_name(const struct cupti_chip *chip) {
	return "";
}

const char *const *cupti_chips(char reason[COUNTER_REASON]) {
	absent(reason);
	return NULL;
}

bool cupti_range_more(const struct cupti_range *range) {
	return false;
}

void cupti_range_free(struct cupti_range *range) {
}

bool cupti_lines_get(const struct cupti_lines *lines, size_t i, struct cupti_access *access) {
	return false;
}

void cupti_lines_free(struct cupti_lines *lines) {
}

int cupti_line_of(const void *code, size_t size, const struct cupti_access *access, char *file, size_t room) {
	return 0;
}

size_t cupti_launches_room(const struct cupti_range *range) {
	return 0;
}
