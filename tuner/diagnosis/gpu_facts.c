/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures of the worker's report about a row of a GPU. */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/diagnosis/gpu_impl.h"

static const json_t *gpu_of(const struct study *study, size_t row) {
	return json_object_get(study_row(study, row)->detail, "gpu");
}

static double product(const json_t *sizes) {
	double all = 1;
	if (json_array_size(sizes) == 0)
		return NAN;
	js_each (one, sizes)
		all *= json_number_value(one);
	return all >= 1 ? all : NAN;
}

static struct gpu_function function_read(const json_t *json) {
	return (struct gpu_function){.name = js_string_or(json, "function", "?"),
	                             .limiter = js_string_or(json, "limiter", NULL),
	                             .registers = js_real_or(json, "registers", NAN),
	                             .shared_bytes = js_real_or(json, "shared_bytes", NAN),
	                             .spill_bytes = js_real_or(json, "spill_bytes", 0),
	                             .threads = product(json_object_get(json, "block")),
	                             .blocks = product(json_object_get(json, "grid")),
	                             .launches = js_real_or(json, "launches", NAN),
	                             .occupancy = js_real_or(json, "occupancy", NAN),
	                             .resident = js_real_or(json, "resident", NAN)};
}

static double size_of(const struct gpu_function *function) {
	double size = function->threads * function->blocks * function->launches;
	return isnan(size) ? 0 : size;
}

bool gpu_function_main(const struct study *study, size_t row, struct gpu_function *function) {
	const json_t *list = json_object_get(gpu_of(study, row), "kernels");
	*function = (struct gpu_function){NULL, NULL, NAN, NAN, 0, NAN, NAN, NAN, NAN, NAN};
	js_each (one, list) {
		struct gpu_function next = function_read(one);
		if (!function->name || size_of(&next) > size_of(function))
			*function = next;
	}
	return function->name;
}

/* The report of launches covers all runs of the samples. */
static double launches_booked(const struct study *study, size_t row) {
	const json_t *list = json_object_get(gpu_of(study, row), "kernels");
	double runs = js_real_or(gpu_of(study, row), "runs", NAN), all = 0;
	js_each (one, list)
		all += js_real_or(one, "launches", NAN);
	return all > 0 && runs > 0 ? all / runs : NAN;
}

double gpu_launches(const struct study *study, size_t row) {
	double counted = study_counter(study, row, "gpu_launches");
	return counted > 0 ? counted : launches_booked(study, row);
}

double gpu_kernel_time(const struct study *study, size_t row) {
	double counted = study_counter(study, row, "gpu_kernel_time");
	return counted > 0 ? counted : study_figure(study, row, "gpu_s");
}

double gpu_copy_time(const struct study *study, size_t row) {
	double up = study_counter(study, row, "gpu_copy_up_time"), down = study_counter(study, row, "gpu_copy_down_time");
	if (isnan(up + down))
		up = study_figure(study, row, "upload"), down = study_figure(study, row, "download");
	return isnan(up + down) ? study_figure(study, row, "transfer_s") : up + down;
}

double gpu_dram_bytes(const struct study *study, size_t row) {
	double bytes = study_counter(study, row, "gpu_dram_read_bytes") + study_counter(study, row, "gpu_dram_write_bytes");
	return bytes > 0 ? bytes : NAN;
}

static double wavefronts_counted(const struct study *study, size_t row) {
	if (!study_row(study, row)->counted)
		return NAN;
	double all = study_counter(study, row, "gpu_shared_load_wavefronts") +
	             study_counter(study, row, "gpu_shared_store_wavefronts");
	return all > 0 ? all : NAN;
}

/* Counted and modelled figures must not be mixed, because they would differ for that reason alone. */
double gpu_wavefronts(const struct study *study, size_t row) {
	size_t counted = 0, rows = study_counts(study, "gpu_shared_load_wavefronts") ? study_rows(study) : 0;
	for (size_t r = 0; r < rows && counted < 2; r++)
		counted += !isnan(wavefronts_counted(study, r));
	double model = counted < 2 ? study_figure(study, row, "shared_wavefronts") : NAN;
	return counted < 2 && model > 0 ? model : wavefronts_counted(study, row);
}

double gpu_margin(const struct study *study) {
	return 1 + fmax(0.05, 2 * study_noise(study));
}

bool gpu_possible(const struct study *study, gpu_measure share) {
	static const double MOST = 1.15;
	for (size_t r = 0; r < study_rows(study); r++)
		if (share(study, r) > MOST)
			return false;
	return true;
}

double gpu_share_of(const struct study *study, size_t row, double amount, const char *ceiling, const char *level) {
	return amount / study_row(study, row)->value / study_ceiling(study, ceiling, level, 0) / 1e9;
}

double gpu_shared_share(const struct study *study, size_t row) {
	static const double WAVEFRONT = 128; /* bytes, each cycle of an SM */
	return gpu_share_of(study, row, WAVEFRONT * gpu_wavefronts(study, row), "shared", NULL);
}

static size_t slowest(const struct study *study, gpu_measure of) {
	size_t found = SIZE_MAX;
	for (size_t r = 0; r < study_rows(study); r++)
		if (!study_row(study, r)->over && isfinite(of(study, r)) &&
		    (found == SIZE_MAX || study_row(study, r)->value > study_row(study, found)->value))
			found = r;
	return found;
}

size_t gpu_subjects(const struct study *study, gpu_measure of, size_t rows[GPU_SUBJECTS]) {
	size_t winner = study_winner(study), other = study_baseline(study), count = 0;
	if (winner != SIZE_MAX && isfinite(of(study, winner)))
		rows[count++] = winner;
	if (other == SIZE_MAX)
		other = slowest(study, of);
	if (other != SIZE_MAX && other != winner && isfinite(of(study, other)))
		rows[count++] = other;
	return count;
}

const char *gpu_subject_words(const struct study *study, size_t row) {
	bool params = false;
	for (size_t c = 0; c < study_columns(study); c++)
		params = params || !study_column(study, c)->is_problem;
	/* A table of sizes alone has one configuration. */
	if (!params && study_columns(study))
		return row == study_winner(study) ? "the fastest problem" : "the slowest problem";
	return row == study_winner(study)     ? "the best configuration"
	       : row == study_baseline(study) ? "the baseline"
	                                      : "the slowest configuration";
}

void gpu_subject_about(struct finding *finding, const struct study *study, size_t row) {
	size_t winner = study_winner(study);
	for (size_t c = 0; row != winner && winner != SIZE_MAX && c < study_columns(study); c++)
		if (study_row(study, row)->level[c] != study_row(study, winner)->level[c])
			finding_about(finding, study, c, study_row(study, row)->level[c]);
}

void gpu_next_counters(struct finding *finding, const struct study *study, size_t row, const char *groups) {
	mem_auto char *words = row == SIZE_MAX ? mem_strdup("") : study_words(study, row);
	finding_next(finding, "run %s %s --device %s --counters %s", study_kernel(study), words, study_device(study),
	             groups);
}

void gpu_next_ceilings(struct finding *finding, const struct study *study) {
	finding_next(finding, "machine --ceilings --device %s", study_device(study));
}
