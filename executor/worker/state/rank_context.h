// RankContext holds everything that the parts of one rank share. It is created once per trial and
// passed by reference. Since there is no global state, ranks may be processes or threads.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "executor/worker/comm/communicator.h"
#include "executor/worker/comm/coordinates.h"
#include "executor/worker/comm/device.h"
#include "executor/worker/comm/host_memory.h"
#include "executor/worker/observe/expert_traffic.h"
#include "executor/worker/observe/phase_clock.h"
#include "executor/worker/observe/step_recorder.h"
#include "executor/worker/state/selection_biases.h"
#include "planner/layout/layout.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::worker {

// Indices in a lane's group.
inline constexpr int32_t kLaneSender = 0;
inline constexpr int32_t kLaneReceiver = 1;

// The rank's lanes (planner/schedule/messages.h) for one kind of tensor between pipeline stages:
// activations or gradients. Each lane is a group of two ranks, since a rank's messages in a group
// may be executed one after the other: in a larger group, a receive could queue behind an earlier
// send to a third rank until that rank receives.
struct PipelineChannel {
  // The rank's two lanes in one direction. A lane is null if no stage of the rank has a neighbour
  // there.
  struct Lanes {
    std::unique_ptr<Communicator> outgoing;
    std::unique_ptr<Communicator> incoming;
  };
  Lanes up;  // towards higher ranks
  Lanes down;

  Lanes& Towards(bool higher_rank) { return higher_rank ? up : down; }
};

// The replicas of parameters, seen from one rank. Each rank of `shards` holds one shard of the
// optimizer states. All ranks of `copies` hold the same shard, and gradients are summed over these
// ranks. Without ZeRO, all replicas are copies; with ZeRO, all are shards; under HSDP there are
// both. A group is null if it would have only this rank.
struct Replicas {
  Communicator* shards = nullptr;
  Communicator* copies = nullptr;
};

// The rank's groups (planner/schedule/open_groups.h). A group is null if it would have only this
// rank, or if it is unused.
struct RankGroups {
  std::unique_ptr<Communicator> world;
  std::unique_ptr<Communicator> tp;
  std::unique_ptr<Communicator> cp;
  // Replicas of the dense parameters (see Replicas).
  std::unique_ptr<Communicator> shards;
  std::unique_ptr<Communicator> copies;
  // Ranks that hold different experts.
  std::unique_ptr<Communicator> ep;
  // Ranks that divide the same experts' matrices.
  std::unique_ptr<Communicator> etp;
  // Replicas of this rank's part of its experts.
  std::unique_ptr<Communicator> expert_replicas;
  // The pipeline's activations and their gradients.
  PipelineChannel activations;
  PipelineChannel gradients;
  // Holders of the model's first and last stages, each of which has a copy of tied embeddings. Null
  // if one rank holds both stages.
  std::unique_ptr<Communicator> tied_embeddings;

  Replicas replicas() const { return {.shards = shards.get(), .copies = copies.get()}; }
};

struct RankContext {
  planner::ModelSpec model;
  planner::Layout layout;
  planner::TrainingSpec training;
  uint64_t seed = 0;
  int32_t rank = 0;
  RankCoordinates coordinates;
  std::unique_ptr<Device> device;
  // Holds the tensors that the layout offloads.
  HostMemory host_memory;
  PhaseClock clock;
  StepRecorder recorder{clock};
  RankGroups groups;
  ExpertTraffic expert_traffic;
  SelectionBiases selection_biases;

  // Returns the replicas of the experts' parameters; ZeRO divides the states among all of them.
  Replicas expert_replicas() const {
    Communicator* replicas = groups.expert_replicas.get();
    return layout.zero == 0 ? Replicas{.copies = replicas} : Replicas{.shards = replicas};
  }

  // Returns this rank's index in the etp group, whose ranks divide the same experts' matrices.
  int32_t expert_tensor_rank() const { return groups.etp == nullptr ? 0 : groups.etp->rank(); }

  int64_t micro_batches() const { return layout.MicroBatches(training.global_batch); }
  // Returns the number of tokens of one sequence on this rank.
  int64_t local_seq_len() const { return training.seq_len / layout.cp; }
  // Returns the number of tokens of one micro-batch on this rank.
  int64_t tokens() const { return layout.micro_batch * local_seq_len(); }
  // Returns the number of tokens whose residual stream this rank holds: tokens(), or tokens() / tp
  // with sequence parallelism.
  int64_t stream_tokens() const { return tokens() / (layout.sequence_parallel ? layout.tp : 1); }
  // Returns whether the operands of the blocks' matrix products are quantised
  // (planner/spec/quantisation.h).
  bool narrows_products() const { return training.quantisation().narrows(); }
  kernels::ElementType element() const;
  // Returns the dtype of weights and activations.
  at::ScalarType dtype() const;
  // Returns the dtype of statistics, weight gradients, optimizer states and the RoPE table.
  at::ScalarType accumulator_dtype() const;
  kernels::ElementType accumulator_element() const;
  at::TensorOptions options() const { return options_of(dtype()); }
  at::TensorOptions options_of(at::ScalarType type) const {
    return at::TensorOptions().dtype(type).device(device->torch_device());
  }
};

// Connects to the groups of `context.rank`, whose operations the context's recorder then records.
// All ranks of the run must call ConnectGroups(). `timeout` bounds every operation. REQUIRES:
// `context.device` and `context.coordinates` are set.
void ConnectGroups(RankContext& context, const c10::intrusive_ptr<c10d::Store>& store,
                   std::chrono::milliseconds timeout);

// Returns the rank's communicator in `group`, of which it is a member.
using ConnectGroup = std::function<std::unique_ptr<Communicator>(const GroupSpec& group)>;
// Connects like ConnectGroups(), with the communicators that `connect_group` returns.
void ConnectGroupsWith(RankContext& context, const ConnectGroup& connect_group,
                       std::chrono::milliseconds timeout);

// Waits for all ranks of the run, then closes all groups in reverse order of connection. Throws
// CommunicationError if a rank is lost or late.
void CloseGroups(RankContext& context);

}  // namespace meshwright::worker
