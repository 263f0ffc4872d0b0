/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions by the address of their outlined function. Readers take no lock: a slot is complete before it can be found.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "lib/omp/omp_impl.h"

enum { SLOTS = 8192 /* a power of two; half of them are filled at most, and a region may have several */ };

struct slots {
	_Atomic(struct omp_slot *) table[SLOTS];
	struct omp_slot slots[SLOTS / 2];
	size_t count;
	atomic_bool is_full;
};

static _Atomic(struct slots *) all; /* of this process: a child of a fork has its own */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static size_t place_of(const void *function, unsigned size_class) {
	return (size_t)((((uintptr_t)function >> 4) + size_class) * 0x9E3779B97F4A7C15u >> 40) & (SLOTS - 1);
}

static struct omp_slot *lookup(struct slots *in, const void *function, unsigned size_class, size_t *free_place) {
	for (size_t i = place_of(function, size_class);; i = (i + 1) & (SLOTS - 1)) {
		struct omp_slot *slot = atomic_load_explicit(&in->table[i], memory_order_acquire);
		*free_place = i;
		if (!slot || (slot->function == function && slot->size_class == size_class))
			return slot;
	}
}

struct search {
	const char *base;
	char *build_id;           /* NULL: not wanted */
	uintptr_t data, data_end; /* variables, if it is the program itself */
};

static void notes_read(const char *notes, size_t size, char *build_id) {
	for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
		const ElfW(Nhdr) *note = (const void *)(notes + at);
		size_t name = at + sizeof *note, text = name + ((note->n_namesz + 3u) & ~3u);
		if (text + note->n_descsz > size)
			return;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(notes + name, "GNU", 4) == 0) {
			for (size_t i = 0; i < note->n_descsz && 2 * i + 2 < OMP_BUILD_ID; i++)
				snprintf(build_id + 2 * i, 3, "%02x", (unsigned char)notes[text + i]);
			return;
		}
		at = text + ((note->n_descsz + 3u) & ~3u);
	}
}

static int file_look(struct dl_phdr_info *info, size_t size, void *ctx) {
	struct search *search = ctx;
	bool here = false;
	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		const char *start = (const char *)info->dlpi_addr + part->p_vaddr;
		here = here || (part->p_type == PT_LOAD && search->base >= start && search->base < start + part->p_memsz);
	}
	for (size_t i = 0; here && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		/* A library may be closed, and its variables be gone, before another one has its address. */
		if (part->p_type == PT_LOAD && (part->p_flags & PF_W) && !*info->dlpi_name) {
			search->data = (uintptr_t)info->dlpi_addr + part->p_vaddr;
			search->data_end = search->data + part->p_memsz;
		}
		if (part->p_type == PT_NOTE && search->build_id)
			notes_read((const char *)info->dlpi_addr + part->p_vaddr, part->p_memsz, search->build_id);
	}
	return here;
}

/* The loader knows the program by the word that it was called with, and libraries by the one that they were opened
 * with.
 */
static void path_find(const Dl_info *info, char *path) {
	Dl_info program;
	bool is_program = dladdr((void *)getauxval(AT_PHDR), &program) && program.dli_fbase == info->dli_fbase;
	ssize_t length = is_program ? readlink("/proc/self/exe", path, OMP_PATH - 1) : -1;
	char *real = length > 0 ? NULL : realpath(info->dli_fname, NULL);
	if (length > 0)
		path[length] = '\0';
	else
		snprintf(path, OMP_PATH, "%s", real ? real : info->dli_fname);
	free(real);
}

/* The number of the module in the record; OMP_MODULES where there are too many. */
static uint32_t module_find(struct omp_record *record, const Dl_info *info) {
	char path[OMP_PATH];
	path_find(info, path);
	for (uint32_t i = 0; i < record->module_count && i < OMP_MODULES; i++)
		if (strcmp(record->modules[i].path, path) == 0)
			return i;
	if (record->module_count >= OMP_MODULES)
		return OMP_MODULES;
	struct omp_module *module = &record->modules[record->module_count];
	memcpy(module->path, path, sizeof path);
	strcpy(module->build_id, "-");
	dl_iterate_phdr(file_look, &(struct search){.base = info->dli_fbase, .build_id = module->build_id});
	return record->module_count++;
}

static const struct omp_sizes *sizes_find(const struct omp_record *record, uint32_t module, uint64_t offset) {
	const struct omp_table *settings = omp_table_get();
	for (uint32_t i = 0; settings && i < settings->sizes_count; i++) {
		const struct omp_sizes *sizes = &settings->sizes[i];
		if (sizes->offset == offset &&
		    strcmp(settings->build_ids[sizes->module], record->modules[module].build_id) == 0)
			return sizes;
	}
	return NULL;
}

static const struct omp_row *row_find(const struct omp_record *record, uint32_t module, uint64_t offset,
                                      unsigned size_class) {
	const struct omp_table *settings = omp_table_get();
	const struct omp_row *any = NULL;
	for (uint32_t i = 0; settings && i < settings->row_count; i++) {
		const struct omp_row *row = &settings->rows[i];
		if (row->module == UINT32_MAX)
			any = row;
		else if (row->offset == offset && row->size_class == size_class &&
		         strcmp(settings->build_ids[row->module], record->modules[module].build_id) == 0)
			return row;
	}
	return any;
}

/* A library that is closed and opened again has its regions at other addresses. NULL where there are too many. */
static struct omp_region *region_find(struct omp_record *record, uint32_t module, uint64_t offset, unsigned size_class,
                                      uint32_t *number) {
	for (*number = 0; *number < record->region_count; ++*number) {
		struct omp_region *region = &record->regions[*number];
		if (region->module == module && region->offset == offset && region->size_class == size_class)
			return region;
	}
	struct omp_region *region = &record->regions[*number];
	if (record->region_count >= OMP_REGIONS || !omp_record_reserve(record, region, sizeof *region))
		return NULL;
	region->offset = offset;
	region->module = module;
	region->size_class = size_class;
	region->least_ns = UINT64_MAX;
	return region;
}

static void limits_set(struct omp_region *region, const struct omp_sizes *sizes) {
	region->measure = sizes->measure;
	region->above = INT64_MIN;
	region->upto = INT64_MAX;
	for (uint32_t i = 0; i < sizes->count; i++)
		if (sizes->numbers[i] == region->size_class) {
			region->above = i ? sizes->upto[i - 1] : INT64_MIN;
			region->upto = i + 1 < sizes->count ? sizes->upto[i] : INT64_MAX;
		}
}

/* NULL where sizes are not learned. */
static struct omp_seen *seen_of(struct omp_record *record, uint32_t number) {
	const struct omp_table *settings = omp_table_get();
	if (!settings || !settings->learn || number >= OMP_SEEN)
		return NULL;
	return omp_record_reserve(record, record->seen[number], sizeof record->seen[number]) ? record->seen[number] : NULL;
}

/* A new slot is made of this. */
struct made {
	struct omp_record *record;
	void *function;
	const char *place;
	enum omp_sharing sharing;
	unsigned size_class;
	const struct omp_sizes *sizes; /* those of the slot that represents all classes; NULL for that slot itself */
};

static bool region_set(struct omp_slot *slot, uint32_t module, uint64_t offset, const struct made *made) {
	struct omp_record *record = made->record;
	uint32_t number = 0;
	slot->region = region_find(record, module, offset, slot->size_class, &number);
	if (!slot->region)
		return false;
	if (number == record->region_count) {
		slot->region->sharing = made->sharing;
		if (made->place)
			snprintf(slot->region->place, sizeof slot->region->place, "%s", made->place);
		if (made->sizes)
			limits_set(slot->region, made->sizes);
		record->region_count++;
	}
	slot->row = row_find(record, module, offset, slot->size_class);
	slot->seen = seen_of(record, number);
	slot->number = (uint16_t)number;
	return true;
}

static struct omp_slot *slot_make(struct slots *in, const struct made *made) {
	struct omp_record *record = made->record;
	Dl_info info = {0};
	if (!dladdr(made->function, &info) || !info.dli_fname)
		return NULL;
	uint32_t module = module_find(record, &info);
	if (module == OMP_MODULES)
		return NULL;
	uint64_t offset = (uint64_t)((const char *)made->function - (const char *)info.dli_fbase);
	struct search search = {.base = info.dli_fbase};
	dl_iterate_phdr(file_look, &search);
	struct omp_slot *slot = &in->slots[in->count];
	*slot = (struct omp_slot){.function = made->function,
	                          .size_class = (uint16_t)made->size_class,
	                          .sizes = made->sizes ? NULL : sizes_find(record, module, offset),
	                          .data = search.data,
	                          .data_end = search.data_end};
	return slot->sizes || region_set(slot, module, offset, made) ? slot : NULL;
}

/* Code that no file has, or one region too many, has a slot without a region, so that it is not looked for again at
 * each call. NULL where there is no room. */
static struct omp_slot *slot_add(struct slots *in, const struct made *made) {
	if (in->count >= sizeof in->slots / sizeof *in->slots) {
		atomic_store(&in->is_full, true);
		return NULL;
	}
	struct omp_slot *slot = slot_make(in, made);
	if (!slot) {
		slot = &in->slots[in->count];
		*slot = (struct omp_slot){.function = made->function, .size_class = (uint16_t)made->size_class};
	}
	in->count++;
	return slot;
}

static struct slots *slots_get(void) {
	if (!all && omp_lock(&lock)) {
		if (!all)
			all = omp_memory(sizeof(struct slots));
		pthread_mutex_unlock(&lock);
	}
	return all;
}

static struct omp_slot *slot_find(const struct made *made) {
	size_t at;
	struct slots *in = slots_get();
	struct omp_slot *slot = in ? lookup(in, made->function, made->size_class, &at) : NULL;
	if (in && !slot && !atomic_load_explicit(&in->is_full, memory_order_relaxed) && omp_lock(&lock)) {
		slot = lookup(in, made->function, made->size_class, &at);
		if (!slot)
			slot = slot_add(in, made);
		if (slot)
			atomic_store_explicit(&in->table[at], slot, memory_order_release);
		pthread_mutex_unlock(&lock);
	}
	if (slot && !slot->region && !slot->sizes)
		slot = NULL;
	if (!slot)
		__atomic_add_fetch(&made->record->dropped, 1, __ATOMIC_RELAXED);
	return slot;
}

struct omp_slot *omp_slot_find(struct omp_record *record, void *function, enum omp_sharing sharing, const char *place,
                               const struct omp_inputs *inputs) {
	struct made made = {.record = record, .function = function, .place = place, .sharing = sharing};
	struct omp_slot *slot = slot_find(&made);
	if (!slot || !slot->sizes)
		return slot;
	made.sizes = slot->sizes;
	made.size_class = omp_size_class(slot, inputs);
	return slot_find(&made);
}

void omp_slots_forget(void) {
	pthread_mutex_init(&lock, NULL);
	all = NULL;
}
