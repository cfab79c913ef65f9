"""A real browser, and pages for it. Without a browser the tests that need one are skipped, and the run says
so loudly.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import captious
from captious.data import demo_path
from tests.browser import executable
from tests.reporting import hostile


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    path = executable()
    assert path is not None, "tests that use this fixture are marked 'browser'"
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def demo_report() -> captious.Report:
    """A report of the demo with every part that a report can have."""
    names = ["good", "generic", "poor"]
    return captious.report(
        *(demo_path(name) for name in names),
        references=demo_path("references"),
        samples=[demo_path("sampling")],
        objects=demo_path("objects"),
        names=names,
        title="The demo",
        metrics=["coco", "CHAIRs", "CHAIRi", "CaptiousScore-lite"],
    )


@pytest.fixture(scope="session")
def demo_page(demo_report: captious.Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return demo_report.save(tmp_path_factory.mktemp("page") / "demo.html")


@pytest.fixture(scope="session")
def hostile_report() -> captious.Report:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return captious.report(
            *hostile.systems(),
            references=hostile.references(),
            samples=[hostile.samples()],
            names=hostile.NAMES,
            title="</title><script>alert('title')</script>",
        )


class Watched:
    """A page in the browser that records everything it must not do."""

    def __init__(self, browser: Any, path: Path, address: str = "", **context: Any) -> None:
        self.context = browser.new_context(viewport={"width": 1280, "height": 900}, **context)
        self.context.set_default_timeout(15_000)
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.page.on(
            "dialog", lambda dialog: (self.wrong.append(f"dialog: {dialog.message}"), dialog.dismiss())
        )
        self.page.on("console", lambda said: self.wrong.append(f"console: {said.type}: {said.text}"))
        self.page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        self.page.on("request", self._request)
        self.own = path.as_uri()
        self.page.goto(self.own + address)
        self.page.wait_for_selector("html[data-ready]")

    def _request(self, request: Any) -> None:
        if request.url.partition("#")[0] != self.own:
            self.wrong.append(f"request: {request.url}")

    def __enter__(self) -> Watched:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()

    def show(self, address: str) -> None:
        """Go to a state of the page by its link."""
        self.page.evaluate("address => { location.hash = address; }", address)
        self.page.wait_for_timeout(60)
        until(self.page, "!document.querySelector('[aria-busy]')")


def until(page: Any, expression: str) -> None:
    """Wait for something to be true. (Playwright's own way evaluates strings, which the page's policy
    forbids.)
    """
    for _ in range(300):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never true: {expression}")


@pytest.fixture
def watch(browser: Any) -> Any:
    return lambda path, address="", **context: Watched(browser, path, address, **context)
