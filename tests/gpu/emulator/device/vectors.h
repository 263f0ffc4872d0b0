/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Vector types, aligned as on the device (CUDA C++ Programming Guide, "Built-in Vector Types"). */
#define SS_VECTORS(T, name, a1, a2, a4)                                                                                \
	struct __align__(a1) name##1 {                                                                                     \
		T x;                                                                                                           \
	};                                                                                                                 \
	struct __align__(a2) name##2 {                                                                                     \
		T x, y;                                                                                                        \
	};                                                                                                                 \
	struct name##3 {                                                                                                   \
		T x, y, z;                                                                                                     \
	};                                                                                                                 \
	struct __align__(a4) name##4 {                                                                                     \
		T x, y, z, w;                                                                                                  \
	};                                                                                                                 \
	SS_MAKE(T, name)
#define SS_MAKE(T, name)                                                                                               \
	static inline name##1 make_##name##1(T x) {                                                                        \
		return name##1 {x};                                                                                            \
	}                                                                                                                  \
	static inline name##2 make_##name##2(T x, T y) {                                                                   \
		return name##2 {x, y};                                                                                         \
	}                                                                                                                  \
	static inline name##3 make_##name##3(T x, T y, T z) {                                                              \
		return name##3 {x, y, z};                                                                                      \
	}                                                                                                                  \
	static inline name##4 make_##name##4(T x, T y, T z, T w) {                                                         \
		return name##4 {x, y, z, w};                                                                                   \
	}
SS_VECTORS(signed char, char, 1, 2, 4)
SS_VECTORS(unsigned char, uchar, 1, 2, 4)
SS_VECTORS(short, short, 2, 4, 8)
SS_VECTORS(unsigned short, ushort, 2, 4, 8)
SS_VECTORS(int, int, 4, 8, 16)
SS_VECTORS(long, long, 8, 16, 16)
SS_VECTORS(unsigned long, ulong, 8, 16, 16)
SS_VECTORS(long long, longlong, 8, 16, 16)
SS_VECTORS(unsigned long long, ulonglong, 8, 16, 16)
SS_VECTORS(float, float, 4, 8, 16)
SS_VECTORS(double, double, 8, 16, 16)
struct uint1 {
	unsigned x;
};
struct __align__(8) uint2 {
	unsigned x, y;
};
struct __align__(16) uint4 {
	unsigned x, y, z, w;
};
SS_MAKE(unsigned, uint)
