// FrameworkProfile describes a training framework: bytes per parameter, kept activations, speed of
// operators, communication, and what it can run.
//
// Profiles are data files (planner/data/profiles), and each names the sources of its values. A file
// is flat: its keys are the names of the members below, whichever struct holds them. A missing key
// takes the default below.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "planner/block/stage_partition.h"
#include "planner/layout/layout.h"
#include "planner/layout/mesh.h"
#include "planner/profile/kernel_support.h"
#include "planner/spec/calibration.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// The cases in which sequence parallelism keeps the input of a column-parallel product un-sharded.
enum class GatheredInputs : uint8_t { kNever, kWithoutPipeline, kAlways };

// The operators that selective recompute reruns. kCoreAttention reruns the core of attention, so
// that its score matrix need not be kept (Korthikanti et al., arXiv 2205.05198).
// kNormsAndActivation reruns norms and the FFN's activation. kAlternateProducts is PyTorch's
// checkpoint by operator as torchtitan uses it. It keeps the results of attention and of a layer's
// first, third, fifth … product (aten.mm), and reruns all other operators, such as products by
// group (aten._grouped_mm), indexing and sums.
enum class SelectiveRecompute : uint8_t { kCoreAttention, kNormsAndActivation, kAlternateProducts };

// The rank whose peak a framework's memory figure reports.
enum class PeakRank : uint8_t { kFullest, kFirst, kLast };
// The memory that the framework's figure counts: all that the caching allocator handed out, or all
// that it reserved.
enum class PeakKind : uint8_t { kAllocated, kReserved };

// The program that a profile describes. The memory model depends on it.
enum class Engine : uint8_t {
  // A framework that is known by its published runs. Memory follows the profile's figures alone.
  kFramework,
  // Meshwright's own worker. Memory follows its allocations to the byte
  // (planner/worker_memory/worker_memory.h).
  kWorker,
};

// Bytes per parameter of weights, gradients and optimizer under bf16 training.
struct ModelStates {
  int32_t gradient_bytes = 4;    // bytes of main gradients
  int32_t optimizer_bytes = 12;  // bytes of AdamW's states: fp32 master weights and two moments
  // Bytes of a second copy of the gradients, which backward writes.
  int32_t local_gradient_bytes = 0;
  int32_t shard_buffer_bytes = 0;  // further bytes that are sharded like the optimizer's states
  int32_t zero3_state_bytes = 18;  // weights, gradients and optimizer under ZeRO-3 (FSDP)
  // The most gathered weights that ZeRO-3 keeps to avoid gathering them again, in parameters. 0:
  // the weights of two units.
  int64_t zero3_live_parameters = 0;
  // Bytes that offload=opt holds on the host in addition to the states, per parameter whose states
  // moved: copies of gradients and weights, and pinned buffers.
  int32_t host_copy_bytes = 0;
  // Under ZeRO-3 with a pipeline, bytes per parameter of the stage that stay whole until the last
  // micro-batch: gathered weights, and gradients that are not reduced before.
  int32_t zero3_pipeline_bytes = 0;
  // If true, weights of blocks have no 16-bit copy under fp8 with one scale per tensor or with
  // mxfp8 (Megatron-Core's fp8_param_gather).
  bool narrow_weights_alone = false;
  // Bytes of the buckets in which ZeRO-2 reduces gradients and gathers weights, in addition to one
  // unit's gradients.
  int64_t zero2_bucket_bytes = 0;
  // Bytes of un-scaled or gathered copies per parameter of the rank, only during the optimizer
  // step.
  double step_bytes_per_parameter = 0.0;
  // Bytes of such copies per parameter whose states the rank owns. Under ZeRO-3, at most
  // `step_group_parameters` parameters have copies at a time (0: all).
  double step_bytes_per_owned_parameter = 0.0;
  int64_t step_group_parameters = 0;

  friend bool operator==(const ModelStates&, const ModelStates&) = default;
};

// The bytes that a rank holds in addition to the model states, and the peaks at which a device
// slows down or runs out of memory.
struct KeptActivations {
  bool vocab_parallel_loss = true;       // logits stay divided over TP
  double loss_peak_bytes_per_logit = 8;  // bytes while the loss is computed
  double loss_kept_bytes_per_logit = 4;  // bytes until the micro-batch's backward begins
  // Replaces loss_peak_bytes_per_logit if the logits are divided over TP ranks. If this value is 0,
  // nothing is replaced.
  double parallel_loss_peak_bytes_per_logit = 0;
  GatheredInputs gathered_inputs = GatheredInputs::kNever;
  SelectiveRecompute selective_recompute = SelectiveRecompute::kCoreAttention;
  bool fused_swiglu = true;  // silu(gate) is not kept on its own
  // If true, the product of silu(gate) and up is kept; otherwise backward recomputes it.
  bool keeps_ffn_product = true;
  // If true, both the input and the output of the norm of query and key heads are kept. Otherwise
  // only the input is kept, and backward recomputes the output.
  bool keeps_head_norm_input = true;
  // If true, a layer that is recomputed as a whole runs again only up to the last tensor that its
  // backward reads (PyTorch's non-reentrant checkpoint). Its last product then does not run again.
  bool recompute_stops_early = false;
  // If true, latent attention keeps the keys with the rotated part in every head. Otherwise that
  // part is kept once, and backward assembles the keys again.
  bool keeps_assembled_keys = true;
  // Bytes kept per token and per expert to which the token is sent: the router's weight and the
  // token's origin.
  double routing_bytes = 12.0;
  // If true, the experts' outputs are kept. That is so in frameworks that apply the router's
  // weights to these outputs, and not to the input of the down projection.
  bool keeps_expert_output = false;
  // Bytes kept in addition to the tensors that every framework keeps, per token and hidden element:
  double eager_norm_bytes = 8.0;  // both norms of a layer together, if they are not fused
  double extra_kept_bytes = 0.0;  // dropout masks, biases and copies
  // Bytes kept per element of the score matrix by attention that writes it out:
  double fused_softmax_bytes = 2.0;
  double eager_attention_bytes = 6.0;
  // Bytes that a layer's backward takes in addition to what the layer keeps:
  double hidden_work_bytes = 4.0;  // bytes per token and hidden element
  double ffn_work_bytes = 6.0;     // bytes per token and FFN element
  double score_work_bytes = 4.0;   // bytes per element of the score matrix
  // Bytes of library workspaces and tables, the same for every layout.
  int64_t fixed_bytes = 0;

  // The peak that a measurement of this framework reports:
  PeakRank peak_rank = PeakRank::kFullest;
  PeakKind peak_kind = PeakKind::kAllocated;
  // Memory that the caching allocator reserves but cannot hand out when micro-batches overlap, as a
  // share of the activations kept for these micro-batches.
  double fragmentation = 0.0;
  // Additional memory that the pools of CUDA graphs reserve if a graph covers a whole iteration, as
  // a share of the kept activations and the loss's tensors.
  double graph_pool_share = 0.0;
  // With a pipeline, a step gets slower once more than the share `pressure_from` of the device's
  // memory is filled. The step time then grows by the share pressure_slope * (filled share -
  // pressure_from).
  double pressure_from = 0.7;
  double pressure_slope = 0.0;

  // The probability of running out of memory is a logistic function of the share of the device's
  // memory that the estimate fills: 1/2 at the share `oom_center`, with the scale `oom_width`
  // (planner/estimate/peak_interval.h).
  double oom_center = 0.93;
  double oom_width = 0.04;
  // Spread of ln(measured / estimated) over the peaks of one source: the standard deviation of the
  // normal distribution around 0 whose middle 80 % is as wide as that of the peaks.
  double peak_sigma = 0.06;

  friend bool operator==(const KeptActivations&, const KeptActivations&) = default;
};

// Speed of operators relative to the device's limits, and times that the host adds to a step.
struct OperatorTraffic {
  // Share of the device's matmul rate that this framework's matrix products reach. Split
  // projections, copies before and after them, and collectives that run at the same time lower it.
  double matmul_share = 1.0;
  // Device-memory traffic of operators that frameworks may fuse, in bytes per bf16 element. The
  // backward of norms and of attention takes 1.5 times as much as the forward.
  double eager_norm_traffic_bytes = 20.0;       // forward of an un-fused norm
  double fused_softmax_traffic_bytes = 8.0;     // forward of attention, per score
  double eager_attention_traffic_bytes = 20.0;  // forward of attention, per score
  double loss_traffic_bytes = 10.0;             // forward and backward of the loss, per logit
  double rope_traffic_bytes = 4.0;              // RoPE, in forward and again in backward
  // Bytes per parameter and micro-batch, if a separate operator adds up gradients.
  double accumulate_traffic_bytes = 0.0;
  // Forward of the activation in experts with biases, in bytes per element of its result; backward
  // takes 1.5 times as much. The value is 0 if this activation is fused. The activation in experts
  // without biases is always fused.
  double expert_bias_traffic_bytes = 0.0;
  // Time of a recurrence's convolution, core and norm, divided by the time that the device takes to
  // read and write their bytes.
  double recurrence_ratio = 1.0;
  // Standard deviation of the number of tokens per expert, divided by its mean. It applies if the
  // query does not give the imbalance. 0: the routers balance experts.
  double expert_load_spread = 0.0;

  // The least time of a product or a streaming operator. An eager framework's host needs this long
  // to launch the next operator. 0 if a kernel's own launch is the only limit.
  double operator_host_s = 0.0;
  // Time that this framework's host takes to issue an operator of a layer, as a share of the
  // cluster's host.operator_s. No pass of a layer takes less time than issuing its operators and
  // collectives. 0 if CUDA graphs issue them.
  double host_share = 0.0;
  // Seconds that each launch for a single expert adds to the host's time for a layer. The launches
  // are those of the experts' products, and of casts with block scales or with a scale from the
  // tensor's own largest element. 0 if one kernel serves all experts, or graphs hide the launches.
  double expert_launch_s = 0.0;
  // Cost of a step in addition to its layers: launches of the optimizer, logging, data.
  double step_overhead_s = 0.0;
  // Standard deviation of ln(measured / predicted) of this framework's step times. If this value is
  // 0, the cluster's value is used.
  double step_time_sigma = 0.0;

  friend bool operator==(const OperatorTraffic&, const OperatorTraffic&) = default;
};

struct Communication {
  // The order in which ranks are numbered over the axes.
  MeshOrder mesh_order = kDefaultMeshOrder;
  // The largest share of the data-parallel communication that compute can hide. The rest of that
  // communication is exposed although it overlaps, because compute and collectives share memory and
  // cores.
  double data_parallel_overlap = 0.0;
  // The largest share of ZeRO-0's all-reduces that compute can hide, if it is larger than for
  // sharded reductions, because gradient hooks start the all-reduces while the last micro-batch's
  // backward runs. 0: data_parallel_overlap.
  double all_reduce_overlap = 0.0;
  // The number of collectives for a layer's gradients, each with its own latency. Under ZeRO-0 they
  // all-reduce whole gradients; under ZeRO-1 they reduce and gather shards. 0: one collective for
  // all layers of a rank.
  double all_reduces_per_layer = 0.0;
  double shard_collectives_per_layer = 0.0;
  double reduce_bytes = 4.0;  // bytes sent per gradient element
  // Bytes per element of the gradients that ring attention passes on, under bf16 training.
  int32_t ring_gradient_bytes = 2;
  bool zero1_all_reduce = false;  // ZeRO-1 all-reduces whole gradients instead of scattering them
  // If true, ZeRO-2 under interleaving reduces a chunk's gradients once for each group of pp
  // micro-batches whose backwards follow each other in the chunk. Otherwise it reduces them for
  // each micro-batch.
  bool reduces_interleaved_groups = false;
  // Share of the bandwidth between nodes that this framework's runs reached.
  double network_share = 1.0;
  // The bandwidth between nodes is proportional to (nodes / 2)^-network_contention.
  double network_contention = 0.0;
  // The least time of a ring step that leaves a node, on the network of this framework's runs. The
  // cluster's own least time applies if it is longer.
  double network_step_s = 0.0;
  bool tree_all_reduce = true;  // whether all-reduces also use trees
  // If true, a token is sent only once to a node for all of its experts on the node, and only once
  // to a rank for all of its experts on the rank (DeepEP, HybridEP). Otherwise it is sent once for
  // each expert (NCCL's all-to-all).
  bool deduplicates_tokens = false;
  // The largest share of the experts' all-to-alls that compute can hide: inside a node, and across
  // nodes.
  double all_to_all_overlap = 0.0;
  double all_to_all_overlap_across = 0.0;
  // If true, ring attention divides causal attention evenly: each rank holds a block from either
  // end of the sequence. Otherwise rank i of cp holds block i, and the last rank has 2 - 1/cp of
  // the mean work.
  bool balanced_ring = true;
  // The largest share of a layer's tensor-parallel collectives that compute hides, for example by
  // products that are split into chunks (Transformer Engine's user buffers).
  double tensor_parallel_overlap = 0.0;
  double tp_hop_s = 0.0;        // host time per step of a tensor-parallel ring
  double pipeline_hop_s = 0.0;  // host time per hop of the pipeline

  friend bool operator==(const Communication&, const Communication&) = default;
};

// The features of the framework, and its defaults where a layout or a measurement names none.
struct Supports {
  StagePartition stage_partition = StagePartition::kEqual;
  // The kernels are defaults for layouts and measurements that name none. `gated_mlp` and
  // `tied_embeddings` are defaults for measured models whose source does not tell them.
  AttentionKernel attention = AttentionKernel::kFlash2;
  // If true, the default attention kernel is the fastest that the cluster names for the model's
  // head size, as PyTorch's scaled_dot_product_attention picks it.
  bool picks_fastest_attention = false;
  // The kernel that attn=sdpa runs. A query sets it to SdpaAttention() of its cluster and model
  // (planner/profile/attention_default.h).
  AttentionKernel sdpa_attention = AttentionKernel::kFlash2;
  NormKernel norm = NormKernel::kFused;
  bool gated_mlp = true;
  bool tied_embeddings = false;
  int32_t unsaid_zero = 0;  // ZeRO stage of measured runs whose source does not give it

  int32_t max_zero = 3;
  bool has_tensor_parallel = true;
  bool has_sequence_parallel = true;
  bool has_context_parallel = true;
  bool has_pipeline = true;
  bool has_interleaving = true;
  bool has_breadth_first = false;
  bool has_zb_h1 = false;
  bool has_zb_v = false;
  bool has_zb_h2 = false;
  bool has_v_half = false;
  // Whether schedules may divide the vocabulary over the pipeline (DividesVocabulary()).
  bool has_vocab_parallel = false;
  // Breadth-first reduces each layer's gradients as soon as its last micro-batch is done, and under
  // ZeRO-3 gathers each layer once per pass (layered gradient accumulation, arXiv 2106.02679).
  bool layered_accumulation = false;
  bool has_recompute = true;
  bool has_block_recompute = true;
  RecomputeModules recompute_modules = {};  // the modules that rc= may name
  bool has_hsdp = false;                    // hs=: ZeRO inside groups of ranks that hold copies
  bool has_stages = false;                  // stages=: the layers of each stage
  // If true, the framework runs the fp8 and fp4 recipes (planner/spec/quantisation.h).
  bool has_fp8 = false;
  bool has_experts = false;
  bool has_expert_parallel = true;         // ep, for models with experts
  bool has_expert_tensor_parallel = true;  // etp
  bool etp_follows_tp = false;             // whether etp defaults to tp; otherwise it defaults to 1
  bool has_muon = false;                   // Muon in addition to AdamW, which all frameworks have
  // The next three say whether the framework runs offload=act:N, runs it with pipeline parallelism,
  // and runs it with recompute.
  bool has_activation_offload = false;
  bool activation_offload_with_pipeline = false;
  bool activation_offload_with_recompute = false;
  bool offloads_layer_inputs = false;  // whether offload=act:N also combines with rc=full
  bool has_optimizer_offload = false;  // offload=opt
  bool has_parameter_offload = false;  // offload=opt+param
  bool has_gradient_offload = false;   // offload=opt+param+grad
  bool tp_needs_sequence_parallel = false;
  int32_t min_zero = 0;       // the least ZeRO stage with replicas; 0 also runs with dp alone
  bool zero3_with_tp = true;  // whether ZeRO 3 runs with tp > 1
  bool zero23_with_pipeline = false;  // whether ZeRO 2 and 3 run with pp > 1
  bool kv_replication = false;        // whether tp may exceed kv_heads, with replicated K/V weights
  // The vocabulary is padded to a multiple of vocab_multiple * tp. 0: it is not padded, and tp must
  // divide it.
  int32_t vocab_multiple = 0;
  KernelSupport kernels;

  friend bool operator==(const Supports&, const Supports&) = default;
};

struct FrameworkProfile {
  std::string name;
  std::vector<std::string> aliases;  // the framework's names in measurement files
  // Texts separated by "|". If there are any, the profile describes a version or a mode of a
  // framework that measurement files name only in their notes. The aliases then count only for rows
  // whose notes contain one of the texts. If several such profiles match a row, the one with the
  // longest matching text applies.
  std::string notes_contain;
  // Conditions on measured rows (planner/measurement/row_condition.h). This profile describes a row
  // for which one of them holds, whatever names the row has. If conditions of several profiles
  // hold, the profile with the most comparisons applies.
  std::vector<std::string> rows;
  // The profiles of one framework under the values of a run option
  // (planner/spec/run_option_table.h): pairs of an option's value and a profile's name, such as
  // "compile=off" and "torchtitan-eager". The pair with this profile's own name tells the value
  // that this profile describes.
  std::vector<std::pair<std::string, std::string>> variants;
  Engine engine = Engine::kFramework;

  ModelStates states;
  KeptActivations kept;
  OperatorTraffic traffic;
  Communication communication;
  Supports supports;

  Calibration calibration;
  // Pairs of a field's name and the source of its value.
  std::vector<std::pair<std::string, std::string>> sources;

  AttentionKernel AttentionOf(const Layout& layout) const {
    if (layout.attention == AttentionKernel::kDefault) return supports.attention;
    return layout.attention == AttentionKernel::kSdpa ? supports.sdpa_attention : layout.attention;
  }
  NormKernel NormOf(const Layout& layout) const {
    return layout.norm == NormKernel::kDefault ? supports.norm : layout.norm;
  }
  bool KeepsGatheredInputs(const Layout& layout) const {
    return kept.gathered_inputs == GatheredInputs::kAlways ||
           (kept.gathered_inputs == GatheredInputs::kWithoutPipeline && layout.pp == 1);
  }
  // Returns whether gradients are accumulated layer by layer: a layer's gradients are reduced once
  // for all micro-batches, and ZeRO-3 gathers a layer once per pass.
  bool AccumulatesByLayer(const Layout& layout) const {
    return supports.layered_accumulation && layout.schedule == ScheduleKind::kBreadthFirst;
  }
  // Returns whether Communication::reduces_interleaved_groups applies to the layout.
  bool ReducesGroups(const Layout& layout) const {
    return communication.reduces_interleaved_groups && layout.zero == 2 &&
           layout.schedule == ScheduleKind::kInterleaved;
  }

  friend bool operator==(const FrameworkProfile&, const FrameworkProfile&) = default;
};

// Returns InvalidArgument if a field is out of range. The message names the field, its value and
// what is accepted.
absl::Status Validate(const FrameworkProfile& profile);

}  // namespace meshwright::planner
