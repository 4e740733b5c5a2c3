"""What viser says of itself stays unsaid, also where rich writes past the standard output."""

from __future__ import annotations

import io

import rich

from gyrostat.view import stage


def test_rich_is_quiet_while_a_server_starts_and_speaks_afterwards(monkeypatch):
    console = rich.get_console()
    heard = io.StringIO()
    monkeypatch.setattr(console, "file", heard)  # as in a notebook: not sys.stdout
    with stage.quiet():
        rich.print("viser")
    rich.print("after")
    assert heard.getvalue().split() == ["after"] and not console.quiet
