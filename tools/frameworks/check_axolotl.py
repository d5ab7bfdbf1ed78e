"""Gives exported files to Axolotl's validate_config, and holds their keys to its schema, which accepts unknown ones."""
import sys
import types

import checker
import transformers.utils
import yaml
from axolotl.integrations.base import PluginManager
from axolotl.utils.config import validate_config
from axolotl.utils.dict import DictDefault
from axolotl.utils.schemas.config import AxolotlInputConfig

# What a user adds to an exported file.
OWN = {"base_model": "model", "datasets": [{"path": "data", "type": "completion"}], "learning_rate": 1e-4,
       "num_epochs": 1, "output_dir": "output"}
CAPABILITIES = {"bf16": True, "fp8": True, "tf32": True, "n_node": 1, "compute_capability": "sm_90"}

# What context parallelism asks for: a package of kernels, and a function of the older transformers that Axolotl pins.
sys.modules["ring_flash_attn"] = types.ModuleType("ring_flash_attn")
if not hasattr(transformers.utils, "is_flash_attn_greater_or_equal_2_10"):
    transformers.utils.is_flash_attn_greater_or_equal_2_10 = lambda: True


def check(export):
    file = yaml.safe_load(export["text"])
    unknown = set(checker.keys_of(file)) - set(names())
    if unknown:
        raise ValueError(f"Axolotl has no {' '.join(sorted(unknown))}")
    for plugin in file.get("plugins", []):
        PluginManager.get_instance().register(plugin)
    validate_config(DictDefault(OWN | file), capabilities=CAPABILITIES | {"n_gpu": export["devices"]},
                    env_capabilities={"torch_version": "2.11.0"})


def names():
    yield from checker.fields_of_model(AxolotlInputConfig)
    from axolotl.integrations.liger.args import LigerArgs   # pylint: disable=import-outside-toplevel
    yield from checker.fields_of_model(LigerArgs)


checker.run(check, names)
