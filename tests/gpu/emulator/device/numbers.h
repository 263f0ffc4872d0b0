/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Integer intrinsics, loads and stores with a hint, conversions of bits. */
#define SS_EACH_NUMBER(X) X(int) X(unsigned) X(long) X(unsigned long) X(long long) X(unsigned long long)
#define SS_MINMAX(T)                                                                                                   \
	static constexpr inline T min(T a, T b) {                                                                          \
		return a < b ? a : b;                                                                                          \
	}                                                                                                                  \
	static constexpr inline T max(T a, T b) {                                                                          \
		return a > b ? a : b;                                                                                          \
	}
SS_EACH_NUMBER(SS_MINMAX)
static constexpr inline unsigned min(int a, unsigned b) {
	return min((unsigned)a, b);
}
static constexpr inline unsigned min(unsigned a, int b) {
	return min(a, (unsigned)b);
}
static constexpr inline unsigned max(int a, unsigned b) {
	return max((unsigned)a, b);
}
static constexpr inline unsigned max(unsigned a, int b) {
	return max(a, (unsigned)b);
}
static constexpr inline long long min(int a, long long b) {
	return min((long long)a, b);
}
static constexpr inline long long min(long long a, int b) {
	return min(a, (long long)b);
}
static constexpr inline long long max(int a, long long b) {
	return max((long long)a, b);
}
static constexpr inline long long max(long long a, int b) {
	return max(a, (long long)b);
}
static constexpr inline unsigned long long min(unsigned long long a, unsigned b) {
	return a < b ? a : b;
}
static constexpr inline unsigned long long min(unsigned a, unsigned long long b) {
	return a < b ? a : b;
}
static constexpr inline int abs(int a) {
	return a < 0 ? -a : a;
}
static constexpr inline long abs(long a) {
	return a < 0 ? -a : a;
}
static constexpr inline long long abs(long long a) {
	return a < 0 ? -a : a;
}
static inline long long llabs(long long a) {
	return abs(a);
}

static inline int __popc(unsigned a) {
	return __builtin_popcount(a);
}
static inline int __popcll(unsigned long long a) {
	return __builtin_popcountll(a);
}
static inline int __clz(int a) {
	return a ? __builtin_clz((unsigned)a) : 32;
}
static inline int __clzll(long long a) {
	return a ? __builtin_clzll((unsigned long long)a) : 64;
}
static inline int __ffs(int a) {
	return __builtin_ffs(a);
}
static inline int __ffsll(long long a) {
	return __builtin_ffsll(a);
}
static inline unsigned __brev(unsigned a) {
	unsigned out = 0;
	for (int i = 0; i < 32; i++)
		out |= (a >> i & 1) << (31 - i);
	return out;
}
static inline unsigned long long __brevll(unsigned long long a) {
	return (unsigned long long)__brev((unsigned)a) << 32 | __brev((unsigned)(a >> 32));
}
/* The default mode of PRMT; bit 3 of a selector repeats the sign. */
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned s) {
	unsigned long long bytes = (unsigned long long)b << 32 | a;
	unsigned out = 0;
	for (int i = 0; i < 4; i++) {
		unsigned selector = s >> (4 * i) & 0xf, byte = (unsigned)(bytes >> (8 * (selector & 7))) & 0xff;
		out |= (selector & 8 ? (byte & 0x80 ? 0xffu : 0) : byte) << (8 * i);
	}
	return out;
}
static inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s) {
	return (unsigned)((((unsigned long long)hi << 32 | lo) << (s & 31)) >> 32);
}
static inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned s) {
	return (unsigned)(((unsigned long long)hi << 32 | lo) >> (s & 31));
}
static inline unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned s) {
	return s >= 32 ? lo : __funnelshift_l(lo, hi, s);
}
static inline unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned s) {
	return s >= 32 ? hi : __funnelshift_r(lo, hi, s);
}
static inline int __mul24(int a, int b) {
	return (a << 8 >> 8) * (b << 8 >> 8);
}
static inline unsigned __umul24(unsigned a, unsigned b) {
	return (a & 0xffffff) * (b & 0xffffff);
}
static inline int __mulhi(int a, int b) {
	return (int)((long long)a * b >> 32);
}
static inline unsigned __umulhi(unsigned a, unsigned b) {
	return (unsigned)((unsigned long long)a * b >> 32);
}
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
	return (unsigned long long)((unsigned __int128)a * b >> 64);
}
static inline long long __mul64hi(long long a, long long b) {
	return (long long)((__int128)a * b >> 64);
}
static inline unsigned __sad(int a, int b, unsigned c) {
	return (a > b ? (unsigned)a - b : (unsigned)b - a) + c;
}
static inline unsigned __usad(unsigned a, unsigned b, unsigned c) {
	return (a > b ? a - b : b - a) + c;
}
static inline int __hadd(int a, int b) {
	return (int)(((long long)a + b) >> 1);
}
static inline unsigned __uhadd(unsigned a, unsigned b) {
	return (unsigned)(((unsigned long long)a + b) >> 1);
}
static inline int __dp4a(int a, int b, int c) {
	for (int i = 0; i < 32; i += 8)
		c += (int)(signed char)(a >> i) * (signed char)(b >> i);
	return c;
}
static inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
	for (int i = 0; i < 32; i += 8)
		c += (a >> i & 0xff) * (b >> i & 0xff);
	return c;
}

/* Per half word; T is how a half is read. */
#define SS_HALVES(name, T, expression)                                                                                 \
	static inline unsigned name(unsigned a, unsigned b) {                                                              \
		unsigned out = 0;                                                                                              \
		for (int half = 0; half < 32; half += 16) {                                                                    \
			T x = (T)(a >> half), y = (T)(b >> half);                                                                  \
			out |= (unsigned)(unsigned short)(expression) << half;                                                     \
		}                                                                                                              \
		return out;                                                                                                    \
	}
SS_HALVES(__vadd2, unsigned short, x + y)
SS_HALVES(__vsub2, unsigned short, x - y)
SS_HALVES(__vmins2, short, x < y ? x : y)
SS_HALVES(__vmaxs2, short, x > y ? x : y)
SS_HALVES(__vminu2, unsigned short, x < y ? x : y)
SS_HALVES(__vmaxu2, unsigned short, x > y ? x : y)
SS_HALVES(__vaddss2, short, min(max(x + y, -32768), 32767))
SS_HALVES(__vaddus2, unsigned short, min(x + y, 65535))
SS_HALVES(__vcmpeq2, unsigned short, x == y ? 0xffff : 0)
SS_HALVES(__vcmplts2, short, x < y ? 0xffff : 0)
SS_HALVES(__vcmpgts2, short, x > y ? 0xffff : 0)
#define SS_BYTES(name, T, expression)                                                                                  \
	static inline unsigned name(unsigned a, unsigned b) {                                                              \
		unsigned out = 0;                                                                                              \
		for (int at = 0; at < 32; at += 8) {                                                                           \
			T x = (T)(a >> at), y = (T)(b >> at);                                                                      \
			out |= (unsigned)(unsigned char)(expression) << at;                                                        \
		}                                                                                                              \
		return out;                                                                                                    \
	}
SS_BYTES(__vadd4, unsigned char, x + y)
SS_BYTES(__vsub4, unsigned char, x - y)
SS_BYTES(__vcmpeq4, unsigned char, x == y ? 0xff : 0)
SS_BYTES(__vcmpgtu4, unsigned char, x > y ? 0xff : 0)
SS_BYTES(__vminu4, unsigned char, x < y ? x : y)
SS_BYTES(__vmaxu4, unsigned char, x > y ? x : y)
SS_BYTES(__vseteq4, unsigned char, x == y)
static inline int __viaddmin_s32(int a, int b, int c) {
	return min(a + b, c);
}
static inline int __viaddmax_s32(int a, int b, int c) {
	return max(a + b, c);
}
static inline int __vimin3_s32(int a, int b, int c) {
	return min(min(a, b), c);
}
static inline int __vimax3_s32(int a, int b, int c) {
	return max(max(a, b), c);
}
static inline unsigned __viaddmin_s16x2(unsigned a, unsigned b, unsigned c) {
	return __vmins2(__vadd2(a, b), c);
}

template <class T> static inline T __ldg(const T *at) {
	return *at;
}
template <class T> static inline T __ldcg(const T *at) {
	return *at;
}
template <class T> static inline T __ldca(const T *at) {
	return *at;
}
template <class T> static inline T __ldcs(const T *at) {
	return *at;
}
template <class T> static inline T __ldlu(const T *at) {
	return *at;
}
template <class T> static inline T __ldcv(const T *at) {
	return *at;
}
template <class T> static inline void __stwb(T *at, T value) {
	*at = value;
}
template <class T> static inline void __stcg(T *at, T value) {
	*at = value;
}
template <class T> static inline void __stcs(T *at, T value) {
	*at = value;
}
template <class T> static inline void __stwt(T *at, T value) {
	*at = value;
}

template <class To, class From> static inline To ss_bits(From from) {
	To to;
	static_assert(sizeof to == sizeof from, "the same size");
	__builtin_memcpy(&to, &from, sizeof to);
	return to;
}
static inline float __int_as_float(int a) {
	return ss_bits<float>(a);
}
static inline int __float_as_int(float a) {
	return ss_bits<int>(a);
}
static inline float __uint_as_float(unsigned a) {
	return ss_bits<float>(a);
}
static inline unsigned __float_as_uint(float a) {
	return ss_bits<unsigned>(a);
}
static inline double __longlong_as_double(long long a) {
	return ss_bits<double>(a);
}
static inline long long __double_as_longlong(double a) {
	return ss_bits<long long>(a);
}
static inline int __double2hiint(double a) {
	return (int)(__double_as_longlong(a) >> 32);
}
static inline int __double2loint(double a) {
	return (int)__double_as_longlong(a);
}
static inline double __hiloint2double(int hi, int lo) {
	return __longlong_as_double((long long)hi << 32 | (unsigned)lo);
}
static inline size_t __cvta_generic_to_shared(const void *at) {
	return (size_t)at;
}
static inline void *__cvta_shared_to_generic(size_t at) {
	return (void *)at;
}
static inline size_t __cvta_generic_to_global(const void *at) {
	return (size_t)at;
}
