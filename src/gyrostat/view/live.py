"""`gyrostat view`: a page with the spacecraft on it, joint sliders, and the playback of a run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra import Array
from ..kinematics import center_of_mass, forward_kinematics, neutral, total_mass
from ..model import Joint, Spacecraft
from ..simulation.floating import FloatingPose
from ..tracing import compile
from .bent import bent_lines
from .scene import Film, draw_frame, draw_static, film, playback_speed
from .stage import Stage, quiet, start_server

if TYPE_CHECKING:
    from ..simulation import Trajectory

FRAMES_PER_SECOND = 25.0
WIDE = {"rad": 180.0, "m": 1.0}  # half range of a slider where the joint has no limits: degrees, metres
UNIT = {"rad": ("deg", 180 / np.pi), "m": ("m", 1.0)}
LARGEST_SCALE = 50.0  # of bending, as it is drawn
SPEEDS = ("0.1", "0.2", "0.5", "1", "2", "5", "10", "20", "50", "100", "1000")


class Viewer:
    """A server with one spacecraft, and a run of it where one is given. It serves until `stop`.

    address: with the token that it asks for; without it, and from other pages, it is refused.
    """

    def __init__(
        self,
        craft: Spacecraft,
        trajectory: Trajectory | None = None,
        *,
        q: Array | None = None,
        host: str = "127.0.0.1",
        port: int = 8080,
        run: int = 0,
    ) -> None:
        self.craft = craft
        self.q = neutral(craft) if q is None else np.array(q, dtype=float)
        self.server, self.address = start_server(host, port, label=craft.name)
        self.stage = Stage(self.server, craft)
        self._lock = threading.RLock()
        self._stopped = threading.Event()
        self._poses, self._com = compile(forward_kinematics, craft), compile(center_of_mass, craft)
        self._floating: FloatingPose | None = None
        if craft.joints[0].motion.unbound and craft.nv > 6:
            self._floating = FloatingPose(craft, self.q)
            self._floating.move(np.zeros(craft.nv - 6))  # compiled now, not under a person's hand
        self.film: Film | None = None
        self._frame = 0
        self.playing = False
        gui = self.server.gui
        gui.add_markdown(f"{craft.nbodies} bodies, {float(total_mass(craft)):.6g} kg")
        if trajectory is not None:
            self.film = film(trajectory, self.stage.size, run=run)
            self._remade: Callable[[float], Film] = lambda scale: film(
                trajectory, self.stage.size, run=run, deformation=scale
            )
            values = trajectory.q[run] if trajectory.batched else trajectory.q
            self._states = values[np.searchsorted(trajectory.time, self.film.time)]
            self.q = self._states[0].copy()
            self._add_playback(gui)
        self._add_joints(gui)
        self._add_switches(gui)
        if self.film is not None:
            draw_static(self.stage, self.film, beside_panel=True)
            draw_frame(self.stage, self.film, 0)
        else:
            self._show_pose()
            poses = self._poses(self.q)
            points = self.stage.corners(poses.R_NB, poses.p_NB)
            self.stage.look(points, beside_panel=True)
            self.stage.surroundings(points)
        self._thread = threading.Thread(target=self._play, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join(timeout=2)
        with quiet():
            self.server.stop()

    # ---- playback

    def _add_playback(self, gui: Any) -> None:
        assert self.film is not None
        start, end = float(self.film.time[0]), float(self.film.time[-1])
        span = max(end - start, 1e-9)
        digits = max(0, 3 - int(np.floor(np.log10(span))))
        with gui.add_folder("Playback"):
            step = round(span / 1000, digits + 2) or span / 1000
            self.time_slider = gui.add_slider("time, s", start, end, step, start)
            self.play_button = gui.add_button("Play", icon=_icon("PLAYER_PLAY"))
            usual = f"{playback_speed(self.film.time):g}"
            speeds = SPEEDS if usual in SPEEDS else (*SPEEDS, usual)
            self.speed = gui.add_dropdown("times real time", speeds, initial_value=usual)
            if self.craft.bends:
                self._add_deformation(gui)
        self._time = start

        @self.time_slider.on_update
        def _(event: Any) -> None:
            if event.client is not None:  # a person's hand, not the player's own
                with self._lock:
                    self._set_playing(False)
                    self._seek(float(self.time_slider.value))

        @self.play_button.on_click
        def _(_: Any) -> None:
            with self._lock:
                if not self.playing and self._time >= end:
                    self._seek(start)
                self._set_playing(not self.playing)

    def _add_deformation(self, gui: Any) -> None:
        hint = "How many times as large the bending of flexible bodies is drawn."
        self.deformation = gui.add_slider("deformation, times", 0.0, LARGEST_SCALE, 0.5, 1.0, hint=hint)

        @self.deformation.on_update
        def _(event: Any) -> None:
            with self._lock:
                self.film = self._remade(float(self.deformation.value))
                draw_frame(self.stage, self.film, self._frame)
                self._show_arrows()

    def _set_playing(self, playing: bool) -> None:
        if self.playing and not playing:
            self._read_state()
        self.playing = playing
        if self.film is not None:
            self.play_button.label = "Pause" if playing else "Play"

    def _seek(self, t: float) -> None:
        assert self.film is not None
        self._time = t
        self._frame = int(np.argmin(np.abs(self.film.time - t)))
        draw_frame(self.stage, self.film, self._frame)
        self._show_arrows()
        if not self.playing:
            self._read_state()

    def _read_state(self) -> None:
        """The sliders take up the run's configuration, so that a hand goes on from there."""
        if self.film is None:
            return
        self.q = self._states[self._frame].copy()
        for joint, slider in self.sliders.items():
            low, high = slider.min, slider.max
            slider.value = float(np.clip(self._coordinate(joint), low, high))

    def _play(self) -> None:
        last = time.monotonic()
        while not self._stopped.wait(1.0 / FRAMES_PER_SECOND):
            now = time.monotonic()
            passed, last = now - last, now
            with self._lock:
                if not self.playing or self.film is None:
                    continue
                end = float(self.film.time[-1])
                self._seek(min(self._time + passed * float(self.speed.value), end))
                self.time_slider.value = self._time
                if self._time >= end:
                    self._set_playing(False)

    # ---- joints by hand

    def _add_joints(self, gui: Any) -> None:
        self.sliders: dict[str, Any] = {}
        movable = [j for j in self.craft.joints[1:] if j.nq == j.nv == 1]
        if not movable:
            return
        with gui.add_folder("Joints", expand_by_default=True):
            if self._floating is not None:
                self.float_switch = gui.add_checkbox(
                    "floating base", True, hint="The base moves as conservation of momentum demands."
                )
            for joint in movable:
                self.sliders[joint.name] = self._slider(gui, joint)
            self.reset_button = gui.add_button("Reset")

        @self.reset_button.on_click
        def _(_: Any) -> None:
            with self._lock:
                self._set_playing(False)
                self.q = self._states[0].copy() if self.film is not None else neutral(self.craft)
                for joint, slider in self.sliders.items():
                    slider.value = float(np.clip(self._coordinate(joint), slider.min, slider.max))
                self._show_pose()

    def _slider(self, gui: Any, joint: Joint) -> Any:
        unit, factor = UNIT[joint.motion.q_units[0]]
        value = self._coordinate(joint.name)
        wide = WIDE[joint.motion.q_units[0]]
        low = factor * joint.limits.lower if np.isfinite(joint.limits.lower) else -wide
        high = factor * joint.limits.upper if np.isfinite(joint.limits.upper) else wide
        places = 1 if unit == "deg" else 4
        low, high = round(min(low, value), places), round(max(high, value), places)
        step = 0.5 if unit == "deg" else max((high - low) / 500, 1e-4)
        value = float(np.clip(value, low, max(high, low + step)))
        slider = gui.add_slider(f"{joint.name}, {unit}", low, max(high, low + step), step, value)

        @slider.on_update
        def _(event: Any) -> None:
            if event.client is not None:
                with self._lock:
                    self._set_playing(False)
                    self._move(joint, float(slider.value) / factor)

        return slider

    def _coordinate(self, joint: str) -> float:
        own = self.craft.joint_named(joint)
        return round(float(UNIT[own.motion.q_units[0]][1] * self.q[own.q_at.start]), 6) + 0.0

    def _move(self, joint: Joint, target: float) -> None:
        change = target - self.q[joint.q_at.start]
        if self._floating is not None and self.float_switch.value:
            self._floating.q = self.q.copy()
            d = np.zeros(self.craft.nv - 6)
            d[joint.v_at.start - 6] = change
            self.q = self._floating.move(d).copy()
        self.q[joint.q_at.start] = target
        self._show_pose()

    def _show_pose(self) -> None:
        poses = self._poses(self.q)
        self.stage.place(poses.R_NB, poses.p_NB)
        self.stage.bend(bent_lines(self.craft, self.q))
        self.stage.com(self._com(self.q))
        for handle in self.stage.arrow_handles.values():
            handle.visible = False  # they belong to the run

    # ---- what is shown

    def _add_switches(self, gui: Any) -> None:
        with gui.add_folder("Show", expand_by_default=False):
            frames = gui.add_checkbox("frames", False)
            com = gui.add_checkbox("centre of mass", True)
            self._show_momentum = gui.add_checkbox("momentum", True, visible=self.film is not None)
            self._show_reactions = gui.add_checkbox("loads in joints", False, visible=self.film is not None)

        @frames.on_update
        def _(_: Any) -> None:
            for axes in self.stage.axes:
                axes.visible = frames.value

        @com.on_update
        def _(_: Any) -> None:
            self.stage.com_handle.visible = com.value

        for switch in (self._show_momentum, self._show_reactions):
            switch.on_update(lambda _: self._show_arrows())

    def _show_arrows(self) -> None:
        for name, handle in self.stage.arrow_handles.items():
            wanted = self._show_momentum.value if "momentum" in name else self._show_reactions.value
            if handle.visible != wanted:
                handle.visible = wanted


def _icon(name: str) -> Any:
    import viser

    return getattr(viser.Icon, name)
