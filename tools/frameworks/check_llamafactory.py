"""Gives exported files to LLaMA-Factory's parser, and their section of DeepSpeed, which the Trainer fills in, to
DeepSpeed."""
import dataclasses
import os
import types

os.environ["DISABLE_VERSION_CHECK"] = "1"   # LLaMA-Factory asks for older releases of what it imports
os.environ["DS_ACCELERATOR"] = "cpu"
# pylint: disable=wrong-import-position
import checker
import yaml
from deepspeed import comm
from deepspeed.runtime.config import DeepSpeedConfig
from llamafactory.hparams import parser

# What a user adds to an exported file.
OWN = {"model_name_or_path": "model", "output_dir": "output", "do_train": True, "dataset": "data", "template": "empty",
       "stage": "sft", "use_cpu": True}


def check(export):
    file = yaml.safe_load(export["text"])
    _, _, training, *_ = parser._parse_train_args(OWN | file)
    section = getattr(training, "hf_deepspeed_config", None)
    if bool(section) != bool(file.get("deepspeed")):
        raise ValueError("LLaMA-Factory does not read the section deepspeed")
    if section:
        section.trainer_config_process(training)
        section.trainer_config_finalize(training, types.SimpleNamespace(config=types.SimpleNamespace(hidden_size=1)), 1)
        comm.get_rank = lambda: 0
        read = DeepSpeedConfig(section.config, mpu=types.SimpleNamespace(get_data_parallel_world_size=lambda: 1))
        for format_name in ("bf16", "fp16"):
            engine = {"bf16": read.bfloat16_config, "fp16": read.float16_config}[format_name].enabled
            if engine != bool(file.get(format_name)):
                raise ValueError(f"DeepSpeed has {format_name} {engine}, the Trainer has {file.get(format_name)}")


def names():
    for arguments in parser._TRAIN_ARGS:
        yield from (field.name for field in dataclasses.fields(arguments))


checker.run(check, names)
