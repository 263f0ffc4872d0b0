/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Atomics: one thread runs at a time, so that plain code is atomic; another thread may come before each. */
#define SS_ATOMIC(name, T, expression)                                                                                 \
	static inline T name(T *at, T value) {                                                                             \
		ss_services->step();                                                                                           \
		T old = *(volatile T *)at;                                                                                     \
		*(volatile T *)at = expression;                                                                                \
		return old;                                                                                                    \
	}                                                                                                                  \
	static inline T name##_block(T *at, T value) {                                                                     \
		return name(at, value);                                                                                        \
	}                                                                                                                  \
	static inline T name##_system(T *at, T value) {                                                                    \
		return name(at, value);                                                                                        \
	}
#define SS_CAS(T)                                                                                                      \
	static inline T atomicCAS(T *at, T expected, T value) {                                                            \
		ss_services->step();                                                                                           \
		T old = *(volatile T *)at;                                                                                     \
		if (old == expected)                                                                                           \
			*(volatile T *)at = value;                                                                                 \
		return old;                                                                                                    \
	}                                                                                                                  \
	static inline T atomicCAS_block(T *at, T expected, T value) {                                                      \
		return atomicCAS(at, expected, value);                                                                         \
	}                                                                                                                  \
	static inline T atomicCAS_system(T *at, T expected, T value) {                                                     \
		return atomicCAS(at, expected, value);                                                                         \
	}
#define SS_BITWISE(T)                                                                                                  \
	SS_ATOMIC(atomicMin, T, old < value ? old : value)                                                                 \
	SS_ATOMIC(atomicMax, T, old > value ? old : value)                                                                 \
	SS_ATOMIC(atomicAnd, T, old &value)                                                                                \
	SS_ATOMIC(atomicOr, T, old | value)                                                                                \
	SS_ATOMIC(atomicXor, T, old ^ value)                                                                               \
	SS_ATOMIC(atomicExch, T, value)                                                                                    \
	SS_CAS(T)
SS_BITWISE(int)
SS_BITWISE(unsigned)
SS_BITWISE(unsigned long long)
SS_ATOMIC(atomicMin, long long, old < value ? old : value)
SS_ATOMIC(atomicMax, long long, old > value ? old : value)
SS_ATOMIC(atomicAdd, int, old + value)
SS_ATOMIC(atomicAdd, unsigned, old + value)
SS_ATOMIC(atomicAdd, unsigned long long, old + value)
SS_ATOMIC(atomicAdd, float, old + value)
SS_ATOMIC(atomicAdd, double, old + value)
SS_ATOMIC(atomicSub, int, old - value)
SS_ATOMIC(atomicSub, unsigned, old - value)
SS_ATOMIC(atomicExch, float, value)
SS_ATOMIC(atomicInc, unsigned, old >= value ? 0 : old + 1)
SS_ATOMIC(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)
SS_CAS(unsigned short)
