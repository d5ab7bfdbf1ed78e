"""Prints the names of Hugging Face's Trainer, of TRL's scripts, or of the programs that start ranks.

usage: further_names.py trainer|trl|launchers names
"""
import dataclasses
import importlib.util
import pathlib
import re
import sys

import checker

LIST = sys.argv.pop(1)


def of_dataclasses(*classes):
    for arguments in classes:
        for field in dataclasses.fields(arguments):
            yield f"--{field.name}"


def of_parser(parser):
    for action in parser._actions:
        yield from (option for option in action.option_strings if option.startswith("--"))


def trainer():
    import transformers
    yield from of_dataclasses(transformers.TrainingArguments)


def trl():
    import trl
    yield from of_dataclasses(trl.SFTConfig, trl.ModelConfig, trl.ScriptArguments)


def launchers():
    from accelerate.commands.launch import launch_command_parser
    from torch.distributed.run import get_args_parser
    yield from of_parser(get_args_parser())
    yield from of_parser(launch_command_parser())
    folder = pathlib.Path(importlib.util.find_spec("deepspeed").origin).parent
    source = (folder / "launcher/runner.py").read_text(encoding="utf-8")
    yield from re.findall(r'add_argument\(\s*(?:"-\w",\s*)?"(--[\w-]+)"', source)


checker.run(None, {"trainer": trainer, "trl": trl, "launchers": launchers}[LIST])
