/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands in for PAPI in the wheel. Each function calls the system's library, which the first call opens if it has the
 * version that the wheel was built with. Without one, PAPI cannot count, and PAPI_strerror says why. */
#include <dlfcn.h>
#include <papi.h>
#include <stdio.h>

static void *find(const char *name) {
	static void *library;
	char file[64];
	snprintf(file, sizeof file, "libpapi.so.%d.%d", PAPI_VERSION_MAJOR(PAPI_VERSION), PAPI_VERSION_MINOR(PAPI_VERSION));
	if (!library)
		library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	return library ? dlsym(library, name) : NULL;
}

#define FORWARD(type, name, absent, parameters, arguments)                                                             \
	type name parameters {                                                                                             \
		static __typeof__(&name) real;                                                                                 \
		if (!real)                                                                                                     \
			real = (__typeof__(&name))find(#name);                                                                     \
		return real ? real arguments : absent;                                                                         \
	}
#define ONE(name)  FORWARD(int, name, PAPI_ENOSUPP, (int a), (a))
#define NONE(name) FORWARD(int, name, PAPI_ENOSUPP, (void), ())

ONE(PAPI_library_init)
ONE(PAPI_query_event)
ONE(PAPI_get_event_component)
ONE(PAPI_start)
NONE(PAPI_num_components)
NONE(PAPI_register_thread)
NONE(PAPI_unregister_thread)
FORWARD(int, PAPI_add_event, PAPI_ENOSUPP, (int set, int event), (set, event))
FORWARD(int, PAPI_assign_eventset_component, PAPI_ENOSUPP, (int set, int component), (set, component))
FORWARD(int, PAPI_set_cmp_domain, PAPI_ENOSUPP, (int domain, int component), (domain, component))
FORWARD(int, PAPI_cleanup_eventset, PAPI_ENOSUPP, (int set), (set))
FORWARD(int, PAPI_create_eventset, PAPI_ENOSUPP, (int *set), (set))
FORWARD(int, PAPI_destroy_eventset, PAPI_ENOSUPP, (int *set), (set))
FORWARD(int, PAPI_enum_cmp_event, PAPI_ENOSUPP, (int *event, int modifier, int component), (event, modifier, component))
FORWARD(int, PAPI_enum_event, PAPI_ENOSUPP, (int *event, int modifier), (event, modifier))
FORWARD(int, PAPI_event_code_to_name, PAPI_ENOSUPP, (int event, char *name), (event, name))
FORWARD(int, PAPI_event_name_to_code, PAPI_ENOSUPP, (const char *name, int *event), (name, event))
FORWARD(int, PAPI_get_component_index, PAPI_ENOSUPP, (const char *name), (name))
FORWARD(const PAPI_component_info_t *, PAPI_get_component_info, NULL, (int component), (component))
FORWARD(int, PAPI_get_event_info, PAPI_ENOSUPP, (int event, PAPI_event_info_t *info), (event, info))
FORWARD(int, PAPI_get_opt, PAPI_ENOSUPP, (int option, PAPI_option_t *value), (option, value))
FORWARD(int, PAPI_read, PAPI_ENOSUPP, (int set, long long *values), (set, values))
FORWARD(int, PAPI_stop, PAPI_ENOSUPP, (int set, long long *values), (set, values))
FORWARD(int, PAPI_thread_init, PAPI_ENOSUPP, (unsigned long (*id)(void)), (id))
FORWARD(char *, PAPI_strerror, "its library is not installed in the version that this program was built for",
        (int error), (error))
