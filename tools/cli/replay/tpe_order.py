"""How many trials Optuna's TPE sampler takes to find the best layouts of sweeps that were measured before.

python3 -c "$(cat tpe_order.py)" PROBLEM... prints, as JSON, what `meshwright replay --tpe` shows: the version of Optuna,
and for each problem the medians over seeds of the trials until one is good enough, and of those of them that did not go
through; null where none is good enough.

A problem is {"layouts": [text, ...], "step_s": [...], "good": [...]}: of each layout its step time, null where it did
not go through, and whether it is good enough. The sampler is asked for a value of each axis, and the layout that
differs in the fewest axes of those that have not run is its trial; one that did not go through is told as ten times
the longest step.
"""
import json
import re
import statistics
import sys

SEEDS = 5
STARTUP_TRIALS = 5  # at random, before the sampler has something to go by

try:
    import optuna
except ImportError:
    sys.exit("python3 has no optuna (pip install optuna)")
optuna.logging.set_verbosity(optuna.logging.CRITICAL)


def axes_of(layouts):
    """A list of values for each layout, one for each axis that any of them names."""
    read = [dict(re.match("([a-z]+)=?(.*)", axis).groups() for axis in layout.split(".")) for layout in layouts]
    names = sorted({name for layout in read for name in layout})
    return [[layout.get(name, "") for name in names] for layout in read]


def run(problem, seed):
    axes, steps = axes_of(problem["layouts"]), problem["step_s"]
    worst = 10 * max(step for step in steps if step is not None)
    choices = [sorted({layout[axis] for layout in axes}) for axis in range(len(axes[0]))]
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed, n_startup_trials=STARTUP_TRIALS))
    left = list(range(len(axes)))
    failed = 0
    while left:
        trial = study.ask()
        wanted = [trial.suggest_categorical(str(axis), values) for axis, values in enumerate(choices)]
        layout = min(left, key=lambda one: (sum(a != b for a, b in zip(wanted, axes[one])), one))
        left.remove(layout)
        step = steps[layout]
        study.tell(trial, worst if step is None else step)
        if step is None:
            failed += 1
        elif problem["good"][layout]:
            return len(axes) - len(left), failed
    return None


def medians(problem):
    if not any(problem["good"]):
        return {"trials": None, "failed": None}
    found = [run(problem, seed) for seed in range(SEEDS)]
    return {"trials": statistics.median(trials for trials, _ in found),
            "failed": statistics.median(failed for _, failed in found)}


print(json.dumps({"version": optuna.__version__, "problems": [medians(json.loads(text)) for text in sys.argv[1:]]}))
