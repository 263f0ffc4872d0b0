/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface to CUPTI that the backends `cupti` and `cupti-activity`, `list metrics` and the tests share. It does
 * not need CUPTI's headers; cupti_absent.c implements it if they are missing. */
#ifndef COUNTERS_CUPTI_CUPTI_H
#define COUNTERS_CUPTI_CUPTI_H
#include <string.h>

#include "counters/backend/counter.h"
#include "gpu/open.h"

/* A quick check without a context: is a driver installed, and does libcupti open? */
void cupti_probe(struct counter_probe *probe);
/* Has the driver denied counters to this process? The reason contains the remedy. */
bool cupti_denied(char reason[COUNTER_REASON]);

/* The file of libcupti, for a program that opens it itself. False with the reason. */
bool cupti_path(char *path, size_t size, char reason[COUNTER_REASON]);

/* ---- a chip in the host API, which works without a GPU. Names in any case: "gh100" ---- */
struct cupti_chip;
/* Opens a chip once and keeps it until the process ends. NULL with the reason. */
struct cupti_chip *cupti_chip(const char *name, char reason[COUNTER_REASON]);
const char *cupti_chip_name(const struct cupti_chip *chip); /* "GH100" */
/* Lists all known chips, ended by NULL; NULL with the reason on failure. */
const char *const *cupti_chips(char reason[COUNTER_REASON]);
/* Returns the chip of this machine's device cuda:INDEX. NULL with the reason. */
struct cupti_chip *cupti_chip_here(int index, char reason[COUNTER_REASON]);
/* True if this is a metric of the chip, complete with its rollup ("dram__bytes.sum"). The reason names the nearest. */
bool cupti_chip_has(const struct cupti_chip *chip, const char *metric, char reason[COUNTER_REASON]);
/* Returns the number of times that the same work must run to count these together; 0 with the reason if they can't be.
 */
size_t cupti_chip_passes(const struct cupti_chip *chip, const char *const *metrics, size_t count,
                         char reason[COUNTER_REASON]);
/* Returns the metric's unit. Multiply its value by *scale to get that unit: "s" and 1e-9 for nanoseconds. */
const char *cupti_chip_unit(const struct cupti_chip *chip, const char *metric, double *scale);
/* {"chip","metrics":[{"name","type","unit","hardware","summary","passes","rollups":[..]}]} for the metrics whose
 * name begins with the prefix ("" for all): passes null and rollups absent if there are many. New reference. NULL:
 * ERR_UNAVAILABLE, or ERR_USAGE with the chips, or the nearest name. */
json_t *cupti_list(const char *chip, const char *prefix, struct err *err);

/* ---- a range of work on a device, counted ---- */
struct cupti_range;
/* context: the current CUcontext; the metrics must outlive the range. NULL and the reason. */
struct cupti_range *cupti_range_new(struct cupti_chip *chip, void *context, const char *const *metrics, size_t count,
                                    char reason[COUNTER_REASON]);
bool cupti_range_begin(struct cupti_range *range, char reason[COUNTER_REASON]);
bool cupti_range_end(struct cupti_range *range,
                     char reason[COUNTER_REASON]); /* call it after everything has been launched */
bool cupti_range_settle(struct cupti_range *range,
                        char reason[COUNTER_REASON]);   /* call it when the device is idle again */
bool cupti_range_more(const struct cupti_range *range); /* true if the same work must run again */
/* NAN for metrics without a value. */
bool cupti_range_values(struct cupti_range *range, double *values, char reason[COUNTER_REASON]);
void cupti_range_free(struct cupti_range *range);

/* ---- single launches on a device, counted; cupti_range_free ---- */
/* most: of launches; there may be room for fewer. Otherwise as cupti_range_new. */
struct cupti_range *cupti_launches_new(struct cupti_chip *chip, void *context, const char *const *metrics, size_t count,
                                       size_t most, char reason[COUNTER_REASON]);
size_t cupti_launches_room(const struct cupti_range *range);
/* Around one launch, which CUPTI runs as often as there are passes; the memory is put back in between. */
bool cupti_launch_begin(struct cupti_range *range, char reason[COUNTER_REASON]);
bool cupti_launch_end(struct cupti_range *range, char reason[COUNTER_REASON]);
/* `count` values for each launch, in their order; NAN for metrics without a value. */
bool cupti_launches_values(struct cupti_range *range, double *values, char reason[COUNTER_REASON]);

/* ---- accesses to global memory, by instruction and by line of the source ---- */
struct cupti_access {
	const char *function;  /* lives as long as the lines */
	unsigned offset;       /* of the instruction within the function's code */
	uint32_t code;         /* CUPTI's checksum of the code; 0: not known */
	double sectors, least; /* of 32 bytes: moved, and needed for as many bytes */
};
struct cupti_lines;
/* Counts from now on, on a device and its current context. NULL and the reason. */
struct cupti_lines *cupti_lines_new(struct cupti_chip *chip, void *context, int device, char reason[COUNTER_REASON]);
bool cupti_lines_end(struct cupti_lines *lines, char reason[COUNTER_REASON]); /* when the device is idle again */
bool cupti_lines_get(const struct cupti_lines *lines, size_t i, struct cupti_access *access); /* false: no more */
void cupti_lines_free(struct cupti_lines *lines); /* the code is as it was; accepts NULL */
/* The line of an instruction and its file, from code that was compiled with -lineinfo; 0: it is not told, or this is
 * other code, such as the same function of another configuration. */
int cupti_line_of(const void *code, size_t size, const struct cupti_access *access, char *file, size_t room);

/* ---- the device's work, kernel by kernel and copy by copy ---- */
enum { CUPTI_KERNELS_MAX = 64, CUPTI_KERNEL_NAME = 96 };
struct cupti_kernel {
	char name[CUPTI_KERNEL_NAME];
	double seconds;
	long launches;
	int registers, shared_static, shared_dynamic, grid[3], block[3];
};
enum cupti_copy { CUPTI_UP, CUPTI_DOWN, CUPTI_ACROSS, CUPTI_PEER, CUPTI_COPIES };
struct cupti_totals {
	double kernel_seconds, set_seconds, span_seconds /* from the first start to the last end */;
	double copy_seconds[CUPTI_COPIES], copy_bytes[CUPTI_COPIES], set_bytes;
	long launches, copies[CUPTI_COPIES], sets, dropped;
	struct cupti_kernel kernels[CUPTI_KERNELS_MAX]; /* by name and shape; the first ones seen */
	size_t kernel_count;
};
bool cupti_activity_start(char reason[COUNTER_REASON]);
/* Call it when the device is idle, because only then do the totals contain all work since the start. */
bool cupti_activity_stop(struct cupti_totals *totals, char reason[COUNTER_REASON]);

/* The seconds of a launch or a range. */
#define CUPTI_LAUNCH_TIME "gpu__time_duration.sum"
/* Is a metric an amount of a launch, as opposed to a rate or a share? */
static inline bool cupti_is_amount(const char *metric) {
	size_t length = strlen(metric);
	return length > 4 && strcmp(metric + length - 4, ".sum") == 0;
}

/* The chip of the device that is measured; NULL with the reason if this does not run on one, or if counters are denied.
 */
static inline struct cupti_chip *cupti_site_chip(const struct counter_site *site, char reason[COUNTER_REASON]) {
	const struct gpu_facts *device = site->gpu ? gpu_facts(site->gpu) : site->device;
	if (!device || device->kind != GPU_CUDA) {
		snprintf(reason, COUNTER_REASON, "it counts on a GPU, but this does not run on one (--device cuda)");
		return NULL;
	}
	return cupti_denied(reason) ? NULL : cupti_chip_here(device->index, reason);
}
/* Does it have the event? */
static inline bool cupti_site_can(const char *event, const struct counter_site *site, char reason[COUNTER_REASON]) {
	struct cupti_chip *chip = cupti_site_chip(site, reason);
	return chip && cupti_chip_has(chip, event, reason);
}
#endif
