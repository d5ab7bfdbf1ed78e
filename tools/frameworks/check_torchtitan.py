"""Gives exported Python files to torchtitan: ConfigManager, ParallelDims, and the division of layers into stages."""
import dataclasses
import importlib
import pathlib
import re
import sys
import tempfile
import typing

import checker
from torch.distributed.pipelining.schedules import get_schedule_class
from torchtitan.components import loss
from torchtitan.config.manager import ConfigManager
from torchtitan.distributed import activation_checkpoint, pipeline_parallel
from torchtitan.distributed.parallel_dims import ParallelDims
from torchtitan.models import llama3
from torchtitan.trainer import Trainer

MODULE = "layout"   # the name that exports ask for


def loaded(text):
    """Returns the configuration that torchtitan makes of an exported file."""
    # Where a comment says that a user adds the model, another one takes its place.
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, f"{MODULE}.py").write_text(text.replace('"custom"', '"8B"'), encoding="utf-8")
        sys.path.insert(0, folder)
        sys.modules.pop(MODULE, None)
        importlib.invalidate_caches()
        try:
            return ConfigManager().parse_args(["--module", MODULE, "--config", "train"])
        finally:
            sys.path.remove(folder)


def keys_of(layout):
    """Returns the numbers of a layout's text."""
    return {key: int(value) for key, value in re.findall(r"(?:^|\.)([a-z]+)=?(\d+)(?=\.|$)", layout)}


def check_stages(config, dims, layout):
    if config.parallelism.pipeline_parallel_degree == 1:
        return
    get_schedule_class(config.parallelism.pipeline_parallel_schedule)
    stages, *_ = pipeline_parallel._get_pipeline_metadata(dims, config.parallelism, config.model_spec.model)
    wanted = layout["pp"] * layout["vpp"]
    if stages != wanted:
        raise ValueError(f"torchtitan makes {stages} stages, the layout has {wanted}")


def check(export):
    config = loaded(export["text"])
    dims = ParallelDims.from_config(config.parallelism, export["devices"])
    layout = keys_of(export["layout"])
    if '"custom"' not in export["text"]:
        check_stages(config, dims, layout)
    batch = config.training.local_batch_size * dims.dp_replicate * dims.dp_shard
    if config.training.global_batch_size % batch:
        raise ValueError(f"the global batch {config.training.global_batch_size} is no multiple of {batch}")


def fields_of(config_class, prefix=""):
    """Yields the names of a configuration and of its sections."""
    types = typing.get_type_hints(config_class)
    for field in dataclasses.fields(config_class):
        yield prefix + field.name
        for kind in (types[field.name], *typing.get_args(types[field.name])):
            if dataclasses.is_dataclass(kind):
                yield from fields_of(kind, f"{prefix}{field.name}.")


def names():
    yield from ("--module", "--config")   # of ConfigManager
    yield from fields_of(Trainer.Config)
    yield from (f"loss.{name}" for kind in vars(loss).values() if isinstance(kind, type) and hasattr(kind, "Config")
                for name in fields_of(kind.Config))
    yield from (name for name in vars(llama3) if name == "model_registry")
    for name in dir(activation_checkpoint):
        if hasattr(getattr(activation_checkpoint, name), "Config"):
            yield f"activation_checkpoint.{name}"


checker.run(check, names)
