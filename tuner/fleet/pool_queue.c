/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "tuner/fleet/pool_workers_impl.h"

int pool_queue_init(struct pool_queue *queue) {
	pthread_condattr_t monotonic;
	queue->last = &queue->first;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	int failed = pthread_mutex_init(&queue->mutex, NULL) || pthread_cond_init(&queue->come, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return failed ? -1 : 0;
}

void pool_queue_clear(struct pool_queue *queue) {
	for (struct pool_event *event = queue->first, *next; event; event = next) {
		next = event->next;
		json_decref(event->machine);
		for (size_t i = 0; i < event->done.done; i++) /* pool_done_clear would need the job, which may be gone */
			trial_result_clear(&event->done.results[i]);
		free(event->done.results);
		free(event);
	}
	pthread_mutex_destroy(&queue->mutex);
	pthread_cond_destroy(&queue->come);
}

void pool_queue_put(struct pool_queue *queue, const struct pool_event *event) {
	struct pool_event *copy = mem_alloc(1, sizeof *copy);
	*copy = *event;
	copy->next = NULL;
	pthread_mutex_lock(&queue->mutex);
	*queue->last = copy;
	queue->last = &copy->next;
	pthread_cond_signal(&queue->come);
	pthread_mutex_unlock(&queue->mutex);
}

static struct timespec until(double seconds) {
	struct timespec when;
	double whole;
	clock_gettime(CLOCK_MONOTONIC, &when);
	double part = modf(seconds, &whole);
	when.tv_sec += (time_t)whole;
	when.tv_nsec += (long)(part * 1e9);
	if (when.tv_nsec >= 1000000000) {
		when.tv_sec++;
		when.tv_nsec -= 1000000000;
	}
	return when;
}

bool pool_queue_take(struct pool_queue *queue, double seconds, struct pool_event *event) {
	const struct timespec when = until(seconds);
	int late = 0;
	pthread_mutex_lock(&queue->mutex);
	while (!queue->first && !late)
		late = pthread_cond_timedwait(&queue->come, &queue->mutex, &when);
	struct pool_event *taken = queue->first;
	if (taken && !(queue->first = taken->next))
		queue->last = &queue->first;
	pthread_mutex_unlock(&queue->mutex);
	if (!taken)
		return false;
	*event = *taken;
	free(taken);
	return true;
}

void pool_node_order(struct pool_node *node, const struct pool_order *order) {
	pthread_mutex_lock(&node->queue->mutex);
	node->order = *order;
	node->has_order = true;
	pthread_cond_signal(&node->wake);
	pthread_mutex_unlock(&node->queue->mutex);
}

static bool is_stopped(const struct pool_node *node) {
	return __atomic_load_n(&node->stop, __ATOMIC_RELAXED);
}

bool pool_node_wait(struct pool_node *node, struct pool_order *order) {
	pthread_mutex_lock(&node->queue->mutex);
	while (!node->has_order && !is_stopped(node))
		pthread_cond_wait(&node->wake, &node->queue->mutex);
	bool given = node->has_order && !is_stopped(node);
	*order = node->order;
	node->has_order = false;
	pthread_mutex_unlock(&node->queue->mutex);
	return given;
}

bool pool_node_pause(struct pool_node *node, double seconds) {
	const struct timespec when = until(seconds);
	int late = 0;
	pthread_mutex_lock(&node->queue->mutex);
	while (!is_stopped(node) && !late)
		late = pthread_cond_timedwait(&node->wake, &node->queue->mutex, &when);
	pthread_mutex_unlock(&node->queue->mutex);
	return is_stopped(node);
}

void pool_node_stop(struct pool_node *node) {
	pthread_mutex_lock(&node->queue->mutex);
	__atomic_store_n(&node->stop, 1, __ATOMIC_RELAXED);
	pthread_cond_signal(&node->wake);
	pthread_mutex_unlock(&node->queue->mutex);
}
