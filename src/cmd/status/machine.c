/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "base/sys.h"
#include "base/text.h"
#include "src/app/built.h"
#include "src/cmd/status/state.h"

enum { GPUS_MAX = 64 };

/* Reads "Model: NAME" from a file of the driver. */
static json_t *gpu_name(const char *address) {
	char line[256], *path = mem_printf("/proc/driver/nvidia/gpus/%s/information", address), *model = NULL;
	if (sys_read_line(path, line, sizeof line) && strncmp(line, "Model:", 6) == 0) {
		model = line + 6 + strspn(line + 6, " \t");
		text_clean(model, false);
	}
	free(path);
	return json_string(model ? model : "unknown");
}

/* Lists the GPUs from the files of the driver, without opening a device. */
static json_t *gpus_json(void) {
	json_t *gpus = json_array();
	DIR *folder = opendir("/proc/driver/nvidia/gpus");
	struct dirent *one;
	while (folder && json_array_size(gpus) < GPUS_MAX && (one = readdir(folder)))
		if (one->d_name[0] != '.')
			json_array_append_new(gpus, gpu_name(one->d_name));
	if (folder)
		closedir(folder);
	return gpus;
}

json_t *state_machine(struct app *app, struct err *err) {
	struct topo *topo = app_topo(app, err);
	char fingerprint[SHA256_TEXT];
	if (!topo)
		return NULL;
	json_t *machine = topo_json(topo), *built = built_json();
	json_object_update(machine, built);
	json_decref(built);
	char *text = js_canonical(machine);
	sha256_text(text, strlen(text), fingerprint);
	free(text);
	json_object_set_new(machine, "fingerprint", json_string(fingerprint));
	json_object_set_new(machine, "memory_bytes", json_integer((json_int_t)sys_memory_total()));
	json_object_set_new(machine, "gpus", gpus_json());
	return machine;
}

/* The age of the file is the age of the measurements in it. */
void state_ceilings(json_t *state) {
	const char *fingerprint = js_string_or(json_object_get(state, "machine"), "fingerprint", "");
	struct err unknown = {0};
	struct stat info;
	char *folder = sys_cache_dir(&unknown);
	char *path = folder ? mem_printf("%s/ceilings-%.16s.json", folder, strchr(fingerprint, ':') + 1) : NULL;
	bool measured = path && stat(path, &info) == 0 && S_ISREG(info.st_mode);
	json_t *age = measured ? js_number(sys_wall() - (double)info.st_mtime) : json_null();
	json_object_set_new(state, "ceilings", json_pack("{s:b,s:o}", "measured", measured, "age_s", age));
	free(path);
	free(folder);
}
