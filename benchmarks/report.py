"""Sizes and times of reports in the browser: 500 images × 3 systems, 10,000 × 5.

    python -m benchmarks.report [--data ../shared/data] [--folder /tmp/reports] [--browser /usr/bin/chromium]

Prints how large the page is, how long it took to make, and in Chromium: when the leaderboard is on screen, when all captions
are there, how long a search takes, and how many frames a second the list shows while it scrolls.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import captious

SIZES = ((500, 3), (10_000, 5))
QUERIES = ("dog", "man riding -horse", "zebra", "a", "nothing at all like this")


def corpora(data: Path, images: int, systems: int) -> tuple[dict[str, list[str]], dict[str, dict[str, str]]]:
    """The first images of COCO, and the captions of published systems for them."""
    with gzip.open(data / "coco" / "references.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for _, line in zip(range(images), lines)]
    references = {str(row["image_id"]): row["captions"] for row in rows}
    found: dict[str, dict[str, str]] = {}
    for path in sorted((data / "coco" / "systems").glob("*.jsonl.gz"))[:systems]:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            own = {str(row["image_id"]): row["caption"] for row in map(json.loads, lines)}
        found[path.name.removesuffix(".jsonl.gz")] = {image: own[image] for image in references}
    return references, found


def make(data: Path, folder: Path, images: int, systems: int) -> Path:
    """The report, with all that can be had from captions alone."""
    references, found = corpora(data, images, systems)
    started = time.perf_counter()
    report = captious.report(
        *found.values(),
        references=references,
        names=list(found),
        title=f"{images:,} images, {systems} systems",
    )
    made = time.perf_counter()
    path = report.save(folder / f"report-{images}x{systems}.html")
    print(
        f"{images:,} x {systems}: {path.stat().st_size / 1e6:.2f} MB, made in {made - started:.1f} s, written in {time.perf_counter() - made:.1f} s",
        flush=True,
    )
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
  return {frames: 1000 * times.length / times.reduce((a, b) => a + b), slowest: times.at(-1), late: times.filter((t) => t > 1000 / 30).length / times.length, rows: document.querySelectorAll('.row').length};
}"""


def measure(browser: Any, path: Path) -> None:
    """In the browser, each number the median of three fresh pages."""

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
    middle = lambda values: sorted(values)[len(values) // 2]  # noqa: E731
    print(
        f"  first paint {middle(shown):.0f} ms, head and tables drawn {middle(drawn):.0f} ms, all captions there {middle(ready):.0f} ms"
    )
    page = opened("#view=images")
    page.wait_for_selector(".row")
    took = {}
    for query in ("warm", *QUERIES):
        page.evaluate("q => { location.hash = 'view=images&q=' + encodeURIComponent(q); }", query)
        page.wait_for_timeout(400)
        took[query] = float(page.evaluate("document.documentElement.dataset.search"))
    print(
        f"  search: the first {took['warm']:.1f} ms, then "
        + ", ".join(f"'{q}' {took[q]:.1f}" for q in QUERIES)
    )
    whole = []
    for order in ("metric", "difference", "disagreement", "made", "length"):
        page.evaluate("o => { location.hash = 'view=images&sort=' + o; }", order)
        page.wait_for_timeout(1500)
        whole.append(f"{order} {float(page.evaluate('document.documentElement.dataset.search')):.0f}")
    print("  sorting (ms, the first time): " + ", ".join(whole))
    page.evaluate("() => { location.hash = 'view=images'; }")
    page.wait_for_timeout(500)
    found = page.evaluate(SCROLL)
    print(
        f"  scrolling: {found['frames']:.0f} frames a second, slowest frame {found['slowest']:.0f} ms, {100 * found['late']:.1f} % slower than 1/30 s, {found['rows']} rows in the page"
    )
    page.context.close()


@contextmanager
def running(path: str) -> Iterator[str]:
    """Chromium as a child of this process (Playwright would start it in a session of its own); the address of its protocol."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [
            path,
            "--headless",
            "--no-sandbox",
            "--remote-debugging-port=0",
            f"--user-data-dir={profile}",
            "--no-first-run",
            "about:blank",
        ]
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
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, default=Path(__file__).resolve().parent.parent.parent / "shared" / "data"
    )
    parser.add_argument("--folder", type=Path, default=Path("/tmp/reports"))
    parser.add_argument("--browser", default="/usr/bin/chromium")
    parser.add_argument("--keep", action="store_true", help="Measure pages that are there already.")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    paths = [
        given.folder / f"report-{n}x{k}.html" if given.keep else make(given.data, given.folder, n, k)
        for n, k in SIZES
    ]
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver, running(given.browser) as address:
        browser = driver.chromium.connect_over_cdp(address)
        for path in paths:
            print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB", flush=True)
            measure(browser, path)
        browser.close()


if __name__ == "__main__":
    main()
