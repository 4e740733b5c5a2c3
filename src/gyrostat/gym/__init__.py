"""Gymnasium environments over `gs.Simulation`: reach, reactionless reach, detumble, capture; one, or thousands side by
side. Importing it registers them; see docs/learning.md."""

from ..export.extras import demand

demand("gymnasium", "rl", "Gymnasium", "gyrostat.gym")

from .capture import Capture as Capture
from .detumble import Detumble as Detumble
from .reach import Reach as Reach
from .reach import ReactionlessReach as ReactionlessReach
from .registration import TASKS as TASKS
from .registration import register_all
from .single import TaskEnv as TaskEnv
from .task import AbstractTask as AbstractTask
from .task import Start as Start
from .vector import TaskVectorEnv as TaskVectorEnv

register_all()
