/* SPDX-License-Identifier: BSD-3-Clause */
/* The locks, in the order of the list in local.mk: lock_registry[i] is the i-th word of LOCK_WORDS. */
#ifndef KERNELS_LOCKS_REGISTRY_H
#define KERNELS_LOCKS_REGISTRY_H
#include "kernels/locks/lock.h"

#define LOCK(name) extern const struct lock_kind lock_##name, lock_##name##_counted;
#include "kernels/locks/registry.def"
#undef LOCK
#endif
