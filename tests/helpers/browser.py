"""A real Chromium without a window, driven over its DevTools protocol;
what it logs and what it asks the network for is kept.
"""

from __future__ import annotations

import base64
import io
import json
import shutil
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest
from PIL import Image
from websockets.sync.client import connect

PROGRAM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
needs_browser = pytest.mark.skipif(PROGRAM is None, reason="no Chromium here: install the package 'chromium'")
FLAGS = (
    "--headless --no-sandbox --use-angle=swiftshader --enable-unsafe-swiftshader --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync --disable-extensions --mute-audio "
    "--remote-debugging-port=0 --remote-allow-origins=* --hide-scrollbars --no-default-browser-check "
    "--disable-dev-shm-usage"
)
# text that leaves its card or picture, labels of a picture that stand on each other, a page wider than its window
OUTSIDE = """(() => { const out = [];
  for (const card of document.querySelectorAll('.card, .facts div')) {
    const box = card.getBoundingClientRect(), scrolls = getComputedStyle(card).overflowX === 'auto';
    for (const part of card.querySelectorAll('*')) {
      const own = [...part.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
      if (!own || part.closest('title, pre') || scrolls) continue;
      const r = part.getBoundingClientRect();
      const sideways = r.left < box.left - 1 || r.right > box.right + 1;
      if (r.width && (sideways || r.top < box.top - 1 || r.bottom > box.bottom + 1))
        out.push(part.textContent.trim().slice(0, 60));
    }
  }
  for (const picture of document.querySelectorAll('svg')) {
    const frame = picture.getBoundingClientRect(), seen = [];
    for (const text of picture.querySelectorAll('text')) {
      const r = text.getBoundingClientRect();
      if (!r.width) continue;
      if (r.left < frame.left - 1 || r.right > frame.right + 1) out.push('cut off: ' + text.textContent);
      for (const [o, words] of seen)
        if (Math.min(r.right, o.right) - Math.max(r.left, o.left) > 1 &&
            Math.min(r.bottom, o.bottom) - Math.max(r.top, o.top) > 3)
          out.push(`'${text.textContent}' on '${words}'`);
      seen.push([r, text.textContent]);
    }
  }
  if (document.documentElement.scrollWidth > innerWidth) out.push('the page scrolls sideways');
  return out; })()"""
PATIENCE = 60.0  # seconds; software rendering on a busy machine


class Browser:
    """One page. `errors`: uncaught exceptions and console errors. `requests`: every address it asked for."""

    def __init__(self, folder: Path, *, width: int = 1200, height: int = 800, dark: bool = True) -> None:
        profile = folder / "profile"
        arguments = [
            PROGRAM,
            *FLAGS.split(),
            f"--user-data-dir={profile}",
            f"--window-size={width},{height}",
            "about:blank",
        ]
        self._process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.errors: list[str] = []
        self.requests: list[str] = []
        self._number = 0
        self._folder = folder
        port_file = profile / "DevToolsActivePort"
        self._wait(lambda: port_file.exists() and port_file.read_text().count("\n") >= 1, "the browser to start")
        port = int(port_file.read_text().split()[0])
        pages = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=PATIENCE))
        address = next(page["webSocketDebuggerUrl"] for page in pages if page["type"] == "page")
        self._socket = connect(address, max_size=None, open_timeout=PATIENCE)
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.colours("dark" if dark else "light")

    def colours(self, scheme: str) -> None:
        """As a user who prefers a "light" or a "dark" page."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def call(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=PATIENCE))
            if message.get("id") == self._number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self._note(message)

    def _note(self, message: dict[str, Any]) -> None:
        content = message.get("params", {})
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(content["request"]["url"])
        elif message.get("method") == "Network.webSocketCreated":
            self.requests.append(content["url"])
        elif message.get("method") == "Runtime.exceptionThrown":
            self.errors.append(str(content["exceptionDetails"].get("exception", content["exceptionDetails"])))
        elif message.get("method") == "Runtime.consoleAPICalled" and content["type"] == "error":
            self.errors.append(" ".join(str(a.get("value", a.get("description"))) for a in content["args"]))
        elif message.get("method") == "Log.entryAdded" and content["entry"]["level"] == "error":
            self.errors.append(f"{content['entry']['text']} {content['entry'].get('url', '')}")

    def open(self, address: str) -> None:
        self.call("Page.navigate", url=address)
        self.until("document.readyState === 'complete'")

    def run(self, code: str) -> Any:
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def until(self, code: str) -> Any:
        """Wait until an expression is true."""
        value = None

        def ready() -> bool:
            nonlocal value
            value = self.run(code)
            return bool(value)

        self._wait(ready, code)
        return value

    def _wait(self, ready: Any, what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not ready():
            if time.monotonic() > end:
                raise TimeoutError(f"waited {PATIENCE} s for {what}")
            time.sleep(0.05)

    def picture(self, path: Path | None = None) -> np.ndarray:
        """What is on the screen, (height, width, 3)."""
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        if path is not None:
            path.write_bytes(data)
        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), dtype=float)

    def mouse(self, kind: str, x: float, y: float) -> None:
        pressed = "none" if kind == "mouseMoved" else "left"
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=pressed, buttons=1, clickCount=1)

    def click(self, x: float, y: float) -> None:
        self.mouse("mousePressed", x, y)
        self.mouse("mouseReleased", x, y)

    def drag(self, start: tuple[float, float], end: tuple[float, float], steps: int = 8) -> None:
        self.mouse("mousePressed", *start)
        for k in range(1, steps + 1):
            self.call(
                "Input.dispatchMouseEvent",
                type="mouseMoved",
                x=start[0] + (end[0] - start[0]) * k / steps,
                y=start[1] + (end[1] - start[1]) * k / steps,
                button="left",
                buttons=1,
            )
            time.sleep(0.02)
        self.mouse("mouseReleased", *end)

    def close(self) -> None:
        try:
            self._socket.close()
        finally:
            self._process.terminate()
            try:
                self._process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            shutil.rmtree(self._folder / "profile", ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def keeps_in_its_cards(browser: Browser, path: Path) -> None:
    """Opens a page at three widths, light and dark: nothing leaves its card or stands on something else, no errors,
    nobody is asked for anything.
    """
    browser.errors.clear()
    browser.requests.clear()
    browser.open(path.as_uri())
    for width in (400, 900, 1600):
        browser.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False)
        for scheme in ("light", "dark"):
            browser.colours(scheme)
            outside = browser.run(OUTSIDE)
            assert not outside, (path.name, width, scheme, outside)
    browser.call("Emulation.setDeviceMetricsOverride", width=900, height=700, deviceScaleFactor=1, mobile=False)
    assert browser.errors == []
    assert [r for r in browser.requests if not r.startswith((path.as_uri(), "data:"))] == []


def plays(browser: Browser, path: Path, title: str) -> None:
    """Opens a scene: it draws, has its title, and its legend is within the window at three widths,
    light and dark. On a phone held upright the camera stands further away.
    """
    small = {"height": 600, "deviceScaleFactor": 1, "mobile": False}  # software renders it
    browser.errors.clear()
    browser.call("Emulation.setDeviceMetricsOverride", width=400, **small)
    browser.open(path.as_uri())
    browser.until("document.querySelector('canvas') !== null && document.querySelector('#gyrostat') !== null")
    assert browser.run("document.title") == title
    assert "initialCameraPosition" in browser.run("location.search")
    small["height"] = 300
    for width in (400, 900, 1600):
        browser.call("Emulation.setDeviceMetricsOverride", width=width, **small)
        for scheme in ("light", "dark"):
            browser.colours(scheme)
            left, right = browser.run(
                "(() => { const r = document.querySelector('#gyrostat').getBoundingClientRect();"
                " return [r.left, r.right]; })()"
            )
            assert left >= 0 and right <= width + 1, (path.name, width, scheme)
    browser.call("Emulation.setDeviceMetricsOverride", width=900, height=700, deviceScaleFactor=1, mobile=False)
    assert browser.errors == []
    browser.open("about:blank")  # it would play on
