/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps failures until somebody asks for them. */
#include <config.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gpu/impl.h"
#include "src/base/text.h"

/* After these errors the context answers every call with the same error, or is gone. */
static const driver_result fatal[] = {
	DRIVER_NOT_INITIALIZED,
	DRIVER_DEINITIALIZED,
	DRIVER_DEVICE_UNAVAILABLE,
	DRIVER_INVALID_CONTEXT,
	DRIVER_ECC,
	DRIVER_NVLINK,
	DRIVER_CONTAINED,
	DRIVER_OPERATING_SYSTEM,
	DRIVER_ILLEGAL_ADDRESS,
	DRIVER_TIMEOUT,
	DRIVER_CONTEXT_DESTROYED,
	DRIVER_ASSERT,
	DRIVER_STACK,
	DRIVER_ILLEGAL_INSTRUCTION,
	DRIVER_MISALIGNED,
	DRIVER_ADDRESS_SPACE,
	DRIVER_INVALID_PC,
	DRIVER_LAUNCH_FAILED,
	DRIVER_UNKNOWN,
};

enum gpu_failure gpu_failure_of(driver_result result) {
	if (result == DRIVER_SUCCESS)
		return GPU_FINE;
	if (result == DRIVER_OUT_OF_MEMORY)
		return GPU_NO_MEMORY;
	for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
		if (result == fatal[i])
			return GPU_BROKEN;
	return GPU_REFUSED;
}

/* Keeps the first failure, unless a later one breaks the device. */
void gpu_fail(struct gpu *gpu, enum gpu_failure failure, const char *format, ...) {
	if (gpu->failure != GPU_FINE && (failure != GPU_BROKEN || gpu->failure == GPU_BROKEN))
		return;
	va_list ap;
	va_start(ap, format);
	vsnprintf(gpu->message, sizeof gpu->message, format, ap);
	va_end(ap);
	text_clean(gpu->message, false);
	gpu->failure = failure;
}

bool gpu_succeeded(struct gpu *gpu, const char *call, driver_result result) {
	if (result == DRIVER_SUCCESS)
		return true;
	char words[sizeof gpu->message];
	driver_words(&gpu->driver, gpu->driver.api->symbol(call), result, words, sizeof words);
	gpu_fail(gpu, gpu_failure_of(result), "%s", words);
	return false;
}

bool gpu_lacks(struct gpu *gpu, const char *call) {
	gpu_fail(gpu, GPU_REFUSED, "this driver lacks %s: a newer one is needed", gpu->driver.api->symbol(call));
	return false;
}

enum gpu_failure gpu_failed(struct gpu *gpu, char *message, size_t size) {
	enum gpu_failure failure = gpu->failure;
	if (size)
		snprintf(message, size, "%s", failure == GPU_FINE ? "" : gpu->message);
	if (failure != GPU_BROKEN)
		gpu->failure = GPU_FINE;
	return failure;
}

bool gpu_is_fine(const struct gpu *gpu) {
	return gpu->failure == GPU_FINE;
}

bool gpu_enter_to_free(struct gpu *gpu) {
	if (gpu->failure == GPU_BROKEN)
		return false;
	if (gpu->backend)
		return true;
	return GPU_CALL(gpu, context_set, gpu->context);
}

bool gpu_enter(struct gpu *gpu) {
	return gpu->failure == GPU_FINE && gpu_enter_to_free(gpu);
}
