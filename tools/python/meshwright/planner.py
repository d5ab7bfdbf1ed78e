"""The planner's commands as methods that return Answers.

Every method takes the flags of its command as keywords, with underscores for dashes: `meshwright recommend --help`
lists those of `recommend`. Units stand in the names of what is returned: `_s`, `_bytes`, `_flops`.
"""
from __future__ import annotations

import os
import typing
import warnings

from . import arguments, progress
from .answers import Answer, Record
from .library import Session

if typing.TYPE_CHECKING:
    from . import types

_GIB = 1 << 30


def _seconds(value):
    return f"{value:.3g} s"


def _percent(value):
    return f"{100 * value:.1f} %"


def _gib(value):
    return f"{value / _GIB:.1f} GiB"


# Columns of short tables: key of a row, title and how a value is shown.
_LAYOUT = {"layout": ("layout", str), "time.step_s": ("step", _seconds), "mfu": ("MFU", _percent),
           "memory.total_bytes": ("memory", _gib), "oom_probability": ("P(OOM)", _percent)}
_POINTS = {"gpus": ("GPUs", str), **{f"estimate.{key}": shown for key, shown in _LAYOUT.items()}}
_LIMITS = {"kind": ("", str), "asked": ("asked", str), "largest": ("largest", str),
           "estimate.layout": ("best layout", str), "next": ("does not fit", str)}
_STUDY = {"name": ("choice", str), "recommendation": ("recommended", str), "verdict": ("verdict", str),
          "gain": ("gain", _percent)}


def _listed(files):
    return [files] if isinstance(files, (str, os.PathLike)) else list(files)


class Planner:
    """Commands of one session: of this process, or of a server whose arguments say how it is reached.

    Its methods take these arguments, among others:

    model: a preset, a path, a config.json as a dict, or a configuration or model of transformers.
    cluster: a preset, words such as "h100:8x4" (4 nodes of 8), a path, or the file's JSON as a dict.
    seq_len: tokens per sequence. global_batch: sequences per optimizer step.
    gpus: devices; (8, 64) stands for 8, 16, 32 and 64. Default: all that the cluster has.
    """

    def __init__(self, **session_arguments):
        self._arguments = arguments.of(session_arguments)
        self._session = None
        self._process = None

    def _open(self):
        """The session of this process: after a fork() the child opens its own."""
        if self._process != os.getpid():
            self._session = Session(self._arguments)
            self._process = os.getpid()
        return self._session

    def run(self, command, *, keep=(), **named):
        """Runs any command that prints JSON, such as "list" or "sweep list", and returns its Result.

        Flags in `keep`, such as "plot", write no file: result.texts has what they would write.
        """
        shown = progress.shower()
        try:
            result = self._open().call(command, arguments.of(named), keep, shown if callable(shown) else None)
        finally:
            shown.close()
        for message in result.messages:
            warnings.warn(message, stacklevel=3)
        return result

    def _answer(self, command, rows, columns, plot=False, **named):
        """`rows`: the key of the rows in the answer; None for an answer that is one row."""
        if plot:
            named["plot"] = "plot.svg"
        result = self.run(command, keep=["plot"] if plot else [], **named)
        return Answer(result.outputs[-1], rows, columns, result.texts, result.messages)

    def recommend(self, model, cluster, *, seq_len, **flags) -> Answer[types.Layout]:
        """The fastest layouts that fit, best first: `layout`, `time.step_s`, `mfu`, `memory.total_bytes` and more.

        top: how many, by default 10. A range of `gpus`, or `tokens`, is answered as scale() does.
        """
        many = isinstance(flags.get("gpus"), (tuple, list)) or flags.get("tokens") is not None
        rows, columns = ("points", _POINTS) if many else ("layouts", _LAYOUT)
        return self._answer("recommend", rows, columns, model=model, cluster=cluster, seq_len=seq_len, **flags)

    def estimate(self, model, cluster, layout, *, seq_len, **flags) -> Answer[types.EstimateAnswer]:
        """One layout's memory and time: one row, with `fits`, `stages`, `binding` and what recommend()'s rows have."""
        return self._answer("estimate", None, _LAYOUT, model=model, cluster=cluster, layout=layout, seq_len=seq_len,
                            **flags)

    def compare(self, model, cluster, layouts, *, seq_len, **flags) -> Answer[types.CompareAnswerLayouts]:
        """Layouts part by part, and in `sentence` why one of them is fastest. Has a drawing."""
        return self._answer("compare", "layouts", None, plot=True, model=model, cluster=cluster,
                            layouts=list(layouts), seq_len=seq_len, **flags)

    def fit(self, model, cluster, *, seq_len, **flags) -> Answer[types.FitAnswerLimits]:
        """The largest micro-batch (sequences), longest sequence (tokens) and deepest model (layers) that fit."""
        return self._answer("fit", "limits", _LIMITS, plot=True, model=model, cluster=cluster, seq_len=seq_len, **flags)

    def scale(self, model, cluster, *, seq_len, **flags) -> Answer[types.ScaleAnswerPoints]:
        """The best layout at each number of devices, and how much throughput more of them gain."""
        return self._answer("scale", "points", _POINTS, plot=True, model=model, cluster=cluster, seq_len=seq_len,
                            **flags)

    def fastest(self, model, cluster, *, seq_len, tokens, critical_batch,
                **flags) -> Answer[types.FastestAnswerStrategies]:
        """The shortest training over numbers of devices and batch sizes.

        tokens: of the whole run, such as "1T". critical_batch: tokens of a step.
        """
        return self._answer("fastest", "strategies", None, plot=True, model=model, cluster=cluster, seq_len=seq_len,
                            tokens=tokens, critical_batch=critical_batch, **flags)

    def study(self, model, cluster, *, seq_len, **flags) -> Answer[types.StudyAnswerAblations]:
        """Whether published recommendations about layouts hold for this model and cluster: a row for each."""
        return self._answer("study", "ablations", _STUDY, plot=True, model=model, cluster=cluster, seq_len=seq_len,
                            **flags)

    def export(self, model, layout, *, to, **flags):
        """A layout as what a framework takes: `text`, `arguments`, `files`, and `script`, which starts the run.

        to: "megatron", "torchtitan", "deepspeed" and others.
        """
        return Record(self.run("export", model=model, layout=layout, to=to, **flags).outputs[-1])

    def import_(self, file, *, from_=None, **flags):
        """A framework's launch script or configuration as a `layout`, a `request` and `options`.

        from_: the framework; by default the one whose words the file has.
        """
        return Record(self.run("import", FILE=file, **{"from": from_}, **flags).outputs[-1])

    def validate(self, measurements, **flags) -> Answer[types.ValidateAnswerSweeps]:
        """The planner's predictions against measured runs: a row for each sweep. measurements: CSV files."""
        return self._answer("validate", "sweeps", None, plot=True, measurements=_listed(measurements), **flags)

    def calibrate(self, measurements, cluster, framework, *, output=None, **flags):
        """A cluster's constants fitted to measured runs: `cluster_file` is the JSON text of the fitted cluster.

        measurements: CSV files. output: the file that takes the text in place of `cluster_file`.
        """
        result = self.run("calibrate", keep=[] if output else ["output"], measurements=_listed(measurements),
                          cluster=cluster, framework=framework, output=output or "cluster.json", **flags)
        return Record(result.outputs[-1], cluster_file=result.texts.get("output"))

    def history(self, where=None, **flags) -> Answer[types.HistoryAnswerTrials]:
        """Measured trials of all sweeps of a server, best first, such as those where "tp >= 2 and outcome = ok".

        order_by: "mfu" or "step_s". limit: how many rows, 0: all.
        """
        return self._answer("history", "trials", None, where=where, **flags)
