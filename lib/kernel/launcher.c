/* SPDX-License-Identifier: BSD-3-Clause */
/* Launches a kernel with the configuration that a profile has for the problem, in the program's own context. */
#include <math.h>

#include "base/json/js.h"
#include "lib/kernel/launcher_impl.h"

enum { BUCKETS = 64, MEMBERS_MAX = 16, ENTRIES_MAX = 1 << 16, TIMED_MAX = 16 };

/* A device, as this kernel uses it. */
struct device {
	struct device *next;
	struct gpu *gpu;
};

/* A configuration that learning has chosen. */
struct variant {
	struct variant *next;
	const void *config;                  /* the choice's */
	const struct gpu_function *function; /* NULL: it cannot run */
	struct gpu_shape shape;
};

/* A problem on a device: what is launched. */
struct entry {
	struct entry *next;
	const struct gpu *gpu;
	struct sweetspot_value *problem; /* a copy */
	size_t count;
	struct variant usual;
	struct variant *variants;
	struct t1_launch launch;
	struct sweetspot_match match;
};

/* A launch that is being timed. */
struct timed {
	struct sweetspot_choice choice;
	struct gpu *gpu; /* of the marks */
	struct gpu_mark *from, *to;
	bool pending;
};

struct launcher_kernel {
	pthread_mutex_t lock;
	const struct launcher_host *host;
	struct kernel_spec spec;
	sweetspot_profile *profile; /* NULL: none */
	struct device *devices;
	struct entry *entries[BUCKETS];
	size_t entry_count, pending;
	sweetspot_context *context; /* NULL: nothing can be learned */
	struct timed timed[TIMED_MAX];
};

static void entries_forget(struct launcher_kernel *kernel) {
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct entry *entry = kernel->entries[i], *next; entry; entry = next) {
			next = entry->next;
			for (size_t k = 0; k < entry->count; k++)
				free((char *)(uintptr_t)entry->problem[k].name);
			for (struct variant *variant = entry->variants, *after; variant; variant = after) {
				after = variant->next;
				free(variant);
			}
			free(entry->launch.names.at);
			free(entry->problem);
			free(entry);
		}
	memset(kernel->entries, 0, sizeof kernel->entries);
	kernel->entry_count = 0;
}

static void kernel_close(struct launcher_kernel *kernel) {
	entries_forget(kernel);
	for (struct device *device = kernel->devices, *next; device; device = next) {
		next = device->next;
		gpu_close(device->gpu);
		free(device);
	}
	kernel->host->close(kernel->profile);
	kernel_spec_clear(&kernel->spec);
	pthread_mutex_destroy(&kernel->lock);
	free(kernel);
}

static void say(char *message, const struct err *err) {
	snprintf(message, SWEETSPOT_MESSAGE, *err->hint ? "%s (%s)" : "%s", err->what, err->hint);
}

static int axis_of(const char *name) {
	static const char *const names[] = {"x", "y", "z", "size"};
	for (int i = 0; i < 4; i++)
		if (strcmp(names[i], name) == 0)
			return i % 3;
	return -1;
}

static int member_set(struct t1_launch *launch, const struct sweetspot_value *member, bool *sized, struct err *err) {
	double number = member->number;
	size_t i = 0;
	int axis = axis_of(member->name);
	while (i < launch->names.count && strcmp(launch->names.at[i].name, member->name) != 0)
		i++;
	if (member->word || !isfinite(number))
		return err_set(err, ERR_USAGE, NULL, "%.60s of the problem must be a number", member->name);
	if (i < launch->names.count)
		launch->names.at[i].value =
			number == trunc(number) && fabs(number) < 0x1p53 ? value_int((int64_t)number) : value_real(number);
	else if (axis < 0)
		return err_set(err, ERR_USAGE, NULL, "%.60s of the problem is neither x, y, z nor a scalar argument",
		               member->name);
	else if (!(number >= 1 && number == trunc(number) && number <= 0x1p40))
		return err_set(err, ERR_USAGE, NULL, "%.60s of the problem is %g, not a size", member->name, number);
	else
		launch->problem[axis] = number;
	*sized = *sized || (i == launch->names.count && axis >= 0);
	return 0;
}

/* The launch of a problem, whose members are x, y and z, or scalar arguments by their names; ended by a member without
 * a name. launch->names.at is for free(3). */
static int kernel_spec_launch(const struct kernel_spec *spec, const struct sweetspot_value *problem,
                              struct t1_launch *launch, struct err *err) {
	bool sized = false;
	int failed = 0;
	*launch = spec->launch;
	launch->names = t1_names_of(&spec->launch, spec->otherwise);
	for (; problem && problem->name && !failed; problem++)
		failed = member_set(launch, problem, &sized, err);
	if (!failed && !sized && spec->root) /* a size that is an expression of scalars */
		failed = t1_problem_read(launch, err);
	if (failed)
		free(launch->names.at);
	return failed ? -1 : 0;
}

static bool value_of(const struct t1_param *param, const struct sweetspot_value *setting, struct value *value) {
	*value = setting->word ? value_word(setting->word)
	         : setting->number == trunc(setting->number) && fabs(setting->number) < 0x1p53
	             ? value_int((int64_t)setting->number)
	             : value_real(setting->number);
	for (size_t i = 0; param && i < param->count; i++)
		if (value_equal(param->values[i], *value)) {
			*value = param->values[i];
			return true;
		}
	return !param;
}

/* Settings as the specification has them: words and numbers of its values. New reference. */
static json_t *kernel_spec_config(const struct kernel_spec *spec, const struct launcher_host *host,
                                  const sweetspot_config *config) {
	json_t *json = json_copy(spec->otherwise);
	struct sweetspot_value setting;
	for (size_t i = 0; config && host->setting(config, i, &setting); i++) {
		const struct t1_param *param = NULL;
		struct value value;
		for (size_t k = 0; k < spec->param_count && !param; k++)
			param = strcmp(spec->params[k].name, setting.name) == 0 ? &spec->params[k] : NULL;
		if ((param || !spec->root) && value_of(param, &setting, &value))
			json_object_set_new(json, setting.name, value_json(value));
	}
	return json;
}

static void param_declare(const struct t1_param *param, const struct launcher_host *host, sweetspot_context *context) {
	size_t at = param->place < 0 ? 0 : (size_t)param->place;
	mem_auto long long *whole = mem_alloc(param->count, sizeof *whole);
	mem_auto double *real = mem_alloc(param->count, sizeof *real);
	const char **words = mem_alloc(param->count, sizeof *words);
	bool is_whole = true, is_word = true;
	for (size_t i = 0; i < param->count; i++) {
		const struct value value = param->values[i];
		is_whole = is_whole && value.type == VALUE_INT;
		is_word = is_word && value.type == VALUE_WORD;
		whole[i] = value.type == VALUE_INT ? value.as.i : 0;
		real[i] = value_number(value);
		words[i] = value.type == VALUE_WORD ? value.as.w : "";
	}
	if (is_word)
		host->context_word(context, param->name, words, param->count, words[at]);
	else if (is_whole)
		host->context_int(context, param->name, whole, param->count, whole[at]);
	else
		host->context_real(context, param->name, real, param->count, real[at]);
	free(words);
}

/* The kernel as a context, for learning. NULL if it has nothing to choose. */
static sweetspot_context *kernel_spec_context(const struct kernel_spec *spec, const struct launcher_host *host) {
	sweetspot_context *context = spec->param_count ? host->context(spec->name) : NULL;
	for (size_t i = 0; context && i < spec->param_count; i++)
		param_declare(&spec->params[i], host, context);
	for (size_t i = 0; context && spec->conditions[i]; i++)
		host->constraint(context, spec->conditions[i]);
	return context;
}

/* The choice as a configuration; NULL: the default. New reference. */
static json_t *kernel_spec_chosen(const struct kernel_spec *spec, const struct launcher_host *host,
                                  const struct sweetspot_choice *choice) {
	json_t *json = NULL;
	for (size_t i = 0; i < spec->param_count; i++) {
		const struct t1_param *param = &spec->params[i];
		int level = host->level(choice, param->name);
		if (level < 0 || (size_t)level >= param->count)
			continue;
		json = json ? json : json_copy(spec->otherwise);
		json_object_set_new(json, param->name, value_json(param->values[level]));
	}
	return json;
}

static struct launcher_kernel *kernel_open(const struct launcher_host *host, const char *path, const char *name,
                                           char *message) {
	struct launcher_kernel *kernel = mem_alloc(1, sizeof *kernel);
	struct err err = {.code = ERR_OK};
	kernel->host = host;
	pthread_mutex_init(&kernel->lock, NULL);
	if (kernel_spec_read(&kernel->spec, path, name, &err)) {
		say(message, &err);
		kernel_close(kernel);
		return NULL;
	}
	kernel->profile = host->open(NULL, NULL, 0);
	kernel->context = kernel_spec_context(&kernel->spec, host);
	return kernel;
}

static struct gpu *device_now(struct launcher_kernel *kernel, struct err *err) {
	for (struct device *device = kernel->devices; device; device = device->next)
		if (gpu_is_current(device->gpu))
			return device->gpu;
	struct gpu *gpu = gpu_adopt(err);
	if (!gpu)
		return NULL;
	struct device *made = mem_alloc(1, sizeof *made);
	*made = (struct device){.next = kernel->devices, .gpu = gpu};
	kernel->devices = made;
	return gpu;
}

static size_t count_of(const struct sweetspot_value *problem) {
	size_t count = 0;
	while (problem && count < MEMBERS_MAX && problem[count].name)
		count++;
	return count;
}

static size_t bucket_of(const struct sweetspot_value *problem, size_t count) {
	uint64_t hash = 0, bits;
	for (size_t i = 0; i < count; i++) {
		memcpy(&bits, &problem[i].number, sizeof bits);
		hash = (hash ^ bits) * UINT64_C(0x9E3779B97F4A7C15);
	}
	return hash >> 58;
}

static bool is_of(const struct entry *entry, const struct gpu *gpu, const struct sweetspot_value *problem,
                  size_t count) {
	bool same = entry->gpu == gpu && entry->count == count;
	for (size_t i = 0; same && i < count; i++)
		same = !problem[i].word && entry->problem[i].number == problem[i].number &&
		       strcmp(entry->problem[i].name, problem[i].name) == 0;
	return same;
}

/* The profile may belong to a machine with another processor and the same GPU. */
static bool is_usable(const struct launcher_kernel *kernel, const struct gpu *gpu,
                      const struct sweetspot_match *match) {
	const char *theirs = kernel->host->about(kernel->profile, "gpu");
	return match->status != SWEETSPOT_FOREIGN || (theirs && strcmp(theirs, gpu_facts(gpu)->name) == 0);
}

/* The problem is called as the tuner calls it. */
static const sweetspot_config *config_find(const struct launcher_kernel *kernel, const struct gpu *gpu,
                                           const struct t1_launch *launch, struct sweetspot_match *match) {
	const double *size = launch->problem;
	char word[96];
	struct sweetspot_value asked = {"size", size[0], NULL};
	if (size[2] > 1)
		snprintf(word, sizeof word, "%.0fx%.0fx%.0f", size[0], size[1], size[2]);
	else
		snprintf(word, sizeof word, "%.0fx%.0f", size[0], size[1]);
	if (size[1] > 1 || size[2] > 1)
		asked.word = word;
	bool sized = size[0] > 1 || asked.word;
	const sweetspot_config *config =
		kernel->host->lookup(kernel->profile, kernel->spec.name, NULL, &asked, sized, match);
	if (config && is_usable(kernel, gpu, match))
		return config;
	*match = (struct sweetspot_match){.status = SWEETSPOT_NONE, .predicted = NAN, .measured = NAN};
	return NULL;
}

static void shape_set(const struct t1_shape *from, struct gpu_shape *to) {
	for (int i = 0; i < 3; i++) {
		to->grid[i] = (unsigned)from->grid[i];
		to->block[i] = (unsigned)from->block[i];
	}
	to->shared = (unsigned)from->shared;
}

static const struct gpu_module *module_of(const struct kernel_spec *spec, struct gpu *gpu, const json_t *defines) {
	const char **words = mem_alloc(json_array_size(defines) + 1, sizeof *words);
	js_each (item, defines)
		words[item_at] = json_string_value(item);
	mem_auto char *text = t1_source(words, spec->source);
	free(words);
	return gpu_module_text(gpu, spec->file, text, spec->options, NULL);
}

/* Compiles the configuration, or takes what was compiled. */
static bool variant_fill(const struct kernel_spec *spec, struct gpu *gpu, const struct t1_launch *launch,
                         const json_t *config, struct variant *variant, struct err *err) {
	struct t1_shape shape;
	char message[256];
	if (t1_shape_of(launch, config, &shape, err))
		return false;
	js_auto json_t *defines = t1_defines(launch, config, &shape, err);
	if (!defines)
		return false;
	shape_set(&shape, &variant->shape);
	const struct gpu_module *module = module_of(spec, gpu, defines);
	variant->function = gpu_function(gpu, module, gpu_module_entry(module, spec->function));
	gpu_fit(gpu, variant->function, &variant->shape);
	if (gpu_failed(gpu, message, sizeof message) == GPU_FINE)
		return true;
	variant->function = NULL;
	err_set(err, ERR_FAILED, NULL, "%s", message);
	return false;
}

/* If the profile's configuration cannot run here, the default does. */
static bool entry_choose(struct launcher_kernel *kernel, struct gpu *gpu, struct entry *entry, char *message,
                         struct err *err) {
	const struct kernel_spec *spec = &kernel->spec;
	const sweetspot_config *config = config_find(kernel, gpu, &entry->launch, &entry->match);
	js_auto json_t *chosen = kernel_spec_config(spec, kernel->host, config);
	if (variant_fill(spec, gpu, &entry->launch, chosen, &entry->usual, err))
		return true;
	if (!config)
		return false;
	snprintf(message, SWEETSPOT_MESSAGE, "the profile's configuration cannot run, so the default does: %.300s",
	         err->what);
	*err = (struct err){.code = ERR_OK};
	entry->match = (struct sweetspot_match){.status = SWEETSPOT_NONE, .predicted = NAN, .measured = NAN};
	return variant_fill(spec, gpu, &entry->launch, spec->otherwise, &entry->usual, err);
}

static struct entry *entry_keep(struct launcher_kernel *kernel, const struct entry *made,
                                const struct sweetspot_value *problem) {
	struct entry *entry = mem_alloc(1, sizeof *entry);
	if (kernel->entry_count == ENTRIES_MAX)
		entries_forget(kernel);
	*entry = *made;
	entry->problem = mem_alloc(entry->count + 1, sizeof *problem);
	for (size_t i = 0; i < entry->count; i++)
		entry->problem[i] = (struct sweetspot_value){mem_strdup(problem[i].name), problem[i].number, NULL};
	struct entry **bucket = &kernel->entries[bucket_of(problem, entry->count)];
	entry->next = *bucket;
	kernel->entry_count++;
	return *bucket = entry;
}

static struct entry *entry_make(struct launcher_kernel *kernel, struct gpu *gpu, const struct sweetspot_value *problem,
                                size_t count, char *message, struct err *err) {
	struct entry made = {.gpu = gpu, .count = count};
	if (problem && problem[count].name) {
		err_set(err, ERR_USAGE, "end it by a member without a name", "the problem has more than %d members",
		        MEMBERS_MAX);
		return NULL;
	}
	if (kernel_spec_launch(&kernel->spec, problem, &made.launch, err))
		return NULL;
	if (entry_choose(kernel, gpu, &made, message, err))
		return entry_keep(kernel, &made, problem);
	free(made.launch.names.at);
	return NULL;
}

/* The lock must be held. */
static struct entry *entry_of(struct launcher_kernel *kernel, const struct sweetspot_value *problem, struct gpu **gpu,
                              char *message) {
	struct err err = {.code = ERR_OK};
	size_t count = count_of(problem);
	*gpu = device_now(kernel, &err);
	struct entry *entry = *gpu ? kernel->entries[bucket_of(problem, count)] : NULL;
	while (entry && !is_of(entry, *gpu, problem, count))
		entry = entry->next;
	if (!entry && *gpu)
		entry = entry_make(kernel, *gpu, problem, count, message, &err);
	if (!entry)
		say(message, &err);
	return entry;
}

/* Reports the launches that have ended since. */
static void timed_read(struct launcher_kernel *kernel) {
	for (struct timed *timed = kernel->timed; kernel->pending && timed < kernel->timed + TIMED_MAX; timed++) {
		if (!timed->pending || !gpu_is_current(timed->gpu) || !gpu_mark_reached(timed->gpu, timed->to))
			continue;
		double seconds = gpu_elapsed(timed->gpu, timed->from, timed->to);
		timed->pending = false;
		kernel->pending--;
		if (!isnan(seconds))
			kernel->host->report(&timed->choice, seconds);
	}
}

/* NULL: too many are under way, so that this launch is not timed. */
static struct timed *timed_take(struct launcher_kernel *kernel, struct gpu *gpu) {
	struct timed *free_one = NULL;
	for (struct timed *timed = kernel->timed; !free_one && timed < kernel->timed + TIMED_MAX; timed++)
		free_one = !timed->pending && (!timed->gpu || timed->gpu == gpu) ? timed : NULL;
	if (free_one && !free_one->gpu)
		*free_one = (struct timed){.gpu = gpu, .from = gpu_mark_new(gpu), .to = gpu_mark_new(gpu)};
	return free_one && free_one->from && free_one->to ? free_one : NULL;
}

/* The default is what would run without learning: the profile's. */
static const struct variant *variant_of(const struct launcher_kernel *kernel, struct gpu *gpu, struct entry *entry,
                                        const struct sweetspot_choice *choice) {
	for (const struct variant *variant = entry->variants; variant; variant = variant->next)
		if (variant->config == choice->config)
			return variant;
	js_auto json_t *config = kernel_spec_chosen(&kernel->spec, kernel->host, choice);
	struct err why = {.code = ERR_OK};
	struct variant *made = mem_alloc(1, sizeof *made);
	*made = entry->usual;
	if (config)
		variant_fill(&kernel->spec, gpu, &entry->launch, config, made, &why);
	made->config = choice->config;
	made->next = entry->variants;
	return entry->variants = made;
}

/* A choice that cannot run counts as the worst, and the usual one runs instead. */
static bool launch_learned(struct launcher_kernel *kernel, struct gpu *gpu, struct entry *entry, void *stream,
                           void *const *arguments) {
	const double *size = entry->launch.problem;
	const struct sweetspot_value problem[] = {{"x", size[0], NULL}, {"y", size[1], NULL}, {"z", size[2], NULL}};
	struct sweetspot_choice choice;
	timed_read(kernel);
	kernel->host->choose(kernel->context, problem, size[2] > 1 ? 3 : size[1] > 1 ? 2 : 1, &choice);
	const struct variant *variant = variant_of(kernel, gpu, entry, &choice);
	if (!variant->function) {
		kernel->host->report(&choice, HUGE_VAL);
		return gpu_launch_on(gpu, entry->usual.function, &entry->usual.shape, stream, arguments);
	}
	struct timed *timed = choice.ticket ? timed_take(kernel, gpu) : NULL;
	bool begun = timed && gpu_mark_on(gpu, timed->from, stream);
	bool fine = gpu_launch_on(gpu, variant->function, &variant->shape, stream, arguments);
	if (begun && fine && gpu_mark_on(gpu, timed->to, stream)) {
		timed->choice = choice;
		timed->pending = true;
		kernel->pending++;
	}
	return fine;
}

static bool kernel_launch(struct launcher_kernel *kernel, void *stream, void *const *arguments,
                          const struct sweetspot_value *problem, char *message) {
	struct gpu *gpu;
	pthread_mutex_lock(&kernel->lock);
	struct entry *entry = entry_of(kernel, problem, &gpu, message);
	bool learns = entry && kernel->context && kernel->host->active(kernel->context);
	bool fine = learns  ? launch_learned(kernel, gpu, entry, stream, arguments)
	            : entry ? gpu_launch_on(gpu, entry->usual.function, &entry->usual.shape, stream, arguments)
	                    : false;
	if (entry && !fine)
		gpu_failed(gpu, message, SWEETSPOT_MESSAGE);
	pthread_mutex_unlock(&kernel->lock);
	return fine;
}

static int kernel_match(struct launcher_kernel *kernel, const struct sweetspot_value *problem,
                        struct sweetspot_match *match, char *message) {
	struct gpu *gpu;
	pthread_mutex_lock(&kernel->lock);
	struct entry *entry = entry_of(kernel, problem, &gpu, message);
	if (entry && match)
		*match = entry->match;
	int status = entry ? entry->match.status : -1;
	pthread_mutex_unlock(&kernel->lock);
	return status;
}

extern const struct launcher sweetspot_launcher;
const struct launcher sweetspot_launcher = {
	.abi = LAUNCHER_ABI, .open = kernel_open, .close = kernel_close, .launch = kernel_launch, .match = kernel_match};
