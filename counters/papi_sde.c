/* SPDX-License-Identifier: BSD-3-Clause */
/* Software-defined events (A. Jagode, A. Danalis, H. Anzt, J. Dongarra, "PAPI software-defined events for in-depth
 * performance analysis", IJHPCA 33(6), 2019): those of the running kernel, for each thread, and those that a plug-in
 * exports itself, for the whole process. */
#include <stdio.h>
#include <string.h>

#include "counters/papi/papi.h"

struct sde_state {
	struct papi_counting counting; /* first */
	struct sde_page *pages[COUNTER_OPEN_MAX];
};

static const char *const events[] = {NULL}; /* each kernel has its own */

/* 0 on success; then call papi_library_leave when done. */
static int sde_begin(char reason[COUNTER_REASON]) {
	if (sde_export_start(reason) || papi_library_enter(reason))
		return -1;
	if (papi_word_component_up("sde"))
		return 0;
	papi_library_leave();
	snprintf(reason, COUNTER_REASON,
	         "this PAPI was built without its sde component; kernel reads the same events instead");
	return -1;
}

static void sde_probe(struct counter_probe *probe) {
	*probe = (struct counter_probe){.usable = false};
	probe->usable = sde_begin(probe->reason) == 0;
	if (probe->usable)
		papi_library_leave();
	if (probe->usable)
		snprintf(probe->reason, sizeof probe->reason,
		         "PAPI %s counts the events that kernels and plug-ins export through libsde", papi_library_version());
	else
		snprintf(probe->fix, sizeof probe->fix, "apt-get install libpapi-dev, then configure and build again");
}

/* "LIB::EVENT", with or without PAPI's prefix. */
static const char *foreign_word(const char *event, char word[SDE_WORD]) {
	snprintf(word, SDE_WORD, "%s%s", strncmp(event, "sde:::", 6) == 0 ? "" : "sde:::", event);
	return word;
}

/* An event that another kernel exports does not count in this one. */
static bool foreign_has(const char *event, char word[SDE_WORD]) {
	return papi_word_listed("sde", foreign_word(event, word)) && !sde_export_has(word + strlen("sde:::"));
}

static bool foreign_can(const char *event, const struct counter_site *site, char reason[COUNTER_REASON]) {
	char word[SDE_WORD];
	if (foreign_has(event, word))
		return true;
	if (site->software || !strstr(event, "::"))
		return software_event(site->software, event, reason) >= 0;
	snprintf(reason, COUNTER_REASON, "no loaded library exports the software-defined event %.100s", event);
	return false;
}

static bool sde_can(const char *event, const struct counter_site *site, char reason[COUNTER_REASON]) {
	if (software_event(site->software, event, reason) >= 0)
		return true;
	if (sde_begin(reason))
		return false;
	bool can = foreign_can(event, site, reason);
	papi_library_leave();
	return can;
}

static int event_open(struct sde_state *s, const struct counter_site *site, size_t i, const char *name) {
	char word[SDE_WORD], reason[COUNTER_REASON];
	int event = software_event(site->software, name, reason);
	if (event < 0)
		return foreign_has(name, word) ? papi_counting_add(&s->counting, i, word, false) : -1;
	s->pages[i] = sde_export_open(site->software, event, site->thread, word);
	return s->pages[i] ? papi_counting_add(&s->counting, i, word, true) : -1;
}

static int sde_open(void *state, const struct counter_site *site, const char *const *names, size_t count) {
	struct sde_state *s = state;
	char reason[COUNTER_REASON];
	if (sde_begin(reason))
		return -1;
	int rc = papi_counting_open(&s->counting, site, names, count);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = event_open(s, site, i, names[i]);
	papi_library_leave();
	return rc;
}

static void sde_close(void *state) {
	struct sde_state *s = state;
	char reason[COUNTER_REASON];
	if (sde_begin(reason) == 0) {
		papi_counting_close(&s->counting);
		papi_library_leave();
	}
	for (size_t i = 0; i < COUNTER_OPEN_MAX; i++)
		sde_export_close(s->pages[i]);
}

const struct counter_backend counter_papi_sde = {
	.name = "papi-sde",
	.summary = "software-defined events of kernels and plug-ins, through PAPI",
	.software = true,
	.state_size = sizeof(struct sde_state),
	.events = events,
	.probe = sde_probe,
	.can = sde_can,
	.open = sde_open,
	.start = papi_counting_start,
	.stop = papi_counting_stop,
	.read = papi_counting_read,
	.close = sde_close,
};
