/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The threads of a recommendation on the packages, cores and hardware threads of this machine, as lstopo draws them. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "src/cmd/report/report.h"

enum { CORES_MAX = 160, CORE_CPUS_MAX = 8, CPUS_MAX = CORES_MAX * CORE_CPUS_MAX, TEAM_MAX = 4096 };

struct pinning {
	struct html *html;
	const struct topo *topo;
	const struct topo_binding *team;
	int threads, used;
	int on[CPUS_MAX]; /* the number of threads that may run on each CPU */
};

static struct topo_binding *all_of(const struct topo *topo, enum topo_level level, const char *places) {
	struct err none = {0};
	return topo_binding_new(topo, topo_count(topo, level), places, "close", &none);
}

static void team_place(struct pinning *pinning) {
	int *cpus = mem_alloc(CPUS_MAX, sizeof *cpus);
	for (int thread = 0; thread < pinning->threads; thread++) {
		size_t count = topo_binding_cpus(pinning->team, thread, cpus, CPUS_MAX);
		for (size_t i = 0; i < count && i < CPUS_MAX; i++)
			if (cpus[i] < CPUS_MAX)
				pinning->used += pinning->on[cpus[i]]++ == 0;
	}
	free(cpus);
}

static void cpu_draw(const struct pinning *pinning, int cpu) {
	int threads = cpu < CPUS_MAX ? pinning->on[cpu] : 0;
	char title[80];
	snprintf(title, sizeof title, threads ? "CPU %d: %d thread%s may run here" : "CPU %d: free", cpu, threads,
	         threads == 1 ? "" : "s");
	html_begin(pinning->html, "span", "class", threads ? "thread" : "thread idle", "title", title, NULL);
	html_end(pinning->html);
}

/* Draws the cores whose first CPU is in the package. */
static void package_draw(const struct pinning *pinning, const struct topo_binding *packages, int package,
                         const struct topo_binding *cores) {
	bool inside[CPUS_MAX] = {false};
	int *cpus = mem_alloc(CPUS_MAX, sizeof *cpus);
	size_t count = topo_binding_cpus(packages, package, cpus, CPUS_MAX);
	for (size_t i = 0; i < count && i < CPUS_MAX; i++)
		if (cpus[i] < CPUS_MAX)
			inside[cpus[i]] = true;
	html_begin(pinning->html, "div", "class", "package", NULL);
	html_begin(pinning->html, "span", "class", "cores", NULL);
	for (int core = 0; core < topo_count(pinning->topo, TOPO_CORE); core++) {
		count = topo_binding_cpus(cores, core, cpus, CORE_CPUS_MAX);
		if (count == 0 || count > CORE_CPUS_MAX || cpus[0] >= CPUS_MAX || !inside[cpus[0]])
			continue;
		html_begin(pinning->html, "span", "class", "core", NULL);
		for (size_t i = 0; i < count; i++)
			cpu_draw(pinning, cpus[i]);
		html_end(pinning->html);
	}
	html_end(pinning->html);
	html_end(pinning->html);
	free(cpus);
}

static void machine_draw(const struct pinning *pinning) {
	struct topo_binding *packages = all_of(pinning->topo, TOPO_PACKAGE, "sockets"),
						*cores = all_of(pinning->topo, TOPO_CORE, "cores");
	html_begin(pinning->html, "div", "class", "topology pinning", NULL);
	for (int i = 0; packages && cores && i < topo_count(pinning->topo, TOPO_PACKAGE); i++)
		package_draw(pinning, packages, i, cores);
	html_end(pinning->html);
	topo_binding_free(packages);
	topo_binding_free(cores);
}

static void describe(const struct pinning *pinning, const char *bind) {
	int all = topo_count(pinning->topo, TOPO_PU);
	if (strcmp(bind, "false") == 0)
		html_element(pinning->html, "p", "note", "%d thread%s, not bound: the system places %s.", pinning->threads,
		             pinning->threads == 1 ? "" : "s", pinning->threads == 1 ? "it" : "them");
	else
		html_element(pinning->html, "p", "note", "%d thread%s on %d of %d hardware threads.", pinning->threads,
		             pinning->threads == 1 ? "" : "s", pinning->used, all);
}

void report_pinning(struct report *report, const struct report_section *section) {
	const json_t *environment = json_object_get(section->entry, "environment");
	const char *bind = js_string_or(environment, "OMP_PROC_BIND", "false");
	long threads = strtol(js_string_or(environment, "OMP_NUM_THREADS", "0"), NULL, 10);
	struct err none = {0};
	struct topo *topo = report->is_foreign || report->from ? NULL : app_topo(report->app, &none);
	if (!topo || threads < 1 || threads > TEAM_MAX || topo_count(topo, TOPO_CORE) > CORES_MAX)
		return;
	struct topo_binding *team =
		topo_binding_new(topo, (int)threads, js_string_or(environment, "OMP_PLACES", "threads"), bind, &none);
	if (!team)
		return;
	struct pinning *pinning = mem_alloc(1, sizeof *pinning);
	*pinning = (struct pinning){.html = report->html, .topo = topo, .team = team, .threads = (int)threads};
	team_place(pinning);
	if (strcmp(bind, "false") != 0)
		machine_draw(pinning);
	describe(pinning, bind);
	free(pinning);
	topo_binding_free(team);
}
