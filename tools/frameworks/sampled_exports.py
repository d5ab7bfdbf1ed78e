"""Exports to check: random layouts that `meshwright recommend` says can run, and one layout of every preset.

Which layouts and options are drawn depends on the seed alone.
"""
import dataclasses
import itertools
import json
import os
import random
import re
import subprocess

CLUSTER = "h100:8x{nodes},ib=400Gb"
GPUS_PER_NODE = 8
NODES = (1, 2, 4, 8, 16)
LARGEST_NODES = (1, 8, 64, 256)   # tried in turn for a preset
SEQ_LEN = 4096
# Values that are drawn beside the layout; a framework refuses what it lacks, and another draw takes its place.
OPTIONS = {
    "--dtype": ("bf16", "bf16", "fp16", "fp32", "fp8-delayed", "fp8-current", "fp8-blockwise", "mxfp8", "nvfp4"),
    "--states": ("precision-aware", "bf16-grads"),
    "--loss": ("fused", "chunked:8"),
    "--compile": ("on", "off"),
    "--cuda-graphs": ("none", "attention", "layer", "iteration"),
    "--dispatcher": ("alltoall", "allgather", "deepep", "hybridep"),
}
KEYS = {
    "rc": ("none", "selective", "full", "block:2", "layernorm+moe_act", "mlp+core_attn"),
    "attn": ("flash2", "flash3", "cudnn", "fused_softmax", "eager"),
    "norm": ("fused", "eager"),
    "offload": ("opt", "act:1", "opt+param", "opt+param+grad"),
    "mb": ("1", "2", "4"),
    "zero": ("0", "1", "2", "3"),
}
MOST_DRAWS = 3000
# What a refusal names if another layout may be taken.
LAYOUT_FIELDS = {"--layout", "tp", "cp", "pp", "dp", "ep", "etp", "mb", "vpp", "zero", "sp", "rc", "sched", "attn", "norm",
                 "hs", "stages", "offload"}
LAYOUTS_OF_A_PRESET = 5   # tried at each number of nodes, under each condition
# Profiles have axes that a framework may lack.
CONDITIONS = ("tp >= 1", "ep = 1", "ep = 1 and sp = 0")


@dataclasses.dataclass
class Export:
    name: str      # the model, the layout and the options
    text: str
    devices: int
    model: str
    layout: str
    seq_len: int = SEQ_LEN


class Meshwright:
    def __init__(self, program):
        self.program = program
        self.answers = {}
        self.refusal = ""   # what the last command that refused said

    def run(self, *arguments):
        """Returns the standard output, or None if the command refuses."""
        done = subprocess.run([self.program, *arguments], capture_output=True, text=True, check=False,
                              env=os.environ | {"NO_COLOR": "1"})
        if done.returncode == 0:
            return done.stdout
        self.refusal = done.stderr
        return None

    def models(self):
        return json.loads(self.run("list", "models", "--format", "json"))["models"]

    def layouts(self, model, profile, nodes, batch, condition=CONDITIONS[0]):
        """Returns the best layouts, the fastest first, and the best of each mesh shape."""
        key = (model, profile, nodes, batch, condition)
        if key not in self.answers:
            answer = self.run("recommend", "--model", model, "--cluster", CLUSTER.format(nodes=nodes), "--framework",
                              profile, "--seq-len", str(SEQ_LEN), "--global-batch", str(batch), "--top", "300",
                              "--best-per", "tp,pp", "--where", condition, "--format", "json")
            self.answers[key] = list(dict.fromkeys(re.findall(r'"layout": "(tp[^"]*)"', answer or "")))
        return self.answers[key]

    def targets(self):
        """Returns the frameworks that `export --to` knows."""
        refusal = subprocess.run([self.program, "export", "--to", "?", "--model", "llama-3-8b", "--layout",
                                  "tp1.pp1.dp1"], capture_output=True, text=True, check=False).stderr
        accepted = re.split(r"[;(]|, or ", refusal.partition("must be ")[2])[0]
        return set(re.findall(r"[a-z-]+", accepted)) - {"or"}


def with_key(layout, key, value):
    """Returns the layout's text with another value of the key."""
    joint = "" if key in ("mb", "zero") else "="
    fields = [field for field in layout.split(".") if not re.fullmatch(rf"{key}{joint}.*", field)]
    return ".".join([*fields, f"{key}{joint}{value}"])


def draw(meshwright, target, profile, models, chance):
    model = chance.choice(models)
    nodes = chance.choice(NODES)
    devices = nodes * GPUS_PER_NODE
    batch = devices * chance.choice((1, 4, 8))
    layouts = meshwright.layouts(model, profile, nodes, batch, chance.choice(CONDITIONS))
    if not layouts:
        return None
    layout = chance.choice(layouts)
    for key, values in KEYS.items():
        if chance.random() < 0.15:
            layout = with_key(layout, key, chance.choice(values))
    options = []
    for option, values in OPTIONS.items():
        if chance.random() < 0.15:
            options += [option, chance.choice(values)]
    return export_of(meshwright, target, model, layout, batch, devices, options)


def export_of(meshwright, target, model, layout, batch, devices, options=()):
    text = meshwright.run("export", "--to", target, "--model", model, "--layout", layout, "--seq-len", str(SEQ_LEN),
                          "--global-batch", str(batch), "--gpus-per-node", str(GPUS_PER_NODE), *options)
    if text is None:
        return None
    return Export(name=" ".join([model, layout, *options]), text=text, devices=devices, model=model, layout=layout)


def random_exports(meshwright, target, profile, count, seed):
    """Returns `count` exports of different texts, or fewer if the framework takes fewer of the draws."""
    chance = random.Random(f"{seed} {target}")
    models = meshwright.models()
    exports = {}
    for _ in range(MOST_DRAWS):
        if len(exports) == count:
            break
        export = draw(meshwright, target, profile, models, chance)
        if export:
            exports.setdefault(export.text, export)
    return list(exports.values())


def preset_exports(meshwright, target, profile):
    """Returns an export of each preset that the target has, and the names of the presets that it lacks."""
    exports, lacking = [], []
    for model in meshwright.models():
        export = first_export(meshwright, target, profile, model)
        if export:
            exports.append(export)
        else:
            lacking.append(model)
    return exports, lacking


def first_export(meshwright, target, profile, model):
    for nodes, condition in itertools.product(LARGEST_NODES, CONDITIONS):
        devices = nodes * GPUS_PER_NODE
        for layout in meshwright.layouts(model, profile, nodes, 8 * devices, condition)[:LAYOUTS_OF_A_PRESET]:
            export = export_of(meshwright, target, model, layout, 8 * devices, devices)
            if export:
                return export
            field = re.match(r"meshwright: (\S+)", meshwright.refusal)
            if field and field[1] not in LAYOUT_FIELDS:
                return None   # a key of the model is refused, whatever the layout
    return None
