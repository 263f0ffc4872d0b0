# SPDX-License-Identifier: BSD-3-Clause
"""What scripts import beside tune_kernel()."""
