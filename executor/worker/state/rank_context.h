// Everything that the parts of one rank share. Made once per trial and passed by reference; there
// is no other state, so ranks may be processes or threads.
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

// Places in the group of a lane.
inline constexpr int32_t kLaneSender = 0;
inline constexpr int32_t kLaneReceiver = 1;

// What moves between the stages of a pipeline, activations or gradients: the rank's lanes of that
// kind (planner/schedule/messages.h). Each is a group of its two ranks. A rank's messages in a
// group may be carried out one after the other, so in a larger one a receive would stand behind an
// earlier send until the rank on the other side takes that.
struct PipelineChannel {
  // Null where no stage of the rank has a neighbour there.
  struct Lanes {
    std::unique_ptr<Communicator> outgoing;
    std::unique_ptr<Communicator> incoming;
  };
  Lanes up;  // towards higher ranks
  Lanes down;

  Lanes& Towards(bool higher_rank) { return higher_rank ? up : down; }
};

// The replicas of parameters as one of them sees them, in two directions: with some it divides the
// states and each has a shard; others have the same shard, and their gradients of it are summed.
// Without ZeRO all are copies of the whole, with it all divide, and under HSDP there are both. Null
// where the rank is the only one.
struct Replicas {
  Communicator* shards = nullptr;
  Communicator* copies = nullptr;
};

// The groups that a rank is part of (planner/schedule/open_groups.h); null where the group would be
// the rank alone, or unused.
struct RankGroups {
  std::unique_ptr<Communicator> world;
  std::unique_ptr<Communicator> tp;
  std::unique_ptr<Communicator> cp;
  // The holders of the same dense parameters.
  std::unique_ptr<Communicator> shards;
  std::unique_ptr<Communicator> copies;
  // The ranks that hold other experts, those that hold other parts of the same, and those that hold
  // the same parts.
  std::unique_ptr<Communicator> ep;
  std::unique_ptr<Communicator> etp;
  std::unique_ptr<Communicator> expert_replicas;
  // The pipeline's activations and their gradients.
  PipelineChannel activations;
  PipelineChannel gradients;
  // The holders of the model's first and last stage, which have copies of tied embeddings, where
  // they are two ranks.
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
  // Of what the layout offloads.
  HostMemory host_memory;
  PhaseClock clock;
  StepRecorder recorder{clock};
  RankGroups groups;
  ExpertTraffic expert_traffic;
  SelectionBiases selection_biases;

  // Of experts' parameters; ZeRO divides their states among all of them.
  Replicas expert_replicas() const {
    Communicator* replicas = groups.expert_replicas.get();
    return layout.zero == 0 ? Replicas{.copies = replicas} : Replicas{.shards = replicas};
  }

  // Among those that hold other parts of the same experts.
  int32_t expert_tensor_rank() const { return groups.etp == nullptr ? 0 : groups.etp->rank(); }

  int64_t micro_batches() const { return layout.MicroBatches(training.global_batch); }
  // Of one sequence on this rank.
  int64_t local_seq_len() const { return training.seq_len / layout.cp; }
  // Tokens of one micro-batch on this rank.
  int64_t tokens() const { return layout.micro_batch * local_seq_len(); }
  // Those whose residual stream this rank holds: 1/t of them with sequence parallel.
  int64_t stream_tokens() const { return tokens() / (layout.sequence_parallel ? layout.tp : 1); }
  // Whether products of blocks have narrower factors (planner/spec/quantisation.h).
  bool narrows_products() const { return training.quantisation().narrows(); }
  kernels::ElementType element() const;
  // Dtype of weights and activations.
  at::ScalarType dtype() const;
  // Dtype of statistics, gradients of weights, optimizer states and the RoPE table.
  at::ScalarType accumulator_dtype() const;
  kernels::ElementType accumulator_element() const;
  at::TensorOptions options() const { return options_of(dtype()); }
  at::TensorOptions options_of(at::ScalarType type) const {
    return at::TensorOptions().dtype(type).device(device->torch_device());
  }
};

// Connects to the groups of `context.rank`; `context.device` and `context.coordinates` are set.
// What the groups do is recorded in the context. All ranks of the run call it. `timeout` bounds
// every operation.
void ConnectGroups(RankContext& context, const c10::intrusive_ptr<c10d::Store>& store,
                   std::chrono::milliseconds timeout);

// The same over communicators of any other kind: `connect_group` makes that of the rank in a group
// that it is part of.
using ConnectGroup = std::function<std::unique_ptr<Communicator>(const GroupSpec& group)>;
void ConnectGroupsWith(RankContext& context, const ConnectGroup& connect_group,
                       std::chrono::milliseconds timeout);

// Ends all groups in order, when all ranks of the run have come here: the last to be connected
// first. Throws CommunicationError where a rank is gone or doesn't come in time.
void CloseGroups(RankContext& context);

}  // namespace meshwright::worker
