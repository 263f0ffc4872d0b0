/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/show/results.h"

static char *disturbed_text(const struct load *load) {
	if (load->blocks <= 0 || load->disturbed <= 0)
		return mem_strdup("");
	return mem_printf(", others disturbed %lld of %lld block%s", (long long)load->disturbed, (long long)load->blocks,
	                  load->blocks == 1 ? "" : "s");
}

/* The load does not show what a hypervisor took. */
static char *steal_text(double steal) {
	return steal >= 0.05 ? mem_printf(", %.2g of them taken by the hypervisor", steal) : mem_strdup("");
}

static char *busy_text(const struct load *load, bool decided) {
	if (!load->busy)
		return NULL;
	mem_auto char *disturbed = disturbed_text(load), *steal = steal_text(load->steal);
	char *text =
		mem_printf("%s on a busy machine: load %.3g on %lld processor%s%s%s", decided ? "decided" : "measured",
	               load->load, (long long)load->processors, load->processors == 1 ? "" : "s", steal, disturbed);
	return text;
}

char *results_busy(const json_t *json, bool decided) {
	const struct load load = load_read(json);
	return busy_text(&load, decided);
}

char *results_load(const json_t *json) {
	const struct result result = result_read(json);
	const char *narrower = result.narrower;
	char *busy = busy_text(&result.load, result.decided);
	if (!busy || !narrower || (result.verdict != VERDICT_FASTER && result.decided))
		return busy;
	char *text = mem_printf("%s; it uses fewer %s than the baseline and may %s only because of that", busy,
	                        strcmp(narrower, "cores") == 0 ? "cores" : "processors", result.decided ? "win" : "lead");
	free(busy);
	return text;
}
