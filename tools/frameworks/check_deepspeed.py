"""Gives exported files to DeepSpeed's DeepSpeedConfig."""
import importlib
import inspect
import json
import os
import re
import types

os.environ["DS_ACCELERATOR"] = "cpu"
# pylint: disable=wrong-import-position
import checker
from deepspeed import comm
from deepspeed.compile.config import CompileConfig
from deepspeed.monitor import config as monitor
from deepspeed.runtime import config
from deepspeed.runtime.precision_config import DeepSpeedBF16Config, DeepSpeedFP16Config
from deepspeed.runtime.tensor_parallel.config import TPTrainingConfig
from deepspeed.runtime.zero.config import DeepSpeedZeroConfig

SECTIONS = {"zero_optimization": DeepSpeedZeroConfig, "bf16": DeepSpeedBF16Config, "fp16": DeepSpeedFP16Config,
            "tensor_parallel": TPTrainingConfig, "compile": CompileConfig, "tensorboard": monitor.TensorBoardConfig,
            "wandb": monitor.WandbConfig}
# Where DeepSpeed looks up keys of the file by constants.
CONSTANTS = ("deepspeed.runtime.constants", "deepspeed.runtime.activation_checkpointing.config",
             "deepspeed.runtime.zero.config", "deepspeed.checkpoint.constants")
# DeepSpeed ignores a section that it does not know; the exports' own stands for the Trainer's arguments.
OWN_SECTION = "trainer_arguments"


def without_own_section(text):
    return {key: value for key, value in json.loads(text).items() if key != OWN_SECTION}


def check(export):
    """Checks a file. Tensor parallelism's ranks share a batch, so that they do not count in the world."""
    file = without_own_section(export["text"])
    tensor = file.get("tensor_parallel", {}).get("autotp_size", 1)
    comm.get_rank = lambda: 0
    ranks = types.SimpleNamespace(get_data_parallel_world_size=lambda: export["devices"] // tensor)
    unknown = set(checker.keys_of(file)) - set(names())
    if unknown:   # the outermost ones are ignored without a word
        raise ValueError(f"DeepSpeed has no {' '.join(sorted(unknown))}")
    config.DeepSpeedConfig(file, mpu=ranks)


def constants_of_keys():
    constants = set()
    for module in map(importlib.import_module, CONSTANTS):
        for name, value in vars(module).items():
            if name.isupper() and isinstance(value, str) and re.fullmatch(r"[a-z][a-z0-9_]*", value):
                constants.add(value)
    return constants


def names():
    constants = constants_of_keys()
    yield from constants
    yield from re.findall(r'config\["(\w+)"\]', inspect.getsource(config.DeepSpeedConfig))
    yield from ("data_types." + name for name in (config.GRAD_ACCUM_DTYPE, config.PARAM_DTYPE))
    yield from (f"{section}.{name}" for section in ("optimizer", "scheduler") for name in ("type", "params"))
    for section, model in SECTIONS.items():
        yield from checker.fields_of_model(model, f"{section}.")


checker.run(check, names)
