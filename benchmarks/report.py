"""Sizes and times of reports in the browser: 500 images × 3 systems, 10,000 × 5.

    python -m benchmarks.report [--sizes 500x3,10000x5] [--folder /tmp/reports] [--browser /usr/bin/chromium]

Prints the size of the page and the time to create it, and in Chromium: the time until the leaderboard is
drawn, the time until all captions are loaded, the time of a search, and the frames per second while the list
scrolls.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import captious
from benchmarks.captions import coco, coco_system, coco_systems, public_data
from benchmarks.timing import timed

QUERIES = ("dog", "man riding -horse", "zebra", "a", "nothing at all like this")


def create(folder: Path, images: int, systems: int) -> Path:
    """Write a report of the first COCO images with everything that needs only captions."""
    data = public_data()
    references, _ = coco(images=images)
    predictions = {}
    for name in coco_systems(data)[:systems]:
        captions = coco_system(data, name)
        predictions[name] = {image: captions[image] for image in references}
    title = f"{images:,} images, {systems} systems"
    report, creating = timed(
        lambda: captious.report(
            *predictions.values(), references=references, names=list(predictions), title=title
        )
    )
    path, writing = timed(lambda: report.save(folder / f"report-{images}x{systems}.html"))
    size = f"{path.stat().st_size / 1e6:.2f} MB"
    print(f"{title}: {size}, created in {creating.wall:.1f} s, written in {writing.wall:.1f} s", flush=True)
    return path


SCROLL = """async () => {
  const list = document.querySelector('.list'), times = [];
  let last = performance.now(), at = 0;
  await new Promise((done) => {
    const step = (now) => {
      times.push(now - last);
      last = now;
      at += 400;
      list.scrollTop = at;
      if (times.length < 180) requestAnimationFrame(step); else done();
    };
    requestAnimationFrame(step);
  });
  times.shift();
  times.sort((a, b) => a - b);
  const total = times.reduce((a, b) => a + b), late = times.filter((t) => t > 1000 / 30).length;
  return {
    frames: 1000 * times.length / total, slowest: times.at(-1), late: late / times.length,
    rows: document.querySelectorAll('.row').length,
  };
}"""


def measure(browser: Any, path: Path) -> None:
    """Print times in the browser. Times of loading are medians of three new pages."""

    def opened(address: str) -> Any:
        page = browser.new_context(viewport={"width": 1360, "height": 900}).new_page()
        page.goto(path.as_uri() + address)
        page.wait_for_selector("html[data-ready]", timeout=60_000)
        return page

    drawn, ready, shown = [], [], []
    for _ in range(3):
        page = opened("#view=images")
        page.wait_for_selector(".row")
        drawn.append(float(page.evaluate("document.documentElement.dataset.drawn")))
        ready.append(float(page.evaluate("document.documentElement.dataset.ready")))
        shown.append(
            float(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
        )
        page.context.close()
    print(
        f"  first paint {median(shown):.0f} ms, head and tables drawn {median(drawn):.0f} ms, "
        f"all captions loaded {median(ready):.0f} ms"
    )
    page = opened("#view=images")
    page.wait_for_selector(".row")
    milliseconds = {}
    for query in ("warm", *QUERIES):
        page.evaluate("q => { location.hash = 'view=images&q=' + encodeURIComponent(q); }", query)
        page.wait_for_timeout(400)
        milliseconds[query] = float(page.evaluate("document.documentElement.dataset.search"))
    print(
        f"  search: first {milliseconds['warm']:.1f} ms, then "
        + ", ".join(f"'{query}' {milliseconds[query]:.1f}" for query in QUERIES)
    )
    sorting = []
    for order in ("metric", "difference", "disagreement", "length"):
        page.evaluate("o => { location.hash = 'view=images&sort=' + o; }", order)
        page.wait_for_timeout(1500)
        sorting.append(f"{order} {float(page.evaluate('document.documentElement.dataset.search')):.0f}")
    print("  sorting (ms, the first time): " + ", ".join(sorting))
    page.evaluate("() => { location.hash = 'view=images'; }")
    page.wait_for_timeout(500)
    scrolling = page.evaluate(SCROLL)
    print(
        f"  scrolling: {scrolling['frames']:.0f} frames per second, "
        f"slowest frame {scrolling['slowest']:.0f} ms, "
        f"{100 * scrolling['late']:.1f} % slower than 1/30 s, {scrolling['rows']} rows in the page"
    )
    page.context.close()


@contextmanager
def chromium(path: str) -> Iterator[str]:
    """Run Chromium as a child of this process and yield the address of its protocol.

    Playwright would start it in a session of its own.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [path, "--headless", "--no-sandbox", "--remote-debugging-port=0", "--no-first-run"]
        command += [f"--user-data-dir={profile}", "about:blank"]
        browser = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            port = Path(profile) / "DevToolsActivePort"
            for _ in range(600):
                if port.exists() and port.read_text():
                    break
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port.read_text().splitlines()[0]}"
        finally:
            browser.terminate()
            browser.wait()


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--sizes", default="500x3,10000x5", help="images and systems of each report")
    arguments.add_argument("--folder", type=Path, default=Path("/tmp/reports"))
    arguments.add_argument("--browser", default="/usr/bin/chromium")
    arguments.add_argument("--keep", action="store_true", help="measure existing pages again")
    options = arguments.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    paths = [
        options.folder / f"report-{size}.html"
        if options.keep
        else create(options.folder, *map(int, size.split("x")))
        for size in options.sizes.split(",")
    ]
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver, chromium(options.browser) as address:
        browser = driver.chromium.connect_over_cdp(address)
        for path in paths:
            print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB", flush=True)
            measure(browser, path)
        browser.close()


if __name__ == "__main__":
    main()
