"""python -m analysis --image: a picture of the caller's, of any size and kind, or a clear error."""

import re

import numpy as np
import pytest
from matplotlib import rcParams
from PIL import Image

import analysis.__main__ as main
from analysis import photograph, pictures


def random_image(rng, mode, width, height):
    data = rng.integers(0, 65536 if mode == "I;16" else 256, (height, width, {"RGB": 3, "RGBA": 4}.get(mode, 1)))
    image = Image.fromarray(data.squeeze(-1 if data.shape[2] == 1 else ()).astype("<u2" if mode == "I;16" else "u1"))
    return image.convert(mode) if mode in ("P", "1", "CMYK") else image


def refused(capsys, file):
    with pytest.raises(SystemExit) as end:
        main.main(["--image", str(file)])
    assert end.value.code == 2
    return capsys.readouterr().err.splitlines()[-1]


@pytest.mark.long
def test_image_is_added_and_shown(tmp_path, rng, capsys, monkeypatch):
    monkeypatch.setitem(rcParams, "figure.dpi", 50)
    random_image(rng, "RGB", 37, 90).save(tmp_path / "mine.png")
    assert main.main(["--image", str(tmp_path / "mine.png"), "--out", str(tmp_path / "out")]) == 0
    told = capsys.readouterr()
    assert "mine.png: 37 x 90 pixels" in told.err
    assert "two pictures added" in told.out
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert page.index("<table>") < page.index("<figure")
    names = re.findall(r'<img [^>]*src="(\w+)\.webp"', page)
    assert len(names) == 5
    files = {f"{name}{end}" for name in names for end in (".png", ".webp", "_card.webp")}
    assert {*files, "index.html"} == {file.name for file in (tmp_path / "out").iterdir()}


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "I;16", "P", "1", "CMYK"])
@pytest.mark.parametrize("size", [(2, 1), (1, 300), (301, 40)])
def test_image_of_any_size_and_kind_keeps_the_bound(tmp_path, rng, mode, size):
    file = tmp_path / ("x.tif" if mode == "CMYK" else "x.png")
    random_image(rng, mode, *size).save(file)
    read = pictures.read(file)
    assert read.luma.shape == size[::-1]
    assert read.luma.dtype == np.float32
    assert 0 <= read.luma.min() < read.luma.max() <= 1
    ours = photograph.summary(photograph.measure(read.luma))[0]
    assert ours.anywhere <= 0.6


def test_grey_levels_are_what_the_file_says(tmp_path):
    levels = np.arange(256, dtype=np.uint8)[None]
    Image.fromarray(levels).save(tmp_path / "grey.png")
    np.testing.assert_allclose(pictures.read(tmp_path / "grey.png").luma, levels / 255, atol=1e-6)
    some = levels[:, 20:200]
    Image.fromarray(some.astype("<u2") * 257).save(tmp_path / "deep.png")
    np.testing.assert_allclose(pictures.read(tmp_path / "deep.png").luma, some / 255, atol=1e-6)
    Image.fromarray(levels - np.float32(7)).save(tmp_path / "float.tif")
    np.testing.assert_allclose(pictures.read(tmp_path / "float.tif").luma, levels / 255, atol=1e-6)
    clear = np.zeros((1, 2, 4), np.uint8)
    clear[0, 1, 3] = 255  # black; beside it black that nothing is seen of
    Image.fromarray(clear).save(tmp_path / "clear.png")
    np.testing.assert_allclose(pictures.read(tmp_path / "clear.png").luma, [[1, 0]], atol=1e-6)


def test_image_that_lies_on_its_side_is_turned(tmp_path, rng):
    image = random_image(rng, "RGB", 30, 20)
    turned = Image.Exif()
    turned[0x0112] = 6
    image.save(tmp_path / "turned.png", exif=turned)
    assert pictures.read(tmp_path / "turned.png").luma.shape == (30, 20)


def test_large_image_is_made_smaller_and_says_so(tmp_path, rng):
    random_image(rng, "L", 3000, 1000).save(tmp_path / "large.png")
    read = pictures.read(tmp_path / "large.png")
    assert read.luma.size <= pictures.LARGEST
    assert read.told == "3000 x 1000 pixels, made smaller to 1773 x 591"


def test_image_that_cannot_be_read_is_named(tmp_path, rng, capsys):
    assert refused(capsys, tmp_path / "none.png").endswith("none.png: there is no such file")
    (tmp_path / "text.png").write_text("not a picture")
    assert refused(capsys, tmp_path / "text.png").endswith("not a picture in a format that Pillow reads")
    random_image(rng, "RGB", 200, 200).save(tmp_path / "whole.png")
    (tmp_path / "cut.png").write_bytes((tmp_path / "whole.png").read_bytes()[:5000])
    assert "cut.png: the picture cannot be read: " in refused(capsys, tmp_path / "cut.png")
    assert "--image" in refused(capsys, tmp_path)
    Image.new("RGB", (9, 9), "red").save(tmp_path / "red.png")
    assert refused(capsys, tmp_path / "red.png").endswith("all 9 x 9 pixels are the same, so there is nothing to add")
