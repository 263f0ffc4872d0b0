/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json/js.h"
#include "base/mem.h"
#include "src/show/counters.h"
#include "src/cmd/doctor/doctor_impl.h"
#include "tuner/store/store.h"

static void look_version(struct app *app, struct finding *f) {
	(void)app;
#ifdef SS_SANITIZED
	finding_set(f, FINDING_BAD, "configure without --enable-asan, --enable-ubsan and --enable-tsan for measurements",
	            "sweetspot " PACKAGE_VERSION ", built with a sanitizer: measured times are not valid");
#else
	finding_set(f, FINDING_GOOD, "", "sweetspot " PACKAGE_VERSION ", %s, %s", SS_COMPILER, SS_CFLAGS);
#endif
}

static void look_flags(struct app *app, struct finding *f) {
	(void)app;
	bool fast = strstr(SS_CFLAGS, "-O2") || strstr(SS_CFLAGS, "-O3") || strstr(SS_CFLAGS, "-Ofast");
	if (fast)
		finding_set(f, FINDING_GOOD, "", "optimised");
	else
		finding_set(f, FINDING_BAD, "../configure CFLAGS='-O3 -g' && make", "kernels are built without -O2 or -O3");
}

static void look_worker(struct app *app, struct finding *f) {
	struct err err = {0};
	const struct kernel_list *kernels = app_kernels(app, &err);
	if (kernels)
		finding_set(f, FINDING_GOOD, "", "runs, with %zu kernels", kernel_list_count(kernels));
	else
		finding_set(f, FINDING_BAD, err.hint, "%s", err.what);
}

static void look_openmp(struct app *app, struct finding *f) {
	const struct kernel_list *kernels = app_kernels(app, NULL);
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

static void look_papi(struct app *app, struct finding *f) {
	const json_t *sources = counters_sources(app), *papi = js_named(sources, "papi");
	char text[400] = "";
	bool good = js_bool_or(papi, "usable", false) && !*counters_instead(sources, "papi", text, sizeof text);
	if (papi)
		finding_set(f, good ? FINDING_GOOD : FINDING_NOTE, js_string_or(papi, "fix", ""), "%s",
		            js_string_or(papi, "reason", "?"));
	else
		option(f, SS_PAPI_SUMMARY, "this worker does not have the source papi");
}

static void look_cuda(struct app *app, struct finding *f) {
	(void)app;
	option(f, SS_CUDA_SUMMARY, "for GPU counters; CUDA kernels do not need headers");
}

static void look_openblas(struct app *app, struct finding *f) {
	(void)app;
	option(f, SS_OPENBLAS_SUMMARY, "used by GSL's linear algebra");
}

static void look_libdw(struct app *app, struct finding *f) {
	(void)app;
	option(f, SS_LIBDW_SUMMARY, "for the lines of parallel regions");
}

static void look_store(struct app *app, struct finding *f) {
	struct err err = {0};
	(void)app;
	mem_auto char *path = store_default_path(&err);
	struct store *store = path ? store_open(path, STORE_READ, &err) : NULL;
	if (store)
		finding_set(f, FINDING_GOOD, "", "%s", path);
	else
		finding_set(f, path ? FINDING_NOTE : FINDING_BAD, err.hint, "%s", err.what);
	store_close(store);
}

const struct check doctor_build_checks[] = {
	{"version", look_version},   {"optimisation", look_flags},
	{"worker", look_worker},     {"OpenMP", look_openmp},
	{"PAPI", look_papi},         {"CUDA", look_cuda},
	{"OpenBLAS", look_openblas}, {"libdw", look_libdw},
	{"store", look_store},       {0},
};
