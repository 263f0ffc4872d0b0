/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "worker/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/opt.h"
#include "worker/keeper.h"
#include "worker/manual.h"
#include "worker/kernel/crash.h"
#include "worker/describe.h"
#include "worker/protocol.h"
#include "base/scratch.h"
#include "worker/count/simulate.h"

static const struct opt cli_options[] = {
	OPT_GROUP("Help"),
	{.name = "help", .key = 'h', .help = "print this and exit"},
	{.name = "version", .help = "print the version and exit"},
	{.name = NULL},
};

static const struct opt *const tables[] = {manual_options, cli_options, NULL};

/* Kernels may print, so stdout goes to stderr for them; only the answers reach stdout, through a descriptor of their
 * own. */
static int stdout_divert(void) {
	int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
		return -1;
	}
	return out;
}

static int cli_help(int out) {
	FILE *file = fdopen(out, "w");
	if (!file) {
		return 1;
	}
	fprintf(file, "Usage: sweetspot-worker                       answer requests, one JSON object per line\n"
	              "       sweetspot-worker kept                  the same, below a process that cleans up\n"
	              "       sweetspot-worker describe              print its kernels and counters\n"
	              "       sweetspot-worker run KERNEL [P=V...]   run one trial and print its line\n"
	              "\n"
	              "Measures kernels for sweetspot, which starts it.\n");
	opt_help(tables, file);
	return fclose(file) == 0 ? 0 : 1;
}

/* A binding by the OpenMP runtime narrows the CPUs that the worker itself can bind to. */
static void environment_warn(void) {
	static const char *const names[] = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (getenv(names[i])) {
			fprintf(stderr,
			        "sweetspot-worker: warning: %s is set and may narrow the binding of threads\n"
			        "  hint: unset %s\n",
			        names[i], names[i]);
		}
	}
}

static int answer_write(int out, json_t *answer) {
	int status = protocol_write(out, answer) == 0 ? 0 : 1;
	json_decref(answer);
	return status;
}

static int describe_print(int out) {
	struct counters *counters = counters_new();
	int status = answer_write(out, describe_json(kernel_registry, counters));
	counters_free(counters);
	return status;
}

/* Folders of killed workers go at the next start. */
static int kept_serve(int out, struct err *err) {
	if (keeper_start() != 0) {
		return err_set(err, ERR_FAILED, "too many processes (`ulimit -u`), or too little memory", "cannot fork: %s",
		               strerror(errno));
	}
	scratch_tidy(SCRATCH_RUN);
	return protocol_serve(STDIN_FILENO, out);
}

static int cli_words(const struct opt_args *args, int out, struct err *err) {
	const char *mode = opt_words(args) > 0 ? opt_word(args, 0) : NULL;
	if (opt_has(args, "help")) {
		return cli_help(out);
	}
	if (opt_has(args, "version")) {
		return dprintf(out, "sweetspot-worker %s\n", PACKAGE_VERSION) > 0 ? 0 : 1;
	}
	if (!mode) {
		return protocol_serve(STDIN_FILENO, out);
	}
	if (strcmp(mode, "kept") == 0 && opt_words(args) == 1) {
		return kept_serve(out, err);
	}
	if (strcmp(mode, "describe") == 0 && opt_words(args) == 1) {
		return describe_print(out);
	}
	if (strcmp(mode, "run") == 0) {
		environment_warn();
		return manual_run(args, out, err);
	}
	if (strcmp(mode, "simulate") == 0 && opt_words(args) == 1) {
		return simulate_serve(STDIN_FILENO, out);
	}
	return err_set(err, ERR_USAGE, "use describe, or run KERNEL P=V..., or kept or no word for the protocol",
	               "unknown mode \"%.100s\"", mode);
}

int cli_main(int argc, char **argv) {
	js_end_without_memory();
	struct err err = {.code = ERR_OK};
	int out = stdout_divert(), status = -1;
	if (out < 0) {
		fprintf(stderr,
		        "sweetspot-worker: cannot set stdout aside for answers: %s (does a sandbox forbid fcntl or dup2?)\n",
		        strerror(errno));
		return 1;
	}
	crash_watch();
	struct opt_args *args = opt_parse(argc, argv, tables, &err);
	if (args) {
		status = cli_words(args, out, &err);
	}
	if (status < 0) {
		err_print(&err, stderr);
		status = err_exit_status(err.code);
	}
	opt_free(args);
	return status;
}
