"""A sequence of calls of a graph, between which its states are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops.checks import as_array, shown

__all__ = ["Session"]

Arrays = dict[str, NDArray[Any]]


class Session:
    """Calls of a graph that follow each other; `qops.models.Graph.session` begins one.

    Variables of the file, and the memories of SVDF and LSTM, are kept from one call to the next. The first axis of the
    data may count several streams, which do not touch each other; then it is the same in all calls.

    Parameters
    ----------
    run : callable
        ``run(x, keep, given, states)`` runs the graph and leaves its states in `states`.
    initial : dict of str to ndarray
        The states as the file says them.
    state : dict of str to array_like, optional
        States to begin with.

    Raises
    ------
    TypeError, ValueError
        A state that the graph does not have, or of another type or number of axes.
    """

    def __init__(
        self, run: Callable[..., Arrays], initial: Arrays, state: Mapping[str, ArrayLike] | None = None
    ) -> None:
        self._run, self._initial = run, initial
        self._states: dict[str, Any] = {}
        self.reset(state)

    def __call__(
        self,
        x: ArrayLike | Mapping[str, ArrayLike],
        *,
        keep: str | None = None,
        given: Mapping[str, ArrayLike] | None = None,
    ) -> Arrays:
        """Run one step, as `Graph.run` does; an error leaves the states as they were."""
        states = dict(self._states)
        found = self._run(x, keep, given, states)
        self._states = states
        return found

    @property
    def state(self) -> Arrays:
        """Copies of the states, by name, as the next call begins with them."""
        return {name: np.array(self._states.get(name, start)) for name, start in self._initial.items()}

    def reset(self, state: Mapping[str, ArrayLike] | None = None) -> None:
        """Begin anew.

        Parameters
        ----------
        state : dict of str to array_like, optional
            States to begin with, by name; others begin as the file says.

        Raises
        ------
        TypeError, ValueError
            A state that the graph does not have, or of another type or number of axes. Then nothing is changed.
        """
        if state is not None and not isinstance(state, Mapping):
            raise bad_type("state", f"expected a dict of states by name, got {shown(state)}")
        found: dict[str, Any] = {}
        for key, value in (state or {}).items():
            if key not in self._initial:
                known = ", ".join(map(repr, self._initial)) or "none"
                raise bad_value("state", f"the graph has no {shown(key)}, only {known}")
            array, wanted = np.array(as_array(value, f"state[{key!r}]")), self._initial[key]
            if array.dtype != wanted.dtype:
                raise bad_type(f"state[{key!r}]", f"expected {wanted.dtype}, got {array.dtype}")
            if array.shape[1:] != wanted.shape[1:] or array.ndim != wanted.ndim:
                raise bad_value(f"state[{key!r}]", f"expected shape {wanted.shape}, got {array.shape}")
            found[key] = array
        self._states = found
