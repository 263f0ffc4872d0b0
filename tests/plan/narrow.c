/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which of two configurations uses less of the machine. */
#include <stdlib.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "src/plan/plan.h"
#include "tests/tap.h"

#define SMT    "synthetic:package:2 core:2 pu:2"
#define FLAT   "synthetic:core:4 pu:1"
#define LONE   "synthetic:core:1 pu:2"
#define OPENMP "{'openmp': true, 'params': {}}"

static void environment_clear(void) {
	unsetenv("OMP_NUM_THREADS");
	unsetenv("OMP_PROC_BIND");
	unsetenv("OMP_PLACES");
}

/* JSON with ' for "; NULL for "". */
static json_t *read(const char *text) {
	struct err err = {0};
	char *copy = mem_strdup(text);
	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	json_t *json = *copy ? js_parse(copy, strlen(copy), "a test", &err) : NULL;
	free(copy);
	return json;
}

static void narrower(const char *machine, const char *program, const char *config, const char *than, const char *want) {
	struct err err = {0};
	struct topo *topo = topo_open(machine, &err);
	json_t *p = read(program), *a = read(config), *b = read(than);
	const char *got = topo ? plan_narrower(topo, p, a, b) : err.what;
	char *what = mem_printf("%s than %s on %s: %s", config, than, machine, want);
	is_text(got ? got : "no", want, what);
	free(what);
	json_decref(p);
	json_decref(a);
	json_decref(b);
	topo_close(topo);
}

static void test_settings(void) {
	static const char all[] = "{'threads': 8, 'proc_bind': 'false'}", two[] = "{'threads': 2, 'proc_bind': 'false'}";
	narrower(SMT, OPENMP, two, all, "processors");
	narrower(SMT, OPENMP, all, two, "no");
	narrower(SMT, OPENMP, all, all, "no");
	narrower(SMT, OPENMP, "{'threads': 8, 'proc_bind': 'close', 'places': 'cores'}", all, "no");
	narrower(SMT, OPENMP, "{'threads': 2, 'proc_bind': 'close', 'places': 'threads'}", two, "cores");
	narrower(SMT, OPENMP, "{'threads': 2, 'proc_bind': 'spread', 'places': 'threads'}", two, "no");
	narrower(SMT, OPENMP, "{'threads': 2, 'proc_bind': 'close', 'places': 'cores'}", two, "no");
	narrower(SMT, OPENMP, "{'threads': 2, 'proc_bind': 'primary', 'places': 'threads'}", two, "processors");
	narrower(SMT, OPENMP, "{'threads': 2, 'proc_bind': 'primary', 'places': 'cores'}", two, "cores");
	narrower(SMT, OPENMP, "{'threads': 2, 'proc_bind': 'primary', 'places': 'sockets'}", two, "no");
	narrower(SMT, OPENMP, "{'threads': 8, 'proc_bind': 'primary', 'places': 'sockets'}", all, "processors");
	narrower(SMT, OPENMP, "{'threads': 99, 'proc_bind': 'false'}", all, "no");
	narrower(FLAT, OPENMP, "{'threads': 2, 'proc_bind': 'close', 'places': 'threads'}", two, "no");
	narrower(LONE, OPENMP, "{'threads': 2, 'proc_bind': 'primary', 'places': 'cores'}", two, "no");
	narrower(SMT, OPENMP, two, "{'threads': 8, 'proc_bind': 'close', 'places': '{0:4}'}", "processors");
	narrower(SMT, "", "{'variant': 'serial'}", "{'threads': 2}", "processors");
	narrower(SMT, "", "{'block': 2}", "{'block': 3}", "no");
	narrower(SMT, "", "{'threads': -1, 'proc_bind': 5}", "{'threads': 1e300, 'places': []}", "no");
}

static void test_variables(void) {
	static const char omp[] = "{'params': {'OMP_NUM_THREADS': 'environment', 'OMP_PROC_BIND': 'environment',"
							  " 'OMP_PLACES': 'environment'}}";
	static const char unset[] = "{'OMP_NUM_THREADS': 'unset'}";
	narrower(SMT, omp, "{'OMP_NUM_THREADS': 4}", unset, "processors");
	narrower(SMT, omp, "{'OMP_NUM_THREADS': 8}", unset, "no");
	narrower(SMT, omp, unset, "{'OMP_NUM_THREADS': 4}", "no");
	narrower(SMT, omp, "{'OMP_NUM_THREADS': '4,2'}", "{'OMP_NUM_THREADS': '6,1'}", "processors");
	narrower(SMT, omp, "{'OMP_NUM_THREADS': 2, 'OMP_PROC_BIND': 'MASTER'}", "{'OMP_NUM_THREADS': 2}", "cores");
	narrower(SMT, omp, "{'OMP_NUM_THREADS': 2, 'OMP_PROC_BIND': 'true', 'OMP_PLACES': 'threads'}",
	         "{'OMP_NUM_THREADS': 2}", "cores");
	narrower(SMT, omp, "{'OMP_NUM_THREADS': 2, 'OMP_PLACES': 'threads'}", "{'OMP_NUM_THREADS': 2}", "cores");
	narrower(SMT, omp, "{'OMP_NUM_THREADS': 2, 'OMP_PROC_BIND': 'true'}", "{'OMP_NUM_THREADS': 2}", "no");
	narrower(SMT, "{'params': {'OMP_NUM_THREADS': 'argument'}}", "{'OMP_NUM_THREADS': 'x'}", unset, "no");
	setenv("OMP_NUM_THREADS", "2", 1);
	narrower(SMT, "{'params': {'OMP_PROC_BIND': 'environment'}}", "{'OMP_PROC_BIND': 'primary'}",
	         "{'OMP_PROC_BIND': 'false'}", "cores");
	setenv("OMP_NUM_THREADS", "1", 1);
	narrower(SMT, "{'params': {'OMP_PROC_BIND': 'environment'}}", "{'OMP_PROC_BIND': 'primary'}",
	         "{'OMP_PROC_BIND': 'false'}", "no");
	environment_clear();
}

static void test_names(void) {
	narrower(SMT, "{'params': {'threads': 'argument'}}", "{'threads': 1}", "{'threads': 2}", "processors");
	narrower(SMT, "{'params': {'NTHREADS': 'build'}}", "{'NTHREADS': 1}", "{'NTHREADS': 2}", "processors");
	narrower(SMT, "{'params': {'T': 'argument'}}", "{'T': 1}", "{'T': 2}", "no");
	narrower(SMT, "{'params': {'threads': 'argument'}}", "{'threads': 9}", "{'threads': 16}", "no");
	narrower(SMT, "{'params': {'OPENBLAS_NUM_THREADS': 'environment'}}", "{'OPENBLAS_NUM_THREADS': 1}",
	         "{'OPENBLAS_NUM_THREADS': 'unset'}", "processors");
	narrower(SMT, "{'params': {'JULIA_NUM_THREADS': 'environment'}}", "{'JULIA_NUM_THREADS': 2}",
	         "{'JULIA_NUM_THREADS': 'unset'}", "no");
}

static void added(const char *result, const char *want) {
	struct err err = {0};
	struct topo *topo = topo_open(SMT, &err);
	json_t *json = read(result);
	plan_narrower_add(topo, json);
	is_text(js_string_or(json, "narrower", "absent"), want, result);
	json_decref(json);
	topo_close(topo);
}

static void test_added(void) {
	added("{'best': {'config': {'threads': 1}}, 'baseline': {'config': {'threads': 2}}}", "processors");
	added("{'best': {'config': {'threads': 1}}, 'baseline': {'config': {'threads': 2}}, 'device': 'cuda'}", "absent");
	added("{'best': {'config': {'threads': 2}}, 'baseline': {'config': {'threads': 2}}}", "absent");
	added("{'baseline': {'config': {'threads': 2}}}", "absent");
	added("{'best': [], 'baseline': 7}", "absent");
}

int main(void) {
	environment_clear();
	test_settings();
	test_variables();
	test_names();
	test_added();
	return tap_done();
}
