/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "counters/perf/event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Members follow their leader. Inherited events can't be read as a group (before Linux 6.13 they can't even be opened
 * as one), and they start by themselves because an ioctl can't reach a process that does not exist yet. */
static int event_open(const struct perf_group *group, __u32 type, __u64 config) {
	const bool leads = group->count == 0;
	struct perf_event_attr attr = {
		.size = sizeof attr,
		.type = type,
		.config = config,
		.disabled = leads,
		.inherit = group->tree,
		.enable_on_exec = leads && group->tree,
		.exclude_kernel = group->user_only,
		.exclude_hv = 1,
		.read_format =
			PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | (group->tree ? 0 : PERF_FORMAT_GROUP),
	};
	int leader = leads ? -1 : group->files[0];
	int file = (int)syscall(SYS_perf_event_open, &attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
	return file < 0 ? -errno : file;
}

static int each_read(struct perf_group *group, struct perf_sample *samples) {
	for (size_t i = 0; i < group->count; i++)
		if (read(group->files[i], &samples[i], sizeof samples[i]) != (ssize_t)sizeof samples[i])
			return -1;
	return 0;
}

static int group_read(struct perf_group *group, struct perf_sample *samples) {
	struct {
		__u64 count, enabled, running, values[COUNTER_OPEN_MAX];
	} all;
	ssize_t size = (ssize_t)((3 + group->count) * sizeof(__u64));
	if (group->tree)
		return each_read(group, samples);
	if (read(group->files[0], &all, sizeof all) != size || all.count != group->count)
		return -1;
	for (size_t i = 0; i < group->count; i++)
		samples[i] = (struct perf_sample){all.values[i], all.enabled, all.running};
	return 0;
}

int perf_group_add(struct perf_group *group, __u32 type, __u64 config) {
	if (group->count == COUNTER_OPEN_MAX)
		return -ENOSPC;
	int file = event_open(group, type, config);
	if (group->count == 0 && !group->user_only && (file == -EACCES || file == -EPERM)) {
		group->user_only = true;
		file = event_open(group, type, config);
		group->user_only = file >= 0;
	}
	if (file < 0)
		return file;
	group->files[group->count] = file;
	group->types[group->count] = type;
	group->configs[group->count] = config;
	return (int)group->count++;
}

static void files_close(struct perf_group *group) {
	while (group->count > 0)
		close(group->files[--group->count]);
}

/* Events wait for an exec only once. When the kernel switches between a process and its child it may swap their events
 * if they are alike (Linux, kernel/events/core.c, perf_event_context_sched_out), so the first child's exec may use up
 * the wait that all others inherit. */
static int tree_start(struct perf_group *group) {
	size_t count = group->count;
	files_close(group);
	while (group->count < count)
		if (perf_group_add(group, group->types[group->count], group->configs[group->count]) < 0)
			return -1;
	return 0;
}

/* Events must not count between a stop and the next start. */
int perf_group_start(struct perf_group *group) {
	if (group->count == 0)
		return 0;
	if (group->tree)
		return tree_start(group);
	memcpy(group->begin, group->end, sizeof *group->begin * group->count);
	return ioctl(group->files[0], PERF_EVENT_IOC_ENABLE, 0);
}

int perf_group_stop(struct perf_group *group) {
	if (group->count == 0)
		return 0;
	if (!group->tree && ioctl(group->files[0], PERF_EVENT_IOC_DISABLE, 0) != 0)
		return -1;
	return group_read(group, group->end);
}

struct perf_sample perf_group_counted(const struct perf_group *group, size_t event) {
	const struct perf_sample *a = &group->begin[event], *b = &group->end[event];
	return (struct perf_sample){b->value - a->value, b->enabled - a->enabled, b->running - a->running};
}

void perf_group_close(struct perf_group *group) {
	files_close(group);
	memset(group->begin, 0, sizeof group->begin);
	memset(group->end, 0, sizeof group->end);
	group->user_only = false;
}

int perf_event_try(__u32 type, __u64 config, bool tree, bool *user_only) {
	struct perf_group group = {.tree = tree};
	int index = perf_group_add(&group, type, config);
	if (user_only)
		*user_only = group.user_only;
	perf_group_close(&group);
	return index < 0 ? -index : 0;
}
