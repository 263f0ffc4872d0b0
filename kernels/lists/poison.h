/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes AddressSanitizer report accesses to free nodes; does nothing without it. */
#ifndef KERNELS_LISTS_POISON_H
#define KERNELS_LISTS_POISON_H

#if defined __SANITIZE_ADDRESS__
#define POISON_NODES 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define POISON_NODES 1
#endif
#endif

#ifdef POISON_NODES
#include <sanitizer/asan_interface.h>
#define poison(memory, size)   ASAN_POISON_MEMORY_REGION(memory, size)
#define unpoison(memory, size) ASAN_UNPOISON_MEMORY_REGION(memory, size)
#else
#define poison(memory, size)   ((void)(memory), (void)(size))
#define unpoison(memory, size) ((void)(memory), (void)(size))
#endif

#endif
