/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GSL's linear algebra calls these functions, which take precedence over its own CBLAS. OpenBLAS is loaded by the first
 * call rather than at program start, because it starts a thread for each core when it is loaded: under `ulimit -v` it
 * hangs there, and if no thread can be created it kills the process, even for `--version`. */
#include "base/mem.h"
#include "tuner/model/gp/impl.h"

#ifdef SS_OPENBLAS
#include <dlfcn.h>
#include <gsl/gsl_cblas.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Below this limit of address space the library is not loaded; its buffers are mapped at once. */
static const rlim_t SPACE_LEAST = (rlim_t)4 << 30;

static struct {
	__typeof__(&cblas_sgemm) sgemm;
	__typeof__(&cblas_sgemv) sgemv;
	__typeof__(&cblas_strsm) strsm;
	__typeof__(&cblas_dtrsm) dtrsm;
	__typeof__(&cblas_dtrmm) dtrmm;
	__typeof__(&cblas_dsyrk) dsyrk;
	__typeof__(&cblas_dtrsv) dtrsv;
	__typeof__(&cblas_dtrmv) dtrmv;
} blas;

static bool has_space(void) {
	struct rlimit limit;
	return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur >= SPACE_LEAST;
}

/* Matrices are small and searches run in parallel, so that threads would only wait for each other. The variable is read
 * while the library is loaded, and must not reach the programs that are measured. */
static void *load(void) {
	static const char name[] = "OPENBLAS_NUM_THREADS";
	const char *set = getenv(name);
	mem_auto char *before = set ? strdup(set) : NULL;
	setenv(name, "1", 1);
	void *library = dlopen(SS_OPENBLAS, RTLD_NOW | RTLD_LOCAL);
	before ? setenv(name, before, 1) : unsetenv(name);
	return library;
}

/* GSL's own function. Where GSL is linked statically, as in the wheel, it has another name, because this file has its.
 */
#ifdef SS_STATIC_CBLAS
#define OWN(NAME)                                                                                                      \
	({                                                                                                                 \
		extern __typeof__(cblas_##NAME) gsl_own_cblas_##NAME;                                                          \
		gsl_own_cblas_##NAME;                                                                                          \
	})
#else
#define OWN(NAME) ((__typeof__(&cblas_##NAME))dlsym(RTLD_NEXT, "cblas_" #NAME))
#endif
#define CHOOSE(NAME)                                                                                                   \
	do {                                                                                                               \
		blas.NAME = library ? (__typeof__(blas.NAME))dlsym(library, "cblas_" #NAME) : NULL;                            \
		if (!blas.NAME)                                                                                                \
			blas.NAME = OWN(NAME);                                                                                     \
	} while (0)

static void choose(void) {
	void *library = has_space() ? load() : NULL;
	CHOOSE(sgemm);
	CHOOSE(sgemv);
	CHOOSE(strsm);
	CHOOSE(dtrsm);
	CHOOSE(dtrmm);
	CHOOSE(dsyrk);
	CHOOSE(dtrsv);
	CHOOSE(dtrmv);
}

void blas_load(void) {
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, choose);
}

void cblas_sgemm(enum CBLAS_ORDER order, enum CBLAS_TRANSPOSE ta, enum CBLAS_TRANSPOSE tb, int m, int n, int k,
                 float alpha, const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc) {
	blas_load();
	blas.sgemm(order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void cblas_sgemv(enum CBLAS_ORDER order, enum CBLAS_TRANSPOSE ta, int m, int n, float alpha, const float *a, int lda,
                 const float *x, int incx, float beta, float *y, int incy) {
	blas_load();
	blas.sgemv(order, ta, m, n, alpha, a, lda, x, incx, beta, y, incy);
}

void cblas_strsm(enum CBLAS_ORDER order, enum CBLAS_SIDE side, enum CBLAS_UPLO uplo, enum CBLAS_TRANSPOSE ta,
                 enum CBLAS_DIAG diag, int m, int n, float alpha, const float *a, int lda, float *b, int ldb) {
	blas_load();
	blas.strsm(order, side, uplo, ta, diag, m, n, alpha, a, lda, b, ldb);
}

void cblas_dtrsm(enum CBLAS_ORDER order, enum CBLAS_SIDE side, enum CBLAS_UPLO uplo, enum CBLAS_TRANSPOSE ta,
                 enum CBLAS_DIAG diag, int m, int n, double alpha, const double *a, int lda, double *b, int ldb) {
	blas_load();
	blas.dtrsm(order, side, uplo, ta, diag, m, n, alpha, a, lda, b, ldb);
}

void cblas_dtrmm(enum CBLAS_ORDER order, enum CBLAS_SIDE side, enum CBLAS_UPLO uplo, enum CBLAS_TRANSPOSE ta,
                 enum CBLAS_DIAG diag, int m, int n, double alpha, const double *a, int lda, double *b, int ldb) {
	blas_load();
	blas.dtrmm(order, side, uplo, ta, diag, m, n, alpha, a, lda, b, ldb);
}

void cblas_dsyrk(enum CBLAS_ORDER order, enum CBLAS_UPLO uplo, enum CBLAS_TRANSPOSE trans, int n, int k, double alpha,
                 const double *a, int lda, double beta, double *c, int ldc) {
	blas_load();
	blas.dsyrk(order, uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}

void cblas_dtrsv(enum CBLAS_ORDER order, enum CBLAS_UPLO uplo, enum CBLAS_TRANSPOSE ta, enum CBLAS_DIAG diag, int n,
                 const double *a, int lda, double *x, int incx) {
	blas_load();
	blas.dtrsv(order, uplo, ta, diag, n, a, lda, x, incx);
}

void cblas_dtrmv(enum CBLAS_ORDER order, enum CBLAS_UPLO uplo, enum CBLAS_TRANSPOSE ta, enum CBLAS_DIAG diag, int n,
                 const double *a, int lda, double *x, int incx) {
	blas_load();
	blas.dtrmv(order, uplo, ta, diag, n, a, lda, x, incx);
}
#else
void blas_load(void) {
}
#endif
