# SPDX-License-Identifier: GPL-3.0-or-later
# Not installed by make: `pip install ./python` does that, into the environment of its user.
EXTRA_DIST += %D%/README.md %D%/pyproject.toml %D%/build_backend/backend.py %D%/sweetspot/py.typed %D%/sweetspot/__init__.py \
	%D%/sweetspot/__main__.py %D%/sweetspot/_autotune.py %D%/sweetspot/_checks.py %D%/sweetspot/_client.py %D%/sweetspot/_command.py \
	%D%/sweetspot/_compare.py %D%/sweetspot/_html.py %D%/sweetspot/_inputs.py %D%/sweetspot/_inside.py %D%/sweetspot/_kernel_tuner.py \
	%D%/sweetspot/_options.py %D%/sweetspot/_params.py %D%/sweetspot/_profile.py %D%/sweetspot/_results.py \
	%D%/sweetspot/_serve.py %D%/sweetspot/_strategy.py %D%/sweetspot/_study.py %D%/sweetspot/_travel.py %D%/sweetspot/_tune.py %D%/sweetspot/_watch.py \
	%D%/sweetspot/_worker.py %D%/sweetspot/kernel_tuner/utils/__init__.py %D%/sweetspot/kernel_tuner/utils/directives.py %D%/sweetspot/kernel_tuner/__init__.py %D%/sweetspot/kernel_tuner/_device.py \
	%D%/sweetspot/kernel_tuner/_files.py %D%/sweetspot/kernel_tuner/_interface.py %D%/sweetspot/kernel_tuner/_launch.py \
	%D%/sweetspot/kernel_tuner/_native.py %D%/sweetspot/kernel_tuner/_run.py %D%/sweetspot/kernel_tuner/_search.py \
	%D%/sweetspot/kernel_tuner/_source.py %D%/sweetspot/kernel_tuner/accuracy.py %D%/sweetspot/kernel_tuner/file_utils.py \
	%D%/sweetspot/kernel_tuner/kernelbuilder.py %D%/sweetspot/kernel_tuner/observers.py %D%/sweetspot/kernel_tuner/strategies.py \
	%D%/sweetspot/kernel_tuner/util.py %D%/sweetspot/kernel_tuner/wrappers.py \
	%D%/tests/test_autotune.py %D%/tests/test_callables.py %D%/tests/test_cheats.py %D%/tests/example_sources.py %D%/tests/test_examples.py %D%/tests/test_kernel_tuner.py %D%/tests/test_kernels.py \
	%D%/tests/test_profile.py %D%/tests/test_study.py %D%/tests/test_tune.py %D%/tests/test_values.py
