"""Meshwright: which parallel layout trains a model fastest on a cluster, and does it fit?

    import meshwright as mw
    answer = mw.recommend(model="llama-3-8b", cluster="h100:8x4", gpus=32, seq_len=8192, global_batch=512)
    answer[0].layout, answer[0].time.step_s, answer.df

The functions here ask the planner in this process. They are the methods of Planner, whose texts say what they take.
"""
from .answers import Answer, Record
from .errors import Cancelled, InvalidArgument, MeshwrightError, NotFound, Unavailable
from .planner import Planner
from .server import Server, Sweep

_local = Planner()

run = _local.run
recommend = _local.recommend
estimate = _local.estimate
compare = _local.compare
fit = _local.fit
scale = _local.scale
fastest = _local.fastest
study = _local.study
export = _local.export
import_ = _local.import_
validate = _local.validate
calibrate = _local.calibrate
history = _local.history

__all__ = ["Answer", "Cancelled", "InvalidArgument", "MeshwrightError", "NotFound", "Planner", "Record", "Server",
           "Sweep", "Unavailable", "calibrate", "compare", "estimate", "export", "fastest", "fit", "history", "import_",
           "recommend", "run", "scale", "study", "validate"]
