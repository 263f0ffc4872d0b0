/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Specifications of C functions that are invalid or whose baseline fails are refused. */
#include "tests/plugin/spec_c.h"

/* The baseline is the reference: if it fails, no other configuration can be checked. */
static void check_baseline(struct worker *worker, const char *what, const char *parameters, const char *kernel,
                           const char *message) {
	struct err err = {0};
	struct spec *spec = spec_of(parameters, kernel, &err);
	struct spec_c *c = spec ? spec_c_new(spec, worker, &err) : NULL;
	struct trial_result result = {0};
	ok(c && trial(c, "plain", 8, &result, &err) && err.code == ERR_FAILED && strstr(err.what, message) && *err.hint,
	   "a baseline that %s is an error with a hint", what);
	if (!strstr(err.what, message))
		printf("# got %s\n", err.what);
	trial_result_clear(&result);
	spec_c_free(c);
	spec_free(spec);
}

static void check_refused(struct worker *worker, const char *what, const char *parameters, const char *kernel) {
	struct err err = {0};
	struct spec *spec = spec_of(parameters, kernel, &err);
	struct spec_c *c = spec ? spec_c_new(spec, worker, &err) : NULL;
	ok(!c && err.code == ERR_USAGE && strstr(err.what, what), "refused: %s", what);
	if (c || !strstr(err.what, what))
		printf("# got %s\n", c ? "nothing" : err.what);
	spec_c_free(c);
	spec_free(spec);
}

static void check_hostile(struct worker *worker) {
	static const char *const kernels[][2] = {
		{"KernelName", "\"KernelFile\":\"saxpy.c\",\"Arguments\":[" Y "]"},
		{"is not a valid C function name", "\"KernelName\":\"f(){}\",\"KernelFile\":\"saxpy.c\",\"Arguments\":[" Y "]"},
		{"is not a valid C function name", "\"KernelName\":\"while\",\"KernelFile\":\"saxpy.c\",\"Arguments\":[" Y "]"},
		{"is not a file", "\"KernelName\":\"saxpy\",\"KernelFile\":\"nosuch.c\",\"Arguments\":[" Y "]"},
		{"is not a file", "\"KernelName\":\"saxpy\",\"KernelFile\":\"..\",\"Arguments\":[" Y "]"},
		{"cannot be included", "\"KernelName\":\"saxpy\",\"KernelFile\":\"a\\\"b.c\",\"Arguments\":[" Y "]"},
		{"Arguments", "\"KernelName\":\"saxpy\",\"KernelFile\":\"saxpy.c\""},
		{"Arguments[0]", KERNEL("7")},
		{"Tolerance: Absolute is not a number from 0", KERNEL(Y) ",\"Tolerance\":-1"},
		{"Tolerance: Share is not a number from 0 to 1", KERNEL(Y) ",\"Tolerance\":{\"Share\":2}"},
		{"Tolerance: \"Abs\" is unknown", KERNEL(Y) ",\"Tolerance\":{\"Abs\":2}"},
		{"Tolerance is neither", KERNEL(Y) ",\"Tolerance\":\"1\""},
		{"argument n has a Tolerance but is not an output",
	     KERNEL(Y ",{\"Name\":\"n\",\"Type\":\"int\",\"MemoryType\":\"Scalar\",\"Tolerance\":1}")},
		{"Verify is a command", KERNEL(Y) ",\"Verify\":\"./check\""},
		{"Verify \"median\" cannot be used", KERNEL(VECTOR("\"Type\":\"int\",\"Size\":4,\"Verify\":\"median\""))},
		{"Verify \"sum:0\" cannot be used", KERNEL(VECTOR("\"Type\":\"int\",\"Size\":4,\"Verify\":\"sum:0\""))},
		{"bytes, not 16", KERNEL(VECTOR("\"Type\":\"int\",\"Size\":4,\"ReferenceFile\":\"saxpy.c\""))},
		{"none is not a file", KERNEL(VECTOR("\"Type\":\"int\",\"Size\":4,\"ReferenceFile\":\"none\""))},
		{"has a ReferenceFile but is not an output",
	     KERNEL(Y "," VECTOR("\"Type\":\"int\",\"Size\":4,\"AccessType\":\"ReadOnly\",\"ReferenceFile\":\"saxpy.c\""))},
		{"Metrics is not supported for C", KERNEL(Y) ",\"Metrics\":{\"G/s\":\"1/time\"}"},
		{"OutputDependsOn is not supported for C", KERNEL(Y) ",\"OutputDependsOn\":[\"BLOCK\"]"},
		{"none of the arguments is an output", KERNEL(X "," N)},
		{"Name must be an identifier", KERNEL("{\"Name\":\"a b\",\"Type\":\"int\",\"MemoryType\":\"Scalar\"}")},
		{"Type \"half\"", KERNEL(VECTOR("\"Type\":\"half\",\"Size\":1"))},
		{"Type", KERNEL(VECTOR("\"Size\":1"))},
		{"Size", KERNEL(VECTOR("\"Type\":\"int\""))},
		{"Size", KERNEL(VECTOR("\"Type\":\"int\",\"Size\":0"))},
		{"Size", KERNEL(VECTOR("\"Type\":\"int\",\"Size\":-5"))},
		{"Size", KERNEL(VECTOR("\"Type\":\"int\",\"Size\":1e30"))},
		{"Size", KERNEL(VECTOR("\"Type\":\"int\",\"Size\":\"BLOCK*4\""))},
		{"GiB", KERNEL(VECTOR("\"Type\":\"int64\",\"Size\":1099511627776"))},
		{"FillType", KERNEL(VECTOR("\"Type\":\"int\",\"Size\":4,\"FillType\":\"Generator\""))},
		{"DataSource", KERNEL(VECTOR("\"Type\":\"int\",\"Size\":4,\"FillType\":\"BinaryRaw\""))},
		{"FillValue", KERNEL(VECTOR("\"Type\":\"int\",\"Size\":4,\"FillValue\":1.5"))},
		{"FillValue", KERNEL(VECTOR("\"Type\":\"int8\",\"Size\":4,\"FillValue\":128"))},
		{"FillValue", KERNEL(VECTOR("\"Type\":\"uint\",\"Size\":4,\"FillValue\":-1"))},
		{"FillValue", KERNEL(VECTOR("\"Type\":\"float\",\"Size\":4,\"FillValue\":1e39"))},
		{"FillValue", KERNEL(VECTOR("\"Type\":\"float\",\"Size\":4,\"FillValue\":\"1\""))},
		{"AccessType", KERNEL(VECTOR("\"Type\":\"float\",\"Size\":4,\"AccessType\":\"Never\""))},
		{"MemoryType", KERNEL("{\"Type\":\"float\",\"MemoryType\":\"Symbol\"}")},
		{"by value", KERNEL("{\"Type\":\"float\",\"MemoryType\":\"Scalar\",\"Output\":1}")},
		{"cannot be random", KERNEL("{\"Type\":\"float\",\"MemoryType\":\"Scalar\",\"FillType\":\"Random\"}")},
		{"\"-o\"", KERNEL(Y) ",\"CompilerOptions\":[\"-o\",\"/tmp/x\"]"},
		{"-fplugin", KERNEL(Y) ",\"CompilerOptions\":[\"-fplugin=x.so\"]"},
		{"-wrapper", KERNEL(Y) ",\"CompilerOptions\":[\"-wrapper\",\"sh\"]"},
		{"@file", KERNEL(Y) ",\"CompilerOptions\":[\"@file\"]"},
		{"other.c", KERNEL(Y) ",\"CompilerOptions\":[\"other.c\"]"},
		{"lacks its argument", KERNEL(Y) ",\"CompilerOptions\":[\"-I\"]"},
		{"is not accepted", KERNEL(Y) ",\"CompilerOptions\":[\"-I\",\"-c\"]"},
		{"is not a valid compiler option", KERNEL(Y) ",\"CompilerOptions\":[3]"},
	};
	file_write("a\"b.c", saxpy);
	for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
		check_refused(worker, kernels[i][0], BLOCKS, kernels[i][1]);
	check_refused(worker, "has the kernel's name", "{\"Name\":\"saxpy\",\"Type\":\"int\",\"Values\":\"[1]\"}",
	              KERNEL(Y));
	check_refused(worker, "cannot be a C token", "{\"Name\":\"W\",\"Type\":\"string\",\"Values\":\"['a b']\"}",
	              KERNEL(Y));
	check_refused(worker, "cannot be a C token", "{\"Name\":\"W\",\"Type\":\"string\",\"Values\":\"['-o','a']\"}",
	              KERNEL(Y));
	check_refused(worker, "macro", "{\"Name\":\"int\",\"Type\":\"int\",\"Values\":\"[1]\"}", KERNEL(Y));
}

static void check_compiler(struct worker *worker) {
	const char *cc = getenv("CC");
	char *kept = mem_strdup(cc ? cc : "cc");
	struct err err = {0};
	struct spec *spec = spec_of(BLOCKS, KERNEL(Y), &err);
	setenv("CC", "/nonexistent/cc", 1);
	ok(!spec_c_new(spec, worker, &err) && err.code == ERR_FAILED && strstr(err.hint, "CC"), "no compiler: %s",
	   err.what);
	setenv("CC", "false", 1);
	ok(!spec_c_new(spec, worker, &err) && err.code == ERR_FAILED && strstr(err.hint, "CC"), "none that works: %s",
	   err.what);
	setenv("CC", kept, 1);
	spec_free(spec);
	free(kept);
}

int main(void) {
	struct worker *worker = spec_c_begin();
	check_hostile(worker);
	check_compiler(worker);
	static const char good[] = KERNEL(Y "," X "," N "," A), missing[] = KERNEL(Y "," X "," N);
	static const char doubles[] = KERNEL(Y ",{\"Type\":\"double\",\"MemoryType\":\"Vector\",\"Size\":4}," N "," A);
	static const char nowhere[] = "\"KernelName\":\"nowhere\",\"KernelFile\":\"saxpy.c\",\"Arguments\":[" Y "]";
	check_baseline(worker, "does not compile",
	               "{\"Name\":\"BLOCK\",\"Type\":\"int\",\"Values\":\"[13,8]\"}," WHATS("plain"), good,
	               "does not compile: saxpy.c");
	check_baseline(worker, "has too few arguments", BLOCKS "," WHATS("plain"), missing, "too few arguments");
	check_baseline(worker, "has a vector of another type", BLOCKS "," WHATS("plain"), doubles, "incompatible pointer");
	check_baseline(worker, "has no such function", BLOCKS "," WHATS("plain"), nowhere, "does not compile: unit.c");
	check_baseline(worker, "crashes", BLOCKS "," WHATS("crash"), good, "SIGSEGV");
	check_baseline(worker, "gives NaN", BLOCKS "," WHATS("nan_"), good, "NaN or an infinity in y");
	return spec_c_end(worker);
}
