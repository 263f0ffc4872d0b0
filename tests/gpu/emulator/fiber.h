/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fibers: functions with a stack of their own that give the processor to each other. */
#ifndef TESTS_GPU_EMULATOR_FIBER_H
#define TESTS_GPU_EMULATOR_FIBER_H
#include <stdbool.h>

struct stack;                   /* kept, and used again */
struct stack *stack_take(void); /* NULL: no memory */
void stack_give(struct stack *stack);
bool stack_guards(const struct stack *stack, const void *address); /* it is in the page below the stack */

#if defined __x86_64__ && !defined EMULATOR_UCONTEXT
struct fiber {
	void *top;
};
/* The stacks of a block fill the first cache, so that nearly every switch would wait for the next one. */
static inline void fiber_prefetch(const struct fiber *fiber) {
	__builtin_prefetch(fiber->top);
	__builtin_prefetch((const char *)fiber->top + 64);
}
#else
#include <ucontext.h>
struct fiber {
	ucontext_t context;
};
static inline void fiber_prefetch(const struct fiber *fiber) {
	(void)fiber;
}
#endif
/* entry never returns. */
void fiber_start(struct fiber *fiber, struct stack *stack, void (*entry)(void));
void fiber_switch(struct fiber *from, struct fiber *to);

#endif
