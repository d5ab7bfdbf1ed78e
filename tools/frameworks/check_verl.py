"""Gives exported overrides to verl's YAML files, as Hydra composes them: OmegaConf refuses keys that they have not."""
import os
import pathlib

import checker
from omegaconf import DictConfig, OmegaConf
from source_fields import Sources

FOLDERS = os.environ["PYTHONPATH"].split(os.pathsep)
# The composed files that verl ships, one for each engine of the policy.
FILES = {"dp": "_generated_ppo_trainer.yaml", "megatron": "_generated_ppo_megatron_trainer.yaml"}
HYDRA = {"model_engine", "hydra", "--config-name", "--config-path"}   # Hydra's own, and its choice of a file
# Sections whose keys go to a class of Megatron-Core.
OPEN_SECTIONS = {
    "actor_rollout_ref.actor.megatron.override_transformer_config":
        ("megatron.core.transformer.transformer_config", "TransformerConfig"),
    "actor_rollout_ref.actor.megatron.override_ddp_config":
        ("megatron.core.distributed.distributed_data_parallel_config", "DistributedDataParallelConfig"),
    "actor_rollout_ref.actor.optim.override_optimizer_config":
        ("megatron.core.optimizer.optimizer_config", "OptimizerConfig"),
}


def schema(engine):
    config = OmegaConf.load(pathlib.Path(FOLDERS[0], "verl/trainer/config", FILES[engine]))
    OmegaConf.set_struct(config, True)
    return config


def names_of(config, prefix=""):
    for key in config:
        yield f"{prefix}{key}"
        value = config._get_node(key)
        if isinstance(value, DictConfig) and not value._is_none() and not value._is_missing():
            yield from names_of(value, f"{prefix}{key}.")


def open_names():
    sources = Sources(*FOLDERS)
    for section, where in OPEN_SECTIONS.items():
        yield from sources.names(*where, f"{section}.")


def names():
    yield from HYDRA
    yield from open_names()
    for engine in FILES:
        yield from names_of(schema(engine))


OPEN_NAMES = set(open_names())


def check_override(config, name, value):
    """Checks one override; Hydra's + before a name adds a key to a section that is there."""
    section = name.lstrip("+").rpartition(".")[0]
    if name.startswith("+"):
        if section in OPEN_SECTIONS and name.lstrip("+") not in OPEN_NAMES:
            raise ValueError(f"Megatron-Core has no {name}")
        OmegaConf.update(config, section, {}, merge=True)
    elif name not in HYDRA:
        OmegaConf.update(config, name, OmegaConf.create(f"value: {value}").value)


def check(export):
    words, _ = checker.launch(export["text"], ["ray", "python3", "torchrun"], {})
    overrides = dict(word.split("=", 1) for word in words if "=" in word and not word.startswith("--"))
    config = schema(overrides.get("model_engine", "dp"))
    for name, value in overrides.items():
        check_override(config, name, value)


checker.run(check, names)
