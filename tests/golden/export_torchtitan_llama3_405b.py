# llama-3-405b as tp8.cp1.pp16.dp8.mb1.vpp4.zero3.sp1.rc=full.sched=interleaved
# on 1024 devices with torchtitan 0.3. Save this file as layout.py on the PYTHONPATH, then:
#   torchrun --nnodes 128 --nproc-per-node 8 -m torchtitan.train --module layout --config train
# Data, tokenizer, learning rate and checkpoints are yours.
from torchtitan.components.loss import CrossEntropyLoss
from torchtitan.config import CompileConfig, ParallelismConfig, TrainingConfig
from torchtitan.distributed.activation_checkpoint import FullAC
from torchtitan.models.common.config_utils import decoder_vocab_size
from torchtitan.models.llama3 import model_registry
from torchtitan.trainer import Trainer


def train() -> Trainer.Config:
    model_spec = model_registry("405B")
    return Trainer.Config(
        model_spec=model_spec,
        loss=CrossEntropyLoss.Config(global_vocab_size=decoder_vocab_size(model_spec)),
        training=TrainingConfig(
            local_batch_size=256,
            global_batch_size=2048,
            seq_len=8192,
            mixed_precision_param="bfloat16",
            disable_cuda_graphs=True,
        ),
        parallelism=ParallelismConfig(
            data_parallel_replicate_degree=1,
            data_parallel_shard_degree=8,
            fsdp_reshard_after_forward="always",
            tensor_parallel_degree=8,
            context_parallel_degree=1,
            pipeline_parallel_degree=16,
            pipeline_parallel_schedule="Interleaved1F1B",
            pipeline_parallel_layers_per_stage=2,
            pipeline_parallel_first_stage_less_layers=1,
            pipeline_parallel_last_stage_less_layers=1,
            pipeline_parallel_microbatch_size=1,
        ),
        activation_checkpoint=FullAC.Config(),
        compile=CompileConfig(
            enable=True,
        ),
    )
