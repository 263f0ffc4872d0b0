/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters/perf_event.h"

static int try_open(__u32 type, __u64 config, bool user_only, bool tree) {
	struct perf_event_attr attr = {
		.size = sizeof attr, .type = type, .config = config,
		.disabled = 1, .inherit = tree, .exclude_kernel = user_only, .exclude_hv = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int event_open(struct perf_event *event, __u32 type, __u64 config, bool tree) {
	int file = try_open(type, config, false, tree);
	event->user_only = file < 0 && (errno == EACCES || errno == EPERM);
	if (event->user_only)
		file = try_open(type, config, true, tree);
	event->error = file < 0 ? errno : 0;
	event->file = file + 1;
	return file < 0 ? -1 : 0;
}

int perf_event_open(struct perf_event *event, __u32 type, __u64 config) {
	return event_open(event, type, config, false);
}

int perf_event_open_tree(struct perf_event *event, __u32 type, __u64 config) {
	return event_open(event, type, config, true);
}

static int sample_read(const struct perf_event *event, struct perf_sample *sample) {
	return read(event->file - 1, sample, sizeof *sample) == (ssize_t)sizeof *sample ? 0 : -1;
}

int perf_event_start(struct perf_event *event) {
	if (!event->file)
		return 0;
	return sample_read(event, &event->begin) == 0 ? ioctl(event->file - 1, PERF_EVENT_IOC_ENABLE, 0) : -1;
}

int perf_event_stop(struct perf_event *event) {
	if (!event->file)
		return 0;
	return ioctl(event->file - 1, PERF_EVENT_IOC_DISABLE, 0) == 0 ? sample_read(event, &event->end) : -1;
}

void perf_event_close(struct perf_event *event) {
	if (event->file)
		close(event->file - 1);
	event->file = 0;
}
