"""`Trajectory.film`: the animated scene as a video, each picture taken by Chromium at its own time.

The page's clock stands still but for what it is told: however slow the machine renders, the film runs evenly.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..io.writing import check_writable, write_bytes
from .chromium import Page, opened, program
from .scene import playback_speed, trajectory_to_html

if TYPE_CHECKING:
    from ..simulation import Trajectory

BAR = 52  # pixels of the page's player, below the picture
SUFFIXES = (".mp4", ".mkv", ".mov")
MOST = 20_000  # pictures of one film
CLOCK = """(() => { let now = 1.7e12; Date.now = () => now; window.advance = (ms) => { now += ms; return new Promise(
  (done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))), 20)
); }; })()"""
LEGEND = "document.querySelector('#gyrostat')"
CLOSE = "document.querySelectorAll('.mantine-Notification-closeButton').forEach((b) => b.click())"


def film(
    trajectory: Trajectory,
    path: str | Path,
    *,
    rate: float = 25.0,
    size: tuple[int, int] = (1280, 720),
    speed: float | None = None,
    progress: Callable[[int, int], None] | None = None,
    **scene: Any,
) -> Path:
    """Write a video (.mp4, .mkv, .mov). rate: pictures per second. size: width and height in pixels, even numbers.

    speed: seconds of the run per second of film; by default such that it lasts a minute at most. scene: as `to_html`
    takes them (about, axes, sun, run, ...). progress: called with how many pictures there are, and of how many.
    """
    path = Path(path)
    encoder = _encoder()
    program()
    duration = float(trajectory.time[-1] - trajectory.time[0])
    speed = playback_speed(trajectory.time, speed)
    _check(path, rate, size)
    check_writable(path)
    count = int(duration / speed * rate) + 1
    if count > MOST:
        raise ValueError(f"{count} pictures are too many; {MOST} at most. Give a larger speed=, or a smaller rate=.")
    with tempfile.TemporaryDirectory(prefix="gyrostat-") as folder:
        page, video = Path(folder) / "scene.html", Path(folder) / f"film{path.suffix}"
        trajectory_to_html(trajectory, page, speed=speed, most=count, **scene)
        writer = encoder.write_frames(
            str(video), size, fps=rate, codec="libx264", quality=8, macro_block_size=2, ffmpeg_log_level="error"
        )
        writer.send(None)
        try:
            for k, picture in enumerate(_pictures(page, count, rate, size)):
                writer.send(_pixels(picture))
                if progress is not None:
                    progress(k + 1, count)
        finally:
            writer.close()
        return write_bytes(path, video.read_bytes())


def _check(path: Path, rate: float, size: tuple[int, int]) -> None:
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"'{path}': a film is written as {', '.join(SUFFIXES)}, not as '{path.suffix}'.")
    if not 0.0 < float(rate) <= 120.0:
        raise ValueError(f"rate is {rate}; expected pictures per second, more than 0 and 120 at most.")
    if any(int(x) != x or not 64 <= x <= 4096 or x % 2 for x in size):
        raise ValueError(f"size is {size}; expected width and height in pixels, even numbers from 64 to 4096.")


def _encoder() -> Any:
    try:
        import imageio_ffmpeg
    except ImportError:
        raise ValueError(
            "a video needs an encoder, and there is none. Install it: pip install 'gyrostat[film]'"
        ) from None
    return imageio_ffmpeg


def _pictures(path: Path, count: int, rate: float, size: tuple[int, int]) -> Iterator[bytes]:
    width, height = size
    with opened(path, width=width, height=height + BAR, before=CLOCK) as page:
        page.until("document.querySelector('canvas') !== null")
        page.run(CLOSE)
        small = min(1.0, width / 1000)
        page.run(
            f"document.querySelector('#gyrostat small').remove(); {LEGEND}.style.zoom = {small}; {LEGEND}.open = true"
        )
        _settle(page, size)
        for k in range(count):
            if k:
                page.run(f"advance({1000.0 / rate})")
                page.run("window.tellTime && tellTime()")
            yield page.picture(width, height)


def _settle(page: Page, size: tuple[int, int]) -> None:
    """Until the scene has faded in: some pictures in a row that do not differ."""
    before, same, end = b"", 0, time.monotonic() + 60.0
    while same < 4 and time.monotonic() < end:
        time.sleep(0.4)
        page.run(CLOSE)
        now = page.picture(*size)
        same = same + 1 if now == before else 0
        before = now


def _pixels(picture: bytes) -> bytes:
    from PIL import Image

    return Image.open(BytesIO(picture)).convert("RGB").tobytes()
