/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small programs, each a function, that say what they can feel of a library that was loaded before them. None of them
 * may depend on the size of a team beyond 2, or on time. */
#ifndef TESTS_REGIONS_STRANGERS_H
#define TESTS_REGIONS_STRANGERS_H
/* OpenMP's constructs, and what is around a region. */
#define STRANGERS_CODE(X)                                                                                              \
	X(loop)                                                                                                            \
	X(loop_chunks)                                                                                                     \
	X(loop_dynamic)                                                                                                    \
	X(loop_dynamic_chunks)                                                                                             \
	X(loop_guided)                                                                                                     \
	X(loop_monotonic)                                                                                                  \
	X(loop_runtime)                                                                                                    \
	X(loop_auto)                                                                                                       \
	X(loop_wide)                                                                                                       \
	X(loop_wide_guided)                                                                                                \
	X(loop_wide_runtime)                                                                                               \
	X(loop_simd)                                                                                                       \
	X(loop_empty)                                                                                                      \
	X(clause_one)                                                                                                      \
	X(clause_three)                                                                                                    \
	X(clause_if)                                                                                                       \
	X(in_teams)                                                                                                        \
	X(task_loop)                                                                                                       \
	X(region)                                                                                                          \
	X(region_alone)                                                                                                    \
	X(inner_loops)                                                                                                     \
	X(ordered_loop)                                                                                                    \
	X(sections)                                                                                                        \
	X(inner_sections)                                                                                                  \
	X(single)                                                                                                          \
	X(master)                                                                                                          \
	X(critical)                                                                                                        \
	X(atomic)                                                                                                          \
	X(barriers)                                                                                                        \
	X(tasks)                                                                                                           \
	X(task_groups)                                                                                                     \
	X(task_order)                                                                                                      \
	X(task_sums)                                                                                                       \
	X(levels)                                                                                                          \
	X(cancelled)                                                                                                       \
	X(private_variables)                                                                                               \
	X(variables_16)                                                                                                    \
	X(variables_64)                                                                                                    \
	X(variables_256)                                                                                                   \
	X(variables_1280)                                                                                                  \
	X(nested)                                                                                                          \
	X(locks)                                                                                                           \
	X(kept_by_threads)                                                                                                 \
	X(questions)
#define STRANGERS_FELT(X)                                                                                              \
	X(in_thread)                                                                                                       \
	X(in_little_stack)                                                                                                 \
	X(in_many_threads)                                                                                                 \
	X(in_cancelled_thread)                                                                                             \
	X(in_ended_thread)                                                                                                 \
	X(left_main)                                                                                                       \
	X(in_handler)                                                                                                      \
	X(in_handler_of_little_stack)                                                                                      \
	X(interrupted)                                                                                                     \
	X(blocked_signals)                                                                                                 \
	X(jumps)                                                                                                           \
	X(forks_first)                                                                                                     \
	X(forks_later)                                                                                                     \
	X(forks_inside)                                                                                                    \
	X(vforks)                                                                                                          \
	X(spawns)                                                                                                          \
	X(becomes)                                                                                                         \
	X(commands)                                                                                                        \
	X(at_exit)                                                                                                         \
	X(ends_inside)                                                                                                     \
	X(ends_quickly)                                                                                                    \
	X(aborts_inside)                                                                                                   \
	X(error_stays)                                                                                                     \
	X(files_stay)                                                                                                      \
	X(files_inside)                                                                                                    \
	X(files_listed)                                                                                                    \
	X(closes_all)                                                                                                      \
	X(closes_errors)                                                                                                   \
	X(locked_memory)                                                                                                   \
	X(no_root_folder)                                                                                                  \
	X(no_rights)                                                                                                       \
	X(no_folder)                                                                                                       \
	X(no_environment)                                                                                                  \
	X(environment)                                                                                                     \
	X(filtered)                                                                                                        \
	X(failure_of_loader)                                                                                               \
	X(found_by_name)                                                                                                   \
	X(closes_library)                                                                                                  \
	X(contexts)                                                                                                        \
	X(limit_files)                                                                                                     \
	X(limit_no_files)                                                                                                  \
	X(limit_file_size)                                                                                                 \
	X(limit_some_file_size)                                                                                            \
	X(limit_core)                                                                                                      \
	X(limit_stack)                                                                                                     \
	X(limit_locked)                                                                                                    \
	X(limit_time)

#define STRANGER(NAME) void NAME(void);
STRANGERS_CODE(STRANGER)
STRANGERS_FELT(STRANGER)

void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The numbers below n, added up by a team. */
double sum(int n);

#endif
