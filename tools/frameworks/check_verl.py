"""Gives exported overrides to verl's YAML files, as Hydra composes them: OmegaConf refuses keys that they have not."""
import os
import pathlib

import checker
from omegaconf import DictConfig, OmegaConf

# The composed files that verl ships, one for each engine.
FOLDER = pathlib.Path(os.environ["PYTHONPATH"].split(os.pathsep)[0], "verl/trainer/config")
FILES = {"fsdp": "_generated_ppo_trainer.yaml", "megatron": "_generated_ppo_megatron_trainer.yaml"}


def schema(engine):
    config = OmegaConf.load(FOLDER / FILES[engine])
    OmegaConf.set_struct(config, True)
    return config


def overrides(text):
    words, _ = checker.launch(text, ["python3", "python", "torchrun"], {"MODEL": "model"})
    return [word for word in words if "=" in word and not word.startswith("-")]


def check(export):
    words = overrides(export["text"])
    engine = "megatron" if any("megatron" in word for word in words) else "fsdp"
    config = schema(engine)
    for word in words:
        name, _, value = word.partition("=")
        if name.startswith("+"):   # Hydra's sign of a new key
            continue
        if "@" in name or name in ("model_engine", "hydra"):
            continue
        OmegaConf.select(config, name, throw_on_missing=False)
        OmegaConf.update(config, name, OmegaConf.create(f"value: {value}").value, force_add=False)


def names_of(config, prefix=""):
    for key in config:
        yield f"{prefix}{key}"
        value = config._get_node(key)
        if isinstance(value, DictConfig) and not value._is_none() and not value._is_missing():
            yield from names_of(value, f"{prefix}{key}.")


def names():
    for engine in FILES:
        yield from names_of(schema(engine))


checker.run(check, names)
