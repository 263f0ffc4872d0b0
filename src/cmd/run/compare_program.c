/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cmd/run/run_impl.h"
#include "src/plan/program_config.h"

static const double TIMEOUT_SECONDS = 600;

static int options_check(struct app *app, const struct opt_args *args, struct err *err) {
	static const char *const of_kernels[] = {"counters", "flush-l2", "samples"};
	for (size_t i = 0; i < sizeof of_kernels / sizeof *of_kernels; i++)
		if (opt_has(args, of_kernels[i]))
			return err_set(err, ERR_USAGE, "leave it out", "--%s is not for programs", of_kernels[i]);
	if (app_device(app))
		return err_set(err, ERR_USAGE, "leave --device out: the program chooses its GPU",
		               "--device is not for programs");
	if (opt_words(args) == 2)
		return 0;
	return err_set(err, ERR_USAGE, "sweetspot compare 'B=16' 'B=64' --param B=16,32,64 -- ./app '{B}'",
	               "give two configurations before --, each as one word (in quotes)");
}

int compare_program_open(struct compare_program *program, struct app *app, const struct opt_args *args,
                         struct err *err) {
	const char *timeout = opt_get(args, "timeout", NULL);
	double limit = TIMEOUT_SECONDS;
	long long seed;
	*program = (struct compare_program){0};
	if (options_check(app, args, err) || opt_int(args, "seed", 0, INT64_MAX, 1, &seed, err) ||
	    (timeout && opt_limit(timeout, "timeout", &limit, err)) ||
	    !(program->item = tune_item_program(app, args, 0, err)))
		return -1;
	const struct tune_task *task = &program->item->task;
	program->seed = (uint64_t)seed;
	program->request = (struct trial_request){.kernel = task->kernel,
	                                          .problem = task->problem,
	                                          .seed = program->seed,
	                                          .whole_program = true,
	                                          .timeout_s = limit};
	for (size_t i = 0; i < 2; i++)
		if (!(program->config[i] = program_config_read(task->space, task->baseline, opt_word(args, i), err)))
			return -1;
	return 0;
}
