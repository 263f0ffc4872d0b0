# SPDX-License-Identifier: BSD-3-Clause
"""The kernels of test_examples, written anew in small: text that is formatted, compiled and run there."""

CUDA = "__global__ void add(float *c, float *a, float *b, int n) { int i = blockIdx.x * block_size_x + threadIdx.x; if (i < n) c[i] = a[i] + b[i]; }"
TEMPLATE = "template <typename T, int width> __global__ void add(T *c, const T *a, const T *__restrict__ b, int n) {\n" \
    "auto i = blockIdx.x * width + threadIdx.x; if (i < n) c[i] = a[i] + b[i]; }"
OPENCL = "__kernel void add(__global float *c, __global const float *a, __global const float *b, int n) { int i = get_global_id(0); if (i < n) c[i] = a[i] + b[i]; }"
# Two languages in one: the macros of HEAD[language] make CUDA or OpenCL of it.
HEAD = {
    "CUDA": "#define KERNEL extern \"C\" __global__ void\n#define LOCAL __shared__\n#define FAR\n#define SYNC __syncthreads()\n#define LX threadIdx.x\n"
            "#define LY threadIdx.y\n#define GX blockIdx.x\n#define GY blockIdx.y\n",
    "OpenCL": "#define KERNEL __kernel void\n#define LOCAL __local\n#define FAR __global\n#define SYNC barrier(CLK_LOCAL_MEM_FENCE)\n"
              "#define LX (int)get_local_id(0)\n#define LY (int)get_local_id(1)\n#define GX (int)get_group_id(0)\n#define GY (int)get_group_id(1)\n",
}
CONVOLUTION = """
#ifndef filter_width
#define filter_width 5
#define filter_height 5
#endif
#ifndef tile_size_x
#define tile_size_x 1
#define tile_size_y 1
#endif
#define in_width (32 + 16)
#define WIDTH (block_size_x * tile_size_x + filter_width - 1)
KERNEL convolution(FAR float *out, FAR float *in, FAR float *filter) {
    LOCAL float part[block_size_y * tile_size_y + filter_height - 1][WIDTH + 1];
    int x0 = GX * block_size_x * tile_size_x, y0 = GY * block_size_y * tile_size_y;
    for (int y = LY; y < block_size_y * tile_size_y + filter_height - 1; y += block_size_y)
        for (int x = LX; x < WIDTH; x += block_size_x)
            part[y][x] = y0 + y < in_width && x0 + x < in_width ? in[(y0 + y) * in_width + x0 + x] : 0;
    SYNC;
    for (int y = LY; y < block_size_y * tile_size_y; y += block_size_y)
        for (int x = LX; x < block_size_x * tile_size_x; x += block_size_x) {
            float sum = 0;
            for (int k = 0; k < filter_height * filter_width; k++)
                sum += part[y + k / filter_width][x + k % filter_width] * WEIGHT(k);
            if (x0 + x < 32 && y0 + y < 32) out[(y0 + y) * 32 + x0 + x] = sum;
        }
}
KERNEL naive(FAR float *out, FAR float *in, FAR float *filter) {
    int x = GX * block_size_x + LX, y = GY * block_size_y + LY;
    float sum = 0;
    for (int k = 0; k < filter_height * filter_width; k++) sum += in[(y + k / filter_width) * in_width + x + k % filter_width] * filter[k];
    out[y * 32 + x] = sum;
}
"""
WEIGHTS = {"CUDA": "__constant__ float d_filter[17 * 17];\n#if read_only == 1\n#define WEIGHT(k) __ldg(filter + k)\n#else\n#define WEIGHT(k) d_filter[k]\n#endif\n",
           "OpenCL": "#define WEIGHT(k) filter[k]\n"}
MATMUL = """
KERNEL multiply(FAR float *C, FAR float *A, FAR float *B) {
    LOCAL float a[block_size_y * tile_size_y][block_size_x];
    int x = GX * block_size_x * tile_size_x + LX, y = GY * block_size_y * tile_size_y + LY;
    float sum[tile_size_y][tile_size_x];
    for (int i = 0; i < tile_size_y; i++) for (int j = 0; j < tile_size_x; j++) sum[i][j] = 0;
    for (int k = 0; k < 64; k += block_size_x) {
        for (int i = 0; i < tile_size_y; i++) a[LY + i * block_size_y][LX] = A[(y + i * block_size_y) * 64 + k + LX];
        SYNC;
        for (int l = 0; l < block_size_x; l++)
            for (int i = 0; i < tile_size_y; i++)
                for (int j = 0; j < tile_size_x; j++) sum[i][j] += a[LY + i * block_size_y][l] * B[(k + l) * 64 + x + j * block_size_x];
        SYNC;
    }
    for (int i = 0; i < tile_size_y; i++)
        for (int j = 0; j < tile_size_x; j++) C[(y + i * block_size_y) * 64 + x + j * block_size_x] = sum[i][j];
}
"""
REDUCTION = """
#if vector == 1
#define floats float
#define TOTAL(v) v
#elif vector == 2
#define floats float2
#define TOTAL(v) v.x + v.y
#else
#define floats float4
#define TOTAL(v) v.x + v.y + v.z + v.w
#endif
KERNEL total(FAR float *out, FAR floats *in, int n) {
    LOCAL float part[block_size_x];
    float sum = 0;
    #pragma unroll loop_unroll_factor
    for (int i = GX * block_size_x + LX; i < n / vector; i += num_blocks * block_size_x) { floats v = in[i]; sum += TOTAL(v); }
    part[LX] = sum;
    SYNC;
    for (int s = block_size_x / 2; s > (use_shuffle ? 16 : 0); s /= 2) { if (LX < s) part[LX] += part[LX + s]; SYNC; }
    sum = part[LX];
#if use_shuffle
    if (LX < 32) for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffff, sum, s);
#endif
    if (LX == 0) out[GX] = sum;
}
"""
STENCIL = """
KERNEL stencil(FAR float *to, FAR float *from) {
    int x = GX * block_size_x + LX, y = GY * block_size_y + LY;
    if (x > 0 && x < 63 && y > 0 && y < 31)
        to[y * 64 + x] = (from[y * 64 + x] + from[y * 64 + x - 1] + from[y * 64 + x + 1] + from[y * 64 + x - 64] + from[y * 64 + x + 64]) / 5.0f;
}
"""
SPARSE = """
#if read_only
#define READ(p) __ldg(p)
#else
#define READ(p) *(p)
#endif
__global__ void sparse(float *y, int *rows, int *columns, float *values, float *__restrict__ x, int n) {
    int row = (blockIdx.x * block_size_x + threadIdx.x) / 32;
    float sum = 0;
    if (row < n) for (int j = rows[row] + threadIdx.x % 32; j < rows[row + 1]; j += 32) sum += values[j] * READ(x + columns[j]);
    for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffff, sum, s);
    if (row < n && threadIdx.x % 32 == 0) y[row] = sum;
}
"""
MEANS = """
extern "C" { __global__ void down(int h, int w, float *image); }
__global__ void down(int h, int w, float *image) {
    int x = threadIdx.x + blockIdx.x * block_size_x;
    __shared__ float sums[block_size_y][block_size_x];
    float sum = 0;
    for (int y = threadIdx.y; x < w && y < h; y += block_size_y) sum += image[y * w + x];
    sums[threadIdx.y][threadIdx.x] = sum;
    for (unsigned s = block_size_y / 2; s > 0; s >>= 1) {
        __syncthreads();
        if (threadIdx.y < s) sums[threadIdx.y][threadIdx.x] += sums[threadIdx.y + s][threadIdx.x];
    }
    __syncthreads();
    for (int y = threadIdx.y; x < w && y < h; y += block_size_y) image[y * w + x] -= sums[0][threadIdx.x] / h;
}
"""
RANDOM = """
#include <curand_kernel.h>
extern "C" __global__ void begin(curandState *state, unsigned long long seed, int n) {
    int i = blockIdx.x * block_size_x + threadIdx.x; if (i < n) curand_init(seed, i, 0, state + i); }
extern "C" __global__ void draw(float *out, curandState *state, int n) {
    int i = blockIdx.x * block_size_x + threadIdx.x;
    if (i >= n) return;
    curandState mine = state[i];
    float sum = 0;
    #pragma unroll draws
    for (int k = 0; k < 16; k++) sum += curand_uniform(&mine);
    out[i] = sum; state[i] = mine; }
"""
BLOCKS = """
#include <cub/cub.cuh>
extern "C" __global__ void distances(const double *a, const double *b, int m, int n, double *out) {
    typedef cub::BlockReduce<double, block_size_x, cub::BLOCK_REDUCE_WARP_REDUCTIONS, block_size_y> Reduce;
    __shared__ typename Reduce::TempStorage storage;
    int i = blockIdx.x * block_size_x + threadIdx.x, j = blockIdx.y * block_size_y + threadIdx.y;
    double sum = i < m && j < n ? exp(-(a[i] - b[j]) * (a[i] - b[j])) : 0;
    sum = Reduce(storage).Sum(sum);
    if (threadIdx.x == 0 && threadIdx.y == 0) out[blockIdx.y * gridDim.x + blockIdx.x] = sum; }
"""
HOST = """
#include <stdio.h>
#include <cuda.h>
#include "device.cu"
extern "C" float timed(float *c, float *a, float *b, int n) {
    float *d[3]; float time = 0; cudaEvent_t start, stop; cudaStream_t stream[num_streams];
    for (int k = 0; k < 3; k++) cudaMalloc((void **)&d[k], n * sizeof(float));
    for (int k = 0; k < num_streams; k++) cudaStreamCreate(&stream[k]);
    cudaEventCreate(&start); cudaEventCreate(&stop); cudaEventRecord(start, 0);
    cudaMemcpyAsync(d[1], a, n * sizeof(float), cudaMemcpyHostToDevice, stream[0]);
    cudaMemcpyAsync(d[2], b, n * sizeof(float), cudaMemcpyHostToDevice, stream[0]);
    add<<<dim3(grid_size_x, grid_size_y), dim3(block_size_x, block_size_y, block_size_z), 0, stream[0]>>>(d[0], d[1], d[2], n);
    cudaMemcpyAsync(c, d[0], n * sizeof(float), cudaMemcpyDeviceToHost, stream[0]);
    cudaEventRecord(stop, 0); cudaDeviceSynchronize(); cudaEventElapsedTime(&time, start, stop);
    for (int k = 0; k < num_streams; k++) cudaStreamDestroy(stream[k]);
    for (int k = 0; k < 3; k++) cudaFree(d[k]);
    return time;
}
"""
FORTRAN = """
#ifndef N
#define N 1024
#endif
module vector
use iso_c_binding
use omp_lib
contains
subroutine add(c, a, b, n_)
  real (c_float), intent(out), dimension(N) :: c
  real (c_float), intent(in), dimension(N) :: a, b
  integer (c_int), intent(in) :: n_
  !$acc parallel loop device_type(nvidia) vector_length(block_size_x)
  !$omp parallel do
  do i = 1, N
    c(i) = a(i) + b(i)
  end do
end subroutine
function timed(c, a, b, n_) result(time)
  real (c_float), intent(out), dimension(N) :: c
  real (c_float), intent(in), dimension(N) :: a, b
  integer (c_int), intent(in) :: n_
  real (c_float) :: time
  real (c_double) begun
  call omp_set_num_threads(NTHREADS)
  begun = omp_get_wtime()
  call add(c, a, b, n_)
  time = (omp_get_wtime() - begun) * 1e3
end function
end module
"""
DIRECTIVES = """
#include <stdlib.h>
#define SIZE 1000
int main(void) {
    #pragma tuner start add a(float*:SIZE) b(float*:SIZE) c(float*:SIZE) size(int:SIZE)
    #pragma %s
    for (int i = 0; i < size; i++) c[i] = a[i] + b[i];
    #pragma tuner stop
}
"""
HISTOGRAM = """
#define BINS 16
#define SIZE 1000
#pragma tuner start histogram data(int*:SIZE) bins(int*:BINS)
#if enable_reduction == 1
#pragma %s reduction(+:bins[:BINS])
#else
#pragma %s
#endif
for (int i = 0; i < SIZE; i++) {
#if enable_atomic == 1
    #pragma %s
#endif
    bins[data[i]] += 1;
}
#pragma tuner stop
"""
PRODUCT = """
#define N 16
void f(float *A, float *B, float *C) {
    #pragma tuner start mm A(float*:NN) B(float*:NN) C(float*:NN)
    float sum = 0;
    %s
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            sum = 0;
            #pragma %s reduction(+:sum)
            for (int k = 0; k < N; k++) sum += A[i * N + k] * B[k * N + j];
            C[i * N + j] = sum;
        }
    #pragma tuner stop
}
"""
FORTRAN_DIRECTIVES = """
#define SIZE 1000
subroutine add(A, B, C, n)
    use iso_c_binding
    real (c_float), dimension(SIZE) :: A, B, C
    !$tuner start add A(float*:SIZE) B(float*:SIZE) C(float*:SIZE) n(int:SIZE) i(int:SIZE)
    !$acc parallel loop vector_length(nthreads)
    do i = 1, n
      C(i) = A(i) + B(i)
    end do
    !$acc end parallel loop
    !$tuner stop
end subroutine add
"""
