/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's table: one of a GPU's ceilings, measured as any kernel is. */
#include <stdlib.h>

#include "kernels/ceiling/cuda/ceiling_cuda_impl.h"

extern const struct ss_kernel kernel_ceiling_cuda;

enum { PROBLEM_WHAT, PROBLEM_N };
enum { PARAM_BLOCK, PARAM_PER_SM };
enum {
	PASS_BYTES = 8 << 20 /* that each SM moves at least in a run, so that starting it is small beside it */,
	PASSES_MAX = 1024
};

static const struct ss_param problem[] = {
	{"what", "the ceiling", SS_WORD,
     "read,copy,triad,fp32,fp64,addmin,addmin2,shared,upload,download,upload_pageable,download_pageable,launch,round_"
     "trip,"
     "atomic_one,atomic_many,barrier",
     "read", NULL, 0, 0},
	{"n", "working set in bytes; repetitions for other ceilings", SS_INT, NULL, "65536", NULL, 1, 0x1p40},
	{.name = NULL},
};

#define LAUNCHED                                                                                                       \
	"what != 'upload' and what != 'download' and what != 'upload_pageable' and what != 'download_pageable'"            \
	" and what != 'launch' and what != 'round_trip'"

static const struct ss_param params[] = {
	{"block", "threads of a block", SS_INT, "128,256,512,1024", "512", LAUNCHED, 32, 1024},
	{"per_sm", "blocks that are started for each SM", SS_INT, "1,2,4,8,16", "4", LAUNCHED, 1, 64},
	{.name = NULL},
};

/* The host's side of arithmetic.cu. Additions of whole numbers, so that an answer is a sum, or a limit. */
enum { CHAINS = CEILING_CUDA_CHAINS, START = 1021, STEPS_EXACT = 1 << 23 /* whole numbers in a float */ };

/* n, in whole turns of the loop. */
static int steps(const struct ceiling_cuda_job *job) {
	return (int)((job->n + CEILING_CUDA_UNROLL - 1) / CEILING_CUDA_UNROLL * CEILING_CUDA_UNROLL);
}

/* Some chains meet the limit, the others do not. */
static int limit(const struct ceiling_cuda_job *job) {
	return steps(job) + START / 2;
}

static int start(size_t i) {
	return (int)(i / CHAINS % START + i % CHAINS);
}

static int expected(const struct ceiling_cuda_job *job, int from) {
	return from + steps(job) < limit(job) ? from + steps(job) : limit(job);
}

static double chain_ops(const struct ceiling_cuda_job *job) {
	return (double)job->threads * CHAINS * (double)steps(job);
}
static double flops(const struct ceiling_cuda_job *job) {
	return 2 * chain_ops(job);
}
static size_t words(const struct ceiling_cuda_job *job) {
	return (size_t)job->threads * CHAINS * 4;
}
static size_t reals(const struct ceiling_cuda_job *job) {
	return 2 * words(job);
}

static void addmin_run(struct ceiling_cuda_job *job) {
	int one = 1, most = limit(job), count = steps(job);
	ceiling_cuda_launch(job, job->grid, job->block, 0, (void *[]){&job->out, &one, &most, &count, NULL});
}

/* Defines NAME_right: each answer, `found`, is what it should be at its place i. */
#define RIGHT(name, type, ...)                                                                                         \
	static bool name##_right(struct ceiling_cuda_job *job) {                                                           \
		const type *found = ceiling_cuda_answer(job);                                                                  \
		size_t i = 0, count = job->out_size / sizeof *found;                                                           \
		while (found && i < count && found[i] == (__VA_ARGS__))                                                        \
			i++;                                                                                                       \
		free((void *)found);                                                                                           \
		return i == count;                                                                                             \
	}
RIGHT(addmin, int32_t, expected(job, start(i)))
RIGHT(addmin2, uint32_t, (unsigned)expected(job, start(i) + 1) << 16 | (unsigned)expected(job, start(i)))
RIGHT(fp32, float, (float)(start(i) + steps(job)))
RIGHT(fp64, double, (double)(start(i) + steps(job)))

static void addmin2_run(struct ceiling_cuda_job *job) {
	unsigned one = 0x10001, most = (unsigned)limit(job) << 16 | (unsigned)limit(job);
	int count = steps(job);
	ceiling_cuda_launch(job, job->grid, job->block, 0, (void *[]){&job->out, &one, &most, &count, NULL});
}

static double addmin2_ops(const struct ceiling_cuda_job *job) {
	return 2 * chain_ops(job);
}

static void fp32_run(struct ceiling_cuda_job *job) {
	float one = 1;
	int count = steps(job);
	ceiling_cuda_launch(job, job->grid, job->block, 0, (void *[]){&job->out, &one, &one, &count, NULL});
}

static void fp64_run(struct ceiling_cuda_job *job) {
	double one = 1;
	int count = steps(job);
	ceiling_cuda_launch(job, job->grid, job->block, 0, (void *[]){&job->out, &one, &one, &count, NULL});
}

#define ARITHMETIC(word, unit, scale, most, bytes, amount)                                                             \
	{                                                                                                                  \
		.name = #word, .op = unit, .source = "ceiling/cuda/arithmetic.cu", .function = "ceiling_" #word,               \
		.rate = &scale, .n_max = most, .out_size = bytes, .ops = amount, .run = word##_run, .right = word##_right      \
	}
static const struct ceiling_cuda ceiling_cuda_addmin =
	ARITHMETIC(addmin, "pair", ceiling_pairs, 1 << 30, words, chain_ops);
static const struct ceiling_cuda ceiling_cuda_addmin2 =
	ARITHMETIC(addmin2, "pair", ceiling_pairs, 30000, words, addmin2_ops);
static const struct ceiling_cuda ceiling_cuda_fp32 = ARITHMETIC(fp32, "flop", ceiling_flops, STEPS_EXACT, words, flops);
static const struct ceiling_cuda ceiling_cuda_fp64 = ARITHMETIC(fp64, "flop", ceiling_flops, 1 << 30, reals, flops);

/* The host's side of memory.cu and shared.cu. */
#define SOURCE "ceiling/cuda/memory.cu"
#define FACTOR 3.0

static size_t units(const struct ceiling_cuda_job *job) {
	return job->size / CEILING_CUDA_UNIT;
}

static size_t sums_size(const struct ceiling_cuda_job *job) {
	return (size_t)job->threads * sizeof(uint64_t);
}

static enum ss_status words_fill(struct ceiling_cuda_job *job, const struct ss_call *call) {
	const struct gpu_function *fill = gpu_function(job->gpu, job->module, "ceiling_fill_words");
	const struct gpu_shape shape = {.grid = {job->grid}, .block = {256}};
	size_t count = units(job);
	GPU_LAUNCH(job->gpu, fill, &shape, &job->array[0], &count);
	return cuda_status(call);
}

static enum ss_status reals_fill(struct ceiling_cuda_job *job, const struct ss_call *call) {
	const struct gpu_function *fill = gpu_function(job->gpu, job->module, "ceiling_fill_reals");
	const struct gpu_shape shape = {.grid = {job->grid}, .block = {256}};
	size_t count = units(job);
	for (int array = 1; array < 3; array++)
		GPU_LAUNCH(job->gpu, fill, &shape, &job->array[array], &count, &array);
	return cuda_status(call);
}

static void read_run(struct ceiling_cuda_job *job) {
	size_t count = units(job);
	int passes = (int)job->passes;
	ceiling_cuda_launch(job, job->grid, job->block, 0, (void *[]){&job->out, &job->array[0], &count, &passes, NULL});
}

/* 0 + 1 + .. + last is a triangle's number, and all of it is taken modulo 2^64. */
static bool read_right(struct ceiling_cuda_job *job) {
	const uint64_t *found = ceiling_cuda_answer(job);
	uint64_t sum = 0, count = 2 * units(job), half = count / 2;
	for (size_t i = 0; found && i < job->threads; i++)
		sum += found[i];
	free((void *)found);
	return sum == job->passes * half * (count - 1);
}

static void copy_run(struct ceiling_cuda_job *job) {
	size_t count = units(job);
	int passes = (int)job->passes;
	ceiling_cuda_launch(job, job->grid, job->block, 0,
	                    (void *[]){&job->array[1], &job->array[0], &count, &passes, NULL});
}

static void triad_run(struct ceiling_cuda_job *job) {
	size_t count = units(job);
	int passes = (int)job->passes;
	double factor = FACTOR;
	ceiling_cuda_launch(job, job->grid, job->block, 0,
	                    (void *[]){&job->array[0], &job->array[1], &job->array[2], &factor, &count, &passes, NULL});
}

/* Piece by piece: an array may be as large as all of the host's memory. */
enum { PIECE = 1 << 20 };

static bool copy_piece(const void *piece, size_t first, size_t count) {
	const uint64_t *words = piece;
	size_t i = 0;
	while (i < count && words[i] == first + i)
		i++;
	return i == count;
}

static bool triad_piece(const void *piece, size_t first, size_t count) {
	const double *reals = piece;
	size_t i = 0;
	while (i < count && reals[i] == 4.0 * (double)((first + i) % 1021) + 7.0)
		i++;
	return i == count;
}

static bool pieces_right(struct ceiling_cuda_job *job, gpu_ptr array,
                         bool (*right)(const void *piece, size_t first, size_t count)) {
	void *piece = malloc(PIECE);
	bool fine = piece;
	for (size_t at = 0; fine && at < job->size; at += PIECE) {
		size_t bytes = job->size - at < PIECE ? job->size - at : PIECE;
		gpu_download(job->gpu, piece, array + at, bytes);
		fine = gpu_is_fine(job->gpu) && right(piece, at / 8, bytes / 8);
	}
	free(piece);
	return fine;
}

static bool copy_right(struct ceiling_cuda_job *job) {
	return pieces_right(job, job->array[1], copy_piece);
}
static bool triad_right(struct ceiling_cuda_job *job) {
	return pieces_right(job, job->array[0], triad_piece);
}

/* n, in whole rounds of all places: then each thread has read all words as often. */
static int turns(const struct ceiling_cuda_job *job) {
	return (int)((job->n + job->block - 1) / job->block * job->block);
}

static unsigned bytes_of_block(const struct ceiling_cuda_job *job) {
	return CEILING_CUDA_ROWS * job->block * CEILING_CUDA_UNIT;
}

static double shared_ops(const struct ceiling_cuda_job *job) {
	return (double)job->threads * (double)turns(job) * CEILING_CUDA_ROWS * CEILING_CUDA_UNIT;
}

static size_t shared_sums_size(const struct ceiling_cuda_job *job) {
	return (size_t)job->threads * sizeof(uint32_t);
}

static enum ss_status shared_setup(struct ceiling_cuda_job *job, const struct ss_call *call) {
	if (job->block & (job->block - 1))
		return kernel_fail(call, SS_INVALID, "block must be a power of two for shared");
	return SS_OK;
}

static void shared_run(struct ceiling_cuda_job *job) {
	int count = turns(job);
	ceiling_cuda_launch(job, job->grid, job->block, bytes_of_block(job), (void *[]){&job->out, &count, NULL});
}

static bool shared_right(struct ceiling_cuda_job *job) {
	const uint32_t *found = ceiling_cuda_answer(job);
	uint64_t words = bytes_of_block(job) / 4, rounds = (uint64_t)turns(job) / job->block;
	uint32_t all = (uint32_t)(words / 2 * (words - 1)) * (uint32_t)rounds;
	size_t i = 0;
	while (found && i < job->threads && found[i] == all)
		i++;
	free((void *)found);
	return i == job->threads;
}

#define MEMORY(word, count, bytes, make)                                                                               \
	{                                                                                                                  \
		.name = #word, .op = "byte", .source = SOURCE, .function = "ceiling_" #word, .rate = &ceiling_bandwidth,       \
		.n_max = INT64_C(1) << 40, .arrays = count, .out_size = bytes, .ops = ceiling_cuda_bytes, .setup = make,       \
		.run = word##_run, .right = word##_right                                                                       \
	}
static const struct ceiling_cuda ceiling_cuda_read = MEMORY(read, 1, sums_size, words_fill);
static const struct ceiling_cuda ceiling_cuda_copy = MEMORY(copy, 2, NULL, words_fill);
static const struct ceiling_cuda ceiling_cuda_triad = MEMORY(triad, 3, NULL, reals_fill);
static const struct ceiling_cuda ceiling_cuda_shared = {.name = "shared",
                                                        .op = "byte",
                                                        .source = "ceiling/cuda/shared.cu",
                                                        .function = "ceiling_shared",
                                                        .rate = &ceiling_bandwidth,
                                                        .n_max = 1 << 28,
                                                        .out_size = shared_sums_size,
                                                        .ops = shared_ops,
                                                        .setup = shared_setup,
                                                        .run = shared_run,
                                                        .right = shared_right};

/* The order is that of the words of `what`. */
static const struct ceiling_cuda *const ceilings[] = {
	&ceiling_cuda_read,    &ceiling_cuda_copy,       &ceiling_cuda_triad,           &ceiling_cuda_fp32,
	&ceiling_cuda_fp64,    &ceiling_cuda_addmin,     &ceiling_cuda_addmin2,         &ceiling_cuda_shared,
	&ceiling_cuda_upload,  &ceiling_cuda_download,   &ceiling_cuda_upload_pageable, &ceiling_cuda_download_pageable,
	&ceiling_cuda_start,   &ceiling_cuda_round_trip, &ceiling_cuda_atomic_one,      &ceiling_cuda_atomic_many,
	&ceiling_cuda_barrier,
};

const struct ceiling_rate ceiling_cuda_adds = {"rate", "Gadd/s", 1e-9, false};

static void sizes_set(struct ceiling_cuda_job *job, unsigned sms) {
	int arrays = job->ceiling->arrays;
	if (arrays == 0)
		return;
	size_t units = ((size_t)((job->n + arrays - 1) / arrays) + CEILING_CUDA_UNIT - 1) / CEILING_CUDA_UNIT;
	job->size = units * CEILING_CUDA_UNIT;
	job->passes = job->ceiling->function ? (size_t)sms * PASS_BYTES / ((size_t)arrays * job->size) : 1;
	job->passes = job->passes < 1 ? 1 : job->passes > PASSES_MAX ? PASSES_MAX : job->passes;
}

/* Without a GPU it counts one SM, because the work of a run is also asked for then. */
static enum ss_status job_read(struct ceiling_cuda_job *job, const struct ss_call *call) {
	unsigned sms = call->gpu ? (unsigned)gpu_facts(call->gpu)->sms : 1;
	*job = (struct ceiling_cuda_job){.gpu = call->gpu,
	                                 .n = call->problem[PROBLEM_N].i,
	                                 .block = (unsigned)call->config[PARAM_BLOCK].i,
	                                 .grid = (unsigned)call->config[PARAM_PER_SM].i * sms};
	job->ceiling = ceilings[call->problem[PROBLEM_WHAT].i];
	job->threads = job->block * job->grid;
	if (job->n > job->ceiling->n_max)
		return kernel_fail(call, SS_INVALID, "n must be at most %lld for %s", (long long)job->ceiling->n_max,
		                   job->ceiling->name);
	sizes_set(job, sms);
	return SS_OK;
}

void *ceiling_cuda_answer(struct ceiling_cuda_job *job) {
	void *answer = malloc(job->out_size ? job->out_size : 1);
	if (answer && job->out_size)
		gpu_download(job->gpu, answer, job->out, job->out_size);
	if (answer && gpu_is_fine(job->gpu))
		return answer;
	free(answer);
	return NULL;
}

static enum ss_status cuda_open(void *input, const struct ss_call *call) {
	struct ceiling_cuda_job job;
	(void)input;
	return job_read(&job, call);
}

static void cuda_program_of(const struct ss_call *call, struct ss_program *program) {
	struct ceiling_cuda_job job;
	if (job_read(&job, call) == SS_OK)
		program->source = job.ceiling->source;
}

static void memory_make(struct ceiling_cuda_job *job) {
	const struct ceiling_cuda *ceiling = job->ceiling;
	job->out_size = ceiling->out_size ? ceiling->out_size(job) : 0;
	job->out = gpu_alloc(job->gpu, job->out_size);
	for (int i = 0; i < ceiling->arrays; i++)
		job->array[i] = gpu_alloc(job->gpu, job->size);
	gpu_fill8(job->gpu, job->out, 0, job->out_size);
}

static enum ss_status cuda_setup(void *state, void *input, const struct ss_call *call) {
	struct ceiling_cuda_job *job = state;
	(void)input;
	enum ss_status status = job_read(job, call);
	if (status != SS_OK)
		return status;
	job->module = cuda_program(&kernel_ceiling_cuda, call);
	if (job->ceiling->function)
		job->function = gpu_function(job->gpu, job->module, job->ceiling->function);
	memory_make(job);
	if (gpu_is_fine(job->gpu) && job->ceiling->setup)
		status = job->ceiling->setup(job, call);
	return status == SS_OK ? cuda_status(call) : status;
}

static enum ss_status cuda_run(void *state, const struct ss_call *call) {
	struct ceiling_cuda_job *job = state;
	job->ceiling->run(job);
	job->runs++;
	return gpu_is_fine(job->gpu) ? SS_OK : cuda_status(call);
}

static enum ss_status cuda_verify(void *state, const struct ss_call *call) {
	struct ceiling_cuda_job *job = state;
	bool right = job->ceiling->right(job);
	enum ss_status status = cuda_status(call);
	return status != SS_OK || right ? status : kernel_wrong(call, "%s: the GPU's answer is wrong", job->ceiling->name);
}

static struct ss_work cuda_work(const struct ss_call *call) {
	struct ceiling_cuda_job job;
	if (job_read(&job, call) != SS_OK)
		return (struct ss_work){.op = "operation"};
	double ops = job.ceiling->ops(&job);
	return (struct ss_work){.ops = ops, .bytes = job.ceiling->arrays ? ops : 0, .op = job.ceiling->op};
}

static size_t cuda_figures(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out,
                           size_t most) {
	const struct ceiling_cuda_job *job = state;
	(void)call;
	return ceiling_figure(job->ceiling->rate, job->ceiling->ops(job), seconds, out, most);
}

static void cuda_teardown(void *state) {
	struct ceiling_cuda_job *job = state;
	if (!job->gpu)
		return;
	gpu_free(job->gpu, job->out);
	for (int i = 0; i < CEILING_CUDA_ARRAYS; i++)
		gpu_free(job->gpu, job->array[i]);
	if (job->pinned)
		gpu_pinned_free(job->gpu, job->host);
	else
		free(job->host);
}

const struct ss_kernel kernel_ceiling_cuda = {
	.abi = SS_KERNEL_ABI,
	.name = "ceiling",
	.summary = "limits of this GPU: bandwidths, arithmetic peaks, transfers, costs of launches and atomics",
	.device = "cuda",
	.problem = problem,
	.params = params,
	.input_size = 1,
	.state_size = sizeof(struct ceiling_cuda_job),
	.open = cuda_open,
	.setup = cuda_setup,
	.run = cuda_run,
	.verify = cuda_verify,
	.work = cuda_work,
	.figures = cuda_figures,
	.teardown = cuda_teardown,
	.program = cuda_program_of,
};
