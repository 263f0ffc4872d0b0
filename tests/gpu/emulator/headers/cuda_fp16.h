/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In place of the toolkit's: a number of 16 bits, which is a float in every operation (NVIDIA, "CUDA Math API",
 * "Half"). */
#ifndef TESTS_GPU_EMULATOR_HEADERS_CUDA_FP16_H
#define TESTS_GPU_EMULATOR_HEADERS_CUDA_FP16_H
struct __half {
	_Float16 value;
	__half() = default;
	template <class T> __half(T number) : value((_Float16)number) {
	}
	operator float() const {
		return value;
	}
	template <class T> __half &operator+=(T number) {
		return *this = *this + number;
	}
};
typedef __half half;
static inline __half __float2half(float number) {
	return number;
}
static inline float __half2float(__half number) {
	return number;
}
static inline __half __hadd(__half a, __half b) {
	return a + b;
}
static inline __half __hmul(__half a, __half b) {
	return a * b;
}
static inline __half __hfma(__half a, __half b, __half c) {
	return (double)a * (double)b + (double)c;
}
#endif
