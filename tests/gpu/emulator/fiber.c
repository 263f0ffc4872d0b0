/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/gpu/emulator/fiber.h"

/* Stacks begin at different cache lines: if they all began at a page's, the tops of a block's stacks would share one
 * set of each cache, and switching between its threads would miss every time. */
enum { COLOURS = 128, COLOUR_BYTES = 64 };
enum { STACK_BYTES = (64 << 10) + COLOURS * COLOUR_BYTES, GUARD_BYTES = 64 << 10 };

struct stack {
	char *memory;
	size_t unused; /* above its top */
	struct stack *next;
};

static struct stack *spare;

struct stack *stack_take(void) {
	static size_t made;
	struct stack *stack = spare;
	if (stack) {
		spare = stack->next;
		return stack;
	}
	stack = malloc(sizeof *stack);
	if (!stack)
		return NULL;
	stack->unused = made++ % COLOURS * COLOUR_BYTES;
	stack->memory =
		mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (stack->memory != MAP_FAILED && mprotect(stack->memory + GUARD_BYTES, STACK_BYTES, PROT_READ | PROT_WRITE) == 0)
		return stack;
	if (stack->memory != MAP_FAILED)
		munmap(stack->memory, GUARD_BYTES + STACK_BYTES);
	free(stack);
	return NULL;
}

void stack_give(struct stack *stack) {
	stack->next = spare;
	spare = stack;
}

bool stack_guards(const struct stack *stack, const void *address) {
	uintptr_t low = (uintptr_t)stack->memory, at = (uintptr_t)address;
	return at >= low && at < low + GUARD_BYTES;
}

#if defined __x86_64__ && !defined EMULATOR_UCONTEXT
/* Saves the registers that a called function must keep by the System V ABI (AMD64 supplement, 3.2.1); swapcontext
 * would add two system calls. It jumps to the other fiber, because the processor would predict that a return
 * goes to where the last call came from. */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl fiber_switch\n"
        ".hidden fiber_switch\n"
        ".type fiber_switch, @function\n"
        "fiber_switch:\n"
        "	pushq %rbp\n"
        "	pushq %rbx\n"
        "	pushq %r12\n"
        "	pushq %r13\n"
        "	pushq %r14\n"
        "	pushq %r15\n"
        "	movq %rsp, (%rdi)\n"
        "	movq (%rsi), %rsp\n"
        "	popq %r15\n"
        "	popq %r14\n"
        "	popq %r13\n"
        "	popq %r12\n"
        "	popq %rbx\n"
        "	popq %rbp\n"
        "	popq %rcx\n"
        "	jmp *%rcx\n"
        ".size fiber_switch, .-fiber_switch\n");

void fiber_start(struct fiber *fiber, struct stack *stack, void (*entry)(void)) {
	void **top = (void **)(stack->memory + GUARD_BYTES + STACK_BYTES - stack->unused) - 1;
	*--top = (void *)(uintptr_t)entry;
	for (int i = 0; i < 6; i++)
		*--top = NULL;
	top[7] = NULL; /* where entry would return to */
	fiber->top = top;
}
#else
void fiber_start(struct fiber *fiber, struct stack *stack, void (*entry)(void)) {
	getcontext(&fiber->context);
	fiber->context.uc_stack.ss_sp = stack->memory + GUARD_BYTES;
	fiber->context.uc_stack.ss_size = STACK_BYTES - stack->unused;
	fiber->context.uc_link = NULL;
	makecontext(&fiber->context, entry, 0);
}

void fiber_switch(struct fiber *from, struct fiber *to) {
	swapcontext(&from->context, &to->context);
}
#endif
