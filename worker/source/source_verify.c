/* SPDX-License-Identifier: BSD-3-Clause */
/* Verifies a configuration's outputs. */
#include <inttypes.h>
#include <math.h>

#include "base/proc/proc.h"
#include "base/tree.h"
#include "worker/kernel/call.h"
#include "worker/source/source.h"

static enum ss_status say(const struct ss_call *call, enum ss_status status, const struct err *err) {
	return source_fail(call, status, "%.240s", err->what);
}

/* Compares elements of outputs with their reference, a part at a time: the device does it, except where it can't
 * compile the kernel for it. */

static double real_at(const struct source_argument *a, const unsigned char *vector, size_t i) {
	float narrow;
	double wide;
	if (a->bytes == 4) {
		memcpy(&narrow, vector + 4 * i, 4);
		return narrow;
	}
	memcpy(&wide, vector + 8 * i, 8);
	return wide;
}

/* The largest magnitude; not finite if any is not. Without signs, the bits of real numbers are ordered as these are. */
static double largest(const struct source_argument *a, const unsigned char *vector) {
	uint64_t most = 0;
	uint32_t most4 = 0;
	size_t fours = a->bytes == 4 ? a->count : 0, eights = a->count - fours;
#pragma omp parallel for reduction(max : most4)
	for (size_t i = 0; i < fours; i++) {
		uint32_t bits4;
		memcpy(&bits4, vector + 4 * i, 4);
		bits4 &= INT32_MAX;
		most4 = bits4 > most4 ? bits4 : most4;
	}
#pragma omp parallel for reduction(max : most)
	for (size_t i = 0; i < eights; i++) {
		uint64_t bits;
		memcpy(&bits, vector + 8 * i, 8);
		bits &= INT64_MAX;
		most = bits > most ? bits : most;
	}
	return real_at(a, a->bytes == 4 ? (const unsigned char *)&most4 : (const unsigned char *)&most, 0);
}

enum ss_status source_finite(const struct ss_call *call, const struct source_argument *a, const unsigned char *is) {
	if (a->kind != SOURCE_REAL || isfinite(largest(a, is)))
		return SS_OK;
	size_t i = 0;
	while (isfinite(real_at(a, is, i)))
		i++;
	return source_fail(call, SS_INCORRECT, "NaN or an infinity in %.60s[%zu]", a->name, i);
}

static uint64_t whole_at(const struct source_argument *a, const unsigned char *vector, size_t i) {
	uint64_t value = 0;
	for (size_t k = a->bytes; k-- > 0;)
		value = value << 8 | vector[i * a->bytes + k];
	unsigned unused = 64 - 8 * (unsigned)a->bytes;
	return a->kind == SOURCE_SIGNED ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
}

/* Other orders of summation round differently, so by default errors are judged relative to the largest reference value.
 */
double source_limit(const struct source_argument *a, const unsigned char *want) {
	if (a->tolerance.given)
		return a->tolerance.absolute;
	return a->kind == SOURCE_REAL ? (a->bytes == 4 || a->single ? 1e-4 : 1e-9) * largest(a, want) : 0;
}

static bool is_right(const struct source_argument *a, const unsigned char *is, const unsigned char *want, size_t i,
                     double limit) {
	double relative = a->tolerance.given ? a->tolerance.relative : 0;
	if (a->kind == SOURCE_REAL) {
		double x = real_at(a, is, i), y = real_at(a, want, i);
		return fabs(x - y) <= limit + relative * fabs(y);
	}
	uint64_t x = whole_at(a, is, i), y = whole_at(a, want, i);
	bool is_signed = a->kind == SOURCE_SIGNED, less = is_signed ? (int64_t)x < (int64_t)y : x < y;
	double size = is_signed ? fabs((double)(int64_t)y) : (double)y;
	return x == y || (double)(less ? y - x : x - y) <= limit + relative * size;
}

void source_compare(const struct source_argument *a, const unsigned char *is, const unsigned char *want, size_t count,
                    double limit, struct source_difference *found) {
	for (size_t i = 0; i < count; i++) {
		if (!is_right(a, is + i * a->bytes, want + i * a->bytes, 0, limit) && found->wrong++ == 0) {
			found->first = found->compared + i;
			memcpy(found->is, is + i * a->bytes, a->bytes);
		}
	}
	found->compared += count;
}

static void element_text(const struct source_argument *a, const unsigned char *vector, size_t i, char text[32]) {
	if (a->kind == SOURCE_REAL)
		snprintf(text, 32, "%.9g", real_at(a, vector, i));
	else if (a->kind == SOURCE_SIGNED)
		snprintf(text, 32, "%" PRId64, (int64_t)whole_at(a, vector, i));
	else
		snprintf(text, 32, "%" PRIu64, whole_at(a, vector, i));
}

/* Want: the whole reference. */
static enum ss_status source_judge(const struct ss_call *call, const struct source_argument *a,
                                   const unsigned char *want, const struct source_difference *found) {
	char x[32], y[32], others[64] = "";
	if (found->wrong <= (size_t)(a->tolerance.share * (double)a->count))
		return SS_OK;
	element_text(a, found->is, 0, x);
	element_text(a, want, found->first, y);
	if (a->tolerance.share > 0)
		snprintf(others, sizeof others, ", and %zu of %zu elements differ", found->wrong, a->count);
	return source_fail(call, SS_INCORRECT, "%.60s[%zu] is %s, but should be %s%s", a->name, found->first, x, y, others);
}

/* Some outputs have other elements in each configuration, such as partial sums of blocks. What these come to is the
 * same. */

static int by_value(const void *x, const void *y, void *context) {
	const struct source_argument *a = context;
	if (a->kind == SOURCE_REAL) {
		double p = real_at(a, x, 0), q = real_at(a, y, 0);
		return isnan(p) || isnan(q) ? isnan(p) - isnan(q) : (p > q) - (p < q);
	}
	uint64_t p = whole_at(a, x, 0), q = whole_at(a, y, 0);
	return a->kind == SOURCE_SIGNED ? ((int64_t)p > (int64_t)q) - ((int64_t)p < (int64_t)q) : (p > q) - (p < q);
}

static double number_at(const struct source_argument *a, const unsigned char *vector, size_t i) {
	if (a->kind == SOURCE_REAL)
		return real_at(a, vector, i);
	uint64_t whole = whole_at(a, vector, i);
	return a->kind == SOURCE_SIGNED ? (double)(int64_t)whole : (double)whole;
}

/* to: what the vector becomes, `columns` numbers of eight bytes, or all elements. The caller frees it. */
static unsigned char *reduce(const struct source_argument *a, const unsigned char *vector, struct source_argument *to) {
	*to = *a;
	to->single = a->bytes == 4;
	if (a->by != SOURCE_SORTED) {
		to->kind = a->by == SOURCE_NORM ? SOURCE_REAL : a->kind;
		to->bytes = 8;
		to->count = a->columns;
	}
	unsigned char *out = mem_alloc(to->count, to->bytes);
	double *reals = (double *)(void *)out;
	uint64_t *wholes = (uint64_t *)(void *)out;
	if (a->by == SOURCE_SORTED) {
		memcpy(out, vector, source_size(a));
		qsort_r(out, a->count, a->bytes, by_value, (void *)(uintptr_t)a);
	}
	for (size_t i = 0; i < a->count && a->by != SOURCE_SORTED; i++)
		if (a->by == SOURCE_NORM)
			reals[0] += number_at(a, vector, i) * number_at(a, vector, i);
		else if (a->kind == SOURCE_REAL)
			reals[i % a->columns] += real_at(a, vector, i);
		else
			wholes[i % a->columns] += whole_at(a, vector, i);
	if (a->by == SOURCE_NORM)
		reals[0] = sqrt(reals[0]);
	return out;
}

/* Brings vectors down a part at a time. */

enum { PART = 2 << 20 };

/* Looks at the next part, `at` bytes after the beginning; false: the rest does not matter. */
typedef bool part_fn(void *context, const unsigned char *part, size_t at, size_t bytes);

static enum ss_status parts_each(const struct ss_call *call, gpu_ptr from, size_t size, part_fn *look, void *context) {
	mem_auto unsigned char *part = mem_alloc(1, PART);
	enum ss_status status = SS_OK;
	for (size_t at = 0; at < size && status == SS_OK; at += PART) {
		size_t bytes = size - at < PART ? size - at : PART;
		gpu_download(call->gpu, part, from + at, bytes);
		status = cuda_status(call);
		if (status == SS_OK && !look(context, part, at, bytes))
			break;
	}
	return status;
}

/* A vector that the host looks at. */
struct vector {
	const struct source_argument *argument;
	const struct source_vector *known;
	struct source_look *look;
};

static bool part_unchanged(void *context, const unsigned char *part, size_t at, size_t bytes) {
	const struct vector *vector = context;
	vector->look->changed = memcmp(part, vector->known->host + at, bytes) != 0;
	return !vector->look->changed;
}

static bool part_compare(void *context, const unsigned char *part, size_t at, size_t bytes) {
	const struct vector *vector = context;
	source_compare(vector->argument, part, vector->known->want + at, bytes / vector->argument->bytes,
	               vector->known->limit, &vector->look->found);
	return true;
}

/* Has the argument a reference in this run? */
static bool is_judged(const struct source_state *state, size_t i) {
	const struct source_argument *a = &state->input->problem.arguments[i];
	return a->output && a->by != SOURCE_COMMAND && (!state->config.reference || a->reference);
}

/* Are its elements compared? */
static bool is_compared(const struct source_state *state, size_t i) {
	return is_judged(state, i) && state->input->problem.arguments[i].by == SOURCE_ELEMENTS;
}

static bool guard_holds(const unsigned char guard[SOURCE_GUARD]) {
	size_t i = 0;
	while (i < SOURCE_GUARD && guard[i] == SOURCE_GUARD_BYTE)
		i++;
	return i == SOURCE_GUARD;
}

static enum ss_status host_look(const struct source_state *state, size_t i, struct source_look *look,
                                const struct ss_call *call) {
	const struct source_argument *a = &state->input->problem.arguments[i];
	struct vector vector = {a, &state->input->vectors[i], look};
	unsigned char guard[SOURCE_GUARD];
	size_t size = source_size(a);
	gpu_download(call->gpu, guard, state->at[i] + size, SOURCE_GUARD);
	enum ss_status status = cuda_status(call);
	look->guard_broken = status == SS_OK && !guard_holds(guard);
	if (status == SS_OK && source_is_kept(a))
		return parts_each(call, state->at[i], size, part_unchanged, &vector);
	return status == SS_OK && is_compared(state, i) ? parts_each(call, state->at[i], size, part_compare, &vector)
	                                                : status;
}

/* The host looks at those vectors that the device can't. */
static enum ss_status vectors_look(const struct source_state *state, struct source_look *looks,
                                   const struct ss_call *call) {
	const struct source_problem *problem = &state->input->problem;
	bool compared[SOURCE_ARGUMENTS_MAX];
	for (size_t i = 0; i < problem->count; i++)
		compared[i] = is_compared(state, i);
	source_look(state->input, state->at, compared, looks);
	enum ss_status status = cuda_status(call);
	for (size_t i = 0; i < problem->count && status == SS_OK; i++)
		if (problem->arguments[i].memory != SOURCE_SCALAR && !looks[i].done)
			status = host_look(state, i, &looks[i], call);
	return status;
}

static enum ss_status reference_keep(const struct source_state *state, size_t i, const struct ss_call *call) {
	const struct source_argument *a = &state->input->problem.arguments[i];
	struct source_vector *v = &state->input->vectors[i];
	v->known = false;
	gpu_download(call->gpu, v->want, state->at[i], source_size(a));
	enum ss_status status = cuda_status(call);
	if (status == SS_OK)
		status = source_finite(call, a, v->want);
	v->known = status == SS_OK;
	if (v->known)
		source_wanted(state->input, i, state->at[i]);
	return status;
}

static enum ss_status reduced_judge(const struct source_state *state, size_t i, const struct ss_call *call) {
	static const char *const words[] = {[SOURCE_SUM] = "sum", [SOURCE_SORTED] = "sorted", [SOURCE_NORM] = "norm"};
	const struct source_argument *a = &state->input->problem.arguments[i];
	struct source_argument to;
	struct source_difference found = {.compared = 0};
	char name[80];
	mem_auto unsigned char *vector = mem_alloc(a->count, a->bytes);
	gpu_download(call->gpu, vector, state->at[i], source_size(a));
	enum ss_status status = cuda_status(call);
	if (status != SS_OK)
		return status;
	mem_auto unsigned char *is = reduce(a, vector, &to), *want = reduce(a, state->input->vectors[i].want, &to);
	snprintf(name, sizeof name, "%s(%.60s)", words[a->by], a->name);
	to.name = name;
	source_compare(&to, is, want, to.count, source_limit(&to, want), &found);
	return source_judge(call, &to, want, &found);
}

static enum ss_status vector_judge(const struct source_state *state, size_t i, const struct source_look *look,
                                   const struct ss_call *call) {
	const struct source_argument *a = &state->input->problem.arguments[i];
	if (look->guard_broken) {
		source_guard_set(call->gpu, state->at[i] + source_size(a));
		return source_fail(call, SS_INCORRECT, "it writes past the end of %.60s", a->name);
	}
	if (look->changed)
		return source_fail(call, SS_INCORRECT, "it changes a ReadOnly argument: %.60s", a->name);
	if (is_compared(state, i))
		return source_judge(call, a, state->input->vectors[i].want, &look->found);
	if (is_judged(state, i))
		return reduced_judge(state, i, call);
	return a->output && a->by != SOURCE_COMMAND ? reference_keep(state, i, call) : SS_OK;
}

/* A wrong configuration may have changed more than the check that failed first saw, and others use the same inputs. */
static void inputs_restore(const struct source_state *state, const struct source_look *looks,
                           const struct ss_call *call) {
	const struct source_problem *problem = &state->input->problem;
	for (size_t i = 0; i < problem->count; i++) {
		const struct source_argument *a = &problem->arguments[i];
		bool touched = looks[i].changed || looks[i].guard_broken || !looks[i].done;
		if (source_is_kept(a) && touched) {
			gpu_upload(call->gpu, state->at[i], state->input->vectors[i].host, source_size(a));
			source_guard_set(call->gpu, state->at[i] + source_size(a));
		}
	}
}

struct dump {
	FILE *file;
	bool failed;
};

static bool part_write(void *context, const unsigned char *part, size_t at, size_t bytes) {
	struct dump *dump = context;
	(void)at;
	dump->failed = fwrite(part, 1, bytes, dump->file) != bytes;
	return !dump->failed;
}

/* Writes what the run has left in a vector. */
static enum ss_status vector_dump(const struct source_state *state, size_t i, const char *path,
                                  const struct ss_call *call) {
	struct dump dump = {.file = fopen(path, "we")};
	enum ss_status status = SS_OK;
	if (dump.file)
		status = parts_each(call, state->at[i], source_size(&state->input->problem.arguments[i]), part_write, &dump);
	if (status == SS_OK && (!dump.file || fclose(dump.file) != 0 || dump.failed))
		status = source_fail(call, SS_FAILED, "cannot write %.150s", path);
	return status;
}

/* The command finds the outputs in $OUTPUTS, a file of raw elements for each, and the configuration in variables. */
enum { COMMAND_SECONDS = 60 };

static enum ss_status command_run(const struct source_state *state, const char *outputs, const struct ss_call *call) {
	const struct source_problem *problem = &state->input->problem;
	const char *set[SOURCE_OPTIONS_MAX + 2];
	mem_auto char *line = mem_printf("exec >&2\n%s", problem->command), *folder = mem_printf("OUTPUTS=%s", outputs);
	size_t count = 0;
	for (; state->config.defines[count]; count++)
		set[count] = state->config.defines[count] + strlen("-D");
	set[count] = folder;
	set[count + 1] = NULL;
	const char *const argv[] = {"/bin/sh", "-c", line, NULL};
	const struct proc_spec spec = {.argv = argv, .set = set, .cwd = problem->folder, .no_core = true};
	struct err err = {.code = ERR_OK};
	mem_auto char *log = NULL;
	int status = proc_run(&spec, COMMAND_SECONDS, &log, &err);
	if (status < 0)
		return say(call, SS_FAILED, &err);
	if (status == 0)
		return SS_OK;
	char ended[80];
	proc_status_text(status, ended, sizeof ended);
	const char *end = log + strlen(log), *last;
	while (end > log && end[-1] == '\n')
		end--;
	for (last = end; last > log && last[-1] != '\n';)
		last--;
	return source_fail(call, SS_INCORRECT, "Verify: %.*s%s%s", (int)(end - last < 160 ? end - last : 160), last,
	                   end > last ? ", " : "", ended);
}

static enum ss_status command_verify(const struct source_state *state, const struct ss_call *call) {
	const struct source_problem *problem = &state->input->problem;
	struct scratch scratch;
	struct err err = {.code = ERR_OK};
	enum ss_status status = SS_OK;
	scratch_tidy(SCRATCH_OUTPUTS);
	if (scratch_open(&scratch, SCRATCH_OUTPUTS, &err) != 0)
		return say(call, SS_FAILED, &err);
	for (size_t i = 0; i < problem->count && status == SS_OK; i++) {
		mem_auto char *path = mem_printf("%s/%s", scratch.path, problem->arguments[i].name);
		if (problem->arguments[i].by == SOURCE_COMMAND)
			status = vector_dump(state, i, path, call);
	}
	if (status == SS_OK)
		status = command_run(state, scratch.path, call);
	scratch_close(&scratch);
	return status;
}

enum ss_status source_verify(void *memory, const struct ss_call *call) {
	const struct source_state *state = memory;
	const struct source_problem *problem = &state->input->problem;
	struct source_look looks[SOURCE_ARGUMENTS_MAX] = {{.changed = false}};
	enum ss_status status = cuda_status(call);
	if (status == SS_OK)
		status = vectors_look(state, looks, call);
	for (size_t i = 0; i < problem->count && status == SS_OK; i++) {
		if (problem->arguments[i].memory != SOURCE_SCALAR)
			status = vector_judge(state, i, &looks[i], call);
		mem_auto char *path = state->config.dump ? mem_printf("%s.%zu", state->config.dump, i) : NULL;
		if (status == SS_OK && path && problem->arguments[i].memory == SOURCE_VECTOR)
			status = vector_dump(state, i, path, call);
	}
	if (status == SS_OK && problem->command)
		status = command_verify(state, call);
	if (status == SS_INCORRECT)
		inputs_restore(state, looks, call);
	gpu_launches_forget(call->gpu); /* our own */
	return status;
}
