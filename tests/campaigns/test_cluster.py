"""On a Dask cluster whose worker is killed, by a process that is killed: the store is the undisturbed one."""

from __future__ import annotations

import signal
from pathlib import Path

import dask
import pytest

from cluster import Cluster
from flap_campaign import run

SCRIPT = Path(__file__).resolve().parents[1] / "helpers" / "flap_campaign.py"
MANY = {"runs": 3200, "block": 16}  # 200 blocks


def blocks(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.block")}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the library, in its own threads
def test_a_killed_worker_and_a_killed_main_process_change_no_byte(tmp_path):
    whole = run(store=tmp_path / "whole", **MANY)
    folder = tmp_path / "store"
    with Cluster(tmp_path, workers=2) as cluster:
        main = cluster.run(SCRIPT, folder, "--dask", cluster.address)
        cluster.until(lambda: len(list(folder.glob("*.block"))) >= 10 or main.poll() is not None, "ten blocks")
        cluster.workers[0].send_signal(signal.SIGKILL)
        at = len(blocks(folder))
        cluster.until(lambda: len(list(folder.glob("*.block"))) >= at + 20 or main.poll() is not None, "more of them")
        main.send_signal(signal.SIGKILL)
        assert main.wait() == -signal.SIGKILL and cluster.workers[0].wait() == -signal.SIGKILL
        left = blocks(folder)
        assert at + 20 <= len(left) < 200  # the worker that is left went on, and there is more to do
        assert left.items() <= blocks(whole.store.path).items()
        again = run(store=folder, resume=True, executor=f"dask:{cluster.address}", **MANY)
    assert again.complete and blocks(folder) == blocks(whole.store.path)
    assert (folder / "campaign.json").read_bytes() == (whole.store.path / "campaign.json").read_bytes()


def test_a_scheduler_that_is_not_there_is_told():
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "0.5s"}),
        pytest.raises(ValueError, match="no scheduler that answers"),
    ):
        run(executor="dask:tcp://127.0.0.1:9")
