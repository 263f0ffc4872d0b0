/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/regions/rebuilt.h"

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/regions/symbols.h"
#include "tuner/regions/regions_table_impl.h"

enum { MODULES_MAX = OMP_MODULES, NAMES_MAX = 5 };

struct module {
	const char *path;
	struct symbols *symbols; /* NULL: the file cannot be read */
	bool is_same;            /* as it was when it was tuned */
};

struct search {
	struct module modules[MODULES_MAX];
	struct regions_module named[MODULES_MAX];
	size_t module_count;
	struct regions_region *regions;
	struct regions_setting *settings;
	size_t count;
	struct regions_sizes *sizes;
	size_t sizes_count;
	struct regions_rebuilt *rebuilt;
};

/* A file without a build ID is compared by its regions. */
static struct module *module_of(struct search *search, const char *path, const char *build_id) {
	for (size_t i = 0; i < search->module_count; i++)
		if (strcmp(search->modules[i].path, path) == 0)
			return &search->modules[i];
	if (search->module_count == MODULES_MAX)
		return NULL;
	struct module *module = &search->modules[search->module_count];
	*module = (struct module){.path = path, .symbols = symbols_read(path)};
	const char *now = module->symbols ? symbols_build_id(module->symbols) : "-";
	module->is_same = strcmp(now, "-") != 0 && strcmp(now, build_id) == 0;
	search->named[search->module_count++] = (struct regions_module){path, now};
	if (!module->is_same && !search->rebuilt->build_id && module->symbols)
		search->rebuilt->build_id = mem_strdup(now);
	return module;
}

static bool is_set(const struct regions_setting *setting) {
	return setting->threads || setting->kind || setting->chunk;
}

static void lose(struct regions_rebuilt *rebuilt, const json_t *region) {
	const char *place = js_string_or(region, "place", "");
	if (rebuilt->lost++ >= NAMES_MAX)
		return;
	char *names = mem_printf("%s%s%s%s%s%s", rebuilt->names ? rebuilt->names : "", rebuilt->names ? ", " : "",
	                         js_string_or(region, "name", "?"), *place ? " (" : "", place, *place ? ")" : "");
	free(rebuilt->names);
	rebuilt->names = names;
}

static bool offset_now(const struct module *module, const json_t *region, uint64_t *offset) {
	const char *symbol = js_string_or(region, "symbol", "");
	uint64_t size = (uint64_t)js_int_or(region, "code_size", 0), bytes = (uint64_t)js_int_or(region, "code_bytes", 0);
	uint64_t hash = (uint64_t)js_int_or(region, "code_hash", 0);
	int same = 0;
	*offset = (uint64_t)js_int_or(region, "offset", 0);
	if (!module || !module->symbols)
		return false;
	if (module->is_same)
		return true;
	if (bytes && hash && symbols_coded(module->symbols, bytes, hash, offset) == 1)
		return true;
	return *symbol && size && symbols_named(module->symbols, symbol, size, &same, offset) >= 1 && same == 1;
}

static void size_class_read(const json_t *size, struct omp_region *facts) {
	long long number = js_int_or(size, "class", 0), measure = js_int_or(size, "measure", 0);
	if (number < 1 || number > OMP_CLASSES || measure < 0 || measure >= OMP_MEASURES)
		return;
	facts->size_class = (uint32_t)number;
	facts->measure = (uint32_t)measure;
	facts->above = js_int_or(size, "above", INT64_MIN);
	facts->upto = js_int_or(size, "upto", INT64_MAX);
}

static void region_read(struct search *search, const json_t *region) {
	const json_t *setting = json_object_get(region, "setting");
	struct module *module =
		module_of(search, js_string_or(region, "module", ""), js_string_or(region, "build_id", "-"));
	struct regions_setting *to = &search->settings[search->count];
	*to = (struct regions_setting){.threads = (unsigned)js_int_or(setting, "threads", 0),
	                               .kind = (int)js_int_or(setting, "kind", 0),
	                               .chunk = (unsigned)js_int_or(setting, "chunk", 0)};
	uint64_t offset;
	if (!offset_now(module, region, &offset)) {
		if (is_set(to))
			lose(search->rebuilt, region);
		return;
	}
	search->rebuilt->used += is_set(to);
	struct regions_region *now = &search->regions[search->count++];
	*now = (struct regions_region){
		.module = module->path, .module_number = (uint32_t)(module - search->modules), .offset = offset};
	size_class_read(json_object_get(region, "size"), &now->facts);
	regions_sizes_add(&search->sizes, &search->sizes_count, now);
}

static bool all_same(const struct search *search) {
	for (size_t i = 0; i < search->module_count; i++)
		if (!search->modules[i].is_same)
			return false;
	return true;
}

int regions_rebuilt_find(const json_t *settings, bool always, struct regions_rebuilt *rebuilt, struct err *err) {
	const json_t *regions = json_object_get(settings, "regions");
	size_t count = json_array_size(regions);
	struct search search = {.regions = mem_alloc(count + 1, sizeof *search.regions),
	                        .settings = mem_alloc(count + 1, sizeof *search.settings),
	                        .rebuilt = rebuilt};
	*rebuilt = (struct regions_rebuilt){0};
	js_each (region, regions)
		region_read(&search, region);
	const struct regions_record record = {
		.regions = search.regions, .count = search.count, .modules = search.named, .module_count = search.module_count};
	const struct regions_table table = {.force = js_bool_or(settings, "force", false),
	                                    .rows = search.settings,
	                                    .columns = 1,
	                                    .sizes = search.sizes,
	                                    .sizes_count = search.sizes_count};
	int failed = 0;
	if (always || !all_same(&search)) {
		rebuilt->table = regions_table_text(&table, &record);
		if (rebuilt->lost && !rebuilt->used)
			failed = err_set(err, ERR_NOTHING, "sweetspot tune --regions -- ./app in.dat",
			                 "the program was built again, and none of its tuned regions is left as it was");
	}
	for (size_t k = 0; k < search.module_count; k++)
		symbols_free(search.modules[k].symbols);
	free(search.regions);
	free(search.sizes);
	free(search.settings);
	return failed ? -1 : 0;
}

void regions_rebuilt_clear(struct regions_rebuilt *rebuilt) {
	free(rebuilt->table);
	free(rebuilt->build_id);
	free(rebuilt->names);
}
