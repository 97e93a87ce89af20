"""Every constant that a port of a model needs, layer by layer, as C, JSON or npz."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any, Never

import numpy as np

from qops import tflite
from qops._kernels.arrays.refusal import bad_value
from qops._keywords import refusing_unknown, unknown_keyword
from qops._pages.html import in_notebook, table
from qops._readable import fitted
from qops.checks import choice
from qops.models import Graph, Layer, Op, Tensor
from qops.models.argument import graph_of
from qops.models.noise import noise
from qops.models.target import PORTS, PortedLayer
from qops.rules import Requantize
from qops.rules.scales import DERIVATIONS
from qops.tflite.kernels import KERNELS, kernel_for
from qops.tools.folder import write_new
from qops.tools.params import c_text
from qops.tools.params.ports import ported

__all__ = ["FORMS", "Params", "params"]

FORMS = ("c", "json", "npz")
NO_CODE = "no C: it computes floats, or with numbers that are known at run time only"


@dataclass(frozen=True)
class Params:
    """The constants of a model for one port. Printed, it is a line a layer.

    Attributes
    ----------
    model : str
        The name of the file.
    port : str
        "tflm", "cmsis-nn", "xnnpack" or "onnxruntime".
    layers : list of PortedLayer
        In the order in which they run: ``.name``, ``.op``, ``.rules``, ``.constants`` and the C of one code, ``.code``.
    """

    model: str
    port: str
    layers: list[PortedLayer]

    def __str__(self) -> str:
        wide = max((len(layer.name) for layer in self.layers), default=0)
        lines = [f"{self.model} for {self.port}"]
        for layer in self.layers:
            said = ", ".join([*layer.rules, f"{len(layer.constants)} constants"])
            lines.append(f"  {layer.name:<{wide}}  {layer.op}: {f'a gap, {layer.gap}' if layer.gap else said}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        """Show how many layers and constants there are, then a line for each layer."""
        return fitted(f"<Params: {self._answer()}>\n{self}")

    def _repr_html_(self) -> str:
        """Show a row for each layer in a notebook."""
        rows = [
            (layer.name, layer.op, ", ".join(layer.rules), f"{len(layer.constants)}", "yes" if layer.code else NO_CODE)
            for layer in self.layers
        ]
        heads = ("layer", "op", "rules", "#constants", "C")
        return in_notebook(f"<p>{escape(self._answer())}</p>", table(heads, rows))

    def _answer(self) -> str:
        constants = sum(len(layer.constants) for layer in self.layers)
        return f"{len(self.layers)} layers of {self.model} for {self.port}, {constants} constants"

    @property
    def rules(self) -> list[str]:
        """The rules of `qops.rules.TABLE` that the layers use."""
        return list(dict.fromkeys(rule for layer in self.layers for rule in layer.rules))

    def as_dict(self) -> dict[str, Any]:
        """Give all of it as plain numbers, lists and words.

        Returns
        -------
        dict
            ``model``, ``port``, ``layers`` and ``rules``, the C of the rules.
        """
        layers = [
            {
                **{"name": layer.name, "op": layer.op, "rules": layer.rules, "code": layer.code, "gap": layer.gap},
                "reads": [_told(t) for t in layer.reads],
                "writes": [_told(t) for t in layer.writes],
                "constants": {key: np.asarray(value).tolist() for key, value in layer.constants.items()},
            }
            for layer in self.layers
        ]
        rules = c_text.rules_text(self.rules)
        return {"model": self.model, "port": self.port, "layers": layers, "rules": rules}

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """Give the constants as arrays.

        Returns
        -------
        dict of str to ndarray
            Constants by the names "layer.constant".
        """
        return {
            f"{layer.name}.{key}": np.asarray(value) for layer in self.layers for key, value in layer.constants.items()
        }

    def header(self) -> str:
        """Give the constants as a C header, which includes ``rules.h``.

        Returns
        -------
        str
        """
        parts = [c_text.comment(f"{self.model} for {self.port}: the constants of each layer, and the C of one code.")]
        parts += ["#ifndef QOPS_PARAMS_H", "#define QOPS_PARAMS_H", '#include "rules.h"', ""]
        for layer in self.layers:
            lines = [f"{layer.name}: {layer.op}", *(f"   reads {_words(t)}" for t in layer.reads)]
            lines += [f"   writes {_words(t)}" for t in layer.writes]
            lines += [] if layer.code else [f"   no C: {layer.gap}" if layer.gap else f"   {NO_CODE}"]
            parts.append(c_text.comment("\n".join(lines)))
            parts.append(c_text.constants(layer.name, layer.constants))
            if layer.code:
                parts.append(c_text.inline_rules(layer.code))
        return "\n".join([*parts, "#endif", ""])

    def write(self, folder: str | Path, form: str = "c") -> list[Path]:
        """Write files, none over one that is there.

        Parameters
        ----------
        folder : str or Path
            Made if it is missing.
        form : {"c", "json", "npz"}
            C: ``params.h`` and ``rules.h``; else ``params.json`` or ``params.npz``.

        Returns
        -------
        list of Path
            The files.

        Raises
        ------
        ValueError, OSError
            Another form; a file that is there already, a folder that cannot be written to.
        """
        choice(form, "form", FORMS)
        if form == "json":
            return write_new(folder, {"params.json": json.dumps(self.as_dict(), indent=1)})
        if form == "npz":
            file, arrays = io.BytesIO(), dict[str, Any](self.arrays())
            np.savez(file, **arrays)
            return write_new(folder, {"params.npz": file.getvalue()})
        rules = c_text.inline_rules(c_text.rules_text(self.rules))
        guarded = f"#ifndef QOPS_RULES_H\n#define QOPS_RULES_H\n{rules}\n#endif\n"
        return write_new(folder, {"params.h": self.header(), "rules.h": guarded})


def _words(t: Tensor) -> str:
    shape = " x ".join("?" if n is None else str(n) for n in t.shape)
    said = f"{t.name}: {t.dtype}, {shape or 'one number'}"
    if t.scale is None or t.zero_point is None:
        return said
    if t.scale.ndim:
        return f"{said}, {t.scale.size} scales"
    return f"{said}, scale {float(t.scale)!r}, zero point {int(t.zero_point)}"


def _told(t: Tensor) -> dict[str, Any]:
    numbers = {"scale": t.scale, "zero_point": t.zero_point}
    return {
        **{"name": t.name, "dtype": t.dtype, "shape": list(t.shape)},
        **{key: None if value is None else value.tolist() for key, value in numbers.items()},
    }


@refusing_unknown
def params(model: str | Path | Graph, port: str = "tflm", **unknown: Never) -> Params:
    """Give every constant that a port of a model needs, as the system derives it.

    Multipliers and shifts, or float scales; zero points with the sign that the system adds them with; weights in the
    order of the file, biases, and sums of weights where the system takes them; the ends of codes after a fused
    activation; strides and padding; tables. With them comes the C of the rules, and of each layer the function that
    makes one code.

    Parameters
    ----------
    model : str, Path or Graph
        A model file, or one that `qops.models.load` has read.
    port : {"tflm", "cmsis-nn", "xnnpack", "onnxruntime"}
        The system. TFLM and CMSIS-NN have shifts that are positive to the left, and add zero points that are negated;
        XNNPACK multiplies by floats; ops of 8 bits that it lacks are as TFLite runs them beside it. onnxruntime takes
        .onnx files alone.

    Returns
    -------
    Params
        ``print`` shows a line a layer; ``.write(folder, "c")`` writes files. Of operators that qops does not have there
        is no more than why, ``.layers[i].gap``.

    Raises
    ------
    ValueError, OSError
        A file that cannot be read, another port, ops that the system does not have: each is named.

    See Also
    --------
    qops.rules.emit : one rule in C.
    qops.vectors : test vectors for one rule.

    Notes
    -----
    Sources: those of `qops.tflite`; CMSIS-NN ``arm_nnfunctions.h``, ``arm_vector_sum_s8.c``; XNNPACK ``packing.c``.

    Examples
    --------
    >>> qops.params("model.tflite", "esp-nn")
    Traceback (most recent call last):
    ValueError: port: expected one of tflm, cmsis-nn, xnnpack, onnxruntime, got 'esp-nn'
    """
    if unknown:
        raise unknown_keyword(params, unknown)
    own = choice(port, "port", PORTS)
    graph = graph_of(model, "model", gaps=True)
    has = PORTS[own].runtime
    if graph.runtime.startswith(f"{has}_") and graph.runtime.endswith(_OTHER_CPUS):
        says = f"{own} has the constants and the C of {has!r}, which another CPU computes otherwise"
        raise bad_value("model", f"read as runtime {graph.runtime!r}, and {says}; read it as {has!r}")
    ops, missing = [], []
    for op in graph.ops:
        try:
            ops.append(_made_for(op, graph, own))
        except ValueError as why:
            missing.append(f"{op.name} ({op.kind}): {why}")
    if missing:
        raise bad_value("model", f"{own} does not have all of {graph.name}:\n  " + "\n  ".join(missing))
    whole = replace(_sized(graph), ops=tuple(ops), runtime=PORTS[own].runtime)
    names = c_text.names(op.name for op in ops)
    return Params(graph.name, own, [ported(op, whole, own, name) for op, name in zip(ops, names, strict=True)])


_OTHER_CPUS = "_avx2", "_arm", "_neon"
"""How the names of runtimes end that are a library on a CPU which no port is for."""


def _sized(graph: Graph) -> Graph:
    """Give a graph in which all results have shapes; where the file leaves them out, one run shows them."""
    if all(graph.tensors[name].shape for op in graph.ops for name in op.outputs if not op.gap):
        return graph
    shapes = {name: x.shape for name, x in graph.run(noise(graph), keep="all").items()}
    tensors = {name: replace(t, shape=shapes.get(name, t.shape)) for name, t in graph.tensors.items()}
    return replace(graph, tensors=tensors)


def _made_for(op: Op, graph: Graph, port: str) -> Op:
    """Give the op with the bits of a port; ValueError if that has no such op."""
    if op.gap:
        return op
    if port == "onnxruntime":
        if graph.runtime in KERNELS or op.remade is None:
            raise ValueError("onnxruntime runs no operators of TFLite")
        return op.remade(PORTS[port].runtime)
    is_of_16_bits = any(graph.tensors[name].dtype == "int16" for name in op.reads[:1])
    if port == "xnnpack" and op.prepared is not None and is_of_16_bits:
        raise ValueError("XNNPACK computes no codes of 16 bits")
    runtime = PORTS[port].runtime
    if graph.runtime in KERNELS:
        return op if op.remade is None else op.remade(runtime)
    return op if op.layer is None else _from_numbers(op, op.layer, runtime, graph.tensors[op.outputs[0]].dtype)


def _from_numbers(op: Op, layer: Layer, runtime: str, dtype: str) -> Op:
    """Give an op of another format with what a kernel library of TFLite makes of its scales."""
    numbers = layer.numbers
    if layer.requantize is None:
        scales = {key: value for key, value in numbers.items() if key.endswith(("_scale", "_zero_point"))}
        pair = {"add": tflite.Add, "mul": tflite.Mul}[layer.kind](**scales, dtype=dtype, kernel=runtime)
        own = replace(layer, requantize=getattr(pair, "requantize", None))
        return replace(op, kind=layer.kind.upper(), prepared=pair, layer=own)
    facts = kernel_for(runtime, "CONV_2D", np.dtype(dtype))
    rule, derive = (facts.conv_u8, facts.u8_scale) if dtype == "uint8" else (facts.conv, facts.channel_scale)
    scale = DERIVATIONS[derive](numbers["in_scale"], numbers["w_scale"], numbers["out_scale"])
    ends = {"qmin": numbers["qmin"], "qmax": numbers["qmax"], "zero_point": numbers["zero_point"]}
    made = Requantize(rule, scale=scale, **ends, dtype=dtype, axis=layer.requantize.axis)
    return replace(op, layer=replace(layer, requantize=made))
