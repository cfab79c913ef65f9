"""Take the screenshots of the report for the documentation.

    python tools/report_screenshot.py [CHROMIUM]

Creates a report and a site of the demo, opens them in Chromium, and writes into docs/figures: report.png (the
leaderboard), report-images.png (images that metrics disagree about), report-why.png (an image with METEOR's
alignment), report-phone.png and site.png.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import captious
from captious.data import demo_path

FIGURES = Path(__file__).resolve().parent.parent / "docs" / "figures"
NAMES = ["good", "generic", "poor"]
#: Name, state of the page, colours, width and height.
SHOTS = (
    ("report", "", "light", 1240, 660),
    ("report-images", "#view=images&sort=disagreement&top=20", "light", 1240, 760),
    ("report-phone", "#board=SPICE", "light", 390, 760),
    ("report-why", "#image=1003&system=0&tab=meteor", "dark", 1240, 840),
)


def main() -> None:
    browser_path = sys.argv[1] if len(sys.argv) > 1 else "/usr/bin/chromium"
    report = captious.report(
        *(demo_path(name) for name in NAMES), references=demo_path("references"), samples=[demo_path("sampling")],
        objects=demo_path("objects"), names=NAMES, title="The demo of captious: sixty imagined images",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        page_path = report.save(Path(folder) / "report.html")
        browser = driver.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        for name, state, scheme, width, height in SHOTS:
            page = browser.new_context(
                viewport={"width": width, "height": height}, color_scheme=scheme
            ).new_page()
            page.goto(page_path.as_uri() + state)
            page.wait_for_selector("html[data-ready]")
            if "tab=" in state:
                page.wait_for_selector("#why-panel:not([aria-busy]) svg")
                page.locator("#why-panel").evaluate("panel => panel.closest('.card').scrollIntoView()")
            page.wait_for_timeout(300)
            page.screenshot(path=FIGURES / f"{name}.png")
        runs = Path(folder) / "runs"
        for scores in captious.score_systems(
            demo_path("references"), [demo_path(name) for name in NAMES], "coco", names=NAMES
        ):
            runs.mkdir(exist_ok=True)
            scores.save(runs / f"{scores.system}.scores")
        made = captious.site(
            sorted(runs.glob("*.scores")), Path(folder) / "site", title="The demo of captious",
            data_names={"4c02afc5": "The demo: 60 images"}, reports=False,
        )  # fmt: skip
        page = browser.new_context(viewport={"width": 1240, "height": 760}).new_page()
        page.goto((made.folder / "index.html").as_uri())
        page.wait_for_selector("html[data-ready]")
        page.screenshot(path=FIGURES / "site.png")
        browser.close()


if __name__ == "__main__":
    main()
