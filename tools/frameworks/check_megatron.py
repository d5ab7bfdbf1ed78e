"""Gives exported launch lines to the argument parser of Megatron-Core: parse_args and validate_args."""
import argparse
import os
import sys
import typing
import warnings

import checker

if not hasattr(typing, "override"):   # Megatron-Core's wheel is for Python 3.12
    typing.override = lambda function: function
warnings.simplefilter("ignore")
# pylint: disable=wrong-import-position
import torch
from megatron.training import arguments

# What the parser asks of a device and of Transformer Engine.
arguments.get_device_arch_version = lambda: 9
torch.cuda.get_device_capability = lambda *_: (9, 0)
arguments.is_te_min_version = lambda *_, **__: True
# What a user adds to an exported script.
OWN = ["--train-iters", "10", "--lr", "1e-4", "--tokenizer-type", "NullTokenizer", "--mock-data"]


def check(export):
    words, environment = checker.launch(export["text"], ["torchrun"], {})
    script = next(index for index, word in enumerate(words) if word.endswith(".py"))
    sys.argv = ["pretrain", *words[script + 1:], *OWN]
    for name in ("CUDA_DEVICE_MAX_CONNECTIONS",):
        os.environ.pop(name, None)
        if name in environment:
            os.environ[name] = environment[name]
    os.environ["WORLD_SIZE"] = str(export["devices"])
    arguments.validate_args(arguments.parse_args())


def names():
    parser = arguments.add_megatron_arguments(argparse.ArgumentParser(allow_abbrev=False))
    return [option for action in parser._actions for option in action.option_strings if option.startswith("--")]


checker.run(check, names)
