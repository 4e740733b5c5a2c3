"""Makes docs/missions.md from the bundled missions: `python docs/make_missions.py`."""

from __future__ import annotations

from pathlib import Path

from gyrostat.scenario.templates import EXAMPLES, MISSIONS, example

PAGE = Path(__file__).with_name("missions.md")
HEAD = """# Missions to start from

Each is one [scenario file](scenarios.md), written and flown by two commands; change it and fly it again. This page is
made from the files themselves by `python docs/make_missions.py`, and every one of them flies in the tests.

```
gyrostat init mission.toml --example list
gyrostat init mission.toml --example capture-and-detumble
gyrostat run mission.toml --report report.html --scene scene.html
```
"""


def section(name: str) -> str:
    """The comment that a file begins with, and the file."""
    lines = example(name).splitlines()
    start = next(k for k, line in enumerate(lines) if not line.startswith("#"))
    words = " ".join(line.removeprefix("# ") for line in lines[:start] if "`gyrostat " not in line)
    title = name.replace("-", " ").capitalize()
    text = "\n".join(lines[start:]).strip()
    return f"## {title}\n\n`gyrostat init --example {name}`: {EXAMPLES[name]}.\n\n{words}\n\n```toml\n{text}\n```\n"


def page() -> str:
    return "\n".join([HEAD, *(section(name) for name in MISSIONS)])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
