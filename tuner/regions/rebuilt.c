/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/proc/apart.h"
#include "base/sys.h"
#include "tuner/regions/regions_impl.h"

enum { FILE_MOST = 1 << 30 };

static bool is_within(const struct symbols *symbols, uint64_t at, uint64_t size) {
	return at <= symbols->size && size <= symbols->size - at;
}

static const Elf64_Ehdr *header_of(const struct symbols *symbols) {
	const Elf64_Ehdr *header = (const void *)symbols->data;
	bool good = symbols->size >= sizeof *header && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	            header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_phentsize == sizeof(Elf64_Phdr) &&
	            header->e_phoff % 8 == 0 && header->e_shoff % 8 == 0 &&
	            is_within(symbols, header->e_phoff, (uint64_t)header->e_phnum * sizeof(Elf64_Phdr));
	return good ? header : NULL;
}

static void note_read(struct symbols *symbols, const char *notes, size_t size) {
	for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= size;) {
		Elf64_Nhdr note;
		memcpy(&note, notes + at, sizeof note);
		size_t name = at + sizeof note, text = name + (((size_t)note.n_namesz + 3) & ~(size_t)3);
		if (text > size || note.n_descsz > size - text)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(notes + name, "GNU", 4) == 0) {
			for (size_t i = 0; i < note.n_descsz && 2 * i + 2 < BUILD_ID_TEXT; i++)
				snprintf(symbols->build_id + 2 * i, 3, "%02x", (unsigned char)notes[text + i]);
			return;
		}
		at = text + (((size_t)note.n_descsz + 3) & ~(size_t)3);
	}
}

/* Offsets count from the first loaded byte, which a program that is not relocatable wants at a fixed place. */
static void parts_read(struct symbols *symbols, const Elf64_Ehdr *header) {
	const Elf64_Phdr *parts = (const void *)(symbols->data + header->e_phoff);
	symbols->parts = parts;
	symbols->part_count = header->e_phnum;
	symbols->base = UINT64_MAX;
	strcpy(symbols->build_id, "-");
	for (int i = 0; i < header->e_phnum; i++) {
		if (parts[i].p_type == PT_LOAD && parts[i].p_vaddr < symbols->base)
			symbols->base = parts[i].p_vaddr & ~(uint64_t)4095;
		if (parts[i].p_type == PT_LOAD && parts[i].p_vaddr + parts[i].p_memsz > symbols->end)
			symbols->end = parts[i].p_vaddr + parts[i].p_memsz;
		if (parts[i].p_type == PT_NOTE && is_within(symbols, parts[i].p_offset, parts[i].p_filesz))
			note_read(symbols, symbols->data + parts[i].p_offset, parts[i].p_filesz);
	}
	if (symbols->base == UINT64_MAX)
		symbols->base = 0;
}

/* The full table if the file was not stripped, else the one for the dynamic loader. */
static void table_read(struct symbols *symbols, const Elf64_Ehdr *header) {
	if (header->e_shentsize != sizeof(Elf64_Shdr) ||
	    !is_within(symbols, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr)))
		return;
	const Elf64_Shdr *sections = (const void *)(symbols->data + header->e_shoff), *best = NULL;
	for (int i = 0; i < header->e_shnum; i++)
		if (sections[i].sh_type == SHT_SYMTAB || (sections[i].sh_type == SHT_DYNSYM && !best))
			best = &sections[i];
	if (!best || best->sh_link >= header->e_shnum || best->sh_offset % 8 ||
	    !is_within(symbols, best->sh_offset, best->sh_size))
		return;
	const Elf64_Shdr *names = &sections[best->sh_link];
	if (names->sh_size == 0 || !is_within(symbols, names->sh_offset, names->sh_size) ||
	    symbols->data[names->sh_offset + names->sh_size - 1] != '\0')
		return;
	symbols->table = (const void *)(symbols->data + best->sh_offset);
	symbols->count = best->sh_size / sizeof(Elf64_Sym);
	symbols->names = symbols->data + names->sh_offset;
	symbols->names_size = names->sh_size;
}

struct symbols *symbols_parse(char *data, size_t size) {
	struct symbols *symbols = mem_alloc(1, sizeof *symbols);
	symbols->data = data;
	symbols->size = size;
	const Elf64_Ehdr *header = data ? header_of(symbols) : NULL;
	if (!header) {
		symbols_free(symbols);
		return NULL;
	}
	parts_read(symbols, header);
	table_read(symbols, header);
	return symbols;
}

/* NULL where the file cannot be read or is not a 64-bit ELF file. */
static struct symbols *symbols_read(const char *path) {
	size_t size = 0;
	char *data = sys_is_plain_file(path) ? sys_read_file(path, FILE_MOST, &size, NULL) : NULL;
	return symbols_parse(data, size);
}

void symbols_free(struct symbols *symbols) {
	if (symbols)
		free(symbols->data);
	free(symbols);
}

static const char *function_name(const struct symbols *symbols, size_t number) {
	const Elf64_Sym *symbol = &symbols->table[number];
	bool good = ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
	            symbol->st_name < symbols->names_size;
	return good ? symbols->names + symbol->st_name : NULL;
}

bool symbols_at(const struct symbols *symbols, uint64_t offset, const char **name, uint64_t *size) {
	uint64_t address = offset + symbols->base;
	for (size_t i = 0; i < symbols->count; i++) {
		const Elf64_Sym *symbol = &symbols->table[i];
		const char *text = function_name(symbols, i);
		if (!text || address < symbol->st_value || address - symbol->st_value >= symbol->st_size)
			continue;
		*name = text;
		*size = symbol->st_size;
		return true;
	}
	return false;
}

int symbols_named(const struct symbols *symbols, const char *name, uint64_t size, int *same, uint64_t *offset) {
	int count = 0;
	*same = 0;
	for (size_t i = 0; i < symbols->count; i++) {
		const char *text = function_name(symbols, i);
		if (!text || strcmp(text, name) != 0)
			continue;
		count++;
		if (symbols->table[i].st_size != size)
			continue;
		*offset = symbols->table[i].st_value - symbols->base;
		++*same;
	}
	return count;
}

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
	const char *now = module->symbols ? module->symbols->build_id : "-";
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
	bool first = !rebuilt->names;
	rebuilt->names = first ? mem_strdup("") : rebuilt->names;
	mem_append(&rebuilt->names, "%s%s%s%s%s", first ? "" : ", ", js_string_or(region, "name", "?"), *place ? " (" : "",
	           place, *place ? ")" : "");
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

/* Adds the class of a region that has one; the list grows where the region is not in it yet. */
static void sizes_add(struct regions_sizes **sizes, size_t *count, const struct regions_region *region) {
	const struct omp_region *facts = &region->facts;
	size_t at = 0;
	if (!facts->size_class)
		return;
	while (at < *count && !regions_sizes_are_of(&(*sizes)[at], region))
		at++;
	if (at == *count) {
		*sizes = mem_grow(*sizes, ++*count, sizeof **sizes);
		(*sizes)[at] = (struct regions_sizes){
			.module_number = region->module_number, .offset = region->offset, .measure = facts->measure};
	}
	struct regions_sizes *one = &(*sizes)[at];
	unsigned k = one->count;
	if (k == OMP_CLASSES)
		return;
	for (; k > 0 && one->upto[k - 1] > facts->upto; k--) {
		one->upto[k] = one->upto[k - 1];
		one->numbers[k] = one->numbers[k - 1];
	}
	one->upto[k] = facts->upto;
	one->numbers[k] = facts->size_class;
	one->count++;
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
	sizes_add(&search->sizes, &search->sizes_count, now);
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

enum { CPU_SECONDS = 5 };

/* "tiny._omp_fn.0" and "main.omp_outlined_debug__.3" are what compilers make of a region in tiny and in main. Without a
 * place that end is kept, because it tells the regions of one function apart. */
static void name_clean(const char *symbol, bool has_place, char *name, size_t size) {
	static const char *const marks[] = {"._omp_fn", ".omp_outlined", "..omp_par", ".extracted"};
	char function[512];
	size_t length = strlen(symbol);
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
		const char *mark = strstr(symbol, marks[i]);
		if (mark && mark > symbol && (size_t)(mark - symbol) < length)
			length = (size_t)(mark - symbol);
	}
	snprintf(function, sizeof function, "%.*s", (int)length, symbol);
	demangle(function, name, size);
	size_t used = strlen(name);
	if (!has_place)
		snprintf(name + used, size - used, "%s", symbol + length);
}

/* ";file;function;line;column;;", with "unknown" where clang was not asked for debug information. */
static bool place_of_clang(struct regions_region *region) {
	char file[OMP_PLACE], function[OMP_PLACE];
	int line;
	if (sscanf(region->facts.place, ";%159[^;];%159[^;];%d;", file, function, &line) != 3 || line <= 0)
		return false;
	snprintf(region->place, sizeof region->place, "%s:%d", text_base_name(file), line);
	snprintf(region->name, sizeof region->name, "%s", function);
	return true;
}

/* Returns the address that debug information has for the first loaded byte. */
static uint64_t symbols_find(const char *module, struct regions_region *const *regions, size_t count) {
	struct symbols *symbols = symbols_read(module);
	uint64_t base = symbols ? symbols->base : 0;
	for (size_t i = 0; symbols && i < count; i++) {
		const char *name;
		if (symbols_at(symbols, regions[i]->offset, &name, &regions[i]->code_size))
			snprintf(regions[i]->symbol, sizeof regions[i]->symbol, "%s", name);
		if (!symbols_code(symbols, regions[i]->offset, &regions[i]->code_bytes, &regions[i]->code_hash))
			regions[i]->code_bytes = regions[i]->code_hash = 0;
	}
	symbols_free(symbols);
	return base;
}

/* Opening a pipe would wait, and a device may have no end. */
static void module_ask(struct regions_region *regions, size_t count, const char *module) {
	mem_auto struct regions_region **asked = mem_alloc(count, sizeof *asked);
	size_t many = 0;
	for (size_t i = 0; i < count; i++)
		if (regions[i].module == module)
			asked[many++] = &regions[i];
	if (sys_is_plain_file(module))
		debug_libdw_find(module, symbols_find(module, asked, many), asked, many);
}

struct asked {
	struct regions_region *regions;
	size_t count;
};

/* Reads the files of the program, which may be made to break a reader of debug information or a demangler. */
static void modules_ask(void *ctx) {
	const struct asked *asked = ctx;
	struct regions_region *regions = asked->regions;
	for (size_t i = 0; i < asked->count; i++) {
		bool first = true;
		for (size_t j = 0; j < i && first; j++)
			first = regions[j].module != regions[i].module;
		if (first)
			module_ask(regions, asked->count, regions[i].module);
	}
	for (size_t i = 0; i < asked->count; i++)
		if (*regions[i].symbol && !*regions[i].name)
			name_clean(regions[i].symbol, *regions[i].place != '\0', regions[i].name, sizeof regions[i].name);
}

static void text_take(char *to, const char *from, size_t size) {
	memcpy(to, from, size);
	to[size - 1] = '\0';
	text_clean(to, false);
}

static void answer_take(struct regions_region *region, const struct regions_region *answer) {
	text_take(region->name, answer->name, sizeof region->name);
	text_take(region->place, answer->place, sizeof region->place);
	text_take(region->symbol, answer->symbol, sizeof region->symbol);
	region->code_size = answer->code_size;
	region->code_bytes = answer->code_bytes;
	region->code_hash = answer->code_hash;
}

static void size_add(struct regions_region *region) {
	const struct omp_region *facts = &region->facts;
	size_t used = strlen(region->name);
	char *end = region->name + used;
	if (!facts->size_class || (facts->above == INT64_MIN && facts->upto == INT64_MAX))
		return;
	if (facts->above == INT64_MIN)
		snprintf(end, sizeof region->name - used, " [<= %" PRId64 "]", facts->upto);
	else if (facts->upto == INT64_MAX)
		snprintf(end, sizeof region->name - used, " [> %" PRId64 "]", facts->above);
	else
		snprintf(end, sizeof region->name - used, " [%" PRId64 "..%" PRId64 "]", facts->above + 1, facts->upto);
}

static void fallback(struct regions_region *region) {
	if (!*region->name)
		snprintf(region->name, sizeof region->name, "%.159s", region->symbol);
	if (!*region->name || region->name[0] == '.')
		snprintf(region->name, sizeof region->name, "%.100s+0x%" PRIx64, text_base_name(region->module),
		         region->offset);
	size_add(region);
	text_clean(region->name, false);
	text_clean(region->place, false);
}

void regions_names_find(struct regions_region *regions, size_t count) {
	size_t size = (count + 1) * sizeof *regions;
	struct asked asked = {apart_memory(size), count};
	for (size_t i = 0; i < count; i++)
		place_of_clang(&regions[i]);
	if (asked.regions) {
		memcpy(asked.regions, regions, count * sizeof *regions);
		apart_run(modules_ask, &asked, CPU_SECONDS);
	}
	for (size_t i = 0; i < count; i++) {
		if (asked.regions)
			answer_take(&regions[i], &asked.regions[i]);
		fallback(&regions[i]);
	}
	apart_free(asked.regions, size);
}
