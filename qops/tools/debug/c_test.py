"""A test program in C99 for a layer that differs: its rule, some elements, and the device's numbers beside them."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops.models.target import PortedLayer
from qops.tflite.kernels import KERNELS
from qops.tflite.types import OF_CPUS
from qops.tools.debug.case import Case, Smallest
from qops.tools.params import c_text
from qops.tools.params.ports import ported

__all__ = ["Elements", "elements", "test_program"]

_MOST = 64  # elements in a program


class Elements(NamedTuple):
    """Some elements that differ, the smallest case first.

    Attributes
    ----------
    layer : PortedLayer
        The constants of the layer, and its C.
    places : ndarray
        Where they are in the result, one for each row.
    arguments : dict of str to ndarray
        What the function in C takes of each; empty if the layer has none.
    got, wanted : ndarray
        The codes of the device and of the graph.
    """

    layer: PortedLayer
    places: NDArray[np.intp]
    arguments: dict[str, NDArray[np.int64]]
    got: NDArray[Any]
    wanted: NDArray[Any]


def elements(case: Case, small: Smallest | None) -> Elements:
    """Choose elements that differ, with what the layer makes them of, those of the smallest case first."""
    places = case.where[:_MOST]
    if small is not None:
        others = places[(places != small.place).any(1)][: _MOST - 1]
        places = np.concatenate([np.array([small.place], np.intp), others])
    at = tuple(places.T)
    has_offsets = case.graph.runtime in KERNELS and OF_CPUS.get(case.graph.runtime, case.graph.runtime) != "xnnpack"
    layer = ported(case.op, case.graph, "tflm" if has_offsets else "xnnpack", "layer")
    return Elements(layer, places, _arguments(case, layer, at), case.got[at], case.wanted[at])


def _arguments(case: Case, layer: PortedLayer, at: tuple[Any, ...]) -> dict[str, NDArray[np.int64]]:
    """Give what the function takes of each element; {} where qops has no function, or cannot tell what it takes."""
    own = case.op.layer
    if own is not None and own.sums is not None and own.requantize is not None:
        sums = own.sums(case.inputs[0], own.bias)
        return {"sum": sums[at], "channel": np.asarray(at[own.requantize.axis], np.int64)}
    if layer.arguments == ("a", "b"):
        data = iter(case.inputs)
        places = (0, 3) if case.op.kind.startswith("QLinear") else (0, 1)  # scale and zero point follow each operand
        tensors = (case.graph.tensors[case.op.inputs[place]].data for place in places)
        pair = [next(data) if constant is None else constant for constant in tensors]
        a, b = (np.broadcast_to(x, case.wanted.shape)[at].astype(np.int64) for x in pair)
        return {"a": a, "b": b}
    is_by_code = layer.arguments == ("x",) and case.inputs[0].shape == case.wanted.shape
    if is_by_code and case.wanted.dtype.kind in "iu" and case.inputs[0].dtype.kind in "iu":
        return {"x": case.inputs[0][at].astype(np.int64)}
    return {}


def test_program(case: Case, small: Smallest | None) -> str:
    """Write the program, which fails on the device's numbers and passes on the expected ones; see `report`."""
    found = elements(case, small)
    has_rule = bool(found.arguments)
    parts = [c_text.comment(_head(case, has_rule))]
    parts.append("#include <stdio.h>")
    if has_rule:
        words = set(re.findall(r"\w+", found.layer.code))
        used = {key: value for key, value in found.layer.constants.items() if f"layer_{key}" in words}
        parts += [c_text.rules_text(found.layer.rules), c_text.constants("layer", used), found.layer.code]
    else:
        parts.append("#include <stdint.h>\n")
    arrays = {"place": np.ravel_multi_index(tuple(found.places.T), case.wanted.shape), **found.arguments}
    parts += [c_text.array(name, np.asarray(values, np.int64)) for name, values in arrays.items()]
    kind = np.int32 if case.wanted.dtype.kind in "iub" else case.wanted.dtype
    parts += [c_text.array("expected", found.wanted.astype(kind)), c_text.array("device", found.got.astype(kind))]
    dot, check = _dot(small) if has_rule and small is not None and "sum" in found.arguments else ("", "")
    return "\n".join([*parts, dot, _MAIN_TOP.format(count=len(found.places)), check, *_loop(found, kind), ""])


def _head(case: Case, has_rule: bool) -> str:
    what = (
        "The rule is below as portable C"
        if has_rule
        else "The op is not one of single elements, so the expected codes are given"
    )
    return (
        f"{case.op.kind}, result {case.output!r} of {case.graph.name}: elements that differ on a device.\n"
        f"   {what}.\n\n"
        "   cc -std=c99 -Wall -Werror test.c -o test -lm && ./test\n\n"
        "   prints each element that differs and ends with 1 for the device's numbers. With -DGOT=expected it ends\n"
        "   with 0. To test a kernel, put its codes of these elements into an array, and the array's name into GOT."
    )


_MAIN_TOP = """#define COUNT {count}
#ifndef GOT
#define GOT device
#endif

int main(void)
{{
    int wrong = 0;
    (void)device;
    (void)expected;"""


def _loop(found: Elements, kind: Any) -> list[str]:
    form, cast = ("%d", "(int)") if np.dtype(kind).kind == "i" else ("%.9g", "(double)")
    told = "".join(f", {name} %lld" for name in found.arguments)
    values = [f"(long long){name}[i]" for name in ("place", *found.arguments)]
    given = ", ".join([*values, f"{cast}GOT[i]", f"{cast}expected[i]"])
    return [
        "    for (int i = 0; i < COUNT; i++) {",
        *_checked(found),
        "        if (GOT[i] != expected[i]) {",
        f'            printf("element %lld{told}: {form}, expected {form}\\n", {given});',
        "            wrong++;",
        "        }",
        "    }",
        '    printf("%d of %d elements differ\\n", wrong, COUNT);',
        "    return wrong != 0;",
        "}",
    ]


def _checked(found: Elements) -> list[str]:
    """The check that the C of the rule gives the expected codes, where there is C."""
    if not found.arguments:
        return []
    call = ", ".join(f"{'' if name == 'sum' else '(int32_t)'}{name}[i]" for name in found.arguments)
    return [
        f"        const int32_t made = layer_code({call});",
        "        if (made != expected[i]) {",
        '            printf("the C of the rule gives %d where %d is expected\\n", (int)made, (int)expected[i]);',
        "            return 2;",
        "        }",
    ]


def _dot(small: Smallest) -> tuple[str, str]:
    """Write the sum of products of the smallest case: its inputs, its weights, and the check of the first sum."""
    (op,) = small.graph.ops
    layer, x = op.layer, next(iter(small.reads.values()))
    if layer is None or layer.weights is None or x.size != layer.weights.size:
        return "", ""
    bias = 0 if layer.bias is None else int(layer.bias.reshape(-1)[0])
    arrays = [c_text.array("x", x.astype(np.int32)), c_text.array("w", layer.weights.reshape(x.shape).astype(np.int32))]
    numbers = c_text.constants("smallest", {"x_zero_point": layer.x_zero_point, "w_zero_point": layer.w_zero_point})
    check = f"""    int64_t total = {bias}; /* the bias */
    for (int i = 0; i < {x.size}; i++)
        total += ((int64_t)x[i] - smallest_x_zero_point) * (w[i] - smallest_w_zero_point);
    if (total != sum[0]) {{
        printf("the smallest case adds up to %lld, not %lld\\n", (long long)total, (long long)sum[0]);
        return 2;
    }}"""
    return "\n".join(
        ["/* the smallest case, which is the first element: inputs and weights */", *arrays, numbers]
    ), check
