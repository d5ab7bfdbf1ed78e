"""Gives exported files to NeMo AutoModel's parse_distributed_section, and holds their other keys to its sources."""
import os
import re

import checker
import yaml
from nemo_automodel.components.distributed.config import FSDP2Config
from nemo_automodel.recipes import _dist_utils
from source_fields import Sources
from torch.distributed.pipelining.schedules import get_schedule_class

SOURCES = Sources(*os.environ["PYTHONPATH"].split(os.pathsep))
OWN_SIZES = tuple(_dist_utils._PARALLELISM_DEFAULTS)
# What Hugging Face's from_pretrained takes, to which AutoModel hands the section.
MODEL = {"model.pretrained_model_name_or_path", "model.torch_dtype", "model.attn_implementation", "model._target_"}


def check(export):
    file = yaml.safe_load(export["text"])
    read = _dist_utils.parse_distributed_section(file["distributed"])
    if not isinstance(read["strategy_config"], FSDP2Config):
        raise ValueError("AutoModel does not take FSDP2")
    ranks = read["dp_size"] * read["tp_size"] * read["pp_size"] * read["cp_size"]
    if ranks != export["devices"]:
        raise ValueError(f"AutoModel makes {ranks} ranks, the layout has {export['devices']}")
    if read["pipeline_config"]:
        get_schedule_class(read["pipeline_config"].pp_schedule)
    known = set(names())
    unknown = [f"{section}.{key}" for section in ("step_scheduler", "model") for key in file.get(section, {})
               if f"{section}.{key}" not in known]
    if unknown:
        raise ValueError(f"AutoModel has no {' '.join(unknown)}")


def names():
    yield from MODEL
    yield from ("distributed." + name for name in (*OWN_SIZES, "strategy", "activation_checkpointing", "_target_"))
    for section, module, name in (
            ("distributed.", "nemo_automodel.components.distributed.config", "FSDP2Config"),
            ("distributed.pipeline.", "nemo_automodel.components.distributed.pipelining.config", "PipelineConfig"),
            ("distributed.moe.", "nemo_automodel.components.distributed.config", "MoEParallelizerConfig")):
        yield from SOURCES.names(module, name, section)
    for name in SOURCES.parameters("nemo_automodel.components.training.step_scheduler", "StepScheduler"):
        yield f"step_scheduler.{name}"
    for path in SOURCES.files.values():   # the sections that recipes look up
        text = path.read_text(encoding="utf-8") if "recipes" in path.parts else ""
        for got, reached in re.findall(r'\bcfg\.(?:get\(\s*"([a-z_0-9.]+)"|([a-z_0-9.]+[a-z_0-9])\b(?!\())', text):
            yield got or reached
            yield f"{got or reached}._target_"   # the class that a section makes an object of


checker.run(check, names)
