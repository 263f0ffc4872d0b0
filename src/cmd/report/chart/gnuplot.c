/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>

#include "src/base/mem.h"
#include "src/base/proc/proc.h"
#include "src/base/sys.h"
#include "src/cmd/report/chart/write.h"

/* Only a gnuplot that hangs needs so long: hundreds of pictures take minutes on a busy machine. */
static const double patience = 600;

/* The pictures go to files, so anything that gnuplot prints is dropped. */
static int wait_end(struct proc *proc, double deadline, struct err *err) {
	for (;;) {
		char *line;
		size_t size;
		enum proc_read what = proc_read(proc, deadline - sys_now(), NULL, &line, &size);
		if (what == PROC_EOF)
			return 0;
		if (what == PROC_TIMEOUT)
			return err_set(err, ERR_FAILED, NULL, "gnuplot did not end within %.0f s", patience);
		if (what != PROC_LINE)
			return err_set(err, ERR_FAILED, NULL, "gnuplot printed more than expected");
	}
}

/* The script ends with `exit`, because the pipe of its input stays open until proc_stop. */
static int talk(struct proc *proc, const char *script, size_t size, struct err *err) {
	double deadline = sys_now() + patience;
	return proc_write(proc, script, size, patience, err) != 0 ? -1 : wait_end(proc, deadline, err);
}

static int check_status(int status, const char *said, struct err *err) {
	char text[96];
	if (status == 0)
		return 0;
	proc_status_text(status, text, sizeof(text));
	return err_set(err, ERR_FAILED, "please report this with the output of `gnuplot --version`",
	               "gnuplot failed (%s): %.300s", text, said);
}

int gnuplot_run(const char *script, size_t size, const char *folder, struct err *err) {
	static const char *const argv[] = {"gnuplot", "-d", NULL}; /* -d: no initialisation files */
	static const char *const unset[] = {"GNUPLOT*", "GNUTERM", "LC_*", "LANG", "LANGUAGE", "DISPLAY", NULL};
	static const char *const set[] = {"LC_ALL=C.UTF-8", NULL};
	struct proc_spec spec = {.argv = argv, .unset = unset, .set = set, .cwd = folder, .no_core = true};
	struct proc *proc = proc_start(&spec, err);
	if (!proc) {
		if (err)
			err->code = ERR_UNAVAILABLE;
		return err_hint(err, "pictures need gnuplot (5.2 or later): apt install gnuplot-nox");
	}
	int failed = talk(proc, script, size, err);
	char *said = mem_strdup(proc_stderr(proc));
	int status = proc_stop(proc, failed ? 0 : 5);
	if (!failed)
		failed = check_status(status, said, err);
	free(said);
	return failed;
}
