// What differs between training frameworks: bytes per parameter, what is kept, what overlaps, what
// exists.
//
// Profiles are data files (planner/data/profiles); every field there has its source beside it. The
// files are flat: their keys are the members' names, whichever struct holds them, and every default
// here is the value of a file that does not have the key.
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

// Whether the input of a column-parallel product is kept un-sharded under sequence parallel.
enum class GatheredInputs : uint8_t { kNever, kWithoutPipeline, kAlways };

// What selective recompute runs again: the core of attention, for the sake of the score matrix
// (Korthikanti et al., arXiv 2205.05198), or norms and the FFN's activation.
enum class SelectiveRecompute : uint8_t { kCoreAttention, kNormsAndActivation };

// Which rank's peak a framework's memory figure is about, and what counts towards it.
enum class PeakRank : uint8_t { kFullest, kFirst, kLast };
enum class PeakKind : uint8_t { kAllocated, kReserved };

// Whose memory rules and kernels a profile is about.
enum class Engine : uint8_t {
  // A framework that is known by its published runs: the profile's figures alone.
  kFramework,
  // Meshwright's own worker: activations, loss and workspace follow its allocations to the byte
  // (planner/memory/worker_memory.h) where those rules cover the layout.
  kWorker,
};

// Bytes of weights, gradients and optimizer per parameter under bf16 training.
struct ModelStates {
  int32_t gradient_bytes = 4;        // main gradients
  int32_t optimizer_bytes = 12;      // of AdamW: fp32 master weights and two moments
  int32_t local_gradient_bytes = 0;  // a second copy of the gradients, as backward writes them
  int32_t shard_buffer_bytes = 0;    // beside the optimizer's states, sharded like them
  int32_t zero3_state_bytes = 18;    // weights, gradients and optimizer under ZeRO-3 (FSDP)
  // Held during the optimizer step only, per parameter of the rank: un-scaled or gathered copies.
  double step_bytes_per_parameter = 0.0;

  friend bool operator==(const ModelStates&, const ModelStates&) = default;
};

// What a rank keeps and works in beside the model states, and how the peak that follows compares
// with the device's memory.
struct KeptActivations {
  bool vocab_parallel_loss = true;       // logits stay divided over TP
  double loss_peak_bytes_per_logit = 8;  // at the peak of the loss
  double loss_kept_bytes_per_logit = 4;  // of a micro-batch whose backward waits
  GatheredInputs gathered_inputs = GatheredInputs::kNever;
  SelectiveRecompute selective_recompute = SelectiveRecompute::kCoreAttention;
  bool fused_swiglu = true;  // silu(gate) is not kept on its own
  // What the norm of query and key heads reads is kept beside what it makes, which is otherwise
  // computed again from it.
  bool keeps_head_norm_input = true;
  // Beyond the tensors that every framework keeps, per token and hidden element: what an un-fused
  // norm adds (both norms of a layer together), and dropout masks, biases and copies.
  double eager_norm_bytes = 8.0;
  double extra_kept_bytes = 0.0;
  // Kept per element of the score matrix where attention writes it out.
  double fused_softmax_bytes = 2.0;
  double eager_attention_bytes = 6.0;
  // What a layer works in beyond what it keeps, per token and hidden or FFN element, and per
  // element of the score matrix.
  double hidden_work_bytes = 4.0;
  double ffn_work_bytes = 6.0;
  double score_work_bytes = 4.0;
  int64_t fixed_bytes = 0;  // of the allocator whatever the layout: library workspaces, tables

  // What a measured peak of this framework means.
  PeakRank peak_rank = PeakRank::kFullest;
  PeakKind peak_kind = PeakKind::kAllocated;
  // Reserved but unused by the caching allocator where micro-batches overlap, a share of what they
  // keep; and how much slower that makes them: by the slope for what lies above `pressure_from` of
  // the device.
  double fragmentation = 0.0;
  double pressure_from = 0.7;
  double pressure_slope = 0.0;

  // P(out of memory) is 1/2 where the estimate fills `oom_center` of the device; `oom_width` is the
  // distance over which it rises (planner/memory/oom_probability.h).
  double oom_center = 0.93;
  double oom_width = 0.04;

  friend bool operator==(const KeptActivations&, const KeptActivations&) = default;
};

// How fast operators run beside what the device reaches, and what the host adds to a step.
struct OperatorTraffic {
  // Share of the device's matmul rate that this framework's products reach: split projections,
  // copies around them, products that a collective runs beside.
  double matmul_share = 1.0;
  // Traffic of operators that frameworks fuse or not, bytes per bf16 element: forward of an
  // un-fused norm (its backward 1.5 times that), a pass over the score matrix forward (the
  // backward 1.5 times), forward and backward of the loss per logit, RoPE each way.
  double eager_norm_traffic_bytes = 20.0;
  double fused_softmax_traffic_bytes = 8.0;
  double eager_attention_traffic_bytes = 20.0;
  double loss_traffic_bytes = 10.0;
  double rope_traffic_bytes = 4.0;
  // Per parameter and micro-batch, where adding up gradients is an operator of its own.
  double accumulate_traffic_bytes = 0.0;

  // Time of an operator below which the host can't launch the next one: products and streams of an
  // eager framework; 0 where that is a kernel's own launch.
  double operator_host_s = 0.0;
  // Time of a layer, forward and backward, below which the host can't launch its kernels (an eager
  // framework; 0 where graphs or fusion hide it), and what every step costs beside the layers:
  // optimizer launches, logging, data.
  double layer_floor_s = 0.0;
  double step_overhead_s = 0.0;
  // Spread of measured over predicted step times of this framework, as the standard deviation of
  // the logarithm; 0: the cluster's.
  double step_time_sigma = 0.0;

  friend bool operator==(const OperatorTraffic&, const OperatorTraffic&) = default;
};

struct Communication {
  // How ranks are numbered over the axes.
  MeshOrder mesh_order = kDefaultMeshOrder;
  // Share of the data-parallel part that hides behind compute, where there is enough of it: what
  // is left shows though it overlaps, as compute and collectives share memory and cores.
  double data_parallel_overlap = 0.0;
  // Into how many collectives a layer's gradients go, each with its own latency: all-reduced whole
  // (ZeRO-0), and reduced and gathered in shards (ZeRO-1). 0: one for all layers of a rank.
  double all_reduces_per_layer = 0.0;
  double shard_collectives_per_layer = 0.0;
  double reduce_bytes = 4.0;  // per gradient element on the wire
  // Bytes of an element of the gradients that ring attention passes on, under bf16 training.
  int32_t ring_gradient_bytes = 2;
  bool zero1_all_reduce = false;  // ZeRO-1 reduces whole gradients and then uses a shard of them
  // Share of the cluster's network between nodes that this framework's runs had, and the exponent
  // of what collectives over more nodes lose: bandwidth ~ (nodes / 2)^-contention.
  double network_share = 1.0;
  double network_contention = 0.0;
  // The least time of a step of a ring that leaves a node, on the network of this framework's runs
  // where that is slower than the cluster's; and whether all-reduces go over trees too.
  double network_step_s = 0.0;
  bool tree_all_reduce = true;
  // What the host adds to a step of a tensor-parallel ring and to a hop of the pipeline.
  double tp_hop_s = 0.0;
  double pipeline_hop_s = 0.0;

  friend bool operator==(const Communication&, const Communication&) = default;
};

// What the framework can run, and what it runs where nobody says.
struct Supports {
  StagePartition stage_partition = StagePartition::kEqual;
  // Kernels where a layout or a measurement does not name one, and the FFN and embeddings of models
  // whose source does not say.
  AttentionKernel attention = AttentionKernel::kFlash2;
  NormKernel norm = NormKernel::kFused;
  bool gated_mlp = true;
  bool tied_embeddings = false;

  int32_t max_zero = 3;
  bool has_sequence_parallel = true;
  bool has_context_parallel = true;
  bool has_interleaving = true;
  bool has_breadth_first = false;
  bool has_zb_h1 = false;
  bool has_zb_v = false;
  // Breadth-first reduces each layer's gradients as soon as its last micro-batch is done, and under
  // ZeRO-3 gathers each layer once per pass (layered gradient accumulation, arXiv 2106.02679).
  bool layered_accumulation = false;
  bool has_recompute = true;
  bool has_block_recompute = true;
  bool tp_needs_sequence_parallel = false;
  int32_t min_zero = 0;  // where there are ranks to shard over, and other axes beside dp
  bool zero23_with_pipeline = false;  // ZeRO 2 and 3 together with pp > 1
  bool kv_replication = false;        // tp may exceed kv_heads, K/V weights being replicated
  // The vocabulary is padded to a multiple of this times tp; 0: tp must divide it.
  int32_t vocab_multiple = 0;
  KernelSupport kernels;

  friend bool operator==(const Supports&, const Supports&) = default;
};

struct FrameworkProfile {
  std::string name;
  std::vector<std::string> aliases;  // names of it in measurement files
  // Where not empty: the profile is an engine version, or a way to run one, that measurement files
  // name only in their notes, by any of these texts.
  std::vector<std::string> notes_contain;
  Engine engine = Engine::kFramework;

  ModelStates states;
  KeptActivations kept;
  OperatorTraffic traffic;
  Communication communication;
  Supports supports;

  Calibration calibration;
  // Field name and where its value comes from.
  std::vector<std::pair<std::string, std::string>> sources;

  AttentionKernel AttentionOf(const Layout& layout) const {
    return layout.attention == AttentionKernel::kDefault ? supports.attention : layout.attention;
  }
  NormKernel NormOf(const Layout& layout) const {
    return layout.norm == NormKernel::kDefault ? supports.norm : layout.norm;
  }
  bool KeepsGatheredInputs(const Layout& layout) const {
    return kept.gathered_inputs == GatheredInputs::kAlways ||
           (kept.gathered_inputs == GatheredInputs::kWithoutPipeline && layout.pp == 1);
  }

  friend bool operator==(const FrameworkProfile&, const FrameworkProfile&) = default;
};

// InvalidArgument naming the field, its value and what would be accepted.
absl::Status Validate(const FrameworkProfile& profile);

}  // namespace meshwright::planner
