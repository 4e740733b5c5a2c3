"""Films: as many pictures as rate and speed ask for, each of its own time; what is missing is named, with the cure."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

from browser import needs_browser
from gyrostat.io.writing import WriteError

# the film's own process is forked; where another test has imported JAX in this one, it says so
pytestmark = pytest.mark.filterwarnings(r"ignore:os\.fork\(\) was called:RuntimeWarning")


def pictures(path, width: int, height: int) -> tuple[str, np.ndarray]:
    """What the decoder says of a film, and its pictures (count, height, width, 3)."""
    import imageio_ffmpeg

    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    done = subprocess.run(command, check=True, capture_output=True)
    return done.stderr.decode(), np.frombuffer(done.stdout, np.uint8).reshape(-1, height, width, 3).astype(float)


@needs_browser
def test_a_film_has_its_rate_its_size_and_moves(short_run, tmp_path):
    seen = []
    path = short_run.film(
        tmp_path / "run.mp4", rate=2.0, speed=4.0, size=(320, 192), progress=lambda k, of: seen.append((k, of))
    )
    told, shown = pictures(path, 320, 192)
    assert "h264" in told and "320x192" in told and " 2 fps" in told
    assert len(shown) == 4 and seen == [(k + 1, 4) for k in range(4)]  # 6 s at 4 s each second, and the first
    for one, other in pairwise(shown):
        assert (np.abs(one - other).max(axis=-1) > 60).sum() > 50, "the arm moves from picture to picture"


@pytest.mark.parametrize(
    "options, words",
    [
        ({"rate": 0.0}, "rate is 0.0; expected pictures per second"),
        ({"size": (321, 200)}, "even numbers from 64"),
        ({"speed": -1.0}, "speed is -1.0"),
        ({"rate": 100.0, "speed": 0.01}, "pictures are too many"),
    ],
)
@needs_browser
def test_what_cannot_be_filmed_is_refused(short_run, tmp_path, options, words):
    with pytest.raises(ValueError, match=words):
        short_run.film(tmp_path / "run.mp4", **options)
    assert list(tmp_path.iterdir()) == []


@needs_browser
def test_the_file_is_asked_for_before_any_picture(short_run, tmp_path):
    with pytest.raises(ValueError, match="a film is written as .mp4"):
        short_run.film(tmp_path / "run.gif")
    with pytest.raises(WriteError):
        short_run.film(tmp_path / "nowhere" / "run.mp4")


def test_without_an_encoder_or_chromium_the_cure_is_said(short_run, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match="there is none here. Install it: 'apt install chromium'"):
        short_run.film(tmp_path / "run.mp4")
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(ValueError, match="pip install 'gyrostat\\[film\\]'"):
        short_run.film(tmp_path / "run.mp4")
