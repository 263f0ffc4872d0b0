/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/proc/power.h"

#include <ctype.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"

enum { ANSWER_SECONDS = 20 };

/* Functions of NVML (NVIDIA, NVML API Reference Guide, 13.0). */
typedef int power_call(void *device, unsigned *milliwatt);

static void *power_find(void *library, const char *name) {
	void *call = library ? dlsym(library, name) : NULL;
	if (library && !call)
		printf("!NVML lacks %s\n", name);
	return call;
}

/* watts: NULL asks for the limit. Prints the watts, or "!" and what is wrong. */
static void power_do(unsigned gpu, const char *watts) {
	void *device = NULL, *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
	int (*init)(void) = (int (*)(void))power_find(library, "nvmlInit_v2");
	int (*by_index)(unsigned, void **) =
		(int (*)(unsigned, void **))power_find(library, "nvmlDeviceGetHandleByIndex_v2");
	const char *(*words)(int) = (const char *(*)(int))power_find(library, "nvmlErrorString");
	power_call *get = (power_call *)power_find(library, "nvmlDeviceGetPowerManagementLimit");
	int (*set)(void *, unsigned) = (int (*)(void *, unsigned))power_find(library, "nvmlDeviceSetPowerManagementLimit");
	unsigned milliwatt = 0;
	if (!library)
		printf("!NVML, the library libnvidia-ml.so.1 of NVIDIA's driver, is not here\n");
	if (!init || !by_index || !words || !get || !set)
		return;
	int wrong = init();
	wrong = wrong ? wrong : by_index(gpu, &device);
	wrong = wrong ? wrong : watts ? set(device, (unsigned)(strtod(watts, NULL) * 1e3 + 0.5)) : get(device, &milliwatt);
	if (wrong)
		printf("!NVML: %s\n", words(wrong));
	else
		printf("%.3f\n", milliwatt * 1e-3);
}

const char *power_gpu(const char *to) {
	static const char scheme[] = "nvml:";
	const char *gpu = to + strlen(scheme);
	bool number =
		strncmp(to, scheme, strlen(scheme)) == 0 && *gpu && strlen(gpu) <= 3 && gpu[strspn(gpu, "0123456789")] == '\0';
	return number ? gpu : NULL;
}

char *power_limit(const char *to, const char *watts, char **why) {
	int out[2];
	char text[256] = "";
	pid_t child = pipe2(out, O_CLOEXEC) == 0 ? fork() : -1;
	if (child == 0) {
		alarm(ANSWER_SECONDS);
		dup2(out[1], STDOUT_FILENO);
		power_do((unsigned)atoi(power_gpu(to)), watts);
		fflush(stdout);
		_exit(0);
	}
	if (child > 0) {
		close(out[1]);
		FILE *answer = fdopen(out[0], "r");
		if (answer && !fgets(text, sizeof text, answer))
			*text = '\0';
		fclose(answer);
		waitpid(child, NULL, 0);
	}
	if (isdigit((unsigned char)*text))
		return mem_strdup(text);
	text_clean(text, false);
	*why = mem_strdup(*text == '!' ? text + 1 : "NVML does not answer");
	return NULL;
}
