"""A Chromium without a window, told over its DevTools protocol to open a page of ours and to take its picture."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless --use-angle=swiftshader --enable-unsafe-swiftshader --no-first-run --no-default-browser-check "
    "--disable-background-networking --disable-component-update --disable-sync --disable-extensions --disable-quic "
    "--mute-audio --hide-scrollbars --disable-dev-shm-usage --remote-debugging-port=0 --remote-allow-origins=*"
)
PATIENCE = 120.0  # seconds, for software that renders on a busy machine


def program() -> str:
    """Where it is. Raises a ValueError that says how to get it."""
    found = next((path for name in PROGRAMS if (path := shutil.which(name))), None)
    if found is None:
        raise ValueError(
            "a video is made of pictures that Chromium takes, and there is none here. Install it: "
            "'apt install chromium' (Debian), 'brew install --cask chromium' (macOS), or Google Chrome."
        )
    return found


class Page:
    """One page. `errors`: what went wrong in it."""

    def __init__(self, socket: Any) -> None:
        self._socket, self._number = socket, 0
        self.errors: list[str] = []

    def call(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=PATIENCE))
            if message.get("method") == "Runtime.exceptionThrown":
                self.errors.append(str(message["params"]["exceptionDetails"].get("text")))
            if message.get("id") == self._number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]

    def run(self, code: str) -> Any:
        """The value of a JavaScript expression, awaited."""
        answer = self.call("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def until(self, code: str) -> None:
        _wait(lambda: bool(self.run(code)), code)

    def picture(self, width: int, height: int) -> bytes:
        """The upper left part of the page, as PNG."""
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        return base64.b64decode(self.call("Page.captureScreenshot", format="png", clip=clip)["data"])


@contextmanager
def opened(path: Path, *, width: int, height: int, before: str = "") -> Iterator[Page]:
    """A page of this machine in a window of this size. before: JavaScript that runs before the page's own."""
    from websockets.sync.client import connect

    with tempfile.TemporaryDirectory(prefix="gyrostat-", ignore_cleanup_errors=True) as profile:
        process = _start(Path(profile), width, height)
        try:
            port_file = Path(profile) / "DevToolsActivePort"
            _wait(lambda: port_file.exists() and port_file.read_text().count("\n") >= 1, "Chromium to start", process)
            port = int(port_file.read_text().split()[0])
            pages = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=PATIENCE))
            address = next(page["webSocketDebuggerUrl"] for page in pages if page["type"] == "page")
            with connect(address, max_size=None, open_timeout=PATIENCE) as socket:
                page = Page(socket)
                for domain in ("Page", "Runtime"):
                    page.call(f"{domain}.enable")
                size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
                page.call("Emulation.setDeviceMetricsOverride", **size)
                if before:
                    page.call("Page.addScriptToEvaluateOnNewDocument", source=before)
                page.call("Page.navigate", url=path.resolve().as_uri())
                page.until("document.readyState === 'complete'")
                yield page
        finally:
            _end(process)


def _start(profile: Path, width: int, height: int) -> subprocess.Popen[bytes]:
    import os

    flags = [*FLAGS.split(), f"--user-data-dir={profile}", f"--window-size={width},{height}"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        flags.append("--no-sandbox")  # Chromium does not start as root otherwise
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([program(), *flags, "about:blank"], **silent)  # type: ignore[call-overload]


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=10)
        return
    process.kill()
    process.wait()


def _wait(ready: Callable[[], bool], what: str, process: subprocess.Popen[bytes] | None = None) -> None:
    end = time.monotonic() + PATIENCE
    while not ready():
        if process is not None and process.poll() is not None:
            raise ValueError(f"'{program()}' ended at once, with code {process.returncode}: it cannot run here.")
        if time.monotonic() > end:
            raise ValueError(f"waited {PATIENCE:g} s for {what}, in vain.")
        time.sleep(0.05)
