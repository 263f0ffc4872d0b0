// SPDX-License-Identifier: GPL-3.0-or-later
// C = A B with the parameters of CLBlast's Xgemm: a block computes MWG x NWG elements of C, KWG steps at a time. A is stored by
// columns, B by rows, C by columns. SA and SB stage their parts in shared memory, which MDIMA and NDIMB threads load along a row.
template <int W> struct __align__(4 * W) floats {
	float at[W];
};
typedef floats<VWM> floatm;
typedef floats<VWN> floatn;
enum { MWI = MWG / MDIMC, NWI = NWG / NDIMC, MV = MWG / VWM, NV = NWG / VWN, THREADS = MDIMC * NDIMC, at_once = KWI };

extern "C" __global__ void __launch_bounds__(THREADS) gemm(float *C, const float *A, const float *B, int m, int n, int k) {
	const int x = threadIdx.x, y = threadIdx.y, me = y * MDIMC + x;
	const floatm *a = (const floatm *)A + blockIdx.x * MV;
	const floatn *b = (const floatn *)B + blockIdx.y * NV;
	float sums[NWI][MWI] = {{0}};
#if SA
	__shared__ floatm as[KWG][MV];
#endif
#if SB
	__shared__ floatn bs[KWG][NV];
#endif
	for (int first = 0; first < k; first += KWG) {
#if SA
		for (int l = me / MDIMA; l < KWG; l += THREADS / MDIMA)
			for (int i = me % MDIMA; i < MV; i += MDIMA)
				as[l][i] = a[(first + l) * (m / VWM) + i];
#endif
#if SB
		for (int l = me / NDIMB; l < KWG; l += THREADS / NDIMB)
			for (int j = me % NDIMB; j < NV; j += NDIMB)
				bs[l][j] = b[(first + l) * (n / VWN) + j];
#endif
#if SA || SB
		__syncthreads();
#endif
#pragma unroll at_once
		for (int l = 0; l < KWG; l++) {
			floatm as_now[MWI / VWM];
			floatn bs_now[NWI / VWN];
#pragma unroll
			for (int i = 0; i < MWI / VWM; i++)
#if SA
				as_now[i] = as[l][i * MDIMC + x];
#else
				as_now[i] = a[(first + l) * (m / VWM) + i * MDIMC + x];
#endif
#pragma unroll
			for (int j = 0; j < NWI / VWN; j++)
#if SB
				bs_now[j] = bs[l][j * NDIMC + y];
#else
				bs_now[j] = b[(first + l) * (n / VWN) + j * NDIMC + y];
#endif
#pragma unroll
			for (int j = 0; j < NWI; j++)
#pragma unroll
				for (int i = 0; i < MWI; i++)
					sums[j][i] += as_now[i / VWM].at[i % VWM] * bs_now[j / VWN].at[j % VWN];
		}
#if SA || SB
		__syncthreads();
#endif
	}
	floatm *c = (floatm *)C + blockIdx.x * MV;
#pragma unroll
	for (int j = 0; j < NWI; j++)
#pragma unroll
		for (int i = 0; i < MWI / VWM; i++) {
			const int column = blockIdx.y * NWG + (j / VWN * NDIMC + y) * VWN + j % VWN;
			floatm out;
#pragma unroll
			for (int w = 0; w < VWM; w++)
				out.at[w] = sums[j][i * VWM + w];
			c[column * (m / VWM) + i * MDIMC + x] = out;
		}
}
