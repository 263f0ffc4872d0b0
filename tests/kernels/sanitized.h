/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SANITIZED: 1 where a sanitizer is at work, which takes address space and time of its own. */
#ifndef TESTS_KERNELS_SANITIZED_H
#define TESTS_KERNELS_SANITIZED_H

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif
