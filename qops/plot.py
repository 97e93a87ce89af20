"""Pictures of quantization: errors as a map, a histogram or a curve, and the codes on a line of real numbers.

Each function draws on the axes it is given, or on new ones in `STYLE`, and returns them. Errors are in LSB, as
`qops.signed_error` gives them. matplotlib, which this needs, is loaded when a function is called:
``pip install 'qops[plot]'``. ``matplotlib.pyplot.rcParams.update(qops.plot.STYLE)`` gives all axes this look.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._keywords import no_attribute, refusing_unknown, unknown_keyword
from qops.checks import as_array as _as_array
from qops.checks import flag, shown
from qops.frontdoor.signed_error import values as _values
from qops.qtensor import QTensor, TensorLike
from qops.tools import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["BOUND_COLOUR", "STYLE", "error_curve", "error_histogram", "error_map", "number_line", "shares"]
__dir__ = __all__.copy

BOUND_COLOUR = "#7b2d8b"
"""Colour of a bound in every picture."""
_INK, _FAINT, _BLUE = "#1a1a1a", "#6b6b6b", "#0072b2"
STYLE: Mapping[str, Any] = MappingProxyType(
    {
        "figure.facecolor": "white",
        "font.size": 9.5,
        "text.color": _INK,
        "axes.labelcolor": _INK,
        "axes.titlesize": 10,
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": _FAINT,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.prop_cycle": f"cycler('color', ['{_BLUE}', '#e69f00', '#cc3311', '#009e73', '{BOUND_COLOUR}'])",
        "grid.color": "#e4e4e4",
        "grid.linewidth": 0.7,
        "xtick.color": _FAINT,
        "ytick.color": _FAINT,
        "xtick.labelcolor": _INK,
        "ytick.labelcolor": _INK,
        "legend.frameon": False,
        "lines.linewidth": 1.7,
    }
)
"""How pictures look, as matplotlib's rcParams: one type size, few lines, colours that the colour-blind can tell."""
_MOST_TICKS = 33


def _axes(ax: Axes | None, colour: str = _BLUE) -> Axes:
    try:
        import matplotlib.pyplot as plt
        from matplotlib import axes, colors
    except ImportError as missing:
        raise ImportError("qops.plot needs matplotlib: pip install 'qops[plot]'") from missing
    if not (ax is None or isinstance(ax, axes.Axes)):
        raise bad_type("ax", f"expected the axes of a figure, got {shown(ax)}")
    if not colors.is_color_like(colour):
        raise bad_value("colour", f"expected one that matplotlib knows, got {shown(colour)}")
    if ax is not None:
        return ax
    style: Any = STYLE
    with plt.rc_context(style):
        return plt.subplots(layout="constrained")[1]


@refusing_unknown
def error_map(
    off: ArrayLike,
    *,
    bound: float | None = None,
    scale: float | None = None,
    bar: bool = True,
    ax: Axes | None = None,
    **unknown: Never,
) -> Axes:
    """Show errors as a picture: blue is too low, white right, red too high, black beyond the scale.

    A ring marks the largest error. The colours differ for the colour-blind too. The map fills the axes;
    ``ax.set_aspect("equal")`` gives it the shape of the picture.

    Parameters
    ----------
    off : array_like of float
        Errors in LSB with two axes, down and across: an image, or all pairs of codes.
    bound : float, optional
        Bound of the error in LSB, written into the title beside the largest error.
    scale : float, optional
        Error in LSB at the ends of the colours; what all errors fit in, at least 1.25, if not given. Several maps that
        are compared need one scale.
    bar : bool, optional
        Whether the colours are explained by a bar beside the map. Several maps of one figure need one bar.
    ax : matplotlib.axes.Axes, optional
        Where it is drawn.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError
        Errors that are no finite numbers or have another number of axes, a scale or bound that is not above 0, a `bar`
        that is no bool, an `ax` that is none.
    ImportError
        matplotlib is missing.

    Examples
    --------
    >>> image = np.linspace(0, 1, 64 * 64).reshape(64, 64)
    >>> off = qops.signed_error(qops.quantize(image), image)
    >>> qops.plot.error_map(off).get_title(loc="left")
    'largest error 0.498 LSB'
    """
    if unknown:
        raise unknown_keyword(error_map, unknown)
    x, explained = drawing.errors_of(off, 2), flag(bar, "bar")
    words, scale = drawing.largest(x, bound), drawing.end_of(scale, x, bound)
    ax = _axes(ax)
    from matplotlib import colormaps

    colours = colormaps["RdBu_r"].with_extremes(under="black", over="black")
    shown = ax.imshow(x, cmap=colours, vmin=-scale, vmax=scale, interpolation="nearest", aspect="auto")
    y, at = np.unravel_index(np.abs(x).argmax(), x.shape)
    ax.plot(at, y, "o", mfc="none", mec="white", ms=9, mew=3.4, clip_on=False)
    ax.plot(at, y, "o", mfc="none", mec=_INK, ms=9, mew=1.4, clip_on=False)
    ax.set(xticks=[], yticks=[])
    ax.grid(False)
    ax.set_title(words, loc="left")
    if explained:
        beside = ax.figure.colorbar(shown, ax=ax, extend="both", label="error in LSB").ax
        for end in () if bound is None else (-bound, bound):
            for colour, width in (("white", 5), (BOUND_COLOUR, 2)):  # it has to be seen on the darkest colours too
                beside.axhline(end, color=colour, lw=width)
    return ax


@refusing_unknown
def error_histogram(
    off: ArrayLike,
    *,
    bound: float | None = None,
    scale: float | None = None,
    colour: str = _BLUE,
    ax: Axes | None = None,
    **unknown: Never,
) -> Axes:
    """Show how errors are spread: the share of elements in each of 81 bins, the middle one around 0.

    Parameters
    ----------
    off : array_like of float
        Errors in LSB, of any shape.
    bound : float, optional
        Bound of the error in LSB, drawn on both sides of 0.
    scale : float, optional
        Error in LSB at both ends of the axis; what all errors fit in, at least 1.25, if not given. Errors beyond it are
        counted in the outermost bins.
    colour : str, optional
        Colour of the bins, by a name or number that matplotlib knows.
    ax : matplotlib.axes.Axes, optional
        Where it is drawn.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError
        Errors that are no finite numbers, or none; a scale or bound that is not above 0, a colour that matplotlib does
        not know, an `ax` that is none.
    ImportError
        matplotlib is missing.

    Examples
    --------
    >>> qops.plot.error_histogram([-0.25, 0.25], bound=0.5).get_xlabel()
    'error in LSB'
    """
    if unknown:
        raise unknown_keyword(error_histogram, unknown)
    x = drawing.errors_of(off)
    words, scale = drawing.largest(x, bound), drawing.end_of(scale, x, bound)
    ax = _axes(ax, colour)
    edges = np.linspace(-81, 81, 82) / 80 * scale  # a bin around 0, and with the usual scale one around 0.5
    share = 100 * np.histogram(x.clip(-scale, scale), edges)[0] / x.size
    ax.stairs(share, edges, fill=True, color=colour, zorder=2)
    for side in () if bound is None else (-bound, bound):
        ax.axvline(side, color=BOUND_COLOUR, lw=1.5, ls=(0, (5, 2)), label="bound" if side > 0 else None, zorder=3)
    ax.set(xlim=(-scale, scale), xlabel="error in LSB", ylabel="elements in %")
    ax.set_title(f"{words}, bias {drawing.in_lsb(round(float(x.mean()), 3) + 0, '+')}", loc="left")
    if bound is not None:
        ax.margins(y=0.3)  # room for the legend
        ax.legend(frameon=False, loc="upper right")
    return ax


@refusing_unknown
def error_curve(
    x: ArrayLike,
    off: ArrayLike,
    *,
    bound: float | None = None,
    label: str | None = None,
    ax: Axes | None = None,
    **unknown: Never,
) -> Axes:
    """Show the error along something: real values, codes, or a parameter.

    Parameters
    ----------
    x : array_like of float
        Where each error belongs; of the shape of `off`.
    off : array_like of float
        Errors in LSB.
    bound : float, optional
        Bound of the error in LSB, drawn on both sides of 0.
    label : str, optional
        Name of the curve.
    ax : matplotlib.axes.Axes, optional
        Where it is drawn.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError
        Errors that are no finite numbers, or none; an `x` that is none or has another shape, a bound that is not above
        0, an `ax` that is none.
    ImportError
        matplotlib is missing.

    Examples
    --------
    >>> qops.plot.error_curve([1, 2, 3], [0.1, -0.4, 0.2], bound=0.5).get_ylabel()
    'error in LSB'
    """
    if unknown:
        raise unknown_keyword(error_curve, unknown)
    at, y = drawing.finite(_as_array(x, "x"), "x"), drawing.errors_of(off)
    if at.shape != y.shape:
        raise bad_value("x", f"expected numbers of the shape of off, {y.shape}, got shape {at.shape}")
    words = drawing.largest(y, bound)
    ax = _axes(ax)
    order = np.argsort(at, axis=None, kind="stable")
    ax.plot(at.ravel()[order], y.ravel()[order], lw=1.2, label=label)
    for side in () if bound is None else (-bound, bound):
        ax.axhline(side, color=BOUND_COLOUR, lw=1.4, ls=(0, (5, 3)), label="bound" if side > 0 else None)
    ax.margins(y=0.2)  # room for the legend
    ax.set_ylabel("error in LSB")
    ax.set_title(words, loc="left")
    if label is not None or bound is not None:
        ax.legend(frameon=False, loc="upper right", ncols=2)
    return ax


@refusing_unknown
def number_line(t: TensorLike, points: ArrayLike = (), *, ax: Axes | None = None, **unknown: Never) -> Axes:
    """Show which real values codes stand for: a line of real numbers with the codes of a tensor on it.

    Parameters
    ----------
    t : (data, min, max)
        A tensor with one range. Up to 33 of its codes are drawn, from the lowest to the highest, each where its value
        is, and as many of these are labelled as there is room for.
    points : array_like of float, optional
        Real values, also beyond the range; an arrow leads from each to the nearest code that is drawn. As many are
        labelled as there is room for.
    ax : matplotlib.axes.Axes, optional
        Where it is drawn.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, a tensor without codes or with ranges per channel, points that are no
        finite numbers, an `ax` that is none.
    ImportError
        matplotlib is missing.

    Examples
    --------
    >>> ax = qops.plot.number_line((np.array([0, 1, 2, 3], np.uint8), 0.0, 2.55), points=[0.012])
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['0', '0.01', '0.02', '0.03']
    """
    if unknown:
        raise unknown_keyword(number_line, unknown)
    _values(t)  # refuses what is no tensor
    given = t if isinstance(t, QTensor) else QTensor(*t)
    codes, lo = np.unique(given.data), given.min
    if codes.size == 0 or np.ndim(lo):
        raise bad_value("t", f"expected codes of one range, got shape {given.shape} and ends of shape {np.shape(lo)}")
    at = np.sort(drawing.finite(_as_array(points, "points"), "points"), axis=None)
    ax = _axes(ax)
    shown = codes[np.unique(np.linspace(0, codes.size - 1, min(codes.size, _MOST_TICKS)).round().astype(int))]
    where = _values(QTensor(shown, lo, given.max, given.code_type))
    ax.axhline(0, color=_INK, lw=1.2)
    ax.plot(where, np.zeros(shown.size), "|", color=_BLUE, ms=18, mew=1.6)
    ends = (*where, *at)
    margin = (max(ends) - min(ends) or 1) / 20
    ax.set_xlim(min(ends) - margin, max(ends) + margin)
    for code, x in _apart(ax, [*map(str, shown.tolist())], where):
        ax.annotate(code, (x, 0), (0, 12), textcoords="offset points", ha="center", color=_BLUE)
    for x in at:
        near = where[np.abs(where - x).argmin()]
        ax.annotate("", (near, 0), (x, -0.6), arrowprops={"arrowstyle": "->", "color": BOUND_COLOUR})
    for point, x in _apart(ax, [f"{x:g}" for x in at], at):
        ax.annotate(point, (x, -0.62), ha="center", va="top", color=BOUND_COLOUR)
    labels, ticks = zip(*_apart(ax, [f"{x:.3g}" for x in where], where), strict=True)
    ax.set(ylim=(-1, 1), yticks=[], xticks=ticks, xticklabels=labels)
    ax.grid(False)
    ax.set_xlabel("real value; the codes stand above the line")
    for side in ("left", "right", "top"):
        ax.spines[side].set_visible(False)
    return ax


def _apart(ax: Axes, words: list[str], at: NDArray[np.float64]) -> Iterator[tuple[str, float]]:
    """Give the labels, from left to right, that do not touch the one before, each with its place."""
    free = -np.inf
    for word, x in zip(words, at.tolist(), strict=True):
        place, half = ax.transData.transform((x, 0))[0] / ax.figure.dpi * 72, 3 * len(word) + 2  # points
        if place - half >= free:
            free = place + half
            yield word, x


@refusing_unknown
def shares(names: Sequence[str], values: Mapping[str, ArrayLike], *, ax: Axes | None = None, **unknown: Never) -> Axes:
    """Draw shares from 0 to 1 as bars, one group of bars for each name: for example of the layers of a network.

    Parameters
    ----------
    names : sequence of str
        What stands below the groups.
    values : mapping of str to array_like of float
        By what the legend calls them, one share for each name.
    ax : matplotlib.axes.Axes, optional
        Where it is drawn.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ImportError
        matplotlib is not installed.
    TypeError, ValueError
        Another `ax`; shares that are not in [0, 1], or not one for each name.

    Examples
    --------
    >>> drawn = qops.plot.shares(["conv", "fc"], {"wrong": [0.25, 0.0]})
    >>> [float(bar.get_height()) for bar in drawn.patches]
    [0.25, 0.0]
    """
    if unknown:
        raise unknown_keyword(shares, unknown)
    drawn = _axes(ax)
    wide = 0.8 / max(1, len(values))
    for i, (label, given) in enumerate(values.items()):
        found = _as_array(given, "values").astype(np.float64)
        if found.shape != (len(names),) or not ((found >= 0) & (found <= 1)).all():
            raise bad_value("values", f"expected {len(names)} shares in [0, 1] for {label!r}, got {shown(given)}")
        drawn.bar(np.arange(len(names)) + (i - (len(values) - 1) / 2) * wide, found, wide, label=label)
    drawn.set_xticks(np.arange(len(names)), list(names), rotation=45, ha="right")
    drawn.set_ylabel("share")
    if len(values) > 1:
        drawn.legend()
    return drawn


if not TYPE_CHECKING:  # a type checker would take it for a promise of every name

    def __getattr__(name):
        """Raise the AttributeError that tells which name is near."""
        raise no_attribute(__name__, name, __all__)
