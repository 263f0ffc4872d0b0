/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "src/show/results.h"
#include "tuner/result/result.h"

static char *disturbed_text(const json_t *load) {
	long long blocks = (long long)js_int_or(load, "blocks", 0), disturbed = (long long)js_int_or(load, "disturbed", 0);
	if (blocks <= 0 || disturbed <= 0)
		return mem_strdup("");
	return mem_printf(", others disturbed %lld of %lld block%s", disturbed, blocks, blocks == 1 ? "" : "s");
}

/* The load does not show what a hypervisor took. */
static char *steal_text(const json_t *load) {
	double steal = js_real_or(load, "steal", 0);
	return steal >= 0.05 ? mem_printf(", %.2g of them taken by the hypervisor", steal) : mem_strdup("");
}

char *results_busy(const json_t *load, bool decided) {
	if (!js_bool_or(load, "busy", false))
		return NULL;
	long long processors = (long long)js_int_or(load, "processors", 0);
	char *disturbed = disturbed_text(load), *steal = steal_text(load);
	char *text = mem_printf("%s on a busy machine: load %.3g on %lld processor%s%s%s", decided ? "decided" : "measured",
	                        js_real_or(load, "load", NAN), processors, processors == 1 ? "" : "s", steal, disturbed);
	free(disturbed);
	free(steal);
	return text;
}

char *results_load(const json_t *result) {
	const char *narrower = js_string_or(result, "narrower", NULL);
	bool faster = verdict_of(result) == VERDICT_FASTER, open = !result_is_decided(result);
	char *busy = results_busy(json_object_get(result, "load"), result_is_decided(result));
	if (!busy || !narrower || (!faster && !open))
		return busy;
	char *text = mem_printf("%s; it uses fewer %s than the baseline and may %s only because of that", busy,
	                        strcmp(narrower, "cores") == 0 ? "cores" : "processors", open ? "lead" : "win");
	free(busy);
	return text;
}
