"""Holds exported names to the fields in the sources of frameworks whose parsers can't be imported without their
kernels: Megatron-Bridge, ms-swift and nanotron.

usage: check_fields.py FRAMEWORK [names]; PYTHONPATH names the folders with the sources.
"""
import os
import re
import sys

import checker
import yaml
from source_fields import Sources

FRAMEWORK = sys.argv.pop(1)
ROOTS = {"megatron-bridge": ("megatron.bridge.training.config", "ConfigContainer"),
         "ms-swift": ("swift.megatron.arguments.sft_args", "MegatronSftArguments"),
         "nanotron": ("nanotron.config.config", "Config")}
SOURCES = Sources(*os.environ["PYTHONPATH"].split(os.pathsep))
NAMES = set(SOURCES.names(*ROOTS[FRAMEWORK]))


def said_names(text):
    """Returns the names that an export says: overrides, arguments, or the keys of a file."""
    if FRAMEWORK == "nanotron":
        return list(checker.keys_of(yaml.safe_load(text)))
    if FRAMEWORK == "ms-swift":
        words, _ = checker.launch(text, ["megatron"], {"MODEL": "model"})
        return [word.removeprefix("--") for word in words if word.startswith("--")]
    words, _ = checker.launch(text, ["torchrun"], {"RECIPE": "recipe"})
    return [word.partition("=")[0] for word in words[words.index("--recipe") + 2:]]


def check(export):
    # A comment says which names are of a later version than the release.
    later = re.findall(r"^# (\S+) needs ", export["text"], re.MULTILINE)
    unknown = [name for name in said_names(export["text"]) if name not in NAMES and name not in later]
    if unknown:
        raise ValueError(f"{FRAMEWORK} has no {' '.join(unknown)}")


def names():
    return [f"--{name}" for name in NAMES] if FRAMEWORK == "ms-swift" else NAMES


checker.run(check, names)
