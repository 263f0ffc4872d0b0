/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The signals that end sweetspot. The first one finishes the running trial, the second gives it up, and one that
 * comes seconds later ends the process, so that nothing that forgets to look at the flags makes it deaf. */
#ifndef SRC_APP_SIGNALS_H
#define SRC_APP_SIGNALS_H

/* Global because a signal handler gets no argument. */
extern volatile int signals_interrupted, signals_abandoned;

void signals_set(void);
#endif
