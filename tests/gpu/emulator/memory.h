/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of the devices, and pinned memory of the host. A device's allocation ends at an inaccessible page, begins
 * after guard bytes that are checked later, and is filled with useless values at first. */
#ifndef TESTS_GPU_EMULATOR_MEMORY_H
#define TESTS_GPU_EMULATOR_MEMORY_H
#include <stdbool.h>

#include "tests/gpu/emulator/abi.h"

size_t memory_total(void);                           /* bytes of a device */
bool memory_holds(CUdeviceptr address, size_t size); /* all of it is in one allocation, or in a module's variable */
bool memory_pinned(const void *address, size_t size);
bool memory_whole(void); /* the guards are intact; otherwise stderr names the place */
void memory_variable(const void *address, size_t size, bool known); /* of a module that is loaded, or unloaded */
void memory_forget(int device);

#endif
