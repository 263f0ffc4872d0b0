# SPDX-License-Identifier: GPL-3.0-or-later
# Not installed by make: `pip install ./python` does that, into the environment of its user.
EXTRA_DIST += %D%/README.md %D%/pyproject.toml %D%/build_backend/backend.py \
	%D%/sweetspot/__init__.py %D%/sweetspot/_checks.py %D%/sweetspot/_client.py %D%/sweetspot/_command.py %D%/sweetspot/_compare.py \
	%D%/sweetspot/_inputs.py %D%/sweetspot/_kernel_tuner.py %D%/sweetspot/_params.py %D%/sweetspot/_profile.py %D%/sweetspot/_results.py \
	%D%/sweetspot/_serve.py %D%/sweetspot/_tune.py %D%/sweetspot/_worker.py %D%/sweetspot/py.typed \
	%D%/tests/test_cheats.py %D%/tests/test_kernel_tuner.py %D%/tests/test_profile.py %D%/tests/test_tune.py %D%/tests/test_values.py
