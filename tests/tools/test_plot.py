"""qops.plot: what is drawn, on which axes, in which units."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest

import qops

mpl.use("Agg")
import matplotlib.pyplot as plt

OFF = np.linspace(-0.6, 0.4, 12).reshape(3, 4)


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.fixture
def ax():
    return plt.subplots()[1]


def test_a_map_shows_each_error_and_rings_the_largest(ax):
    assert qops.plot.error_map(OFF, bound=0.7, ax=ax) is ax
    np.testing.assert_array_equal(ax.images[0].get_array(), OFF)
    assert [line.get_xydata().tolist() for line in ax.lines] == [[[0, 0]]] * 2
    assert ax.get_title(loc="left") == "largest error 0.600 LSB, bound 0.7"


@pytest.mark.parametrize("bar", [True, False])
def test_a_map_has_a_bar_unless_it_is_not_wanted(ax, bar):
    qops.plot.error_map(OFF, bar=bar, ax=ax)
    assert len(ax.figure.axes) == 1 + bar


def test_a_histogram_counts_every_error(ax):
    qops.plot.error_histogram([*OFF.ravel(), 99.0], bound=0.7, ax=ax)
    counts = ax.patches[0].get_data().values
    assert counts.sum() == pytest.approx(100)
    assert counts[-1] > 0, "what is beyond the scale is in the last bin"
    assert sorted(line.get_xdata()[0] for line in ax.lines) == [-0.7, 0.7]
    assert "bias +" in ax.get_title(loc="left")


def test_a_curve_is_drawn_in_the_order_of_x(ax):
    qops.plot.error_curve([3, 1, 2], [0.3, 0.1, -0.2], bound=0.5, label="mine", ax=ax)
    assert ax.lines[0].get_xydata().tolist() == [[1, 0.1], [2, -0.2], [3, 0.3]]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["mine", "bound"]


def test_a_number_line_has_a_tick_where_each_code_is(ax):
    t = qops.QTensor(np.arange(256, dtype=np.uint8), -1.0, 1.55)
    qops.plot.number_line(t, points=[0.003], ax=ax)
    ticks = ax.get_xticks()
    assert len(ticks) == 33
    assert (ticks[0], ticks[-1]) == pytest.approx((-1.0, 1.55))
    words = [text.get_text() for text in ax.texts]
    assert {"0", "255", "0.003"} <= set(words)
    assert ax.get_xlabel()


@pytest.mark.parametrize("draw", [lambda: qops.plot.error_map(OFF), lambda: qops.plot.error_histogram(OFF)])
def test_without_axes_there_are_new_ones(draw):
    assert draw().figure is plt.gcf()


@pytest.mark.parametrize(
    ("draw", "error", "text"),
    [
        (lambda: qops.plot.error_map([1.0]), ValueError, "off: expected"),
        (lambda: qops.plot.error_map(OFF, bar="no"), TypeError, "bar: expected a bool"),
        (lambda: qops.plot.error_map([["a"]]), TypeError, "off: expected"),
        (lambda: qops.plot.error_map(OFF, scale=0), ValueError, "scale: "),
        (lambda: qops.plot.error_histogram([]), ValueError, "off: "),
        (lambda: qops.plot.error_histogram(OFF, bound=-1), ValueError, "bound: "),
        (lambda: qops.plot.error_curve([1], [1, 2]), ValueError, "x: "),
        (lambda: qops.plot.number_line((np.uint8([]), 0.0, 1.0)), ValueError, "t: expected codes"),
        (lambda: qops.plot.number_line((np.uint8([1]), 0.0, 1.0), points=[np.nan]), ValueError, "points: "),
        (lambda: qops.plot.number_line((np.float32([1]), 0.0, 1.0)), TypeError, "t: "),
    ],
)
def test_bad_input_is_named_before_anything_is_drawn(draw, error, text):
    with pytest.raises(error, match=f"^{text}"):
        draw()
    assert not plt.get_fignums()


@pytest.mark.long
def test_matplotlib_is_loaded_when_something_is_drawn():
    script = "import sys, qops; qops.plot; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)
    script = """
import sys; sys.modules["matplotlib.pyplot"] = None
import qops
try:
    qops.plot.error_map([[1.0]])
except ImportError as why:
    print(why)
"""
    said = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    assert said == "qops.plot needs matplotlib: pip install 'qops[plot]'\n"
