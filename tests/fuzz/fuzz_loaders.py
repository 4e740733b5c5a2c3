"""Coverage-guided fuzzing of the readers: `make fuzz`, or `python tests/fuzz/fuzz_loaders.py -max_total_time=300`.

The first byte picks the format, the rest is the file. Anything but a spacecraft or a ModelError, more than ten seconds,
or more than a gigabyte of memory is a finding; the input that caused it is kept in the current folder.
Needs the package `atheris`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["gyrostat.io", "gyrostat.model", "tomllib"]):
    import gyrostat as gs
    from gyrostat.io import check, mjcf, urdf, values, xml_reader  # noqa: F401
    from gyrostat.io.toml import craft_reader  # noqa: F401

sys.path.insert(0, str(Path(__file__).parents[1] / "io"))
from test_malformed import TEXTS

SUFFIXES = list(TEXTS)
FOLDER = Path(tempfile.mkdtemp(prefix="gyrostat_fuzz_"))


def one_input(data: bytes) -> None:
    if not data:
        return
    path = FOLDER / f"craft{SUFFIXES[data[0] % len(SUFFIXES)]}"
    path.write_bytes(data[1:])
    result = check(path)
    if result.craft is None:
        assert result.errors
    else:
        gs.mass_matrix(result.craft, gs.neutral(result.craft))


def main() -> None:
    corpus = FOLDER / "corpus"
    corpus.mkdir()
    for k, text in enumerate(TEXTS.values()):
        (corpus / f"seed_{k}").write_bytes(bytes([k]) + text.encode())
    arguments = [sys.argv[0], "-timeout=10", "-rss_limit_mb=1024", "-max_len=4096", *sys.argv[1:], str(corpus)]
    atheris.Setup(arguments, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
