/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/export/export_impl.h"

#include <math.h>
#include <time.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/stats.h"
#include "tuner/trial/trial.h"

const struct profile_entry *export_trials_entry(const struct profile *profile, const char *format, struct err *err) {
	const struct profile_entry *entry = profile->entries;
	if (profile->count != 1 || !json_array_size(json_object_get(entry->json, "trials")))
		err_set(err, ERR_USAGE, "name one kernel, from a store that has its trials",
		        "%s holds every configuration of one search, but there are %zu", format, profile->count);
	else if (strcmp(entry->unit, "s") != 0)
		err_set(err, ERR_USAGE, "use json or csv, which hold every objective", "%s holds times, not %s", format,
		        entry->objective);
	else
		return entry;
	return NULL;
}

double export_trial_ms(const json_t *trial) {
	const json_t *samples = json_object_get(trial, "samples");
	size_t count = json_array_size(samples);
	double *x = mem_alloc(count + 1, sizeof *x), median = NAN;
	for (size_t i = 0; i < count; i++)
		x[i] = json_number_value(json_array_get(samples, i)) * 1e3;
	if (count)
		median = stats_median(x, count);
	free(x);
	return median;
}

json_t *export_samples_ms(const json_t *trial) {
	json_t *out = json_array();
	js_each (sample, json_object_get(trial, "samples"))
		json_array_append_new(out, js_number(json_number_value(sample) * 1e3));
	return out;
}

json_t *export_timestamp(const json_t *trial) {
	double seconds = js_real_or(trial, "started", 0);
	time_t at = seconds >= 0 && seconds < 253402300800.0 /* year 10000 */ ? (time_t)seconds : 0;
	struct tm tm;
	char text[40] = "";
	if (gmtime_r(&at, &tm))
		strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S+00:00", &tm);
	return json_string(text);
}
