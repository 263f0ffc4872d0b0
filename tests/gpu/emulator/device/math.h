/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Math: the C library's, and intrinsics that name a rounding. Nothing is contracted to a fused multiply-add here, which
 * NVRTC does unless told not to, so that sums may differ in their last bits. */
#define INFINITY     __builtin_inff()
#define NAN          __builtin_nanf("")
#define CUDART_INF_F __builtin_inff()

#define SS_MATH1(X)                                                                                                    \
	X(sqrt)                                                                                                            \
	X(cbrt)                                                                                                            \
	X(exp)                                                                                                             \
	X(exp2)                                                                                                            \
	X(expm1)                                                                                                           \
	X(log)                                                                                                             \
	X(log2)                                                                                                            \
	X(log10)                                                                                                           \
	X(log1p)                                                                                                           \
	X(sin)                                                                                                             \
	X(cos)                                                                                                             \
	X(tan)                                                                                                             \
	X(asin)                                                                                                            \
	X(acos)                                                                                                            \
	X(atan)                                                                                                            \
	X(sinh)                                                                                                            \
	X(cosh) X(tanh) X(floor) X(ceil) X(trunc) X(round) X(rint) X(nearbyint) X(fabs) X(erf) X(erfc) X(tgamma) X(lgamma)
#define SS_MATH2(X) X(pow) X(fmod) X(atan2) X(fmin) X(fmax) X(fdim) X(hypot) X(copysign) X(remainder) X(nextafter)
#define SS_DECLARE1(name)                                                                                              \
	extern "C" double name(double);                                                                                    \
	extern "C" float name##f(float);                                                                                   \
	static inline float name(float a) {                                                                                \
		return __builtin_##name##f(a);                                                                                 \
	}
#define SS_DECLARE2(name)                                                                                              \
	extern "C" double name(double, double);                                                                            \
	extern "C" float name##f(float, float);                                                                            \
	static inline float name(float a, float b) {                                                                       \
		return __builtin_##name##f(a, b);                                                                              \
	}
SS_MATH1(SS_DECLARE1)
SS_MATH2(SS_DECLARE2)
extern "C" double fma(double, double, double);
extern "C" float fmaf(float, float, float);
static inline float fma(float a, float b, float c) {
	return __builtin_fmaf(a, b, c);
}
static inline float abs(float a) {
	return __builtin_fabsf(a);
}
static inline double abs(double a) {
	return __builtin_fabs(a);
}
static inline float min(float a, float b) {
	return __builtin_fminf(a, b);
}
static inline float max(float a, float b) {
	return __builtin_fmaxf(a, b);
}
static inline double min(double a, double b) {
	return __builtin_fmin(a, b);
}
static inline double max(double a, double b) {
	return __builtin_fmax(a, b);
}
static inline double min(float a, double b) {
	return __builtin_fmin(a, b);
}
static inline double min(double a, float b) {
	return __builtin_fmin(a, b);
}
static inline double max(float a, double b) {
	return __builtin_fmax(a, b);
}
static inline double max(double a, float b) {
	return __builtin_fmax(a, b);
}
static inline double rsqrt(double a) {
	return 1 / __builtin_sqrt(a);
}
static inline float rsqrtf(float a) {
	return 1 / __builtin_sqrtf(a);
}
static inline float rsqrt(float a) {
	return rsqrtf(a);
}
static inline bool isnan(double a) {
	return __builtin_isnan(a);
}
static inline bool isinf(double a) {
	return __builtin_isinf(a);
}
static inline bool isfinite(double a) {
	return __builtin_isfinite(a);
}
static inline void sincosf(float a, float *s, float *c) {
	*s = sinf(a), *c = cosf(a);
}
static inline void sincos(double a, double *s, double *c) {
	*s = sin(a), *c = cos(a);
}

static inline float __fmaf_rn(float a, float b, float c) {
	return __builtin_fmaf(a, b, c);
}
static inline double __fma_rn(double a, double b, double c) {
	return __builtin_fma(a, b, c);
}
#define SS_ROUNDED(name, T, expression)                                                                                \
	static inline T name(T a, T b) {                                                                                   \
		return expression;                                                                                             \
	}
SS_ROUNDED(__fadd_rn, float, a + b)
SS_ROUNDED(__fsub_rn, float, a - b)
SS_ROUNDED(__fmul_rn, float, a *b)
SS_ROUNDED(__fdiv_rn, float, a / b)
SS_ROUNDED(__fdividef, float, a / b)
SS_ROUNDED(__dadd_rn, double, a + b)
SS_ROUNDED(__dsub_rn, double, a - b)
SS_ROUNDED(__dmul_rn, double, a *b)
SS_ROUNDED(__ddiv_rn, double, a / b)
SS_ROUNDED(__powf, float, powf(a, b))
static inline float __fsqrt_rn(float a) {
	return __builtin_sqrtf(a);
}
static inline double __dsqrt_rn(double a) {
	return __builtin_sqrt(a);
}
static inline float __frcp_rn(float a) {
	return 1 / a;
}
static inline double __drcp_rn(double a) {
	return 1 / a;
}
static inline float __frsqrt_rn(float a) {
	return rsqrtf(a);
}
static inline float __expf(float a) {
	return expf(a);
}
static inline float __logf(float a) {
	return logf(a);
}
static inline float __log2f(float a) {
	return log2f(a);
}
static inline float __sinf(float a) {
	return sinf(a);
}
static inline float __cosf(float a) {
	return cosf(a);
}
static inline float __saturatef(float a) {
	return min(max(a, 0.0f), 1.0f);
}

/* Conversions saturate, and take a NaN for 0. */
template <class To> static inline To ss_convert(double a, double low, double high) {
	return a != a ? (To)0 : a < low ? (To)low : a > high ? (To)high : (To)a;
}
#define SS_TO_INT(from, T)                                                                                             \
	static inline int __##from##2int_rn(T a) {                                                                         \
		return ss_convert<int>(__builtin_rint(a), -2147483648.0, 2147483647.0);                                        \
	}                                                                                                                  \
	static inline int __##from##2int_rz(T a) {                                                                         \
		return ss_convert<int>(__builtin_trunc(a), -2147483648.0, 2147483647.0);                                       \
	}                                                                                                                  \
	static inline int __##from##2int_rd(T a) {                                                                         \
		return ss_convert<int>(__builtin_floor(a), -2147483648.0, 2147483647.0);                                       \
	}                                                                                                                  \
	static inline int __##from##2int_ru(T a) {                                                                         \
		return ss_convert<int>(__builtin_ceil(a), -2147483648.0, 2147483647.0);                                        \
	}                                                                                                                  \
	static inline unsigned __##from##2uint_rn(T a) {                                                                   \
		return ss_convert<unsigned>(__builtin_rint(a), 0, 4294967295.0);                                               \
	}                                                                                                                  \
	static inline unsigned __##from##2uint_rz(T a) {                                                                   \
		return ss_convert<unsigned>(__builtin_trunc(a), 0, 4294967295.0);                                              \
	}                                                                                                                  \
	static inline long long __##from##2ll_rn(T a) {                                                                    \
		return (long long)__builtin_rint(a);                                                                           \
	}                                                                                                                  \
	static inline long long __##from##2ll_rz(T a) {                                                                    \
		return (long long)a;                                                                                           \
	}
SS_TO_INT(float, float)
SS_TO_INT(double, double)
static inline float __int2float_rn(int a) {
	return (float)a;
}
static inline float __uint2float_rn(unsigned a) {
	return (float)a;
}
static inline float __ll2float_rn(long long a) {
	return (float)a;
}
static inline double __int2double_rn(int a) {
	return a;
}
static inline double __uint2double_rn(unsigned a) {
	return a;
}
static inline double __ll2double_rn(long long a) {
	return (double)a;
}
static inline float __double2float_rn(double a) {
	return (float)a;
}

extern "C" long clock(void);
static inline long long clock64() {
	return (long long)__builtin_ia32_rdtsc();
}
static inline unsigned long long __globaltimer() {
	return (unsigned long long)clock64();
}
static inline void __nanosleep(unsigned) {
	ss_services->yield();
}
