# SPDX-License-Identifier: BSD-3-Clause
"""A C++ function under a name that can be called from outside."""

from typing import Any, Optional, Sequence

_TYPES = {
    "int8": "int8_t", "int16": "int16_t", "int32": "int", "int64": "long long", "uint8": "uint8_t", "uint16": "uint16_t",
    "uint32": "unsigned int", "uint64": "unsigned long long", "float32": "float", "float64": "double",
}  # fmt: skip


def cpp(function_name: str, kernel_source: str, args: Sequence[Any], convert_to_array: Optional[Sequence[bool]] = None) -> str:
    """The source with a function NAME_wrapper for it. convert_to_array: these arguments are references to an array of the
    length given, float (&a)[9], and are passed as such."""
    passed, given = [], []
    for i, arg in enumerate(args):
        pointer, kind = bool(getattr(arg, "shape", None)), _TYPES[str(arg.dtype)]
        given.append("%s %sarg%d" % (kind, "*" if pointer else "", i))
        array = bool(convert_to_array and convert_to_array[i])
        passed.append("*reinterpret_cast<%s(*)[%d]>(arg%d)" % (kind, arg.size, i) if array and pointer else "arg%d" % i)
    call = "%s(%s)" % (function_name, ", ".join(passed))
    return '#include <cstdint>\n%s\nextern "C" float %s_wrapper(%s) { %s; return 0.0f; }\n' % (kernel_source, function_name, ", ".join(given), call)
