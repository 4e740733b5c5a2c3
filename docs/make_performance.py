"""Writes the tables of speed in README.md and docs/speed.md from benchmarks/results/*.json.

    python docs/make_performance.py

A piece stands between `<!-- measured: NAME -->` and `<!-- end -->`. `make bench`, or one script of benchmarks/ after
the other, measures anew; a test holds pages and results together.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGES = (ROOT / "README.md", ROOT / "docs" / "speed.md", ROOT / "docs" / "gpu.md")
PEERS = {"Pinocchio": "pin", "MuJoCo": "mujoco", "JAX": "jax", "heyoka": "heyoka"}
Results = Mapping[str, Any]


def results(name: str) -> Any:
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text(encoding="utf-8"))


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def number(x: float) -> str:
    """Two digits at least, and no exponent."""
    return f"{x:.{max(0, 1 - math.floor(math.log10(float(f'{x:.1e}'))))}f}"


def times(peer: float | None, ours: float) -> str:
    return "" if peer is None else f"{number(peer)} ({number(peer / ours)}x)"


def batches() -> str:
    """Of forward_dynamics.json: chosen rows, peers beside them."""
    found = results("forward_dynamics")
    rows = {(r["quantity"], r["links"], r["batch"]): r for r in found["microseconds_per_state"]}
    chosen = [
        ("forward dynamics, 1e5 states as rows", "forward_dynamics", 6, 100_000, "rows"),
        ("the same, laid out by lane", "forward_dynamics", 6, 100_000, "lanes"),
        ("inverse dynamics, 1e5 states", "inverse_dynamics", 6, 100_000, "rows"),
        ("linearisation A, B, 1e3 states", "linearize", 6, 1000, "rows"),
        ("100 links, forward dynamics, 1e3 states", "forward_dynamics", 100, 1000, "rows"),
    ]
    cells = []
    for title, quantity, links, batch, layout in chosen:
        row = rows[quantity, links, batch]
        own = row[layout]
        peers = [times(row.get(p), own) if layout == "rows" else "" for p in PEERS if p != "heyoka"]
        by_lane = (quantity, batch, layout) != ("forward_dynamics", 100_000, "rows")  # the next row has it
        peers.append(times(row.get("heyoka"), row["lanes"]) if by_lane else "")
        cells.append([title, f"**{number(own)}**" if layout == "rows" and batch == 100_000 else number(own), *peers])
    peers = [f"{name} {found['versions'][own].rsplit('.', 1)[0]}" for name, own in PEERS.items()]
    return (
        "Six-link arm on a free base (12 degrees of freedom), float64, one thread, all called from Python; "
        f"{found['machine']},\n{found['date']} ([all figures](benchmarks/results)). "
        "In brackets: how many times longer the peer takes.\n\n"
        + table(["µs per state", "gyrostat", *peers], cells)
        + "\n\nJAX is jitted and vmapped; heyoka takes its batches by lane, and is compared with ours laid out so."
    )


def one_state() -> str:
    """Of latency.json."""
    found = results("latency")
    cells = []
    for row in found["rows"]:
        us = {key: 1e6 * row[key] for key in ("bound", "plain", "pinocchio")}
        cpp = row.get("pinocchio_cpp")
        peers = [times(us["pinocchio"], us["bound"]), times(cpp and 1e6 * cpp, us["bound"])]
        cells.append([row["function"], f"**{number(us['bound'])}**", number(us["plain"]), *peers])
    header = ["one state, µs", "`call = fd.bind(q, v, tau)`; `call()`", "`fd(q, v, tau)`"]
    return table([*header, "Pinocchio from Python", "Pinocchio in C++"], cells)


def general_arms() -> str:
    """Of operations.json: the range over the seeds."""
    rows = results("operations")["rows"]
    arms = [r for r in rows if r["craft"].startswith("random")]
    servicer = next(r for r in rows if r["craft"] == "servicer")
    least = min(arms, key=lambda r: r["ratio"])
    return (
        f"Arms with general frames, as files have them: seven random joints {least['operations']} operations, "
        f"{number(least['us'])} µs, {number(least['ratio'])} times `pin.aba`\n(the least of {len(arms)}); the bundled "
        f"servicer {servicer['operations']} operations, {number(servicer['us'])} µs, {number(servicer['ratio'])} times."
    )


def starting() -> str:
    """Two threads, and compiling: of lanes.json and the claims of forward_dynamics.json."""
    claims = {c["claim"]: c["measured"] for c in results("forward_dynamics")["claims"]}
    lanes = results("lanes")["two_threads"]
    return (
        f"Two threads are {lanes['ratio']:.2f} times as fast as one on an idle machine, where two processes make "
        f"{lanes['two_processes']:.2f} times as much (less on a busy one).\nThe first compilation takes "
        f"{number(claims['first compile of the six-link arm, s'])} s, from the disk cache "
        f"{number(claims['the same from the cache, s'])} s, loading llvmlite apart."
    )


def simulation() -> str:
    """Of simulate.json."""
    found = results("simulate")

    def ratios(motion: str, peer: str, *by: str) -> str:
        rows = [r for r in found["rows"] if r["motion"] == motion and r["peer"].startswith(peer)]
        return " / ".join(number(next(r["ratio"] for r in rows if r["by"] == own)) for own in by)

    heyoka, both = "heyoka, fed with the NumPy", ("gauss16", "dop853")
    held = next(r["motion"] for r in found["rows"] if r["by"] == "rk4")
    smooth, tumbling = "manoeuvre, 200 s", "tumbling, 50 s"
    rows = [
        ("200 s manoeuvre, rtol 1e-10, `dop853`", "SciPy's DOP853 around `pin.aba`", ratios(smooth, "SciPy", "dop853")),
        ("RK4 steps, 10 000 runs with joint PD", "`mujoco.rollout`", ratios(held, "mujoco", "rk4")),
        (f"200 s manoeuvre, 1e-13, one run: {METHODS}", "heyoka's Taylor integrator", ratios(smooth, heyoka, *both)),
        (f"the same, per run of a batch: {METHODS}", "heyoka, batch", ratios(f"{smooth}, batch", heyoka, *both)),
        (f"tumbling arm, 50 s, 1e-13, one run: {METHODS}", "heyoka", ratios(tumbling, heyoka, *both)),
        (f"the same, per run of a batch: {METHODS}", "heyoka, batch", ratios(f"{tumbling}, batch", heyoka, *both)),
    ]
    ends = {(r["motion"], r["by"]): r for r in found["rows"] if r["peer"].startswith(heyoka)}
    smooth_ends = [ends[smooth, by][key] for by in both for key in ("error", "peer_error")]
    wild = [ends[tumbling, by]["error"] for by in both] + [ends[tumbling, both[0]]["peer_error"]]
    off = [f"{x:.0e}".replace("e-0", "e-") for x in wild]
    tail = (
        f"On the manoeuvre all end within {max(smooth_ends):.0e} of each other. Tumbling is chaotic: at the same "
        f"nominal tolerance the ends are off by {off[0]} (`gauss16`),\n{off[1]} (`dop853`) and {off[2]} (heyoka), so "
        "those ratios are at equal tolerance, not at equal error."
    )
    head = "Simulation of the same arm, processor time of one thread, tracing and compiling apart "
    return (
        f"{head}(`benchmarks/simulate.py`, {found['date']}):\n\n"
        + table(["", "peer", "times faster"], rows)
        + f"\n\n{tail}"
    )


METHODS = "`gauss16` / `dop853`"


def big_craft() -> str:
    rows = []
    for row in results("big_craft")["rows"]:
        if row["links"] in (100, 300, 1000):
            before = row.get("compile_unrolled_s"), row.get("unrolled_us")
            alone = ["" if x is None else number(x) for x in before]
            ratio = row["pinocchio_us"] / row["state_us"]
            peer = f"{number(row['pinocchio_us'])} µs, {number(ratio)}x"
            if before[0] is None:
                peer = f"{number(ratio)}x (its time at 300 links, scaled)"
            rows.append(
                [str(row["links"]), number(row["compile_s"]), alone[0], number(row["state_us"]), alone[1], peer]
            )
    return table(["links", "compile, s", "unrolled, s", "µs a state", "unrolled", "`pin.aba` from Python"], rows)


def lanes() -> str:
    found = results("lanes")["ns_per_state"]
    titles = {
        "SSE2": "SSE2: 2 and 4 lanes, no fused multiply-add",
        "AVX2": "AVX2: 4 and 8 lanes",
        "this one": "AVX-512: 8 and 16 lanes",
    }
    rows = []
    for name, title in titles.items():
        two = [next(ns for key, ns in found.items() if key.startswith(name) and key.endswith(d)) for d in DTYPES]
        rows.append([title, *map(number, two)])
    return table(["", *DTYPES], rows)


DTYPES = ("float64", "float32")


def warm() -> str:
    found = results("warm_start")["warm_s"]

    def ms(name: str) -> str:
        return number(1e3 * found[name])

    imports = number(found["first run, of two links"])
    return (
        f"With the libraries of results imported ({imports} s, once in a process), the "
        f"first `gs.simulate` of a six-link arm that this machine has seen\ntakes {ms('first run of 6 links')} ms "
        f"before and in its run, of an arm of 30 links {ms('first run of 30 links')} ms; the same run again "
        f"{ms('the same again, 6 links')} ms (`benchmarks/warm_start.py`)."
    )


def card() -> str:
    """Of gpu.json."""
    found = results("gpu")

    def billions(x: float) -> str:
        return f"{number(1e-9 * x)}e9"

    fd, loop, many = found["forward dynamics"], found["closed loop, RK4"], found["campaign"]
    functions = {
        "forward dynamics": f"forward dynamics of the servicer, a second ({fd['states']:,} states)",
        "dual quaternions": "the same by dual quaternions",
        "generalised Jacobian": "its generalised Jacobian",
        "linearisation": "its A and B",
        "gradient of a rollout": "gradients of 40 of its steps",
        "30 links": "forward dynamics of 30 links",
    }
    rows = [[title, billions(found[name]["float64"]["per_second"]["lanes"])] for name, title in functions.items()]
    rows[0][1] += f" ({number(100 * fd['floor']['reached'])} % of what its memory allows)"
    rows.append([f"RK4 steps under joint PD, a second ({loop['runs']:,} runs)", billions(loop["steps_per_second"])])
    campaign = f"{many['runs']:,} runs of 100 s at 10 ms, dispersed masses, outcomes: from drawing to results"
    rows.append([campaign, f"{number(many['seconds'])} s (kernels {number(many['kernels'])} s)"])
    for name in ("tumbling arms, DOP853", "arms that tumble fast, DOP853"):
        case = found[name]
        title = f"{name} at 1e-9, 50 s, {case['steps']['mean']:,.0f} steps on average"
        cpu = f"{number(case['runs_per_second'] / case['CPU runs_per_second'])} times {case['CPU cores']} CPU cores"
        rows.append([title, f"{case['runs_per_second']:,.0f} runs a second ({cpu})"])
    jax, mjx = found["JAX"], found["MJX"]
    peers = (
        f"On the same card, in the same run: vmapped JAX {jax['jax']} makes {billions(jax['jax_per_second'])} forward "
        f"dynamics a second, {number(jax['ratio'])} times fewer;\nMJX {billions(mjx['mjx_per_second'])}, "
        f"{number(mjx['ratio'])} times fewer (batches of {found['sizes']['long']:,}). Values agree with the CPU's "
        f"kernels to {fd['float64']['error']:.0e}, 10 000 runs of the\ncampaign to {many['card against CPU']:.0e}."
    )
    head = f"{found['card']}, float64, {found['date']}, CuPy {found['versions']['cupy']}"
    return f"{head} (`benchmarks/gpu.py`):\n\n" + table(["", "measured"], rows) + f"\n\n{peers}"


PIECES: dict[str, Callable[[], str]] = {
    "batches": batches,
    "one state": one_state,
    "general arms": general_arms,
    "starting": starting,
    "simulation": simulation,
    "big craft": big_craft,
    "lanes": lanes,
    "warm starts": warm,
    "card": card,
}
_PIECE = re.compile(r"(?P<begin><!-- measured: (?P<name>[^>]+) -->\n\n).*?(?P<end>\n\n<!-- end -->)", re.DOTALL)


def written(text: str) -> str:
    """The page with its pieces as the results have them."""
    return _PIECE.sub(lambda m: m["begin"] + PIECES[m["name"]]() + m["end"], text)


def pieces(text: str) -> list[str]:
    return [m["name"] for m in _PIECE.finditer(text)]


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(written(page.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"{page.relative_to(ROOT)}: {', '.join(pieces(page.read_text(encoding='utf-8')))}")
