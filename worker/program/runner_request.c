/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker/program/program_impl.h"

#include "base/json/js.h"
#include "base/text.h"
#include "base/proc/work.h"
#include "worker/kernel/word.h"

enum { PROGRAM_WORDS = 4096, PROGRAM_RUNS = 100000, PROGRAM_COUNTERS = 32 };

static int argv_check(const struct program_request *request, struct err *err) {
	return request->argv[0] && request->argv[0][0]
	           ? 0
	           : err_set(err, ERR_USAGE, "argv is [PROGRAM, ARGUMENT, ...]", "'argv' must name a program");
}

/* A star may end a name. */
static int unset_check(const struct program_request *request, struct err *err) {
	for (const char *const *name = request->unset; *name; name++) {
		const char *star = strchr(*name, '*');
		if (!**name || strchr(*name, '=') || (star && star[1])) {
			return err_set(err, ERR_USAGE, "write NAME or PREFIX*", "\"%.100s\" in 'unset' cannot name a variable",
			               *name);
		}
	}
	return 0;
}

static int env_read(struct arena *arena, const json_t *json, struct program_request *request, struct err *err) {
	json_t *object = json_object_get(json, "env");
	if (object && !json_is_null(object) && js_object(json, "env", &object, err) != 0)
		return -1;
	if (json_object_size(object) > PROGRAM_WORDS)
		return err_set(err, ERR_USAGE, NULL, "'env' has more than %d variables", PROGRAM_WORDS);
	request->set = arena_alloc(arena, json_object_size(object) + 2, sizeof *request->set);
	size_t count = 1;
	js_members (name, value, object) {
		if (!name[0] || strchr(name, '='))
			return err_set(err, ERR_USAGE, NULL, "\"%.100s\" in 'env' cannot name a variable", name);
		if (!json_is_string(value)) {
			return err_set(err, ERR_USAGE, "write numbers as strings, too", "\"%.100s\" in 'env' must be a string",
			               name);
		}
		request->set[count++] = arena_printf(arena, "%s=%s", name, json_string_value(value));
	}
	return 0;
}

static const struct member members[] = {
	{.key = "op"},
	{.key = "id"},
	{.key = "env"},
	MEMBER(struct program_request, "argv", WORDS, argv, .max = PROGRAM_WORDS),
	MEMBER(struct program_request, "unset", WORDS, unset, .max = PROGRAM_WORDS),
	MEMBER(struct program_request, "device", TEXT, device, .min = 1),
	MEMBER(struct program_request, "cwd", TEXT, cwd, .min = 1),
	MEMBER(struct program_request, "input", TEXT, input, .min = 1),
	MEMBER(struct program_request, "before", TEXT, before, .min = 1),
	MEMBER(struct program_request, "verify", TEXT, verify, .min = 1),
	MEMBER(struct program_request, "metric", TEXT, metric, .min = 1),
	MEMBER(struct program_request, "energy_command", TEXT, energy_command, .min = 1),
	MEMBER(struct program_request, "samples", INT, samples, .min = 1, .max = PROGRAM_RUNS),
	MEMBER(struct program_request, "warmup", INT, warmup, .max = PROGRAM_RUNS),
	MEMBER(struct program_request, "timeout_s", REAL, timeout_s, .max = 1000000000),
	MEMBER(struct program_request, "limit_s", REAL, limit_s, .max = 1000000000),
	MEMBER(struct program_request, "cut_s", REAL, cut_s, .max = 1000000000),
	MEMBER(struct program_request, "side_s", REAL, side_s, .max = 1000000000),
	MEMBER(struct program_request, "left_s", REAL, left_s, .max = 1000000000),
	MEMBER(struct program_request, "hash", BOOL, hash),
	MEMBER(struct program_request, "energy", BOOL, energy),
	MEMBER(struct program_request, "evidence", BOOL, evidence),
	MEMBER(struct program_request, "shared", BOOL, shared),
	MEMBER(struct program_request, "regions", BOOL, regions),
	MEMBER(struct program_request, "show", BOOL, show),
	MEMBER(struct program_request, "file_limit", WHOLE, file_limit),
	MEMBER(struct program_request, "counters", WORDS, counters, .max = PROGRAM_COUNTERS),
};

/* A launcher of MPI inside a step of Slurm would wait for ever for a step of its own: it starts the ranks by itself
 * once it does not see that step. srun needs the job. */
static void step_leave(struct arena *arena, struct program_request *request) {
	static const char *const variables[] = {"SLURM_*", "PMI_*", "PMIX_*"};
	const char *first = request->argv[0], *slash = strrchr(first, '/');
	mem_auto char *ranks = getenv("SLURM_STEP_ID") ? work_ranks(request->argv) : NULL;
	bool own = ranks && strcmp(slash ? slash + 1 : first, "srun") != 0;
	size_t count = 0;
	if (!own)
		return;
	while (request->unset[count])
		count++;
	const char **unset = arena_alloc(arena, count + sizeof variables / sizeof *variables + 1, sizeof *unset);
	memcpy(unset, request->unset, count * sizeof *unset);
	memcpy(unset + count, variables, sizeof variables);
	request->unset = unset;
}

int program_request_read(struct arena *arena, const json_t *json, struct program_request *request, struct err *err) {
	*request = (struct program_request){.samples = 1};
	if (members_read(arena, members, sizeof members / sizeof *members, json, request, err) != 0 ||
	    argv_check(request, err) != 0 || unset_check(request, err) != 0 || env_read(arena, json, request, err) != 0)
		return -1;
	step_leave(arena, request);
	request->kernel = request->metric ? pattern_kernel(request->metric) : NULL;
	request->metric = request->kernel ? NULL : request->metric;
	return 0;
}
