"""A network as a plain graph: tensors by name, and prepared ops in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from html import escape
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._pages.html import in_notebook, table
from qops._readable import in_lines
from qops.checks import as_array, choice, int32, shown
from qops.models.live import Live
from qops.models.op import FAILED, Op, in_real_numbers
from qops.models.plan import RunPlan
from qops.models.session import Session
from qops.models.tensor import Tensor

__all__ = ["Graph"]

Arrays = Mapping[str, NDArray[Any]]
_SHOWN_OPS = 60


@dataclass(frozen=True, eq=False)
class Graph:
    """A network that was read from a file: tensors by name, and ops in the order in which they run.

    Attributes
    ----------
    name : str
        The name of the file.
    inputs, outputs : tuple of str
        Names of tensors.
    tensors : dict of str to Tensor
        All tensors, constants included.
    ops : tuple of Op
        All ops. Each comes after the ops whose results it reads.
    runtime : str
        The runtime whose bits the ops give, for example "reference" or "ort".
    fused : tuple of str
        Which nodes of the file the runtime runs as one op: one sentence for each group of nodes.
    hazards : tuple of str
        Which layers some input makes saturate or wrap in narrow lanes of this runtime: one sentence for each layer.
        `qops.saturation` says more.

    Raises
    ------
    ValueError
        An op that reads what no op before it writes, a name that stands twice.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    tensors: dict[str, Tensor] = field(repr=False)
    ops: tuple[Op, ...] = field(repr=False)
    runtime: str = ""
    fused: tuple[str, ...] = field(default=(), repr=False)
    hazards: tuple[str, ...] = field(default=(), repr=False)
    _plan: ClassVar[RunPlan | None] = None

    def __repr__(self) -> str:
        """Show the file, the runtime, how many ops there are, and types and shapes of the inputs and outputs."""
        inputs, outputs = (
            ", ".join(f"{name!r}: {self.tensors[name].dtype} {self.tensors[name].shape}" for name in names)
            for names in (self.inputs, self.outputs)
        )
        parts = [repr(self.name), f"runtime={self.runtime!r}", f"{len(self.ops)} ops"]
        parts += [f"inputs={{{inputs}}}", f"outputs={{{outputs}}}"]
        return in_lines("Graph(", parts + ([f"hazards={self.hazards!r}"] if self.hazards else []))

    def _repr_html_(self) -> str:
        """Show what the network is and a row for each op in a notebook."""
        first, more = self.ops[:_SHOWN_OPS], len(self.ops) - _SHOWN_OPS
        rows = [(op.name, op.kind, ", ".join(op.reads), ", ".join(op.outputs), op.gap) for op in first]
        of = f", as {self.runtime} runs it" if self.runtime else ""
        said = f"<p>{escape(self.name)}{escape(of)}: {len(self.ops)} ops</p>"
        rest = f"<p>and {more} more ops</p>" if more > 0 else ""
        return in_notebook(said, table(("name", "op", "reads", "writes", "not computed"), rows), rest)

    def __post_init__(self) -> None:
        known = {name for name, tensor in self.tensors.items() if tensor.data is not None} | set(self.inputs)
        names: set[str] = set()
        for op in self.ops:
            who = f"{self.name}: {op.name} ({op.kind})"
            for name in op.reads:
                if name not in known:
                    raise ValueError(f"{who} reads {name!r}, which nothing before it writes")
            for name in op.outputs:
                if name in known:
                    raise ValueError(f"{who} writes {name!r}, which stands already")
            if op.name in names:
                raise ValueError(f"{self.name}: two ops are called {op.name!r}")
            names.add(op.name)
            known.update(op.outputs)
        for name in self.outputs:
            if name not in known:
                raise ValueError(f"{self.name}: nothing writes the output {name!r}")
        has_plan = not any(op.gap or op.states for op in self.ops)
        plan = RunPlan(self.name, self.ops, self.inputs, self.outputs, self.tensors) if has_plan else None
        object.__setattr__(self, "_plan", plan)

    def __reduce__(self) -> Any:
        return type(self), tuple(getattr(self, one.name) for one in fields(self))

    @property
    def gaps(self) -> tuple[Op, ...]:
        """The operators of the file that qops does not have; ``op.gap`` says why."""
        return tuple(op for op in self.ops if op.gap)

    @property
    def states(self) -> dict[str, NDArray[Any]]:
        """What ops keep from one call to the next, by name: variables, memories of SVDF and LSTM, as they start."""
        return {name: np.array(value) for op in self.ops for name, value in op.states.items()}

    def session(self, state: Arrays | None = None) -> Session:
        """Begin a sequence of calls, between which variables and the memories of SVDF and LSTM are kept.

        Parameters
        ----------
        state : dict of str to ndarray, optional
            The states to begin with, by name, as `Session.state` gives them; others begin as the file says.

        Returns
        -------
        Session
            ``session(x)`` runs the graph, ``session.state`` tells the states, ``session.reset()`` begins anew.

        Raises
        ------
        TypeError, ValueError
            A state that the graph does not have, or of another type.
        """
        return Session(self._step, self.states, state)

    def run(
        self,
        x: ArrayLike | Mapping[str, ArrayLike],
        *,
        keep: str | None = None,
        given: Mapping[str, ArrayLike] | None = None,
        num_threads: int = 1,
    ) -> dict[str, NDArray[Any]]:
        """Run all ops on codes.

        Parameters
        ----------
        x : array_like, or dict of str to array_like
            The input, or each of them by its name, of the type that the graph has.
        keep : {None, "all"}
            What the result holds. By default it is the outputs of the graph, and a tensor is dropped after its last
            reader; "all" keeps every tensor that is no constant.
        given : dict of str to array_like, optional
            Results of gaps, by the names of tensors.
        num_threads : int
            How many threads share the work; the bits are the same. They share the images of a batch where no result
            depends on how many there are, and else the rows of each product. With `keep`, gaps or states there is one.

        Returns
        -------
        dict of str to ndarray
            Tensors by name. What depends on the result of a gap that is not given is not in it.

        Raises
        ------
        TypeError, ValueError
            An input that is missing, unknown, or of another type or shape than the graph has; the same of a given
            result; an op that refuses what it reads.

        Notes
        -----
        Each run starts with the states that the file says; `session` keeps them from one call to the next. A large
        batch is run part by part, where that gives the same bits, so that its memory does not grow with the batch.
        """
        threads = int32(num_threads, "num_threads", 1)
        if keep is None and not given and self._plan is not None:
            if self._plan.takes(x):
                return self._plan.run([x], threads)
            found = self.inputs_of(x)
            return self._plan.run([found[name] for name in self.inputs], threads)
        return self._step(x, keep, given, {})

    def _step(
        self,
        x: ArrayLike | Mapping[str, ArrayLike],
        keep: str | None,
        given: Mapping[str, ArrayLike] | None,
        states: dict[str, Any],
    ) -> dict[str, NDArray[Any]]:
        """Run all ops, and leave their states in `states`."""
        return self._walk(self.inputs_of(x), self._given(given), keep, states, lambda op, _, *codes: op.call(*codes))

    def real(
        self,
        x: ArrayLike | Mapping[str, ArrayLike],
        *,
        keep: str | None = None,
        given: Mapping[str, ArrayLike] | None = None,
        states: dict[str, Any] | None = None,
    ) -> dict[str, NDArray[Any]]:
        """Run all ops in real numbers: the network without any rounding of activations.

        Parameters
        ----------
        x : array_like, or dict of str to array_like
            The values of the input, or of each of them by its name.
        keep : {None, "all"}
            As in `run`.
        given : dict of str to array_like, optional
            Values of results of gaps, by the names of tensors.
        states : dict of str to ndarray, optional
            What ops keep from one call to the next, by name, as the call before left it: it is changed. A state that is
            not in it begins as the file says.

        Returns
        -------
        dict of str to ndarray of float64
            Values by the names of tensors. An op without a formula is run on the nearest codes of its inputs. What
            depends on the result of a gap that is not given is not in it.

        Raises
        ------
        TypeError, ValueError
            An input or a given result that is missing, unknown, or of another shape.
        """
        values = {key: value.astype(np.float64) for key, value in self._named(x, "x").items()}
        known = {key: value.astype(np.float64) for key, value in self._given(given, typed=False).items()}
        return self._walk(values, known, keep, {} if states is None else states, in_real_numbers)

    def inputs_of(self, x: ArrayLike | Mapping[str, ArrayLike], name: str = "x") -> dict[str, NDArray[Any]]:
        """Check codes of the inputs, and give them by name.

        Parameters
        ----------
        x : array_like, or dict of str to array_like
            The input, or each of them by its name.
        name : str
            What the caller calls them, for errors.

        Returns
        -------
        dict of str to ndarray

        Raises
        ------
        TypeError, ValueError
            An input that is missing, unknown, or of another type or shape than the graph has.
        """
        found = self._named(x, name)
        for key, data in found.items():
            if data.dtype.name != self.tensors[key].dtype:
                said = name if not isinstance(x, Mapping) else f"{name}[{key!r}]"
                raise bad_type(said, f"expected {self.tensors[key].dtype}, got {data.dtype}")
        return found

    def _walk(
        self,
        inputs: Arrays,
        given: Arrays,
        keep: str | None,
        states: dict[str, Any],
        function: Callable[..., Sequence[NDArray[Any]]],
    ) -> dict[str, NDArray[Any]]:
        """Run ops one after another: `function` takes an op, all tensors by name, and the arrays that the op reads."""
        choice("outputs" if keep is None else keep, "keep", ("outputs", "all"))
        live = Live(self.ops, inputs, keep=self.outputs if keep is None else self.tensors, states=states)
        for op in self.ops:
            if op.gap or not live.has(op):
                live.write(op, [given.get(name) for name in op.outputs])
                continue
            try:
                made = function(op, self.tensors, *live.read(op))
            except FAILED as why:
                raise ValueError(f"{self.name}: {op.name} ({op.kind}): {str(why) or repr(why)}") from why
            live.write(op, made)
        if keep:
            return live.values
        found = {name: self._value(name, live.values) for name in self.outputs}
        return {name: value for name, value in found.items() if value is not None}

    def _value(self, name: str, values: dict[str, NDArray[Any]]) -> NDArray[Any] | None:
        """Give an output of the graph, which may be a constant; None if it depends on a gap."""
        data = self.tensors[name].data
        return values.get(name) if data is None else data

    def _given(self, given: Mapping[str, ArrayLike] | None, typed: bool = True) -> dict[str, NDArray[Any]]:
        """Check results of gaps; where the file tells their shape they have it, and if `typed` its type."""
        if given is not None and not isinstance(given, Mapping):
            raise bad_type("given", f"expected a dict of results of gaps, got {shown(given)}")
        free, found = [name for op in self.gaps for name in op.outputs], {}
        for key, value in (given or {}).items():
            name = f"given[{key!r}]"
            if key not in free:
                raise bad_value(name, f"no gap of {self.name} has this result, only {_list(free) or 'none'}")
            tensor = self.tensors[key]
            found[key] = self._shaped(key, value, name) if tensor.shape else as_array(value, name)
            if typed and tensor.shape and found[key].dtype.name != tensor.dtype:
                raise bad_type(name, f"expected {tensor.dtype}, got {found[key].dtype}")
        return found

    def _named(self, x: ArrayLike | Mapping[str, ArrayLike], name: str) -> dict[str, NDArray[Any]]:
        """Give the inputs by their names, of the shapes that the graph has."""
        if not isinstance(x, Mapping):
            if len(self.inputs) != 1:
                raise bad_type(name, f"expected a dict with {_list(self.inputs)}, got {shown(x)}")
            return {self.inputs[0]: self._shaped(self.inputs[0], x, name)}
        for key in x:
            if key not in self.inputs:
                raise bad_value(name, f"{self.name} has no input {shown(key)}, only {_list(self.inputs)}")
        for key in self.inputs:
            if key not in x:
                raise bad_value(name, f"the input {key!r} is missing")
        return {key: self._shaped(key, value, f"{name}[{key!r}]") for key, value in x.items()}

    def _shaped(self, key: str, value: ArrayLike, name: str) -> NDArray[Any]:
        """Give an array; ValueError unless all its sizes but the first, the batch, are those of the file."""
        data, wanted = as_array(value, name), self.tensors[key].shape
        if len(wanted) != data.ndim or any(w not in (None, n) for w, n in zip(wanted[1:], data.shape[1:], strict=True)):
            said = ", ".join("?" if size is None else str(size) for size in wanted)
            raise bad_value(name, f"expected shape ({said}), got {shown(data.shape)}")
        return data


def _list(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))
