# SPDX-License-Identifier: BSD-3-Clause
"""The functions that write files."""

from ._files import store_metadata_file, store_output_file

__all__ = ["store_metadata_file", "store_output_file"]
