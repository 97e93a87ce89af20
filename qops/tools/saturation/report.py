"""What `qops.saturation` found: a line for each layer, what data showed, and pictures."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._pages.html import table, whole_page
from qops._pages.svg import bars
from qops._readable import fitted
from qops.checks import choice
from qops.tools.saturation.file_found import FileFound
from qops.tools.saturation.repair import REPAIRS, Repair, repaired
from qops.tools.saturation.report_layer import SaturationLayer, cells_of, plain, share

if TYPE_CHECKING:
    from qops.tools.saturation.repairs import Repairs

__all__ = ["Saturation", "SaturationLayer"]

_ROWS = 19
_BARS = 64


@dataclass(frozen=True, eq=False, repr=False)
class Saturation:
    """Whether sums saturate on a machine. Printed, it is a table with a line for each layer, the worst ones first.

    Attributes
    ----------
    name : str
        The model, or what was looked at.
    machine, runtime : str
        Where it runs.
    layers : tuple of SaturationLayer
        In the order in which they run.
    unread : tuple of str
        Layers that multiply codes and are not read, with the reason.
    outputs : dict of str to ndarray
        With data: the results of the model as the machine computes them.
    exact : dict of str to ndarray
        With data: the results of the model with exact sums.
    errors : dict of str to float
        With data: the largest difference of each result from the exact one; in codes where it has codes.
    """

    name: str
    machine: str
    runtime: str
    layers: tuple[SaturationLayer, ...]
    unread: tuple[str, ...] = ()
    outputs: dict[str, NDArray[Any]] = field(default_factory=dict, repr=False)
    errors: dict[str, float] = field(default_factory=dict)
    exact: dict[str, NDArray[Any]] = field(default_factory=dict, repr=False)
    _file: FileFound | None = field(default=None, repr=False)

    @property
    def safe(self) -> bool:
        """Whether every layer is read, and is exact for every input."""
        return not self.unread and all(layer.safe for layer in self.layers)

    def __getitem__(self, name: str) -> SaturationLayer:
        """Give a layer by its name."""
        return {layer.name: layer for layer in self.layers}[choice(name, "layer", [x.name for x in self.layers])]

    def as_dict(self) -> dict[str, Any]:
        """Give all of it but the results of the model as plain numbers, lists and words.

        Returns
        -------
        dict
            ``json.dumps`` takes it.
        """
        head = {name: getattr(self, name) for name in ("name", "machine", "runtime", "safe")}
        layers = [layer.as_dict() for layer in self.layers]
        return {**head, "layers": layers, "unread": list(self.unread), "errors": plain(self.errors)}

    def repair(self, how: str, layer: str | None = None, *, seen: bool = False) -> Repair:
        """Give weights of a layer that no input can saturate. The lanes of the result are checked.

        Parameters
        ----------
        how : {"types", "data", "pairs", "widen", "reduce_range", "data_7_bits"}
            "types": weights of the other type of 8 bits, exact; onnxruntime has wide lanes for them. "data": data
            of the other type, where onnxruntime runs nodes on codes. "pairs": channels of the data in another order,
            and channels of zeros, exact. "widen": a scale that is as much wider as it takes, for unsafe output channels
            alone. "reduce_range": 7 bits in all weights. "data_7_bits": 7 bits in the data.
        layer : str, optional
            The name of the layer; not needed if there is one.
        seen : bool
            Change only output channels that the data saturated. The others stay unsafe for some inputs. Only for
            "widen" and "reduce_range".

        Returns
        -------
        Repair

        Raises
        ------
        ValueError
            Another `how` or `layer`; a layer that is safe, or cannot be repaired so; `seen` without data.

        Examples
        --------
        >>> found = qops.saturation(np.array([[127, 1, 127, 127], [64, 64, -64, 127]], np.int8))
        >>> found.repair("pairs").channels.tolist()
        [0, 1, 2, -1, 3, -1]
        >>> made = found.repair("widen")
        >>> made.weights[0, :, :, 0].tolist(), made.scale.round(3).tolist()
        ([[64, 1, 64, 64], [64, 64, -64, 127]], [1.973, 1.0])
        """
        if layer is None and len(self.layers) != 1:
            raise bad_value("layer", f"expected one of {', '.join(x.name for x in self.layers)}")
        own = self.layers[0] if layer is None else self[layer]
        assert own._sums is not None
        assert own._route is not None
        rows = np.ones(own._sums.outputs, np.bool_)
        if seen:
            _check_seen(self, how)
            assert own.seen is not None
            rows = own.seen.per_channel > 0
        return repaired(own._sums, own._route, own.unsafe, rows, how, self.runtime)

    def write(self, path: str | Path, how: str | None = None, *, seen: bool = False) -> Path:
        """Write the model file with a repair in each layer that is not safe, once the new file is looked at.

        Parameters
        ----------
        path : str or Path
            The new file, which must not be there.
        how : str, optional
            As `repair` takes it. By default "types" for an .onnx file and "widen" for a .tflite file.
        seen : bool
            As `repair` takes it.

        Returns
        -------
        Path

        Raises
        ------
        ValueError
            This is no report of a file; its lanes are safe; a repair that the file cannot have, with the reason.
        OSError
            The file is there, or cannot be written.

        Notes
        -----
        No input saturates the new file on this machine; if `seen`, the data of the report do not. Exact repairs are run
        beside the file as it is, on the data or on noise, and must give the same results where sums are exact. Data and
        codes of channels in another order are made by nodes Gather, data of 7 bits by QuantizeLinear and Clip. A
        .tflite file takes "widen" and "reduce_range": its layers multiply int8 by int8 alone, and all that is not
        changed stays byte for byte.
        """
        from qops.tools.saturation.written import repaired_file  # here, because it needs the readers of model files

        is_tflite = self._file is not None and self._file.path.suffix == ".tflite"
        name = ("widen" if is_tflite else "types") if how is None else choice(how, "how", REPAIRS)
        if seen:
            _check_seen(self, name)
        made, place = repaired_file(self, name, bool(seen)).data, Path(path)
        with place.open("xb") as file:
            file.write(made)
        return place

    def repairs(self, labels: ArrayLike | None = None) -> Repairs:
        """Try all repairs of a model file on the data of the report, and tell what each costs.

        Parameters
        ----------
        labels : array_like of integers, optional
            The index of the right result of each item of the data, for the share of items whose largest result it is.

        Returns
        -------
        Repairs
            Printed, it is a table.

        Raises
        ------
        ValueError
            This is no report of a file, or has no data; nothing to repair; labels that do not fit the results.
        """
        from qops.tools.saturation.repairs import tried  # here, because it needs the readers of model files

        return tried(self, labels)

    def __repr__(self) -> str:
        return fitted(f"<Saturation: {self}>")

    def __str__(self) -> str:
        heads, rows = self._table(_ROWS)
        wide = [max(len(row[i]) for row in (heads, *rows)) for i in range(len(heads))]
        lines = [self._verdict()[:100]]
        for row in (heads, *rows):
            cells = (c.ljust(w) if i < 2 else c.rjust(w) for i, (c, w) in enumerate(zip(row, wide, strict=True)))
            lines.append(("  " + "  ".join(cells)).rstrip())
        more = len(self.layers) - len(rows)
        lines += [f"  and {more} layers with less"] if more else []
        notes = self._notes()
        lines += [f"  {said}"[:100] for said in notes[:2]]
        lines += [f"  and {len(notes) - 2} more such notes"] if len(notes) > 2 else []
        lines += [f"  not read: {said}"[:100] for said in self.unread[:2]]
        lines += [f"  and {len(self.unread) - 2} more that are not read"] if len(self.unread) > 2 else []
        for name, error in list(self.errors.items())[:2]:
            lines.append(f"  result {name}: differs from the exact one by at most {error:g}"[:100])
        return "\n".join(lines)

    def _notes(self) -> list[str]:
        return [f"{layer.name}: {said}" for layer in self.layers for said in layer.notes]

    def _verdict(self) -> str:
        where = f"{self.name} on {self.machine}, {self.runtime}"
        if self.safe:
            return f"{where}: safe, no input saturates or overflows"
        unsafe = sum(not layer.safe for layer in self.layers)
        if not unsafe:
            return f"{where}: what is read is safe, {len(self.unread)} layers are not read"
        return f"{where}: {unsafe} of {len(self.layers)} layers can saturate or overflow"

    def _table(self, most: int) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Give the heads and the cells of the layers; of more than `most` those that lose most."""
        has_data = any(layer.seen is not None for layer in self.layers)
        heads = ("layer", "lanes", "unsafe", "channels", "may lose", "bits")
        shown = list(self.layers)
        if len(shown) > most:
            worst = sorted(shown, key=lambda layer: (layer.safe, -int(layer.loss.max(initial=0))))[:most]
            shown = [layer for layer in shown if layer in worst]
        rows = [cells_of(layer, has_data) for layer in shown]
        return (*heads, *(("wrong", "lost", "codes") if has_data else ())), rows

    def plot(self, ax: Any = None) -> Any:
        """Draw how many groups of products of each layer can leave their lane, and with data how many sums are wrong.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where it is drawn.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        ImportError
            matplotlib is not installed.
        TypeError
            Another `ax`.
        """
        from qops import plot  # here, because it is only needed to draw

        parts = {"groups that can leave their lane": [share(x.unsafe_groups, x.groups) for x in self.layers]}
        seen = [layer.seen for layer in self.layers if layer.seen is not None]
        if seen:
            parts["sums that data made wrong"] = [share(x.wrong, x.sums) for x in seen]
        drawn = plot.shares([layer.name for layer in self.layers], parts, ax=ax)
        drawn.set_title(self._verdict())
        return drawn

    def page(self) -> str:
        """Give the report as an HTML page that needs no other file.

        Returns
        -------
        str
        """
        return whole_page(f"{self.name} on {self.machine}", [f"<h1>{escape(self._verdict())}</h1>", self._body()])

    def _repr_html_(self) -> str:
        return f"<p>{escape(self._verdict())}</p>{self._body()}"

    def _body(self) -> str:
        heads, rows = self._table(len(self.layers))
        parts = [table([f"#{head}" if i > 1 else head for i, head in enumerate(heads)], rows)]
        for layer in self.layers:
            if layer.loss.any():
                every = -(-layer.loss.size // _BARS)
                top = [int(layer.loss[i : i + every].max()) for i in range(0, layer.loss.size, every)]
                of = [(str(i * every), float(n)) for i, n in enumerate(top)]
                parts.append(bars(f"{layer.name}: the most that a sum of each channel can lose", of, "{:,.0f}", 8))
        parts += [f"<p>{escape(said)}</p>" for said in self._notes()]
        parts += [f"<p>not read: {escape(said)}</p>" for said in self.unread]
        parts += [f"<p>{escape(name)} differs by at most {error:g}</p>" for name, error in self.errors.items()]
        return "".join(parts)


def _check_seen(report: Saturation, how: str) -> None:
    if how not in ("widen", "reduce_range") or any(layer.seen is None for layer in report.layers):
        raise bad_value("seen", "only for 'widen' and 'reduce_range', and it needs a report with data")
