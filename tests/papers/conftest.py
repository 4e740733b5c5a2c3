"""Each paper's reproduction, run once per session."""

from __future__ import annotations

import functools
import importlib

import pytest


@pytest.fixture(scope="session")
def reproduced(tmp_path_factory):
    """reproduced("wilde2018"): all of it, with its figures in a folder of its own."""

    @functools.cache
    def run(paper):
        if paper == "forbes2019":
            pytest.importorskip("mujoco")
        return importlib.import_module(f"gyrostat.papers.{paper}").reproduce(tmp_path_factory.mktemp(paper))

    return run
