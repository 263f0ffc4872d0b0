/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/plan/help.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/app/app.h"
#include "base/json/js.h"
#include "base/mem.h"
#include "src/plan/plan.h"

#define RAN                                                                                                            \
	"#include <stdio.h>\n#include <unistd.h>\n__attribute__((constructor)) static void begin(void) {\n"                \
	"FILE *f = fopen(\"ran\", \"w\"); if (f) fclose(f); }\n"
#define LOOP(clauses)                                                                                                  \
	"int main(int n, char **a) { (void)a; double s[64] = {0};\n#pragma omp parallel for " clauses                      \
	"\nfor (int i = 0; i < 64 * n; i++) s[i] += i;\nprintf(\"%g\\n\", s[9]); return 0; }\n"
const char loop_runtime[] = RAN LOOP("schedule(runtime)");
const char loop_static[] = RAN LOOP("schedule(static)");
const char loop_none[] = RAN "int main(void) { return puts(\"none\") < 0; }\n";

void folder_enter(void) {
	const char *tmp = getenv("TMPDIR");
	char *path = mem_printf("%s/sweetspot-program-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(path) || chdir(path)) {
		printf("Bail out! no folder for files\n");
		exit(1);
	}
	free(path);
}

void folder_leave(void) {
	char *path = getcwd(NULL, 0);
	if (path && strstr(path, "/sweetspot-program-") && chdir("/") == 0)
		(void)!shell("rm -rf '%s'", path);
	free(path);
}

void file_write(const char *path, const void *data, size_t size, int mode) {
	FILE *file = fopen(path, "w");
	if (!file || fwrite(data, 1, size, file) != size || fclose(file) || chmod(path, (mode_t)mode)) {
		printf("Bail out! can't write %s\n", path);
		exit(1);
	}
}

bool shell(const char *format, ...) {
	va_list ap;
	char *line;
	va_start(ap, format);
	int size = vasprintf(&line, format, ap);
	va_end(ap);
	if (size < 0)
		return false;
	char *quiet = mem_printf("{ %s\n} >/dev/null 2>&1", line);
	bool good = system(quiet) == 0;
	free(quiet);
	free(line);
	return good;
}

bool has_command(const char *name) {
	return shell("command -v %s", name);
}

bool program_compile(const char *compiler, const char *flags, const char *code, const char *path) {
	file_write("code.c", code, strlen(code), 0644);
	return shell("%s %s -o %s code.c", compiler, flags, path);
}

bool program_ran(void) {
	return unlink("ran") == 0;
}

struct planned *planned_new(const char *machine, ...) {
	static const struct opt *const tables[] = {plan_options, program_options, NULL};
	struct planned *planned = mem_alloc(1, sizeof *planned);
	int argc = 0;
	va_list ap;
	va_start(ap, machine);
	planned->argv[argc++] = mem_strdup("tune");
	for (const char *word; (word = va_arg(ap, const char *));)
		planned->argv[argc++] = mem_strdup(word);
	va_end(ap);
	char *topology = machine ? mem_printf("synthetic:%s", machine) : NULL;
	if (topology)
		setenv("SWEETSPOT_TOPOLOGY", topology, 1);
	planned->app = app_new(NULL, argc, planned->argv, NULL, NULL);
	planned->args = opt_parse(argc, planned->argv, tables, &planned->err);
	if (planned->args)
		planned->plan = program_plan_new(planned->app, planned->args, &planned->err);
	unsetenv("SWEETSPOT_TOPOLOGY");
	free(topology);
	return planned;
}

void planned_free(struct planned *planned) {
	program_plan_free(planned->plan);
	opt_free(planned->args);
	app_free(planned->app);
	for (char **word = planned->argv; *word; word++)
		free(*word);
	free(planned);
}

bool planned_notes(const struct planned *planned, const char *text) {
	for (const char *const *note = planned->plan ? planned->plan->notes : NULL; note && *note; note++)
		if (strstr(*note, text))
			return true;
	return false;
}

bool planned_refused(const struct planned *planned, const char *what, const char *hint) {
	bool good = !planned->plan && planned->err.code == ERR_USAGE && strstr(planned->err.what, what) &&
	            strstr(planned->err.hint, hint);
	if (!good)
		printf("# %s\n# hint: %s\n", planned->plan ? "no error" : planned->err.what, planned->err.hint);
	return good;
}

const char *config_text(const json_t *config) {
	static char text[2048];
	char *canonical = js_canonical(config);
	snprintf(text, sizeof text, "%s", canonical ? canonical : "(null)");
	free(canonical);
	return text;
}

void environment_clear(void) {
	static const char *const names[] = {"OMP_NUM_THREADS", "OMP_PROC_BIND",     "OMP_PLACES",
	                                    "OMP_SCHEDULE",    "OMP_WAIT_POLICY",   "GOMP_SPINCOUNT",
	                                    "KMP_BLOCKTIME",   "GOMP_CPU_AFFINITY", "SWEETSPOT_TOPOLOGY"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		unsetenv(names[i]);
}
