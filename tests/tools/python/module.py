"""The module as the tests import it, the program beside it, and questions that several tests ask."""
import json
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[3]
PACKAGE = SOURCE / "tools/python"
BUILD = pathlib.Path(os.environ["MESHWRIGHT_BUILD_DIR"])
PROGRAM = BUILD / "bin/meshwright"
LIBRARY = BUILD / "lib/libmeshwright.so"
sys.path.insert(0, str(PACKAGE))
# For this process and for those that it starts.
os.environ["MESHWRIGHT_LIBRARY"] = str(LIBRARY)
os.environ["PYTHONPATH"] = str(PACKAGE)

QUESTION = {"model": "llama-3-8b", "cluster": "h100:8x4", "gpus": 32, "seq_len": 8192, "global_batch": 512}
LAYOUTS = ["tp2.pp2.dp8.mb1.zero1.sp1", "tp4.pp2.dp4.mb1.zero1.sp1"]
# A model that is no preset.
CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 2048, "intermediate_size": 5632,
          "num_hidden_layers": 16, "num_attention_heads": 16, "num_key_value_heads": 8, "vocab_size": 32000,
          "max_position_embeddings": 8192, "tie_word_embeddings": False, "torch_dtype": "bfloat16"}


def words(named):
    """A command's words for the arguments."""
    return [f"--{name.replace('_', '-')}={value}" for name, value in named.items()]


def printed(*command):
    """What the program prints as JSON, without the time that it took."""
    done = subprocess.run([PROGRAM, *command, "--format", "json"], capture_output=True, text=True, check=False)
    return without_time(json.loads(done.stdout))


def without_time(answer):
    return {key: value for key, value in answer.items() if key != "elapsed_s"}


def in_child(script, python=sys.executable, **options):
    """Runs a script in a Python of its own."""
    return subprocess.run([python, "-B", "-c", script], capture_output=True, text=True, check=False, timeout=100,
                          **options)
