/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The thread of a node. It must live as long as its worker, because a child gets its parent's death signal when the
 * thread that started it ends (base/proc/proc.h). */
#include <math.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "tuner/fleet/fleet_impl.h"

void pool_done_clear(struct pool_done *done) {
	for (size_t i = 0; done->results && i < done->job->count; i++)
		trial_result_clear(&done->results[i]);
	free(done->results);
	memset(done, 0, sizeof *done);
}

static void pool_queue_put(struct pool_queue *queue, const struct pool_event *event) {
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
	mem_auto struct pool_event *taken = queue->first;
	if (taken && !(queue->first = taken->next))
		queue->last = &queue->first;
	pthread_mutex_unlock(&queue->mutex);
	if (!taken)
		return false;
	*event = *taken;
	return true;
}

static bool is_stopped(const struct pool_node *node) {
	return __atomic_load_n(&node->stop, __ATOMIC_RELAXED);
}

/* Waits for an order; false: stop. */
static bool pool_node_wait(struct pool_node *node, struct pool_order *order) {
	pthread_mutex_lock(&node->queue->mutex);
	while (!node->has_order && !is_stopped(node))
		pthread_cond_wait(&node->wake, &node->queue->mutex);
	bool given = node->has_order && !is_stopped(node);
	*order = node->order;
	node->has_order = false;
	pthread_mutex_unlock(&node->queue->mutex);
	return given;
}

/* Sleeps for `seconds`; returns true early if the node is to stop. */
static bool pool_node_pause(struct pool_node *node, double seconds) {
	const struct timespec when = until(seconds);
	int late = 0;
	pthread_mutex_lock(&node->queue->mutex);
	while (!is_stopped(node) && !late)
		late = pthread_cond_timedwait(&node->wake, &node->queue->mutex, &when);
	pthread_mutex_unlock(&node->queue->mutex);
	return is_stopped(node);
}

/* Delays before the first and the second attempt to restart a lost worker. Each further delay is twice as long until
 * the worker is up, so that a broken node does not flood the scheduler. */
static const double FIRST_SECONDS = 0.1, SECOND_SECONDS = 1;
enum { DOUBLINGS = 5 };
/* Within this time a worker ends whose program was ended together with it. */
static const double END_SECONDS = 2;

static void runner_close(struct pool_node *node) {
	if (node->work && node->work->close && node->runner_state)
		node->work->close(node->runner_state);
	node->work = NULL;
	node->runner_state = NULL;
}

static int runner_open(struct pool_node *node, const struct pool_work *work, struct err *err) {
	if (node->work == work)
		return 0;
	runner_close(node);
	if (work->open(work->ctx, node->worker, &node->runner_state, &node->runner, err))
		return -1;
	node->work = work;
	return 0;
}

static const char *name_of(const json_t *machine) {
	return js_string_or(machine, "node", "");
}

/* Stores where a trial ran together with its result. */
static void name_add(struct trial_result *result, const char *name) {
	if (!result->reply)
		result->reply = json_object();
	json_object_set_new(result->reply, "node", json_string(name));
}

static void lose(struct pool_done *done, const struct worker_loss *loss) {
	snprintf(done->reason, sizeof done->reason, "%s", loss->reason);
	done->lost = done->reason; /* must be set again by the receiver, because the struct moves */
	done->outside = loss->outside;
	done->lies = loss->lies;
}

/* A loss before a trial cannot be the fault of one. */
static struct worker_loss loss_before(const struct worker *worker, const char *why) {
	struct worker_loss loss = {.outside = true};
	snprintf(loss.reason, sizeof loss.reason, "%.159s", worker_lost(worker) ? worker_lost(worker)->reason : why);
	return loss;
}

static void lose_before(struct pool_done *done, const struct worker *worker, const char *why) {
	const struct worker_loss loss = loss_before(worker, why);
	lose(done, &loss);
}

/* Takes what the trials before it took from what is left for this one; false: nothing is left. */
static bool limit(struct trial_request *request, double spent) {
	if (!(request->left_s > 0))
		return true;
	request->left_s -= spent;
	request->timeout_s = request->timeout_s > 0 ? fmin(request->timeout_s, request->left_s) : request->left_s;
	return request->left_s > 0;
}

/* Whoever ends a job ends the program, or takes its folder away, a moment before the worker: nobody can tell yet whose
 * fault it is. */
static bool is_doubtful(const struct pool_node *node, int failed, const struct trial_result *result,
                        const struct err *err) {
	if (!node->options->launcher->lost)
		return false;
	return failed ? err->code == ERR_FAILED && !worker_lost(node->worker) : js_bool_or(result->reply, "outside", false);
}

/* Measures again what fails in that way, by a worker that would have ended by now if it was to end. */
static int measure(struct pool_node *node, const struct trial_request *request, struct trial_result *result,
                   struct err *err) {
	struct trial_request again = *request;
	double begun = sys_now();
	int failed = node->runner.run(node->runner.ctx, request, result, err);
	if (!is_doubtful(node, failed, result, err) || pool_node_pause(node, END_SECONDS) ||
	    !limit(&again, sys_now() - begun))
		return failed;
	trial_result_clear(result);
	*err = (struct err){0};
	return node->runner.run(node->runner.ctx, &again, result, err);
}

/* Runs one trial of a job. A worker that came up on another node ends the job, because its trials would not be
 * comparable any more. */
static int trial_run(struct pool_node *node, const struct trial_request *request, const char *name,
                     struct pool_done *done, struct err *err) {
	struct trial_result *result = &done->results[done->done];
	const json_t *machine = worker_machine(node->worker, err);
	if (machine && strcmp(name_of(machine), name) != 0) {
		lose(done, &(struct worker_loss){"its worker came up again on another node", .outside = true});
		return -1;
	}
	if (!machine) {
		lose_before(done, node->worker, err->what);
		return -1;
	}
	if (measure(node, request, result, err)) {
		trial_result_clear(result);
		if (worker_lost(node->worker))
			lose(done, worker_lost(node->worker));
		return -1;
	}
	name_add(result, name);
	result->ended = sys_wall();
	done->done++;
	return 0;
}

static void trials_run(struct pool_node *node, const struct pool_order *order, const char *name, struct pool_done *done,
                       struct err *err) {
	double begun = sys_now();
	for (size_t i = 0; i < order->count; i++) {
		struct trial_request request = order->requests[i];
		if ((i > 0 && !limit(&request, sys_now() - begun)) || trial_run(node, &request, name, done, err))
			return;
	}
}

static void job_run(struct pool_node *node, const struct pool_order *order, struct pool_event *event) {
	struct pool_done *done = &event->done;
	const json_t *machine = worker_machine(node->worker, &event->err);
	mem_auto char *name = mem_strdup(name_of(machine));
	done->node = node->number;
	done->job = order->job;
	done->results = mem_alloc(order->count, sizeof *done->results);
	if (!machine)
		lose_before(done, node->worker, event->err.what);
	else if (runner_open(node, order->work, &event->err) == 0)
		trials_run(node, order, name, done, &event->err);
	else if (worker_lost(node->worker))
		lose(done, worker_lost(node->worker));
	if (done->lost)
		event->err = (struct err){0};
}

static double again_seconds(unsigned row) {
	return row <= 1 ? FIRST_SECONDS : SECOND_SECONDS * (1 << (row - 2 < DOUBLINGS ? row - 2 : DOUBLINGS));
}

/* Handles a worker that was lost before it could say where it is, or while it ran. Returns true to start it again. A
 * loss that a trial may have caused counts against that trial (pool_done) and not against the node. */
static bool try_again(struct pool_node *node, const struct worker_loss *loss, bool never) {
	struct pool_event event = {.what = POOL_AGAIN, .node = node->number};
	snprintf(event.reason, sizeof event.reason, "%s", loss->reason);
	event.done.lies = loss->lies;
	node->losses += loss->outside;
	node->row++;
	if (never || loss->lies || node->losses > node->options->losses) {
		event.what = POOL_GONE;
		pool_queue_put(node->queue, &event);
		return false;
	}
	pool_queue_put(node->queue, &event);
	return !pool_node_pause(node, again_seconds(node->row));
}

/* All nodes at the same time; what fails fails again where the node is admitted. */
static void device_open(struct pool_node *node) {
	struct err ignored = {0};
	if (node->options->device)
		json_decref(worker_devices(node->worker, node->options->device, false, &ignored));
}

/* Starts the worker until it answers; false if it never will, or is to stop. A worker that cannot be started at all
 * points to a wrong command, so that the first failure is final. */
static bool bring_up(struct pool_node *node) {
	for (;;) {
		struct err err = {0};
		bool first = worker_starts(node->worker) == 0;
		const json_t *machine = worker_machine(node->worker, &err);
		if (machine) {
			device_open(node);
			const struct pool_event event = {.what = POOL_UP, .node = node->number, .machine = json_deep_copy(machine)};
			pool_queue_put(node->queue, &event);
			node->row = 0;
			return true;
		}
		bool never = first && !worker_lost(node->worker);
		struct worker_loss loss = loss_before(node->worker, err.what);
		if (err.code == ERR_INTERRUPTED || !try_again(node, &loss, never))
			return false;
	}
}

static bool work_on(struct pool_node *node, const struct pool_order *order) {
	struct pool_event event = {.what = POOL_DONE, .node = node->number};
	unsigned starts = worker_starts(node->worker);
	job_run(node, order, &event);
	bool lost = event.done.lost;
	struct worker_loss loss = {.outside = event.done.outside, .lies = event.done.lies};
	snprintf(loss.reason, sizeof loss.reason, "%s", event.done.reason);
	if (!lost || event.done.done)
		node->losses = 0;
	event.ready = !lost && worker_runs(node->worker) && worker_starts(node->worker) == starts;
	bool ready = event.ready;
	pool_queue_put(node->queue, &event);
	if (ready)
		return true;
	return (!lost || try_again(node, &loss, false)) && bring_up(node);
}

void *pool_node_main(void *argument) {
	struct pool_node *node = argument;
	struct pool_order order;
	bool up = bring_up(node);
	while (up && pool_node_wait(node, &order) && order.job)
		up = work_on(node, &order);
	runner_close(node);
	worker_rest(node->worker);
	return NULL;
}
