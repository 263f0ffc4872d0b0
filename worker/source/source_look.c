/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at vectors on the device after a run. */
#include "worker/source/source.h"

/* The kernel that looks, in the words that CUDA, HIP and OpenCL share. A vector's slot in `out` has the number of wrong
 * elements, the complement of the first one's index, two sums of mixed words, and whether the guard is broken. Mixing
 * is a bijection, so no change of one word escapes. */
enum { SLOT_WRONG, SLOT_FIRST, SLOT_HASH, SLOT_GUARD = SLOT_HASH + 2, SLOT_WORDS = 8 };

static const char look_head[] =
	"#ifdef __OPENCL_VERSION__\n"
	"#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
	"#define KERNEL __kernel void\n"
	"#define GLOBAL __global\n"
	"#define AT get_global_id(0)\n"
	"#define STEP get_global_size(0)\n"
	"#define ADD atomic_add\n"
	"#define MOST atomic_max\n"
	"typedef ulong u64;\n"
	"typedef long i64;\n"
	"#else\n"
	"#define KERNEL extern \"C\" __global__ void\n"
	"#define GLOBAL\n"
	"#define AT ((u64)blockIdx.x * blockDim.x + threadIdx.x)\n"
	"#define STEP ((u64)gridDim.x * blockDim.x)\n"
	"#define ADD atomicAdd\n"
	"#define MOST atomicMax\n"
	"typedef unsigned long long u64;\n"
	"typedef long long i64;\n"
	"#endif\n"
	"#define SIZE_OF_REAL(y) fabs(y)\n"
	"#define APART_OF_REAL(x, y) fabs(x - y)\n"
	"#define SIZE_OF_WHOLE(y) ((double)(y < 0 ? -(double)y : (double)y))\n"
	"#define APART_OF_WHOLE(x, y) ((double)(x < y ? (u64)y - (u64)x : (u64)x - (u64)y))\n"
	"#define COMPARE(NAME, T, WIDE, OF) \\\n"
	"KERNEL NAME(GLOBAL unsigned *out, unsigned slot, GLOBAL const T *is, GLOBAL const T *want, u64 from, u64 to, \\\n"
	"            double limit, double relative) { \\\n"
	"	unsigned wrong = 0, first = 0; \\\n"
	"	for (u64 i = from + AT; i < to; i += STEP) { \\\n"
	"		WIDE x = is[i], y = want[i]; \\\n"
	"		if (!(APART_##OF(x, y) <= limit + relative * SIZE_##OF(y)) && wrong++ == 0) \\\n"
	"			first = ~(unsigned)(i - from); \\\n"
	"	} \\\n"
	"	if (wrong) { \\\n"
	"		ADD(out + slot, wrong); \\\n"
	"		MOST(out + slot + 1, first); \\\n"
	"	} \\\n"
	"}\n";
/* Each of them takes the compiler a while, so that only those which are needed are made. */
static const struct {
	enum source_kind kind;
	size_t bytes;
	const char *text;
} look_compares[] = {
	{SOURCE_REAL, 4, "COMPARE(real4, float, double, OF_REAL)\n"},
	{SOURCE_REAL, 8, "COMPARE(real8, double, double, OF_REAL)\n"},
	{SOURCE_SIGNED, 1, "COMPARE(signed1, signed char, i64, OF_WHOLE)\n"},
	{SOURCE_SIGNED, 2, "COMPARE(signed2, short, i64, OF_WHOLE)\n"},
	{SOURCE_SIGNED, 4, "COMPARE(signed4, int, i64, OF_WHOLE)\n"},
	{SOURCE_SIGNED, 8, "COMPARE(signed8, i64, i64, OF_WHOLE)\n"},
	{SOURCE_UNSIGNED, 1, "COMPARE(unsigned1, unsigned char, u64, OF_WHOLE)\n"},
	{SOURCE_UNSIGNED, 2, "COMPARE(unsigned2, unsigned short, u64, OF_WHOLE)\n"},
	{SOURCE_UNSIGNED, 4, "COMPARE(unsigned4, unsigned, u64, OF_WHOLE)\n"},
	{SOURCE_UNSIGNED, 8, "COMPARE(unsigned8, u64, u64, OF_WHOLE)\n"},
};
static const char look_tail[] =
	"#define MIX(h) (h ^= h >> 16, h *= 0x85EBCA6Bu, h ^= h >> 13, h *= 0xC2B2AE35u, h ^= h >> 16)\n"
	"KERNEL hash(GLOBAL unsigned *out, unsigned slot, GLOBAL const unsigned char *bytes, u64 size) {\n"
	"	GLOBAL const unsigned *words = (GLOBAL const unsigned *)bytes;\n"
	"	unsigned a = 0, b = 0;\n"
	"	u64 whole = size / 4;\n"
	"	for (u64 i = AT; i < whole + size % 4; i += STEP) {\n"
	"		unsigned h = i < whole ? words[i] : bytes[3 * whole + i];\n"
	"		h ^= (unsigned)i * 0x9E3779B9u ^ (unsigned)(i >> 32);\n"
	"		a += MIX(h);\n"
	"		b += MIX(h);\n"
	"	}\n"
	"	ADD(out + slot + 2, a);\n"
	"	ADD(out + slot + 3, b);\n"
	"}\n"
	"KERNEL guard(GLOBAL unsigned *out, unsigned slot, GLOBAL const unsigned char *bytes, u64 size, u64 more,\n"
	"             unsigned value) {\n"
	"	unsigned broken = 0;\n"
	"	for (u64 i = AT; i < more; i += STEP)\n"
	"		broken |= bytes[size + i] ^ value;\n"
	"	if (broken)\n"
	"		MOST(out + slot + 4, 1u);\n"
	"}\n";

enum { LOOK_BLOCK = 128, LOOK_EACH = 4, LOOK_WAVES = 16, LOOK_ARGUMENTS = 8, LOOK_SPARE = 8 };
static const size_t LOOK_CHUNK = (size_t)1 << 30; /* elements of a launch: a slot has 32 bits for an index */

static size_t slots_of(const struct source_argument *a) {
	return a->memory == SOURCE_SCALAR ? 0 : (a->count - 1) / LOOK_CHUNK + 1;
}

static size_t slots_before(const struct source_input *input, size_t i) {
	size_t count = 0;
	while (i-- > 0)
		count += slots_of(&input->problem.arguments[i]);
	return count;
}

static const struct gpu_function *look_function(const struct source_input *input, const char *name) {
	return gpu_function(input->gpu, input->look, name);
}

static const struct gpu_function *look_compare(const struct source_input *input, const struct source_argument *a) {
	static const char *const kinds[] = {
		[SOURCE_SIGNED] = "signed", [SOURCE_UNSIGNED] = "unsigned", [SOURCE_REAL] = "real"};
	char name[16];
	snprintf(name, sizeof name, "%s%zu", kinds[a->kind], a->bytes);
	return look_function(input, name);
}

/* The sizes of the arguments behind the slots, 0 for pointers, in the order of the kernels' parameters. */
static void look_launch(const struct source_input *input, const struct gpu_function *function, uint64_t elements,
                        const size_t *sizes, void *const *arguments) {
	struct gpu_passed kinds[LOOK_ARGUMENTS];
	size_t count = 0;
	uint64_t blocks = (elements + LOOK_BLOCK * LOOK_EACH - 1) / (LOOK_BLOCK * LOOK_EACH),
			 most = (uint64_t)gpu_facts(input->gpu)->sms * LOOK_WAVES;
	struct gpu_shape shape = {.grid = {(unsigned)(blocks < most ? blocks : most)}, .block = {LOOK_BLOCK}};
	for (; arguments[count]; count++)
		kinds[count] = sizes[count] ? (struct gpu_passed){GPU_PASSED_VALUE, sizes[count]}
		                            : (struct gpu_passed){GPU_PASSED_MEMORY, sizeof(gpu_ptr)};
	gpu_function_pass(input->gpu, function, kinds, count);
	gpu_launch(input->gpu, function, &shape, arguments);
}

static void hash_launch(const struct source_input *input, size_t i, gpu_ptr bytes) {
	static const size_t sizes[] = {0, 4, 0, 8};
	uint64_t size = source_size(&input->problem.arguments[i]);
	unsigned slot = SLOT_WORDS * (unsigned)slots_before(input, i);
	look_launch(input, look_function(input, "hash"), size / 4 + 3, sizes,
	            (void *[]){(void *)&input->slots, &slot, &bytes, &size, NULL});
}

static void guard_launch(const struct source_input *input, size_t i, gpu_ptr bytes) {
	static const size_t sizes[] = {0, 4, 0, 8, 8, 4};
	uint64_t size = source_size(&input->problem.arguments[i]), more = SOURCE_GUARD;
	unsigned slot = SLOT_WORDS * (unsigned)slots_before(input, i), value = SOURCE_GUARD_BYTE;
	look_launch(input, look_function(input, "guard"), more, sizes,
	            (void *[]){(void *)&input->slots, &slot, &bytes, &size, &more, &value, NULL});
}

static void compare_launch(const struct source_input *input, size_t i, gpu_ptr is) {
	static const size_t sizes[] = {0, 4, 0, 0, 8, 8, 8, 8};
	const struct source_argument *a = &input->problem.arguments[i];
	const struct source_vector *v = &input->vectors[i];
	double limit = v->limit, relative = a->tolerance.given ? a->tolerance.relative : 0;
	unsigned slot = SLOT_WORDS * (unsigned)slots_before(input, i);
	for (uint64_t from = 0, to; from < a->count; from = to, slot += SLOT_WORDS) {
		to = a->count - from < LOOK_CHUNK ? a->count : from + LOOK_CHUNK;
		look_launch(
			input, look_compare(input, a), to - from, sizes,
			(void *[]){(void *)&input->slots, &slot, &is, (void *)&v->wanted, &from, &to, &limit, &relative, NULL});
	}
}

static void slots_clear(const struct source_input *input) {
	gpu_fill32(input->gpu, input->slots, 0, SLOT_WORDS * slots_before(input, input->problem.count));
}

static uint32_t *slots_read(const struct source_input *input) {
	size_t size = SLOT_WORDS * slots_before(input, input->problem.count);
	uint32_t *slots = mem_alloc(size, sizeof *slots);
	gpu_download(input->gpu, slots, input->slots, size * sizeof *slots);
	gpu_sync(input->gpu);
	return slots;
}

static bool is_needed(const struct source_problem *problem, size_t compare) {
	for (size_t i = 0; i < problem->count; i++) {
		const struct source_argument *a = &problem->arguments[i];
		if (a->output && a->kind == look_compares[compare].kind && a->bytes == look_compares[compare].bytes)
			return true;
	}
	return false;
}

/* The caller frees it. */
static char *look_text_new(const struct source_problem *problem) {
	char *text = mem_strdup(look_head);
	for (size_t i = 0; i < sizeof look_compares / sizeof *look_compares; i++)
		if (is_needed(problem, i))
			mem_append(&text, "%s", look_compares[i].text);
	mem_append(&text, "%s", look_tail);
	return text;
}

static const char look_name[] = "sweetspot_look";

/* Where there is no cache, it is compiled when it is loaded. */
static void look_compile(const struct source_input *input, const char *code) {
	const struct gpu_facts *facts = gpu_facts(input->gpu);
	const struct gpu_text text = {look_name, code, NULL};
	struct gpu_ahead ahead;
	struct err ignored = {.code = ERR_OK};
	struct gpu_compiler *compiler = facts->kind == GPU_CUDA ? gpu_compiler_new(&ignored) : NULL;
	if (compiler)
		gpu_compile_ahead(compiler, &text, 10 * facts->major + facts->minor, &ahead, &ignored);
	gpu_compiler_free(compiler);
}

/* All that it needs must be there now, so that later failures are those of the configuration. */
void source_look_open(struct source_input *input, bool ahead) {
	const struct source_problem *problem = &input->problem;
	char message[256];
	size_t slots = slots_before(input, problem->count);
	mem_auto char *text = look_text_new(problem);
	if (ahead)
		look_compile(input, text);
	if (ahead || slots == 0 || !gpu_is_fine(input->gpu))
		return;
	input->look = gpu_module_text(input->gpu, look_name, text, NULL, NULL);
	input->slots = gpu_alloc(input->gpu, slots * SLOT_WORDS * sizeof(uint32_t));
	slots_clear(input);
	for (size_t i = 0; i < problem->count && gpu_is_fine(input->gpu); i++) {
		if (problem->arguments[i].output)
			look_compare(input, &problem->arguments[i]);
		if (source_is_kept(&problem->arguments[i])) {
			guard_launch(input, i, input->vectors[i].device);
			hash_launch(input, i, input->vectors[i].device);
		}
	}
	mem_auto uint32_t *read = slots_read(input);
	for (size_t i = 0; i < problem->count; i++)
		if (source_is_kept(&problem->arguments[i]))
			memcpy(input->vectors[i].hash, read + SLOT_WORDS * slots_before(input, i) + SLOT_HASH,
			       sizeof input->vectors[i].hash);
	if (gpu_failed(input->gpu, message, sizeof message) != GPU_FINE)
		input->look = NULL;
}

/* The reference on the device, unless it takes too much of the memory that configurations need. */
void source_wanted(struct source_input *input, size_t i, gpu_ptr from) {
	struct source_vector *v = &input->vectors[i];
	char message[256];
	size_t size = source_size(&input->problem.arguments[i]);
	v->limit = source_limit(&input->problem.arguments[i], v->want);
	if (!input->look || !gpu_is_fine(input->gpu) || input->problem.arguments[i].by != SOURCE_ELEMENTS)
		return;
	if (!v->wanted && (int64_t)size <= gpu_facts(input->gpu)->memory_bytes / LOOK_SPARE)
		v->wanted = gpu_alloc(input->gpu, size);
	if (!v->wanted)
		gpu_failed(input->gpu, message, sizeof message);
	else if (from)
		gpu_copy(input->gpu, v->wanted, from, size);
	else
		gpu_upload(input->gpu, v->wanted, v->want, size);
}

static void look_start(const struct source_input *input, size_t i, gpu_ptr at, bool compared) {
	guard_launch(input, i, at);
	if (source_is_kept(&input->problem.arguments[i]))
		hash_launch(input, i, at);
	else if (compared)
		compare_launch(input, i, at);
}

static void look_read(const struct source_input *input, size_t i, gpu_ptr at, const uint32_t *slots,
                      struct source_look *look) {
	const struct source_argument *a = &input->problem.arguments[i];
	const uint32_t *slot = slots + SLOT_WORDS * slots_before(input, i);
	look->guard_broken = slot[SLOT_GUARD];
	look->changed =
		source_is_kept(a) && memcmp(slot + SLOT_HASH, input->vectors[i].hash, sizeof input->vectors[i].hash) != 0;
	for (size_t k = 0; k < slots_of(a); k++, slot += SLOT_WORDS) {
		if (slot[SLOT_WRONG] && look->found.wrong == 0)
			look->found.first = k * LOOK_CHUNK + ~slot[SLOT_FIRST];
		look->found.wrong += slot[SLOT_WRONG];
	}
	if (look->found.wrong)
		gpu_download(input->gpu, look->found.is, at + look->found.first * a->bytes, a->bytes);
}

void source_look(const struct source_input *input, const gpu_ptr *at, const bool *compared, struct source_look *looks) {
	const struct source_problem *problem = &input->problem;
	if (!input->look)
		return;
	slots_clear(input);
	for (size_t i = 0; i < problem->count; i++) {
		looks[i].done = problem->arguments[i].memory != SOURCE_SCALAR && (!compared[i] || input->vectors[i].wanted);
		if (looks[i].done)
			look_start(input, i, at[i], compared[i]);
	}
	mem_auto uint32_t *slots = slots_read(input);
	for (size_t i = 0; i < problem->count && gpu_is_fine(input->gpu); i++)
		if (looks[i].done)
			look_read(input, i, at[i], slots, &looks[i]);
}
