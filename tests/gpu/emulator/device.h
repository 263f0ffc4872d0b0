/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Devices and their contexts. */
#ifndef TESTS_GPU_EMULATOR_DEVICE_H
#define TESTS_GPU_EMULATOR_DEVICE_H
#include "tests/gpu/emulator/abi.h"

enum { DEVICES_MAX = 16, DEVICE_SMS = 4, DEVICE_THREADS = 1024, DEVICE_SM_THREADS = 2048, DEVICE_SM_BLOCKS = 32 };
enum { SHARED_PER_BLOCK = 48 << 10, SHARED_OPTIN = 227 << 10, SHARED_RESERVED = 1 << 10, SHARED_PER_SM = 228 << 10 };

struct context {
	int device;
	unsigned retained;
	unsigned peers;   /* bit d: device d's memory may be used */
	CUresult failure; /* the first of a kernel: from then on every call fails with it */
};

struct context *context_now(void);
struct context *context_of(CUdevice device);
int device_count(void);
/* The result of calls that need a context: an error without one, or in a lost one. */
CUresult context_ready(void);
uint64_t number_from(const char *variable, uint64_t otherwise); /* of the environment */

#endif
