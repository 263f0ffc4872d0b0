/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dlfcn.h>
#include <math.h>
#include <sched.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/sys.h"
#include "src/cmd/doctor/doctor_impl.h"
#include "src/show/columns.h"
#include "src/show/counters.h"
#include "tuner/store/store.h"

static void look_processors(struct finding *f) {
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t *set = CPU_ALLOC(8192);
	size_t size = CPU_ALLOC_SIZE(8192);
	int allowed = set && sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : (int)online;
	CPU_FREE(set);
	if (allowed < online)
		finding_set(f, FINDING_NOTE, "to tune the whole machine, run without taskset and outside the cpuset",
		            "%d of %ld hardware threads are available", allowed, online);
	else
		finding_set(f, FINDING_GOOD, "", "all %ld hardware threads are available", online);
}

static void look_quota(struct finding *f) {
	double quota = sys_cgroup_processors("");
	if (isfinite(quota))
		finding_set(f, FINDING_BAD, "raise the CPU limit of the job or container, or use cpusets instead of a quota",
		            "a cgroup quota of %.2f processors throttles long runs", quota);
	else
		finding_set(f, FINDING_GOOD, "", "no cgroup quota");
}

static void look_governor(struct finding *f) {
	char line[64];
	if (!sys_read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", line, sizeof line))
		finding_set(f, FINDING_NOTE, "", "the kernel does not show a frequency governor (common in virtual machines)");
	else if (strcmp(line, "performance") == 0)
		finding_set(f, FINDING_GOOD, "", "performance");
	else
		finding_set(f, FINDING_BAD, "sudo cpupower frequency-set -g performance",
		            "the governor %s changes the clock during measurements", line);
}

static void look_virtual(struct finding *f) {
	const json_t *machine = app_machine(f->app, NULL);
	const char *hypervisor = machine ? js_string_or(machine, "hypervisor", NULL) : NULL;
	if (hypervisor)
		finding_set(f, FINDING_NOTE, "",
		            "virtual machine (%s): other guests may steal time, which is why comparisons are interleaved",
		            hypervisor);
	else
		finding_set(f, FINDING_GOOD, "", "not virtualised");
}

static void look_load(struct finding *f) {
	char line[128];
	double load = 0;
	if (sys_read_line("/proc/loadavg", line, sizeof line))
		load = atof(line);
	if (load > 0.5)
		finding_set(f, FINDING_NOTE, "stop other programs before tuning",
		            "load average %.2f: other programs are running", load);
	else
		finding_set(f, FINDING_GOOD, "", "load average %.2f", load);
}

static void look_version(struct finding *f) {
#ifdef SS_SANITIZED
	finding_set(f, FINDING_BAD, "configure without --enable-asan, --enable-ubsan and --enable-tsan for measurements",
	            "sweetspot " PACKAGE_VERSION ", built with a sanitizer: measured times are not valid");
#else
	finding_set(f, FINDING_GOOD, "", "sweetspot " PACKAGE_VERSION ", %s, %s", SS_COMPILER, SS_CFLAGS);
#endif
}

static void look_flags(struct finding *f) {
	bool fast = strstr(SS_CFLAGS, "-O2") || strstr(SS_CFLAGS, "-O3") || strstr(SS_CFLAGS, "-Ofast");
	if (fast)
		finding_set(f, FINDING_GOOD, "", "optimised");
	else
		finding_set(f, FINDING_BAD, "../configure CFLAGS='-O3 -g' && make", "kernels are built without -O2 or -O3");
}

static void look_worker(struct finding *f) {
	struct err err = {0};
	const struct kernel_list *kernels = app_kernels(f->app, &err);
	if (kernels)
		finding_set(f, FINDING_GOOD, "", "runs, with %zu kernels", kernel_list_count(kernels));
	else
		finding_set(f, FINDING_BAD, err.hint, "%s", err.what);
}

static void look_openmp(struct finding *f) {
	const struct kernel_list *kernels = app_kernels(f->app, NULL);
	const json_t *openmp = kernels ? json_object_get(kernel_list_description(kernels), "openmp") : NULL;
	static const char *const disturbing[] = {"OMP_NUM_THREADS",   "OMP_PROC_BIND", "OMP_PLACES",
	                                         "GOMP_CPU_AFFINITY", "KMP_AFFINITY",  "OMP_SCHEDULE"};
	for (size_t i = 0; i < sizeof disturbing / sizeof *disturbing; i++) {
		if (getenv(disturbing[i])) {
			finding_set(f, FINDING_NOTE, "", "%s %lld; your shell sets %s, which workers do not inherit",
			            js_string_or(openmp, "runtime", "?"), (long long)js_int_or(openmp, "version", 0),
			            disturbing[i]);
			return;
		}
	}
	finding_set(f, FINDING_GOOD, "", "%s %lld", js_string_or(openmp, "runtime", "?"),
	            (long long)js_int_or(openmp, "version", 0));
}

static void option(struct finding *f, const char *summary, const char *use) {
	bool found = strncmp(summary, "yes", 3) == 0;
	finding_set(f, found ? FINDING_GOOD : FINDING_NOTE, "", "%s%s%s", summary, found ? "; " : "", found ? use : "");
}

static void look_papi(struct finding *f) {
	const json_t *sources = counters_sources(f->app), *papi = js_named(sources, "papi");
	char text[400] = "";
	bool good = js_bool_or(papi, "usable", false) && !*counters_instead(sources, "papi", text, sizeof text);
	if (papi)
		finding_set(f, good ? FINDING_GOOD : FINDING_NOTE, js_string_or(papi, "fix", ""), "%s",
		            js_string_or(papi, "reason", "?"));
	else
		option(f, SS_PAPI_SUMMARY, "this worker does not have the source papi");
}

/* It is opened at run time, with a thread for each core that the variable does not forbid. */
static void look_blas(struct finding *f) {
	option(f, SS_OPENBLAS_SUMMARY, "used by GSL's linear algebra");
#ifdef SS_OPENBLAS
	setenv("OPENBLAS_NUM_THREADS", "1", 0);
	if (!dlopen(SS_OPENBLAS, RTLD_LAZY | RTLD_LOCAL))
		finding_set(f, FINDING_NOTE, "install OpenBLAS (Debian: libopenblas0)",
		            "%s is not installed: GSL's own linear algebra makes long searches slower", SS_OPENBLAS);
#endif
}

static void look_store(struct finding *f) {
	struct err err = {0};
	mem_auto char *path = store_default_path(&err);
	struct store *store = path ? store_open(path, STORE_READ, &err) : NULL;
	if (store)
		finding_set(f, FINDING_GOOD, "", "%s", path);
	else
		finding_set(f, path ? FINDING_NOTE : FINDING_BAD, err.hint, "%s", err.what);
	store_close(store);
}

static const struct check own_checks[] = {
	{"version", .look = look_version},
	{"optimisation", .look = look_flags},
	{"worker", .look = look_worker},
	{"OpenMP", .look = look_openmp},
	{"PAPI", .look = look_papi},
	{"CUDA", NULL, SS_CUDA_SUMMARY, "for GPU counters; CUDA kernels do not need headers"},
	{"OpenBLAS", .look = look_blas},
	{"libdw", NULL, SS_LIBDW_SUMMARY, "for the lines of parallel regions"},
	{"store", .look = look_store},
	{"processors", .look = look_processors},
	{"cgroup quota", .look = look_quota},
	{"governor", .look = look_governor},
	{"virtualisation", .look = look_virtual},
	{"load", .look = look_load},
	{0},
};

enum { INDENT = 19 };

void finding_set(struct finding *finding, enum finding_state state, const char *remedy, const char *found, ...) {
	va_list ap;
	va_start(ap, found);
	finding->state = state;
	vsnprintf(finding->found, sizeof finding->found, found, ap);
	snprintf(finding->remedy, sizeof finding->remedy, "%s", remedy);
	va_end(ap);
}

static const char *const states[] = {[FINDING_GOOD] = "good", [FINDING_NOTE] = "note", [FINDING_BAD] = "bad"};

static void look_all(struct app *app, const struct check *checks, json_t *array) {
	for (; checks->name; checks++) {
		struct finding finding = {.app = app, .name = checks->name};
		if (checks->look)
			checks->look(&finding);
		else
			option(&finding, checks->summary, checks->use);
		if (!*finding.found)
			continue;
		json_array_append_new(array,
		                      json_pack("{s:s,s:s,s:s,s:s}", "name", checks->name, "state", states[finding.state],
		                                "found", finding.found, "remedy", finding.remedy));
	}
}

/* Lists the sources of the worker, each with its substitute. */
static json_t *sources_json(struct app *app) {
	const json_t *sources = counters_sources(app);
	json_t *array = json_array();
	js_each (source, sources) {
		char text[400] = "";
		json_t *copy = json_copy(source);
		const char *instead = counters_instead(sources, js_string_or(source, "name", ""), text, sizeof text);
		json_object_set_new(copy, "instead", *instead ? json_string(instead) : json_null());
		json_array_append_new(array, copy);
	}
	return array;
}

/* Prints a mark, a name and the finding, which is wrapped below itself. */
static void head_print(struct ui *ui, int mark, const char *name, const char *found) {
	static const char *const marks[] = {"ok", "--", "!!"};
	static const enum ui_style styles[] = {UI_GOOD, UI_DIM, UI_BAD};
	mem_auto char *text = mem_printf("%-15s", name);
	text_clean(text, false);
	printf("%s%s%s %s ", ui_style(ui, styles[mark]), marks[mark], ui_style(ui, UI_PLAIN), text);
	ui_wrap_on(stdout, INDENT, INDENT, "%s", found);
}

static void checks_print(struct ui *ui, const json_t *checks) {
	js_each (item, checks) {
		const char *state = js_string_or(item, "state", "note");
		head_print(ui,
		           strcmp(state, "good") == 0  ? 0
		           : strcmp(state, "bad") == 0 ? 2
		                                       : 1,
		           js_string_or(item, "name", "?"), js_string_or(item, "found", ""));
		ui_fix(stdout, INDENT, js_string_or(item, "remedy", ""));
	}
}

static void people_print(struct ui *ui, const json_t *document) {
	checks_print(ui, json_object_get(document, "checks"));
	puts("\ncounter sources");
	js_each (item, json_object_get(document, "counters")) {
		bool good = js_bool_or(item, "usable", false) && !*js_string_or(item, "instead", "");
		head_print(ui, good ? 0 : 1, js_string_or(item, "name", "?"), js_string_or(item, "reason", ""));
		ui_fix(stdout, INDENT, js_string_or(item, "fix", ""));
		if (*js_string_or(item, "instead", ""))
			ui_wrap(stdout, INDENT, INDENT + 9, "instead: %s", js_string_or(item, "instead", ""));
	}
}

/* `doctor --counters`: each event over a loop of known work. */

static char *expected_text(const json_t *expected) {
	return json_is_object(expected)
	           ? mem_printf("%s to %s", counters_value(js_real_or(expected, "least", NAN), NULL).text,
	                        counters_value(js_real_or(expected, "most", NAN), NULL).text)
	           : mem_strdup("any");
}

static char *count_text(const json_t *value) {
	return mem_strdup(counters_value(json_is_number(value) ? json_number_value(value) : NAN, NULL).text);
}

/* As rows that were not counted: those share a paragraph, which gives each reason once. */
static void reasons_print(struct app *app, const json_t *rows) {
	js_auto json_t *document = json_pack("{s:[]}", "counters");
	js_each (row, rows) {
		const char *verdict = js_string_or(row, "verdict", "");
		bool missing = strcmp(verdict, "unavailable") == 0;
		mem_auto char *reason = mem_strdup(js_string_or(row, "reason", ""));
		char *advice = strstr(reason, "; --counters ");
		if (advice)
			*advice = '\0';
		if (missing || strcmp(verdict, "wrong") == 0)
			json_array_append_new(json_object_get(document, "counters"),
			                      json_pack("{s:s,s:s,s:s,s:s}", "name", js_string_or(row, "event", "?"), "status",
			                                verdict, "reason", reason, "group", missing ? "events" : ""));
	}
	struct counts counts = counts_read(document, "counters");
	counters_reasons_print(&counts, counters_sources(app), stdout);
	free(counts.rows);
}

/* The least of each source's events, because others also wait for the system. */
static double source_seconds(const json_t *rows, const char *name) {
	double least = NAN;
	size_t length = strlen(name);
	js_each (row, rows) {
		const char *source = js_string_or(row, "source", "");
		if (strncmp(source, name, length) == 0 && source[length] == ':')
			least = fmin(least, js_real_or(row, "start_stop_s", NAN));
	}
	return least;
}

static void costs_print(struct app *app, const json_t *rows) {
	js_each (source, counters_sources(app)) {
		const char *name = js_string_or(source, "name", "?");
		double seconds = source_seconds(rows, name);
		if (seconds > 0)
			printf("%s: starting, stopping and reading an event takes %s\n", name, ui_seconds(seconds).text);
	}
}

static void events_print(struct app *app, const json_t *rows) {
	static const struct column columns[] = {COLUMN("event", "event", .absent = "?"),
	                                        COLUMN("source", "source"),
	                                        COLUMN("\1expected", "expected", .text = expected_text),
	                                        COLUMN("\1counted", "counted", .text = count_text),
	                                        COLUMN("\1empty", "empty", .text = count_text),
	                                        COLUMN("verdict", "verdict", .absent = "?"),
	                                        {0}};
	columns_print(app_ui(app), columns, rows, stdout);
	puts("\nexpected: over a loop of known work; empty: between a start and a stop with nothing in between");
	costs_print(app, rows);
	reasons_print(app, rows);
}

/* Only the table, because people ask for it when they know that counters are what they want. */
static int events_run(struct app *app, bool json, struct err *err) {
	struct worker *worker = app_worker(app, err);
	js_auto json_t *answer = worker ? worker_prove(worker, err) : NULL;
	json_t *rows = json_object_get(answer, "rows");
	if (!answer)
		return -1;
	js_auto json_t *document =
		json_pack("{s:s,s:O,s:o}", "schema", "sweetspot-doctor/1", "events", rows, "counters", sources_json(app));
	if (json)
		js_write(document, stdout);
	else
		events_print(app, rows);
	return 0;
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	if (opt_has(args, "counters"))
		return events_run(app, opt_has(args, "json"), err);
	json_t *checks = json_array();
	look_all(app, own_checks, checks);
	look_all(app, doctor_hardware_checks, checks);
	js_auto json_t *document =
		json_pack("{s:s,s:o,s:o}", "schema", "sweetspot-doctor/1", "checks", checks, "counters", sources_json(app));
	if (opt_has(args, "json"))
		js_write(document, stdout);
	else
		people_print(app_ui(app), document);
	return 0;
}

static const struct opt options[] = {
	OPT_GROUP("What to check"),
	{"counters", 0, NULL, "count each event over a loop of known work", 0},
	{0},
};

const struct cmd cmd_doctor = {
	.name = "doctor",
	.summary = "check what helps or hinders measurements here, and how to fix it",
	.usage = "doctor [OPTION...]",
	.options = (const struct opt *const[]){options, NULL},
	.examples = "sweetspot doctor\n"
				"sweetspot doctor --counters",
	.only_reads = true,
	.run = run,
};
