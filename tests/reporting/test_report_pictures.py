"""Pictures inside the page: thumbnails within a size, boxes of objects, and the notice without pictures."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest

import captious
from captious.core.errors import InputError
from captious.io import CaptionWarning
from captious.io.object_files import read_boxes
from captious.reporting import thumbnails
from captious.reporting.image_links import find_files
from tests.reporting.conftest import until

Image = pytest.importorskip("PIL.Image")

REFERENCES = {
    "391895": ["a man rides a motorcycle", "a motorcycle on a road"],
    "42": ["a dog sleeps", "one dog on shoes"],
    "7": ["a cat", "a cat sits"],
}
CAPTIONS = {"391895": "a man on a motorcycle", "42": "a cat on a table", "7": "a cat"}


def noise(path: Path, width: int, height: int, **settings: Any) -> None:
    Image.effect_noise((width, height), 60).convert("RGB").save(path, **settings)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Pictures named in COCO's two ways, one with a place in its metadata."""
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    exif = Image.Exif()
    exif[274] = 6  # turned by 90 degrees
    exif[0x010E] = "taken at home"
    noise(pictures / "COCO_val2014_000000391895.jpg", 640, 480)
    noise(pictures / "000000000042.jpg", 600, 400, exif=exif)
    (pictures / "7.jpg").write_bytes(b"no picture")
    return pictures


def page_of(folder: Path | None, **settings: Any) -> captious.Report:
    return captious.report(
        CAPTIONS, references=REFERENCES, images=folder, metrics="BLEU-1", corpus=False, **settings
    )


def test_coco_names_are_found(folder: Path) -> None:
    found = find_files(folder, ["391895", "42", "99"])
    assert [path and path.name for path in found] == [
        "COCO_val2014_000000391895.jpg",
        "000000000042.jpg",
        None,
    ]
    (folder / "COCO_val2014_000000391895.jpg").rename(folder / "000000391895.jpg")
    found = find_files(folder, ["391895", "COCO_val2014_000000391895.jpg"])
    assert [path and path.name for path in found] == ["000000391895.jpg"] * 2


def test_thumbnails_are_embedded_without_metadata(folder: Path) -> None:
    with pytest.warns(CaptionWarning, match="1 picture cannot be read and is not shown .the first is 7.jpg"):
        report = page_of(folder)
    addresses = report._thumbnails
    assert addresses is not None and addresses[2] is None
    assert any("cannot be read" in text for text in report.meta["warnings"])
    assert "img-src data:;" in report.html() and str(folder) not in report.html()
    sizes = []
    for address in addresses[:2]:
        assert address is not None and address.startswith("data:image/jpeg;base64,")
        data = base64.b64decode(address.partition(",")[2])
        assert b"taken at home" not in data
        sizes.append(Image.open(io.BytesIO(data)).size)
    # The second picture is in portrait format.
    assert sizes == [(480, 360), (320, 480)]


def test_all_thumbnails_fit_the_given_size(tmp_path: Path) -> None:
    for n in range(30):
        noise(tmp_path / f"{n}.png", 500, 500)
    paths: list[Path | None] = [tmp_path / f"{n}.png" for n in range(30)]
    last = None
    for megabytes in (2.0, 0.5, 0.2):
        made = thumbnails.embed(paths, megabytes)
        assert made is not None and made.sizes == [(500, 500)] * 30
        total = sum(len(address or "") for address in made.addresses)
        assert total <= 1e6 * megabytes + 30 * len("data:image/jpeg;base64,")
        assert last is None or made.side < last
        last = made.side
    assert thumbnails.embed(paths, 0.01) is None


@pytest.mark.filterwarnings("ignore:1 picture cannot be read")
def test_pictures_are_linked_where_they_do_not_fit(folder: Path, tmp_path: Path) -> None:
    with pytest.warns(CaptionWarning, match="3 thumbnails do not fit in 0.0001 MB"):
        report = page_of(folder, embed=0.0001)
    assert report._thumbnails is None and "img-src file: 'self'" in report.html(
        tmp_path / "page.html"
    ).replace("&#x27;", "'")
    assert page_of(folder, embed=0)._thumbnails is None
    with pytest.raises(InputError, match="number of megabytes"):
        page_of(folder, embed=-1)


def instances(path: Path) -> Path:
    """A file of COCO instances for the three images."""
    path.write_text(
        json.dumps(
            {
                "images": [{"id": 391895, "width": 640, "height": 480}, {"id": 42}, {"id": 7}],
                "categories": [
                    {"id": 1, "name": "person"},
                    {"id": 4, "name": "motorcycle"},
                    {"id": 18, "name": "dog"},
                    {"id": 17, "name": "cat"},
                ],
                "annotations": [
                    {"image_id": 391895, "category_id": 1, "bbox": [320, 120, 160, 240]},
                    {"image_id": 391895, "category_id": 4, "bbox": [64, 240, 500, 200]},
                    {"image_id": 42, "category_id": 18, "bbox": [100, 100, 200, 150.5]},
                    {"image_id": 7, "category_id": 17},
                ],
            }
        )
    )
    return path


def test_boxes_are_read_from_both_kinds_of_files(tmp_path: Path) -> None:
    found = read_boxes(instances(tmp_path / "instances.json"))
    assert found["391895"].size == (640, 480) and found["391895"].boxes[0] == ("person", 320, 120, 160, 240)
    assert found["42"].size is None and "7" not in found
    rows = tmp_path / "objects.jsonl"
    rows.write_text(
        '{"image_id": 1, "objects": ["dog"], "boxes": [[1, 2, 3, 4]], "width": 9, "height": 8}\n{"image_id": 2, "objects": []}\n'
    )
    assert read_boxes(rows) == {"1": ((9, 8), [("dog", 1.0, 2.0, 3.0, 4.0)])}
    for boxes, why in (
        ("[]", "as many boxes as objects"),
        ("[[1, 2, 3]]", "a box is"),
        ('[[1, 2, 3, "4"]]', "a box is"),
    ):
        rows.write_text(f'{{"image_id": 1, "objects": ["dog"], "boxes": {boxes}}}\n')
        with pytest.raises(InputError, match=why):
            read_boxes(rows)


@pytest.mark.browser
@pytest.mark.filterwarnings("ignore:1 picture cannot be read")
def test_thumbnails_and_boxes_are_drawn(folder: Path, tmp_path: Path, watch: Any) -> None:
    report = page_of(folder, objects=instances(tmp_path / "instances.json"))
    with watch(report.save(tmp_path / "out.html"), "#image=391895") as seen:
        page = seen.page
        until(page, "document.querySelector('.picture')?.naturalWidth === 480")
        until(page, "document.querySelectorAll('.boxes rect').length === 2")
        drawn = page.evaluate(
            "(() => { const p = document.querySelector('.picture').getBoundingClientRect();"
            "return [...document.querySelectorAll('.boxes g')].map(g => { const b = g.querySelector('rect').getBoundingClientRect();"
            "return [g.getAttribute('class'), g.querySelector('text').textContent, (b.left - p.left) / p.width, (b.top - p.top) / p.height]; }); })()"
        )
        by_name = {name: (kind, x, y) for kind, name, x, y in drawn}
        assert by_name["person"] == ("said", pytest.approx(0.5, abs=0.01), pytest.approx(0.25, abs=0.01))
        assert by_name["motorcycle"] == ("said", pytest.approx(0.1, abs=0.01), pytest.approx(0.5, abs=0.01))
        # The dog of the second image is named by no caption; its size comes from the picture.
        seen.show("#image=42")
        until(page, "document.querySelectorAll('.boxes rect').length === 1")
        assert page.locator(".boxes .unsaid text").text_content() == "dog"
        assert page.locator(".boxes").get_attribute("viewBox") == "0 0 400 600"
        assert "dog" in page.locator(".detail .chip.missed").first.inner_text()
        page.get_by_role("checkbox", name="boxes").click()
        assert "boxes=off" in page.url and not page.locator(".boxes").is_visible()
        seen.show("#image=7")
        assert "There is no picture of this image." in page.locator(".detail").inner_text()
        assert page.locator(".thumb").count() == 2
        # Pictures inside the page need no requests.
        assert not [wrong for wrong in seen.wrong if not wrong.startswith("request: data:image/jpeg")]


@pytest.mark.browser
def test_without_pictures_the_page_says_how(tmp_path: Path, watch: Any) -> None:
    with watch(page_of(None).save(tmp_path / "out.html"), "#view=images") as seen:
        seen.page.wait_for_selector(".detail .card")
        assert "captious report … --images FOLDER adds them" in seen.page.locator(".detail").inner_text()
        assert not seen.wrong
