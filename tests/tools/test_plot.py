"""qops.plot: what is drawn, on which axes, in which units."""

import subprocess
import sys
from itertools import pairwise

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


def test_the_title_of_a_huge_error_is_short(ax):
    assert qops.plot.error_map([[-1.2e38]], ax=ax).get_title(loc="left") == "largest error 1.2e+38 LSB"


@pytest.mark.parametrize("bar", [True, False])
def test_a_map_has_a_bar_unless_it_is_not_wanted(ax, bar):
    qops.plot.error_map(OFF, bar=bar, ax=ax)
    assert len(ax.figure.axes) == 1 + bar


def test_a_histogram_counts_every_error(ax):
    qops.plot.error_histogram([*OFF.ravel(), 99.0], bound=0.7, scale=1.25, ax=ax)
    counts, edges, _ = ax.patches[0].get_data()
    assert counts.sum() == pytest.approx(100)
    assert counts[-1] > 0, "what is beyond the scale is in the last bin"
    assert (edges[56] + edges[57]) / 2 == pytest.approx(0.5), "halves are in one bin, whichever way they were computed"
    assert sorted(line.get_xdata()[0] for line in ax.lines) == [-0.7, 0.7]
    assert "bias +" in ax.get_title(loc="left")


@pytest.mark.parametrize(("off", "end"), [(0.2, 1.25), (-40.0, 42.0)])
def test_all_errors_are_within_the_scale_that_is_not_given(ax, off, end):
    assert qops.plot.error_histogram([off], ax=ax).get_xlim() == pytest.approx((-end, end))
    assert qops.plot.error_map([[off]], ax=ax).images[0].get_clim() == pytest.approx((-end, end))


def test_a_curve_is_drawn_in_the_order_of_x(ax):
    qops.plot.error_curve([3, 1, 2], [0.3, 0.1, -0.2], bound=0.5, label="mine", ax=ax)
    assert ax.lines[0].get_xydata().tolist() == [[1, 0.1], [2, -0.2], [3, 0.3]]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["mine", "bound"]


def test_a_number_line_marks_codes_where_they_are(ax):
    t = qops.QTensor(np.arange(256, dtype=np.uint8), -1.0, 1.55)
    qops.plot.number_line(t, points=[0.003], ax=ax)
    marks = ax.lines[1].get_xdata()
    assert len(marks) == 33
    assert (marks[0], marks[-1]) == pytest.approx((-1.0, 1.55))
    words = [text.get_text() for text in ax.texts]
    assert {"0", "0.003"} <= set(words)
    assert ax.get_xlabel()


@pytest.mark.parametrize("width", [3, 6.4, 12])
@pytest.mark.parametrize("count", [1, 9, 16, 256])
@pytest.mark.parametrize("power", [1, 3])
def test_labels_of_a_number_line_do_not_touch(width, count, power):
    ax = plt.subplots(figsize=(width, 2))[1]
    codes = np.int32(np.arange(count) ** power * (2**31 // 256**power))
    qops.plot.number_line((codes, -1.0, 1.0), points=[-2.0, 0.1, 0.11, 3.0], ax=ax)
    ax.figure.canvas.draw()
    assert ax.get_xlim() == pytest.approx((-2.25, 3.25)), "points beyond the range are in the picture"
    texts = [text for text in ax.texts if text.get_text()]
    for row in (
        [t for t in texts if t.get_va() == "top"],
        [t for t in texts if t.get_va() != "top"],
        ax.get_xticklabels(),
    ):
        assert row
        ends = [(text.get_window_extent().x0, text.get_window_extent().x1) for text in row]
        assert all(before[1] < after[0] for before, after in pairwise(ends))


@pytest.mark.parametrize("draw", [lambda: qops.plot.error_map(OFF), lambda: qops.plot.error_histogram(OFF)])
def test_without_axes_there_are_new_ones_in_the_style(draw):
    with plt.rc_context():
        mpl.rcdefaults()  # who imports the report gives all figures its style
        before = dict(plt.rcParams)
        ax = draw()
        assert ax.figure is plt.gcf()
        assert plt.rcParams["axes.spines.top"]
        assert not ax.spines["top"].get_visible()
        assert dict(plt.rcParams) == before


@pytest.mark.parametrize(
    ("draw", "error", "text"),
    [
        (lambda: qops.plot.error_map([1.0]), ValueError, "off: expected"),
        (lambda: qops.plot.error_map(OFF, bar="no"), TypeError, "bar: expected a bool"),
        (lambda: qops.plot.error_map([["a"]]), TypeError, "off: expected"),
        (lambda: qops.plot.error_map(OFF, scale=0), ValueError, "scale: "),
        (lambda: qops.plot.error_map([[np.nan]]), ValueError, "off: has numbers that are NaN or infinite"),
        (lambda: qops.plot.error_map(OFF, ax=3), TypeError, "ax: expected the axes of a figure, got 3"),
        (lambda: qops.plot.error_histogram([]), ValueError, "off: "),
        (lambda: qops.plot.error_histogram(OFF, colour="sky"), ValueError, "colour: expected .* got 'sky'"),
        (lambda: qops.plot.error_histogram(OFF, bound=-1), ValueError, "bound: "),
        (lambda: qops.plot.error_curve([1], [1, 2]), ValueError, "x: expected numbers of the shape"),
        (lambda: qops.plot.error_curve([np.inf], [1]), ValueError, "x: has numbers"),
        (lambda: qops.plot.number_line((np.uint8([]), 0.0, 1.0)), ValueError, "t: expected codes"),
        (lambda: qops.plot.number_line((np.uint8([1]), 0.0, 1.0), points=[np.nan]), ValueError, "points: has numbers"),
        (lambda: qops.plot.number_line((np.uint8([1]), 0.0, 1.0), points=["a"]), TypeError, "points: "),
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
