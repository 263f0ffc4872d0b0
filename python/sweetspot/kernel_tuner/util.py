# SPDX-License-Identifier: BSD-3-Clause
"""Names that scripts import from Kernel Tuner's util."""

from typing import Any, Mapping, Optional, Sequence

from ._files import ErrorConfig, store_metadata_file, store_output_file
from ._search import StopCriterionReached

__all__ = ["ErrorConfig", "StopCriterionReached", "get_config_string", "store_metadata_file", "store_output_file"]


def get_config_string(params: Mapping[str, Any], keys: Optional[Sequence[str]] = None, units: Optional[Mapping[str, str]] = None) -> str:
    """The members of a row as "name=value" with their units."""
    shown = [name for name in params if not keys or name in keys]
    return ", ".join("%s=%s%s" % (name, params[name], (units or {}).get(name, "")) for name in shown)
