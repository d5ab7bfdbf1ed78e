#!/usr/bin/env python3
"""Writes the defaults of a framework's arguments as planner/data/arguments/FRAMEWORK.json.

A listing of all arguments, as a training log or a saved configuration has it, says a default as well as what
somebody chose. The import tells them apart by these files. Frameworks: megatron, megatron-bridge, torchtitan and
trainer (transformers). Each needs its framework on PYTHONPATH; megatron-bridge is read without being imported.
"""
import argparse
import ast
import dataclasses
import importlib.metadata
import json
import pathlib
import sys
import typing
import warnings

warnings.simplefilter("ignore")


def megatron():
    if not hasattr(typing, "override"):   # its wheel is for Python 3.12
        typing.override = lambda function: function
    from megatron.training import arguments
    parser = arguments.add_megatron_arguments(argparse.ArgumentParser(allow_abbrev=False))
    defaults = vars(parser.parse_args([]))
    flags, off = {}, {}
    for action in parser._actions:
        if action.dest not in defaults:
            continue
        clears = isinstance(action, argparse._StoreFalseAction)
        (off if clears else flags).setdefault(action.dest, action.option_strings[0])
    # What validate_args sets where nobody does, or changes to what the others make of it.
    computed = """align_param_gather async_strategy check_for_nan_in_loss_and_grad consumed_train_samples
        consumed_valid_samples data_parallel_size dataloader_type encoder_num_layers encoder_seq_length
        end_weight_decay eval_global_batch_size eval_micro_batch_size expert_gtp_weight_remat_size
        expert_tensor_parallel_num_weight_shards gtp_weight_remat_size inference_cuda_graph_scope
        inprocess_active_world_size local_rank mamba_inference_conv_states_dtype mamba_inference_ssm_states_dtype
        megatron_fsdp_grad_comm_dtype megatron_fsdp_main_grads_dtype megatron_fsdp_main_params_dtype overlap_p2p_comm
        padded_vocab_size params_dtype rank skipped_train_samples start_weight_decay tensor_parallel_num_weight_shards
        transformer_pipeline_model_parallel_size use_dist_ckpt use_layer_wise_distributed_optimizer
        variable_seq_lengths virtual_pipeline_model_parallel_size _is_global_batch_size_explicitly_specified
        accumulate_allreduce_grads_in_fp32 apply_rope_fusion curr_iteration iteration model_type
        do_train do_valid do_test""".split()
    return {"release": importlib.metadata.version("megatron-core"), "computed": sorted(computed), "off": off,
            "arguments": {name: [flags.get(name, ""), str(value)] for name, value in defaults.items()}}


def flat(value, around=""):
    """Returns the leaves of nested dictionaries by their joined names."""
    if isinstance(value, dict) and value:
        return {name: leaf for key, inner in value.items()
                for name, leaf in flat(inner, f"{around}.{key}" if around else key).items()}
    return {around: value if isinstance(value, str) else json.dumps(value)}


def torchtitan():
    from torchtitan.config import CommConfig, CompileConfig, DebugConfig, ParallelismConfig, TrainingConfig
    sections = {"training": TrainingConfig, "parallelism": ParallelismConfig, "compile": CompileConfig,
                "comm": CommConfig, "debug": DebugConfig}
    defaults = {}
    for section, config in sections.items():
        defaults |= flat(dataclasses.asdict(config()), section)
    return {"release": importlib.metadata.version("torchtitan"), "computed": [], "off": {},
            "arguments": {name: [name, value] for name, value in defaults.items()}}


def trainer():
    from transformers import TrainingArguments
    written = repr(TrainingArguments(output_dir="", use_cpu=True))
    defaults = dict(line.rstrip(",").split("=", 1) for line in written.splitlines()[1:-1])
    computed = ["_n_gpu", "local_rank", "output_dir", "run_name", "logging_dir", "use_cpu"]
    return {"release": importlib.metadata.version("transformers"), "computed": computed, "off": {},
            "arguments": {name: [f"--{name}", value] for name, value in defaults.items() if name not in computed}}


def literal(node):
    """Returns the value of a default that the source writes out; None where it computes one."""
    if node is None:
        return None
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "field":
        for word in node.keywords:
            if word.arg == "default":
                return literal(word.value)
            if word.arg == "default_factory" and getattr(word.value, "id", "") in ("list", "dict"):
                return "[]" if word.value.id == "list" else "{}"
        return None
    if isinstance(node, ast.Attribute):
        return node.attr
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if isinstance(value, str) else json.dumps(value)


def classes_of(folder):
    classes = {}
    for path in sorted(pathlib.Path(folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name, []).append(node)
    return classes


def fields_of(name, classes, seen=()):
    """Returns the fields of a dataclass with those of its bases; its own defaults count last."""
    fields = {}
    for node in classes.get(name, ()):
        for base in node.bases:
            base_name = getattr(base, "id", getattr(base, "attr", ""))
            if base_name not in (*seen, name):
                fields |= fields_of(base_name, classes, (*seen, name))
        for line in node.body:
            if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
                fields[line.target.id] = literal(line.value)
    return fields


def megatron_bridge():
    classes = {}
    for root in sys.path:
        for part in ("megatron/core", "megatron/training/config", "megatron/bridge/training",
                     "megatron/bridge/models/gpt_provider.py"):
            path = pathlib.Path(root, part)
            for name, nodes in classes_of(path if path.is_dir() else path.parent).items() if path.exists() else ():
                classes.setdefault(name, []).extend(nodes)
    sections = {"model": "GPTModelProvider", "train": "TrainingConfig", "validation": "ValidationConfig",
                "optimizer": "OptimizerConfig", "ddp": "DistributedDataParallelConfig",
                "scheduler": "SchedulerConfig", "logger": "LoggerConfig", "checkpoint": "CheckpointConfig",
                "dist": "DistributedInitConfig", "rng": "RNGConfig", "profiling": "ProfilingConfig",
                "rerun_state_machine": "RerunStateMachineConfig", "tokenizer": "TokenizerConfig",
                "mixed_precision": "MixedPrecisionConfig"}
    defaults = {}
    for section, name in sections.items():
        for field, value in fields_of(name, classes).items():
            if value is not None and not field.startswith("_"):
                defaults[f"{section}.{field}"] = [f"{section}.{field}", value]
    return {"release": importlib.metadata.version("megatron-bridge"), "computed": [], "off": {},
            "arguments": defaults}


WRITERS = {"megatron": megatron, "megatron-bridge": megatron_bridge, "torchtitan": torchtitan, "trainer": trainer}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("framework", choices=WRITERS)
    table = WRITERS[parser.parse_args().framework]()
    lines = [f"    {json.dumps(name)}: {json.dumps(row)}" for name, row in sorted(table.pop("arguments").items())]
    heads = [f"  {json.dumps(name)}: {json.dumps(value)},\n" for name, value in table.items()]
    print("{\n" + "".join(heads) + '  "arguments": {\n' + ",\n".join(lines) + "\n  }\n}")


main()
