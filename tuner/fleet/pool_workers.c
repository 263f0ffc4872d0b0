/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <signal.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "tuner/fleet/fleet_impl.h"

static int pool_queue_init(struct pool_queue *queue) {
	pthread_condattr_t monotonic;
	queue->last = &queue->first;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	int failed = pthread_mutex_init(&queue->mutex, NULL) || pthread_cond_init(&queue->come, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return failed ? -1 : 0;
}

/* together with unread events */
static void pool_queue_clear(struct pool_queue *queue) {
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

static void pool_node_stop(struct pool_node *node) {
	pthread_mutex_lock(&node->queue->mutex);
	__atomic_store_n(&node->stop, 1, __ATOMIC_RELAXED);
	pthread_cond_signal(&node->wake);
	pthread_mutex_unlock(&node->queue->mutex);
}

static void pool_node_order(struct pool_node *node, const struct pool_order *order) {
	pthread_mutex_lock(&node->queue->mutex);
	node->order = *order;
	node->has_order = true;
	pthread_cond_signal(&node->wake);
	pthread_mutex_unlock(&node->queue->mutex);
}

static const double SLICE_SECONDS = 0.1; /* interval between checks of the interrupt flag */

struct pool_workers {
	struct pool_workers_options options;
	struct pool_queue queue;
	struct pool_node *nodes;
	struct pool pool;
	const struct pool_work *work;
	struct pool_meter meter;
	size_t busy, trials;          /* trials: completed so far */
	bool failed;                  /* an order ended in an error, which has been returned */
	const struct pool_node *last; /* the last one that was given up */
	char hint[512];               /* as long as an error's */
};

__attribute__((format(printf, 3, 4))) static void note(const struct pool_workers *workers, bool given_up,
                                                       const char *format, ...) {
	va_list ap;
	char text[400];
	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	if (workers->options.note)
		workers->options.note(workers->options.note_ctx, given_up, text);
}

static const char *node_name(void *ctx, size_t node) {
	const struct pool_workers *workers = ctx;
	return workers->nodes[node].name;
}

static enum pool_state node_state(void *ctx, size_t node) {
	const struct pool_workers *workers = ctx;
	return workers->nodes[node].state;
}

struct pool_held pool_meter_read(const struct pool_meter *meter, double now) {
	struct pool_held held = meter->held;
	held.seconds += (double)held.nodes * fmax(0, now - meter->at);
	return held;
}

void pool_meter_change(struct pool_meter *meter, double now, bool more) {
	meter->held = pool_meter_read(meter, now);
	if (more)
		meter->held.nodes++;
	else
		meter->held.nodes--;
	meter->at = fmax(meter->at, now);
}

bool pool_state_held(enum pool_state state) {
	return state == POOL_IDLE || state == POOL_BUSY;
}

static void state_set(struct pool_workers *workers, struct pool_node *node, enum pool_state state) {
	if (pool_state_held(node->state) != pool_state_held(state))
		pool_meter_change(&workers->meter, sys_now(), pool_state_held(state));
	node->state = state;
}

static struct pool_held nodes_held(void *ctx) {
	const struct pool_workers *workers = ctx;
	return pool_meter_read(&workers->meter, sys_now());
}

static void requests_free(struct trial_request *requests, size_t count) {
	for (size_t i = 0; requests && i < count; i++) {
		json_decref((json_t *)requests[i].problem);
		json_decref((json_t *)requests[i].config);
	}
	free(requests);
}

/* Makes deep copies, because the reference counts of JSON objects are not shared safely between threads. */
static struct trial_request *requests_copy(const struct pool_job *job) {
	struct trial_request *copies = mem_alloc(job->count, sizeof *copies);
	for (size_t i = 0; i < job->count; i++) {
		copies[i] = job->requests[i];
		copies[i].problem = json_deep_copy(job->requests[i].problem);
		copies[i].config = json_deep_copy(job->requests[i].config);
	}
	return copies;
}

static int submit(void *ctx, size_t number, const struct pool_job *job, struct err *err) {
	struct pool_workers *workers = ctx;
	struct pool_node *node = &workers->nodes[number];
	if (node->state != POOL_IDLE || !workers->work)
		return err_set(err, ERR_FAILED, NULL, "node %s is not idle", node->name);
	node->requests = requests_copy(job);
	state_set(workers, node, POOL_BUSY);
	workers->busy++;
	pool_node_order(
		node, &(struct pool_order){.job = job, .count = job->count, .requests = node->requests, .work = workers->work});
	return 0;
}

/* hint: what would help where no node is left. */
static void quarantine(struct pool_workers *workers, struct pool_node *node, const char *why, const char *hint) {
	state_set(workers, node, POOL_LOST);
	workers->last = node;
	snprintf(node->reason, sizeof node->reason, "%s", why);
	snprintf(workers->hint, sizeof workers->hint, "%s", hint);
	note(workers, true, "node %s is quarantined: %s", node->name, why);
}

static void on_up(struct pool_workers *workers, struct pool_node *node, struct pool_event *event) {
	char why[160] = "";
	free(node->name);
	free(node->job);
	node->name = mem_strdup(js_string_or(event->machine, "node", "?"));
	node->job = mem_strdup(js_string_or(event->machine, "job", ""));
	json_decref(event->machine);
	node->was_up = true;
	state_set(workers, node, POOL_IDLE);
	if (!workers->options.admit ||
	    workers->options.admit(workers->options.admit_ctx, node->number, node->worker, why, sizeof why)) {
		note(workers, false, "node %s is ready%s%s", node->name, *node->job ? ", job " : "", node->job);
		return;
	}
	quarantine(workers, node, why, "");
	pool_node_order(node, &(struct pool_order){.job = NULL});
}

static void seen(const struct pool_workers *workers, const struct pool_done *done) {
	const struct pool_work *work = workers->work;
	for (size_t i = 0; work && work->seen && i < done->done; i++)
		work->seen(work->seen_ctx, &done->job->requests[i], &done->results[i]);
}

static bool others_live(const struct pool_workers *workers, const struct pool_node *node) {
	for (size_t i = 0; i < workers->pool.count; i++)
		if (&workers->nodes[i] != node && workers->nodes[i].state != POOL_LOST)
			return true;
	return false;
}

/* An error instead of a result says that nothing can be run, which is true of this node alone if trials have worked (it
 * may have another version, or lie) or if its system is to blame (a full disk). Its job then goes to another node.
 * Returns false if the error stands. */
static bool set_aside(struct pool_workers *workers, struct pool_node *node, struct pool_done *done,
                      const struct err *error) {
	char why[160];
	bool own = workers->trials || error->code == ERR_FAILED;
	if (error->code == ERR_INTERRUPTED || !own || !others_live(workers, node))
		return false;
	snprintf(why, sizeof why, "it refuses a trial: %.130s", error->what);
	quarantine(workers, node, why, error->hint);
	pool_node_stop(node);
	snprintf(done->reason, sizeof done->reason, "%s", why);
	done->lost = done->reason;
	done->outside = true;
	return true;
}

/* Returns 1, or -1 with err if nothing can be run at all. */
static int on_done(struct pool_workers *workers, struct pool_node *node, struct pool_event *event,
                   struct pool_done *done, struct err *err) {
	requests_free(node->requests, node->order.count);
	node->requests = NULL;
	workers->busy--;
	state_set(workers, node, event->ready ? POOL_IDLE : POOL_QUEUED);
	*done = event->done;
	done->lost = event->done.lost ? done->reason : NULL;
	workers->trials += done->done;
	if (event->err.code != ERR_OK && !set_aside(workers, node, done, &event->err)) {
		pool_done_clear(done);
		workers->failed = true;
		*err = event->err;
		return err->code == ERR_FAILED ? err_prefix(err, "node %s", node->name) : -1;
	}
	seen(workers, done);
	return 1;
}

static const char *gone_hint(const struct pool_node *node, bool lies) {
	if (lies)
		return "measure without this node until its clock and its worker are as they should be";
	return node->was_up
	           ? "`--resume` goes on from here, once there are nodes again"
	           : "try a command that --plan prints: it must start a worker and print nothing else (a login's greeting)";
}

static int event_use(struct pool_workers *workers, struct pool_event *event, struct pool_done *done, struct err *err) {
	struct pool_node *node = &workers->nodes[event->node];
	if (node->state == POOL_LOST) { /* what its thread said before it noticed */
		json_decref(event->machine);
		return 0;
	}
	switch (event->what) {
	case POOL_UP:
		on_up(workers, node, event);
		return 0;
	case POOL_AGAIN:
		node->lost++;
		snprintf(node->reason, sizeof node->reason, "%s", event->reason);
		note(workers, false, "node %s went away: %s; asked for again", node->name, event->reason);
		return 0;
	case POOL_GONE:
		node->lost++;
		quarantine(workers, node, event->reason, gone_hint(node, event->done.lies));
		return 0;
	case POOL_DONE:
	default:
		return on_done(workers, node, event, done, err);
	}
}

static bool is_set(const volatile int *flag) {
	return flag && *flag;
}

static bool all_lost(const struct pool_workers *workers) {
	for (size_t i = 0; i < workers->pool.count; i++)
		if (workers->nodes[i].state != POOL_LOST)
			return false;
	return true;
}

static int nothing_left(const struct pool_workers *workers, struct err *err) {
	return err_set(err, ERR_UNAVAILABLE, workers->hint, "no node is left: node %s: %s", workers->last->name,
	               workers->last->reason);
}

static int wait_done(void *ctx, double seconds, struct pool_done *done, struct err *err) {
	struct pool_workers *workers = ctx;
	double deadline = seconds < 0 ? INFINITY : sys_now() + seconds;
	struct pool_event event;
	for (;;) {
		if (is_set(workers->options.abandon) || (workers->busy == 0 && is_set(workers->options.interrupt)))
			return err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
		double left = fmin(deadline - sys_now(), SLICE_SECONDS);
		if (pool_queue_take(&workers->queue, left > 0 ? left : 0, &event))
			return event_use(workers, &event, done, err);
		if (all_lost(workers))
			return nothing_left(workers, err);
		if (workers->failed && workers->busy == 0) /* its job is gone, so who collects the rest would wait for ever */
			return err_set(err, ERR_FAILED, NULL, "no trial is running any more");
		if (sys_now() >= deadline)
			return 0;
	}
}

static double now(void *ctx) {
	(void)ctx;
	return sys_now();
}

static bool node_lost(void *ctx, const struct worker_end *end, struct worker_loss *loss) {
	const struct pool_node *node = ctx;
	const struct launcher *launcher = node->options->launcher;
	return launcher->lost && launcher->lost(end, loss);
}

static void node_init(struct pool_workers *workers, size_t number) {
	struct pool_node *node = &workers->nodes[number];
	const struct pool_workers_options *options = &workers->options;
	pthread_condattr_t monotonic;
	node->options = options;
	node->queue = &workers->queue;
	node->number = number;
	node->name = mem_printf("%zu", number + 1);
	node->job = mem_strdup("");
	node->launch = (struct worker_launch){.argv = options->launched->commands[number],
	                                      .end_signal = options->launcher->end_signal,
	                                      .end_seconds = options->launcher->end_seconds,
	                                      .answer_seconds = options->launcher->answer_seconds,
	                                      .ctx = node,
	                                      .lost = node_lost};
	const struct worker_options worker = {.path = options->worker,
	                                      .launch = &node->launch,
	                                      .address_space = options->launcher->elsewhere ? 0 : options->address_space,
	                                      .interrupt = &node->stop};
	node->worker = worker_new(&worker);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&node->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

/* Node threads start with all signals blocked, so that signals reach the thread of the caller. */
static int nodes_start(struct pool_workers *workers, struct err *err) {
	sigset_t all, before;
	int why = 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (size_t i = 0; i < workers->pool.count && !why; i++) {
		struct pool_node *node = &workers->nodes[i];
		why = pthread_create(&node->thread, NULL, pool_node_main, node);
		node->has_thread = !why;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return why ? err_set(err, ERR_FAILED, "ask for fewer nodes", "cannot start a thread per node: %s", strerror(why))
	           : 0;
}

struct pool_workers *pool_workers_new(const struct pool_workers_options *options, struct err *err) {
	struct pool_workers *workers = mem_alloc(1, sizeof *workers);
	workers->options = *options;
	workers->nodes = mem_alloc(options->launched->count, sizeof *workers->nodes);
	workers->pool = (struct pool){.ctx = workers,
	                              .count = options->launched->count,
	                              .name = node_name,
	                              .state = node_state,
	                              .submit = submit,
	                              .wait = wait_done,
	                              .now = now,
	                              .held = nodes_held};
	json_object_seed(0); /* must happen once, before there are threads */
	pool_queue_init(&workers->queue);
	for (size_t i = 0; i < options->launched->count; i++)
		node_init(workers, i);
	if (nodes_start(workers, err) == 0)
		return workers;
	pool_workers_free(workers);
	return NULL;
}

static void node_clear(struct pool_node *node) {
	if (node->has_thread)
		pthread_join(node->thread, NULL);
	worker_free(node->worker);
	if (node->requests)
		requests_free(node->requests, node->order.count);
	pthread_cond_destroy(&node->wake);
	free(node->name);
	free(node->job);
}

void pool_workers_free(struct pool_workers *workers) {
	if (!workers)
		return;
	for (size_t i = 0; i < workers->pool.count; i++)
		pool_node_stop(&workers->nodes[i]);
	for (size_t i = 0; i < workers->pool.count; i++)
		node_clear(&workers->nodes[i]);
	pool_queue_clear(&workers->queue);
	free(workers->nodes);
	free(workers);
}

struct pool *pool_workers_pool(struct pool_workers *workers) {
	return &workers->pool;
}

void pool_workers_use(struct pool_workers *workers, const struct pool_work *work) {
	workers->work = work;
}

int pool_workers_first(struct pool_workers *workers, double seconds, size_t *node, struct err *err) {
	double deadline = seconds < 0 ? INFINITY : sys_now() + seconds;
	struct pool_done none;
	for (;;) {
		for (*node = 0; *node < workers->pool.count; ++*node)
			if (workers->nodes[*node].state == POOL_IDLE)
				return 0;
		double left = deadline - sys_now();
		if (left <= 0)
			return 1;
		if (wait_done(workers, isinf(left) ? -1 : left, &none, err) < 0)
			return -1;
	}
}

json_t *pool_workers_json(const struct pool_workers *workers) {
	static const char *const states[] = {"queued", "idle", "busy", "lost"};
	json_t *array = json_array();
	for (size_t i = 0; i < workers->pool.count; i++) {
		const struct pool_node *node = &workers->nodes[i];
		json_array_append_new(
			array, json_pack("{s:s,s:s,s:o,s:i,s:o}", "name", node->name, "state", states[node->state], "job",
		                     *node->job ? json_string(node->job) : json_null(), "losses", (int)node->lost, "reason",
		                     *node->reason ? json_string(node->reason) : json_null()));
	}
	return array;
}
