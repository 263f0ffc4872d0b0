/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts energy by the processor's Running Average Power Limit (RAPL) meters. */
#include <stdio.h>
#include <string.h>

#include "counters/rapl/meter.h"

#define STANDS_STILL "the energy counter stands still, as it may under a hypervisor"
#define ON_METAL     "measure energy on the machine itself, not in a VM"

static const char *const events[RAPL_DOMAINS + 1] = {[RAPL_PACKAGE] = "energy-package",
                                                     [RAPL_CORE] = "energy-core",
                                                     [RAPL_UNCORE] = "energy-uncore",
                                                     [RAPL_DRAM] = "energy-dram",
                                                     [RAPL_PSYS] = "energy-psys"};

struct rapl_state {
	const char *const *names;
	size_t count;
	struct rapl_meter meter;
	struct rapl_sample begin, end;
};

static int domain_of(const char *event) {
	int d = 0;
	while (d < RAPL_DOMAINS && strcmp(events[d], event) != 0)
		d++;
	return d;
}

static void rapl_probe(struct counter_probe *probe) {
	struct rapl_meter meter;
	rapl_meter_open(&meter, "");
	*probe = (struct counter_probe){.usable = meter.count > 0 && rapl_meter_moves(&meter, RAPL_DOMAINS)};
	bool stands = meter.count > 0 && !probe->usable;
	snprintf(probe->reason, sizeof probe->reason, "%s",
	         probe->usable ? "energy of the whole machine, including other programs"
	         : stands      ? STANDS_STILL
	                       : meter.reason);
	snprintf(probe->fix, sizeof probe->fix, "%s", stands ? ON_METAL : meter.fix);
	rapl_meter_close(&meter);
}

static bool domain_counts(const struct rapl_meter *meter, enum rapl_domain domain, char reason[COUNTER_REASON]) {
	bool has = rapl_meter_has(meter, domain), counts = has && rapl_meter_moves(meter, domain);
	const char *why = has ? STANDS_STILL : meter->reason[0] ? meter->reason : "this processor does not count it";
	snprintf(reason, COUNTER_REASON, "%s", counts ? "" : why);
	return counts;
}

static bool rapl_can(const char *event, const struct counter_site *site, char reason[COUNTER_REASON]) {
	struct rapl_meter meter;
	int d = domain_of(event);
	(void)site;
	if (d == RAPL_DOMAINS) {
		snprintf(reason, COUNTER_REASON, "rapl does not have an event %.60s", event);
		return false;
	}
	rapl_meter_open(&meter, "");
	bool counts = domain_counts(&meter, (enum rapl_domain)d, reason);
	rapl_meter_close(&meter);
	return counts;
}

static int rapl_open(void *state, const struct counter_site *site, const char *const *names, size_t count) {
	struct rapl_state *s = state;
	(void)site;
	s->names = names;
	s->count = count;
	rapl_meter_open(&s->meter, "");
	return s->meter.count > 0 ? 0 : -1;
}

static int rapl_start(void *state) {
	struct rapl_state *s = state;
	return rapl_meter_read(&s->meter, &s->begin);
}

static int rapl_stop(void *state) {
	struct rapl_state *s = state;
	return rapl_meter_read(&s->meter, &s->end);
}

static int rapl_read(void *state, struct counter_value *values) {
	struct rapl_state *s = state;
	for (size_t i = 0; i < s->count; i++) {
		int d = domain_of(s->names[i]);
		if (d == RAPL_DOMAINS)
			return -1;
		double joules = rapl_meter_joules(&s->meter, (enum rapl_domain)d, &s->begin, &s->end);
		if (!rapl_meter_has(&s->meter, (enum rapl_domain)d)) {
			counter_value_miss(&values[i], events[d], "J", "this processor does not count it");
		} else if (!(joules > 0)) {
			counter_value_miss(&values[i], events[d], "J", "shorter than a step of the counter, about 1 ms");
		} else {
			counter_value_set(&values[i], events[d], "J", joules);
			snprintf(values[i].reason, COUNTER_REASON, "of the whole machine, including other programs");
		}
	}
	return 0;
}

static void rapl_close(void *state) {
	struct rapl_state *s = state;
	rapl_meter_close(&s->meter);
}

const struct counter_backend counter_rapl = {
	.name = "rapl",
	.summary = "energy of packages, cores and memory, of the whole machine",
	.scope = COUNTER_MACHINE,
	.state_size = sizeof(struct rapl_state),
	.events = events,
	.probe = rapl_probe,
	.can = rapl_can,
	.open = rapl_open,
	.start = rapl_start,
	.stop = rapl_stop,
	.read = rapl_read,
	.close = rapl_close,
};
