/* SPDX-License-Identifier: BSD-3-Clause */
/* k-means on a GPU: shared by its files.
 *
 * With type=f64 everything is exact, as on the CPU, and every bit is compared with the same answer. With type=f32
 * objects, centres and distances are floats. Objects and centres are then still exact, and so are sums, which are
 * doubles or floats of few objects; only distances are rounded. So the answer of f32 is that of the same operations
 * in the same order on the host, and every bit is compared, too (single.c). */
#ifndef KERNELS_KMEANS_CUDA_KMEANS_CUDA_IMPL_H
#define KERNELS_KMEANS_CUDA_KMEANS_CUDA_IMPL_H
#include "kernels/cuda.h"
#include "kernels/kmeans/kmeans.h"

enum { KMEANS_TYPE = KMEANS_PROBLEM, KMEANS_TYPE_F64 = 0, KMEANS_TYPE_F32 = 1 };
enum { KMEANS_VARIANT, KMEANS_BLOCK, KMEANS_POINTS, KMEANS_GROUP, KMEANS_CELLS, KMEANS_PER_SM, KMEANS_LAUNCH };
/* Objects that a warp takes at once at most: device memory is there, and 0, up to a multiple of it. */
enum { KMEANS_TILE_MAX = 256, KMEANS_TRACED_MAX = 256 };

/* How a distance is computed: sum (x - c)^2, or |c|^2 / 2 - xc. */
enum kmeans_form { KMEANS_DIRECT, KMEANS_BRACKET, KMEANS_FORMS };
enum kmeans_layout { KMEANS_ROWS, KMEANS_COLUMNS, KMEANS_LAYOUTS };

struct kmeans_cuda_input {
	struct kmeans_input in;                   /* first: its hooks are the CPU's */
	struct kmeans_input single[KMEANS_FORMS]; /* the same objects, the answers of f32 */
	struct gpu *gpu;
	gpu_ptr objects[KMEANS_LAYOUTS]; /* made when first needed */
};

struct kmeans_cuda_variant {
	const char *name, *source;
	enum kmeans_layout layout;
	enum kmeans_form form;
	bool on_host;   /* new centres are */
	bool resident;  /* blocks stay, and each writes its own sums */
	bool constant;  /* the problem's sizes are compiled in, and labels are as short as possible */
	bool by_column; /* the centres, too */
	bool cells;     /* of a grid, and one launch for all loops */
};

/* Points in a loop of a variant whose host computes the new centres. */
enum { KMEANS_BEGINS, KMEANS_UPLOADED, KMEANS_ASSIGNED_ALL, KMEANS_DOWNLOADED, KMEANS_MARKS };

enum { TRACE_GPU, TRACE_TRANSFER, TRACE_CPU };

struct kmeans_cuda_state {
	struct kmeans_cuda_input *input;
	const struct kmeans_cuda_variant *variant;
	struct gpu *gpu;
	size_t real, label; /* bytes */
	int points, group;  /* group: clusters, 0 none */
	unsigned parts;     /* tables of sums */
	unsigned cells;     /* of bounds, along an edge */
	int chunk;          /* clusters at a time in shared memory */
	const struct gpu_function *assign, *means;
	struct gpu_shape shape;
	gpu_ptr membership, centres, changed, sums, counts, words /* of cells, and a barrier */;
	struct gpu_graph *graph;
	struct kmeans_state host;  /* the CPU's view: for new centres, and to compare */
	void *first, *pinned, *up; /* centres; membership and centres on their way */
	struct gpu_mark *marks[KMEANS_TRACED_MAX][KMEANS_MARKS];
	size_t traced;
	double *trace[3]; /* seconds of each traced loop, by the parts TRACE_* */
};

/* The objects on the device, 0 after a failure; host numbers to the device's and back */
gpu_ptr kmeans_cuda_objects(struct kmeans_cuda_input *input, struct gpu *gpu, enum kmeans_layout layout, size_t real);

void kmeans_cuda_centres_put(const struct kmeans_cuda_state *s, void *to, const double *centres);
void kmeans_cuda_loops(struct kmeans_cuda_state *s);

/* Fills in the answer of f32 unless it is there; NULL: no memory. */
struct kmeans_input *kmeans_single(struct kmeans_cuda_input *input, enum kmeans_form form);
void kmeans_single_free(struct kmeans_input *answer);

enum ss_status kmeans_cuda_verify(void *state, const struct ss_call *call);
#endif
