/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the command sweep on kernels. */
#ifndef SRC_CMD_RUN_SWEEP_IMPL_H
#define SRC_CMD_RUN_SWEEP_IMPL_H
#include "src/cmd/run/manual_store_impl.h"
#include "src/cmd/run/sweep_table_impl.h"

enum { SWEEP_AXES_MAX = 8, SWEEP_ROWS_MAX = 100000, SWEEP_DEVICES_MAX = 4 };

/* --weak: the size grows with a parameter, so that the work of each thread stays the same. */
struct sweep_weak {
	const char *size;  /* NULL: no weak scaling */
	const char *param; /* size^power is proportional to it; NULL: `formula` says how */
	const char *formula;
	double power;
};

/* The axes and the kernel of one device. */
struct sweep_device {
	struct manual manual;
	const char *word; /* "cpu", "cuda:0" */
	struct axis axes[SWEEP_AXES_MAX];
	size_t axis_count, total;
};

struct sweep {
	struct app *app;
	const struct opt_args *args;
	struct counters_words counters;
	struct arena *arena;
	struct axis axes[SWEEP_AXES_MAX]; /* as given */
	size_t axis_count;
	struct sweep_weak weak;
	struct sweep_device device[SWEEP_DEVICES_MAX];
	size_t device_count;
	bool compares_devices, alone;
	struct manual_store kept;
	json_t *rows, *serials;
};

/* Reads --over and --weak; the names and values are checked later, against each device's kernel. */
int sweep_axes_read(struct sweep *sweep, struct err *err);
/* Keeps of each axis the values that the device's kernel has. ERR_USAGE for a value that no device has; call it after
 * all devices are open. */
int sweep_axes_check(struct sweep *sweep, struct err *err);
/* Adds the values of combination number `row`, in which the last axis varies fastest. */
int sweep_combination(struct sweep *sweep, struct sweep_device *device, size_t row, json_t *problem, json_t *config,
                      struct err *err);

/* Measures the serial code on this problem if that has not been done; appends it to sweep->serials. */
int sweep_serial(struct sweep *sweep, struct sweep_device *device, const json_t *problem, struct err *err);

/* One row of the document. New reference. */
json_t *sweep_row_json(const struct manual *manual, const json_t *problem, const json_t *config,
                       const struct trial_result *result);
#endif
