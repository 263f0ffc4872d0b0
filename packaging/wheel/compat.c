/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that the C library of manylinux_2_28 lacks, for a wheel that is built on a newer system. With START it is
 * the start of programs, else a library. */
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/stat.h>

#define HERE __attribute__((visibility("hidden")))

#ifndef START
#ifdef __x86_64__
#define STAT_VERSION 1
#else
#define STAT_VERSION 0
#endif
/* hwloc asks udev for the makers of disks; NULL tells that there is none. */
#define NOTHING(name) void *name(void) { return NULL; }
NOTHING(udev_new)
NOTHING(udev_unref)
NOTHING(udev_device_unref)
NOTHING(udev_device_new_from_subsystem_sysname)
NOTHING(udev_device_get_property_value)

int __xstat(int version, const char *path, struct stat *out);
int __lxstat(int version, const char *path, struct stat *out);
int __fxstat(int version, int fd, struct stat *out);
int __fxstatat(int version, int folder, const char *path, struct stat *out, int flags);

HERE int stat(const char *path, struct stat *out) {
	return __xstat(STAT_VERSION, path, out);
}

HERE int lstat(const char *path, struct stat *out) {
	return __lxstat(STAT_VERSION, path, out);
}

HERE int fstat(int fd, struct stat *out) {
	return __fxstat(STAT_VERSION, fd, out);
}

HERE int fstatat(int folder, const char *path, struct stat *out, int flags) {
	return __fxstatat(STAT_VERSION, folder, path, out, flags);
}

HERE int stat64(const char *path, struct stat64 *out) {
	return __xstat(STAT_VERSION, path, (struct stat *)out);
}

HERE int lstat64(const char *path, struct stat64 *out) {
	return __lxstat(STAT_VERSION, path, (struct stat *)out);
}

HERE int fstat64(int fd, struct stat64 *out) {
	return __fxstat(STAT_VERSION, fd, (struct stat *)out);
}

extern void *__dso_handle HERE;
int __cxa_atexit(void (*end)(void *), void *argument, void *library);
int __register_atfork(void (*before)(void), void (*parent)(void), void (*child)(void), void *library);

HERE int atexit(void (*end)(void)) {
	return __cxa_atexit((void (*)(void *))end, NULL, __dso_handle);
}

int __cxa_at_quick_exit(void (*end)(void *), void *library);

HERE int at_quick_exit(void (*end)(void)) {
	return __cxa_at_quick_exit((void (*)(void *))end, __dso_handle);
}

HERE int pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void)) {
	return __register_atfork(before, parent, child, __dso_handle);
}

#else
/* The start of a program before glibc 2.34, which had the program call its own constructors. */
typedef void constructor(int argc, char **argv, char **environment);
extern constructor *const __preinit_array_start[] HERE, *const __preinit_array_end[] HERE;
extern constructor *const __init_array_start[] HERE, *const __init_array_end[] HERE;

HERE void wheel_construct(int argc, char **argv, char **environment) {
	for (constructor *const *each = __preinit_array_start; each < __preinit_array_end; each++)
		(*each)(argc, argv, environment);
	for (constructor *const *each = __init_array_start; each < __init_array_end; each++)
		(*each)(argc, argv, environment);
}

HERE void wheel_destruct(void) {
}

#ifdef __x86_64__
__asm__(".globl _start\n_start:\n\txor %ebp, %ebp\n\tmov %rdx, %r9\n\tpop %rsi\n\tmov %rsp, %rdx\n\tand $-16, %rsp\n\tpush %rax\n"
        "\tpush %rsp\n\tlea wheel_destruct(%rip), %r8\n\tlea wheel_construct(%rip), %rcx\n\tlea main(%rip), %rdi\n"
        "\tcall *__libc_start_main@GOTPCREL(%rip)\n\thlt\n");
#elif defined __aarch64__
__asm__(".globl _start\n_start:\n\tmov x29, #0\n\tmov x30, #0\n\tmov x5, x0\n\tldr x1, [sp]\n\tadd x2, sp, #8\n\tmov x6, sp\n"
        "\tadrp x0, main\n\tadd x0, x0, :lo12:main\n\tadrp x3, wheel_construct\n\tadd x3, x3, :lo12:wheel_construct\n"
        "\tadrp x4, wheel_destruct\n\tadd x4, x4, :lo12:wheel_destruct\n\tbl __libc_start_main\n\tbl abort\n");
#endif
#endif
