// The parameters of one unit (a layer, the embedding, the head) in flat buffers: weights,
// gradients and the optimizer's states, the latter two in the accumulator dtype. The tensors that
// operators see are views of them.
//
// Its replicas, the ranks that hold the same parameters, share the unit as the ZeRO stage says
// (arXiv 1910.02054), under HSDP inside groups of them that are copies of each other. Who they are
// is the unit's own: whoever reduces, gathers or counts it asks the unit. The buffers are cut into
// equal shards, one for each rank that divides them (planner/worker_memory/unit_shards.h):
//
//                     stage 0   1                  2              3
//   states            whole     own shard          own shard      own shard
//   gradients         whole     whole              own shard      own shard
//   weights           whole     whole              whole          own shard
//
// What is not held whole is whole for a while: gradients of matrices while a bucket is open,
// weights while they are gathered. Gradients of vectors are small, come at other times than those
// of matrices, and are always whole.
//
// A matrix's gradient is never zeroed: the first micro-batch's is written, others are added to it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "executor/worker/comm/communicator.h"
#include "executor/worker/state/matrix_gradient.h"
#include "executor/worker/state/parameter_map.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

struct AdamWOptions {
  double learning_rate = 3e-4;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  double weight_decay = 0.1;  // of matrices and routers; norms and biases are not decayed
};

// Of matrices that an optimizer orthogonalises (Optimizer::orthogonalises()), with AdamWOptions'
// learning rate and decay.
struct MuonOptions {
  double momentum = 0.95;
};

// Elements of a unit.
struct ElementRange {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t count() const { return end - begin; }
};

class FlatUnit {
 public:
  // Weights get their initial values, gradients and moments are zero. Holds, of what the stage
  // gives it, per parameter the weight, and in the accumulator dtype a gradient, two moments (of
  // orthogonalised matrices one) and, beside bf16 weights, a master copy. The communicators of
  // `replicas` outlive it; none where this rank alone has the parameters.
  FlatUnit(RankContext& context, ParameterUnit parameters, const Replicas& replicas);

  const ParameterUnit& parameters() const { return parameters_; }
  int64_t elements() const { return elements_; }
  int64_t padded_elements() const { return padded_elements_; }

  // Whether it is a layer's experts.
  bool of_experts() const { return !parameters_.empty() && parameters_.front().of_experts; }

  // The ranks that hold the same parameters.
  const Replicas& replicas() const { return replicas_; }
  // The ZeRO stage in effect: 0 where there are no shards.
  int32_t zero() const { return zero_; }

  // The rank's stages that compute with the unit: two have tied embeddings as their table.
  void AddUser() { ++users_; }
  int32_t users() const { return users_; }

  // Local parameter `index` in the weights' dtype: [rows, columns] of a matrix, one dimension of a
  // norm or a bias. Only while the weights are whole. Undefined for kNowhere, and so is its
  // gradient.
  const at::Tensor& weight(size_t index) const;
  // Its gradient, in the accumulator dtype; of a matrix only while gradients are open, and when
  // something was added.
  const at::Tensor& gradient(size_t index) const;
  // That of a matrix, for a micro-batch's part that the caller is about to add, while gradients are
  // open. Empty only the first time since ClearGradients() or OpenGradients().
  MatrixGradient TakeMatrixGradient(size_t index);
  // Those of what every TP rank holds to read the residual stream with, routers and norms, dense;
  // empty where there are none.
  at::Tensor stream_gradients() const {
    return vector_gradients_.narrow(0, 0, router_elements_ + partial_elements_);
  }
  // Of these, those of norms of heads.
  at::Tensor head_norm_gradients() const {
    return vector_gradients_.narrow(0, router_elements_ + partial_elements_ - head_norm_elements_,
                                    head_norm_elements_);
  }
  // Of matrices those that every TP rank holds whole, dense, while gradients are open; empty where
  // there are none.
  at::Tensor whole_matrix_gradients() const {
    return gradients_.narrow(0, matrix_elements_ - whole_matrix_elements_, whole_matrix_elements_);
  }
  // What this rank updates: its shard, or everything, dense.
  const at::Tensor& own_gradients() const { return own_gradients_; }
  // The same in dense pieces without padding; parameters that every TP rank holds whole, or of
  // experts every rank of their tensor parallel, are among them if `with_replicated`.
  std::vector<at::Tensor> DistinctGradients(bool with_replicated) const;

  // Forgets the last step's gradients. The next one adds to every matrix's at least once.
  void ClearGradients();
  // Makes room for the gradients of matrices where the unit does not hold them.
  void OpenGradients();
  bool gradients_open() const { return gradients_.defined(); }
  // All gradients since OpenGradients(), of padded_elements(), for a reduction: every matrix's, to
  // which something was added. The vectors', which are those of the whole step, are among them if
  // `with_vectors`, else zero. Where the unit does not hold whole gradients they are the caller's
  // from then on.
  at::Tensor CloseGradients(bool with_vectors);
  // This rank's part of a buffer of padded_elements().
  at::Tensor OwnPart(const at::Tensor& flat) const;
  // Adds a reduced part to the shard, where CloseGradients() gave the buffer away.
  void AddToOwnGradients(const at::Tensor& part);

  // The first elements, those of the matrices that the optimizer orthogonalises.
  int64_t orthogonal_elements() const { return orthogonal_elements_; }
  // Those of a range that shard `shard` has; empty where it has none.
  ElementRange PartOnShard(const ElementRange& range, int64_t shard) const;
  int64_t shard_elements() const { return shard_elements_; }
  // Adds own gradients to their momentum, and writes what Nesterov's rule makes of both. `part` is
  // this rank's, `directions` has as many elements, `scratch`, in the accumulator dtype, any
  // number.
  void UpdateMomentum(const ElementRange& part, const MuonOptions& options,
                      const at::Tensor& directions, const at::Tensor& scratch);
  // Steps from decayed weights along `directions`, `scale` learning rates long.
  void UpdateAlong(const ElementRange& part, const at::Tensor& directions, double scale,
                   const AdamWOptions& options, const at::Tensor& scratch);

  // One AdamW update of what this rank owns but orthogonalised matrices; `step` counts from 1.
  // Offloaded states are updated on the host: own gradients go there, own weights come back.
  void Update(RankContext& context, const AdamWOptions& options, int64_t step);
  // Makes the weights whole from all shards: when the operation is over, until
  // ReleaseWeights() where the unit does not hold them. Nothing where there are no shards.
  Pending GatherWeights();
  void ReleaseWeights();

 private:
  // Where a range of the unit's elements lies in what this rank owns, as far as it does.
  struct OwnRange {
    int64_t begin = 0;
    int64_t count = 0;  // not positive where it doesn't
  };

  // What the device keeps of the optimizer's states, or the host where they are offloaded: zeros.
  at::Tensor NewState(RankContext& context, int64_t elements) const;
  // Of the own elements.
  void UpdateWith(const kernels::Kernels& kernels, kernels::ElementType type,
                  const AdamWOptions& options, int64_t step, const at::Tensor& gradients,
                  const at::Tensor& weights) const;
  void AllocateWeights(const at::TensorOptions& options);
  void AllocateGradients(const at::TensorOptions& options);
  // The whole gradients of vectors, and what pads them.
  void ZeroBehindMatrices();
  void EmptyMatrices();
  void Initialize(const RankContext& context);
  void ViewWeights();
  OwnRange OwnRangeOf(int64_t begin, int64_t end) const;

  ParameterUnit parameters_;
  const Replicas replicas_;
  const int32_t zero_;
  const int64_t elements_;
  const int64_t matrix_elements_;        // they come first
  const int64_t whole_matrix_elements_;  // the last of them
  const int64_t orthogonal_elements_;    // with routers, of a unit that has any
  const int64_t replicated_elements_;    // they come next
  const int64_t router_elements_;        // the first of these
  const int64_t partial_elements_;       // the next
  const int64_t head_norm_elements_;     // the last of them
  const int64_t shard_elements_;
  const int64_t padded_elements_;
  const int64_t own_begin_;
  const bool keeps_weights_;  // whole
  const bool keeps_gradients_;
  const bool states_on_host_;
  int32_t users_ = 0;
  at::Tensor weights_;  // undefined while they are not whole
  at::Tensor own_weights_;
  at::Tensor gradients_;  // undefined while closed
  at::Tensor own_gradients_;
  at::Tensor vector_gradients_;
  at::Tensor first_moment_;   // of the own part, as the master copy
  at::Tensor second_moment_;  // of the last elements of that, those that may need one on any rank
  at::Tensor master_;         // undefined where the weights have the accumulator dtype
  std::vector<at::Tensor> weight_views_;
  std::vector<at::Tensor> matrix_gradient_views_;
  std::vector<bool> matrix_is_empty_;  // while gradients are open
  bool own_is_empty_ = false;          // the shard, where CloseGradients() gives buffers away
  std::vector<at::Tensor> vector_gradient_views_;
};

}  // namespace meshwright::worker
