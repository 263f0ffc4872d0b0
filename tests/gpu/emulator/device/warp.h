/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Barriers, and operations across the lanes of a warp. */
#define __syncthreads()            ((void)ss_services->barrier(__LINE__, 0))
#define __syncthreads_count(value) ss_services->barrier(__LINE__, (value) != 0)
#define __syncthreads_or(value)    (ss_services->barrier(__LINE__, (value) != 0) != 0)
#define __syncthreads_and(value)   (ss_services->barrier(__LINE__, (value) == 0) == 0)
#define __barrier_sync(number)     __syncthreads()
static inline void __threadfence() {
	ss_services->step();
}
static inline void __threadfence_block() {
	ss_services->step();
}
static inline void __threadfence_system() {
	ss_services->step();
}

static inline void __syncwarp(unsigned mask = 0xffffffff) {
	ss_services->together(EMULATED_SYNC, mask, 0, 0);
}
static inline unsigned __activemask() {
	return ss_services->active();
}
static inline unsigned __ballot_sync(unsigned mask, int value) {
	return (unsigned)ss_services->together(EMULATED_BALLOT, mask, value != 0, 0);
}
static inline int __any_sync(unsigned mask, int value) {
	return __ballot_sync(mask, value) != 0;
}
static inline int __all_sync(unsigned mask, int value) {
	return __ballot_sync(mask, !value) == 0;
}

static inline int ss_lane() {
	return (int)((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32);
}

/* `source` counts in the group of `width` lanes; outside it a lane gets its own value. */
template <class T> static inline T ss_shuffle(unsigned mask, T value, int source) {
	unsigned long long bits = 0, got;
	static_assert(sizeof value <= sizeof bits, "shuffles take up to 8 bytes");
	__builtin_memcpy(&bits, &value, sizeof value);
	got = ss_services->together(EMULATED_SHUFFLE, mask, bits, source);
	__builtin_memcpy(&value, &got, sizeof value);
	return value;
}
/* Returns the values that the lanes of a whole warp pass, valid until its next call. One call replaces 32 shuffles. */
static inline const unsigned long long *ss_emulated_gather(unsigned long long value) {
	return (const unsigned long long *)ss_services->together(EMULATED_GATHER, 0xffffffff, value, 0);
}
template <class T> static inline T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
	int lane = ss_lane();
	return ss_shuffle(mask, value, (lane & -width) + (source & (width - 1)));
}
template <class T> static inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
	int lane = ss_lane(), source = lane - (int)delta;
	return ss_shuffle(mask, value, source < (lane & -width) ? -1 : source);
}
template <class T> static inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
	int lane = ss_lane(), source = lane + (int)delta;
	return ss_shuffle(mask, value, source > (lane | (width - 1)) ? -1 : source);
}
template <class T> static inline T __shfl_xor_sync(unsigned mask, T value, int with, int width = 32) {
	int lane = ss_lane(), source = lane ^ with;
	return ss_shuffle(mask, value, source > (lane | (width - 1)) ? -1 : source);
}
template <class T> static inline unsigned __match_any_sync(unsigned mask, T value) {
	unsigned long long bits = 0;
	__builtin_memcpy(&bits, &value, sizeof value);
	return (unsigned)ss_services->together(EMULATED_MATCH, mask, bits, 0);
}
template <class T> static inline unsigned __match_all_sync(unsigned mask, T value, int *all) {
	unsigned same = __match_any_sync(mask, value);
	*all = same == (mask & ss_services->active());
	return *all ? mask : 0;
}
#define SS_REDUCE(name, T, op)                                                                                         \
	static inline T name(unsigned mask, T value) {                                                                     \
		return (T)ss_services->together(op, mask, (unsigned)value, 0);                                                 \
	}
SS_REDUCE(__reduce_add_sync, unsigned, EMULATED_ADD)
SS_REDUCE(__reduce_add_sync, int, EMULATED_ADD)
SS_REDUCE(__reduce_min_sync, unsigned, EMULATED_UMIN)
SS_REDUCE(__reduce_min_sync, int, EMULATED_MIN)
SS_REDUCE(__reduce_max_sync, unsigned, EMULATED_UMAX)
SS_REDUCE(__reduce_max_sync, int, EMULATED_MAX)
SS_REDUCE(__reduce_and_sync, unsigned, EMULATED_AND)
SS_REDUCE(__reduce_or_sync, unsigned, EMULATED_OR)
SS_REDUCE(__reduce_xor_sync, unsigned, EMULATED_XOR)
