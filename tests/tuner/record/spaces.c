/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recorded spaces of the field, from the folder SWEETSPOT_SPACES: figures that anybody can count in them. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tests/tap.h"
#include "tuner/record/record.h"

static const struct {
	const char *file, *format;
	uint64_t valid, correct;
	double optimum, worst;
	size_t counters;
} rows[] = {
	{"convolution_milo.A100.json.gz", "kt", 4362, 4201, 0.5536000076681376, 32.22569590806961, 0},
	{"convolution_milo.A100_T4.json.gz", "t4", 4362, 4201, 0.5536000076681376, 32.22569590806961, 0},
	{"convolution_milo.A4000.json.gz", "kt", 4362, 4201, 1.021171996369958, 107.66954517364502, 0},
	{"convolution_milo.MI250X.json.gz", "kt", 4362, 4362, 0.6587962452322245, 100.29500269889832, 0},
	{"dedispersion_milo.A100.json.gz", "kt", 11130, 11130, 68.1165759563446, 119.89888048171997, 0},
	{"dedispersion_milo.A100_T4.json.gz", "t4", 11130, 11130, 68.1165759563446, 119.89888048171997, 0},
	{"gemm.RTX_Titan.json.gz", "kt", 17956, 17956, 11.466165, 1253.1118699999997, 0},
	{"pnpoly.RTX_Titan.json.gz", "kt", 4092, 3750, 0.013523199781775474, 0.4857504040002823, 0},
	{"pnpoly.KTT_RTX_2080_Ti.counters.json.gz", "ktt", 4092, 3815, 8.023776, 58.986816, 33},
};

int main(void) {
	const char *folder = getenv("SWEETSPOT_SPACES");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err err = {0};
		if (!folder) {
			tap_skip(rows[i].file, "SWEETSPOT_SPACES names no folder with recorded spaces");
			continue;
		}
		char *path = mem_printf("%s/%s", folder, rows[i].file);
		struct record *record = record_read(path, NULL, &err);
		ok(record && strcmp(record->format, rows[i].format) == 0 && space_valid(record->space) == rows[i].valid &&
		       record->correct == rows[i].correct && record->optimum == rows[i].optimum &&
		       record->worst == rows[i].worst && record->counter_count == rows[i].counters,
		   "%s%s", rows[i].file, record ? "" : err.what);
		record_free(record);
		free(path);
	}
	return tap_done();
}
