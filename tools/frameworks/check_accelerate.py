"""Gives exported files to accelerate, as `accelerate launch --config_file` does, and the arguments of their launch line
to transformers."""
import dataclasses
import inspect
import os
import re
import shlex
import tempfile

import checker
from accelerate.commands.config.config_args import ClusterConfig
from accelerate.commands.launch import _validate_launch_command, launch_command_parser
from accelerate.parallelism_config import ParallelismConfig
from accelerate.utils import FullyShardedDataParallelPlugin
from accelerate.utils import launch
from transformers import HfArgumentParser, TrainingArguments

# What TRL's scripts have in addition to the Trainer's arguments.
SCRIPT_ARGUMENTS = {"--attn_implementation"}
# Sections whose keys become arguments of `accelerate launch`.
SECTIONS = ("fsdp_config", "parallelism_config", "dynamo_config")


def words_of(text):
    """Returns the words of the launch line in the file's comments."""
    line = " ".join(comment.rstrip("\\") for comment in re.findall(r"^#   +(.*)$", text, re.MULTILINE))
    return shlex.split(line)


def launched(text):
    """Returns the arguments of `accelerate launch` and the environment that it gives the ranks."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        # A free port is looked for where the file names none.
        words = ["--config_file", file.name, "--main_process_port", "0", "--machine_rank", "0", "train.py"]
        parser = launch_command_parser()
        arguments, defaults, _ = _validate_launch_command(parser.parse_args(words))
    known = {action.dest for action in parser._actions}
    for section in SECTIONS:
        for key in getattr(defaults, section):
            if key not in known and f"fsdp_{key}" not in known:
                raise ValueError(f"accelerate has no {section}.{key}")
    return arguments, launch.prepare_multi_gpu_env(arguments)


def check(export):
    arguments, environment = launched(export["text"])
    if arguments.num_processes != export["devices"]:
        raise ValueError(f"accelerate starts {arguments.num_processes} processes, the layout has {export['devices']}")
    if arguments.use_fsdp:
        before = dict(os.environ)
        os.environ.update(environment)
        try:
            FullyShardedDataParallelPlugin()
            axes = ParallelismConfig()
        finally:
            os.environ.clear()
            os.environ.update(before)
        if axes.total_size != export["devices"]:
            raise ValueError(f"the axes make {axes.total_size} ranks, the layout has {export['devices']}")
    words = words_of(export["text"])
    words = words[words.index("train.py") + 1:]
    words += ["--output_dir", "x", "--use_cpu"]
    _, rest = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses(words, return_remaining_strings=True)
    unknown = [word for word in rest if word.startswith("--") and word not in SCRIPT_ARGUMENTS]
    if unknown:
        raise ValueError(f"transformers has no {' '.join(unknown)}")


def names():
    """Yields the keys of the file; some are no flags, and the launcher alone reads them."""
    yield from (f"fsdp_config.{name}" for name in re.findall(r'getattr\(args, "(fsdp_\w+)"', inspect.getsource(launch)))
    yield from (field.name for field in dataclasses.fields(ClusterConfig))
    for action in launch_command_parser()._actions:
        for section, prefix in (("fsdp_config", "fsdp_"), ("parallelism_config", "parallelism_config_"),
                                ("dynamo_config", "dynamo_"), ("megatron_lm_config", "megatron_lm_"),
                                ("fp8_config", "fp8_"), ("deepspeed_config", "deepspeed_")):
            if action.dest.startswith(prefix):
                yield f"{section}.{action.dest}"


checker.run(check, names)
