"""The page of a result in Chromium: its fields, rows and numbers, for tests and pictures."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from onnx_infer import InferenceResult

WIDE = (1400, 5200)
"""The width and height of a page at first: every row of a small model is in view."""

_ARGUMENTS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
]  # fmt: skip


@contextmanager
def chromium_at(profile: Path) -> Iterator[webdriver.Chrome]:
    """Chromium with an empty profile in this folder, until the end of the block."""
    options = webdriver.ChromeOptions()
    options.binary_location = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chrome"))))
    for argument in [*_ARGUMENTS, f"--user-data-dir={profile}"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    folder = os.environ.get("CHROMEWEBDRIVER", "")
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver", path=folder or None)))
    try:
        yield driver
    finally:
        driver.quit()


class Page:
    """The page of a result that is open in Chromium."""

    def __init__(self, driver: webdriver.Chrome, result: InferenceResult, path: Path, title: str = "model") -> None:
        path.write_text(result.html(title), "utf-8")
        self.driver = driver
        self.size(WIDE)
        driver.get(path.as_uri())

    def size(self, size: tuple[int, int]) -> None:
        metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def scheme(self, scheme: str) -> None:
        """Colours as a reader who prefers `light` or `dark` has them."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def choose(self, value: str) -> None:
        """Click the row of a value, which must be in view."""
        script = "[...document.querySelectorAll('.canvas .name')].find((e) => e.textContent === arguments[0]).click()"
        self.driver.execute_script(script, value)

    def ask(self, script: str) -> Any:
        return self.driver.execute_script(script)

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements("css selector", selector)

    def texts(self, selector: str) -> list[str]:
        """The texts of elements, also of those that are cut."""
        return self.ask(f"return Array.from(document.querySelectorAll({selector!r}), (e) => e.textContent)")

    def click(self, selector: str) -> None:
        self.ask(f"document.querySelector({selector!r}).click()")

    def set(self, **sizes: int | str) -> None:
        """Type sizes of symbols into their fields."""
        fields = dict(zip(self.texts(".symbol .name"), self.all(".symbol .size"), strict=True))
        for name, size in sizes.items():
            if not fields[name].is_displayed():
                self.click(".optional summary")
            fields[name].send_keys(Keys.CONTROL, "a", Keys.NULL, str(size) if size != "" else Keys.BACKSPACE)

    def rows(self) -> dict[str, str]:
        """The sizes of the values that are in the list."""
        return dict(zip(self.texts(".canvas .name"), self.texts(".canvas .sizes"), strict=True))

    def exact(self) -> list[int]:
        """The exact numbers of the tiles: peak, multiply-adds, parameters."""
        titles = self.ask("return Array.from(document.querySelectorAll('.tiles dd'), (e) => e.title)")
        return [int("".join(c for c in title if c.isdecimal())) for title in titles]
