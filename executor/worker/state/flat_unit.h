// FlatUnit holds the parameters of one unit (a layer, the embedding, the head) in flat buffers:
// weights, gradients and optimizer states. Gradients and states have the accumulator dtype. The
// tensors that operators see are views of the buffers.
//
// A unit's replicas() are the ranks that hold the same parameters. They divide the buffers
// according to the ZeRO stage (arXiv 1910.02054). Under HSDP, each group of replicas divides the
// buffers, and the groups are copies of each other. A divided buffer is cut into equal shards, one
// per rank (planner/worker_memory/unit_shards.h):
//
//                     stage 0   1                  2              3
//   states            whole     own shard          own shard      own shard
//   gradients         whole     whole              own shard      own shard
//   weights           whole     whole              whole          own shard
//
// A sharded buffer is temporarily whole: gradients of matrices while they are open
// (OpenGradients()), weights while they are gathered. Gradients of vectors are always whole, since
// they are small and are computed at other times than gradients of matrices.
//
// A matrix's gradient is never zeroed: the first micro-batch overwrites it, and later ones add to
// it.
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

// Options for matrices that an optimizer orthogonalises (Optimizer::orthogonalises()). The learning
// rate and the decay are those of AdamWOptions.
struct MuonOptions {
  double momentum = 0.95;
};

// A range of a unit's elements.
struct ElementRange {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t count() const { return end - begin; }
};

class FlatUnit {
 public:
  // Initialises the weights and zeroes gradients and moments. Per parameter a unit holds the weight
  // and, in the accumulator dtype, a gradient, two moments (one for orthogonalised matrices) and,
  // if weights are bf16, a master copy; ZeRO leaves a rank only its shards of these. `replicas` is
  // empty if this rank alone has the parameters. REQUIRES: the communicators of `replicas` outlive
  // this object.
  FlatUnit(RankContext& context, ParameterUnit parameters, const Replicas& replicas);

  const ParameterUnit& parameters() const { return parameters_; }
  int64_t elements() const { return elements_; }
  int64_t padded_elements() const { return padded_elements_; }

  // Returns whether the unit holds a layer's experts.
  bool of_experts() const { return !parameters_.empty() && parameters_.front().of_experts; }

  // Returns the communicators of the ranks that hold the same parameters.
  const Replicas& replicas() const { return replicas_; }
  // Returns the ZeRO stage in effect; 0 if there are no shards.
  int32_t zero() const { return zero_; }

  // AddUser() counts one more stage of the rank that computes with the unit. Tied embeddings may
  // have two users.
  void AddUser() { ++users_; }
  int32_t users() const { return users_; }

  // Returns parameter `index` of the unit in the weights' dtype: [rows, columns] for a matrix, and
  // one dimension for a norm or bias. The tensor is valid only while the weights are whole, and
  // undefined for kNowhere.
  const at::Tensor& weight(size_t index) const;
  // Returns the gradient of parameter `index` in the accumulator dtype, or an undefined tensor for
  // kNowhere. The gradient of a matrix is valid only while gradients are open and after a
  // micro-batch's gradient was added to it.
  const at::Tensor& gradient(size_t index) const;
  // Returns a matrix's gradient, to which the caller must add a micro-batch's gradient. The
  // gradient is `empty` only in the first call after ClearGradients() or OpenGradients(). REQUIRES:
  // gradients are open.
  MatrixGradient TakeMatrixGradient(size_t index);
  // Returns the gradients of routers, of routers' biases and of norms, all of which every TP rank
  // holds whole. The tensor is dense, and has no elements if there are no such parameters.
  at::Tensor stream_gradients() const {
    return vector_gradients_.narrow(0, 0, router_elements_ + partial_elements_);
  }
  // Returns the part of stream_gradients() that belongs to norms of heads.
  at::Tensor head_norm_gradients() const {
    return vector_gradients_.narrow(0, router_elements_ + partial_elements_ - head_norm_elements_,
                                    head_norm_elements_);
  }
  // Returns the gradients of the matrices that every TP rank holds whole. The tensor is dense, and
  // has no elements if there are no such matrices. REQUIRES: gradients are open.
  at::Tensor whole_matrix_gradients() const {
    return gradients_.narrow(0, matrix_elements_ - whole_matrix_elements_, whole_matrix_elements_);
  }
  // Returns the gradients of the elements that this rank updates, as a dense tensor. These are its
  // shard, or all elements if there are no shards.
  const at::Tensor& own_gradients() const { return own_gradients_; }
  // Returns own_gradients() as dense pieces without padding. Parameters that every TP rank (for
  // experts, every rank of expert tensor parallelism) holds whole are included only if
  // `with_replicated`.
  std::vector<at::Tensor> DistinctGradients(bool with_replicated) const;

  // Clears the last step's gradients. The next step must add to every matrix's gradient at least
  // once.
  void ClearGradients();
  // Allocates the gradients of matrices if the unit does not keep them.
  void OpenGradients();
  bool gradients_open() const { return gradients_.defined(); }
  // Returns all gradients since OpenGradients(), padded_elements() elements, for a reduction. If
  // the unit does not keep whole gradients, the caller owns the buffer from now on. The gradients
  // of vectors in the buffer are then the whole step's if `with_vectors`, and otherwise zero.
  // REQUIRES: a micro-batch's gradient was added to every matrix's gradient.
  at::Tensor CloseGradients(bool with_vectors);
  // Returns this rank's part of a buffer of padded_elements().
  at::Tensor OwnPart(const at::Tensor& flat) const;
  // Adds `part`, this rank's part of reduced gradients, to the shard. Used if CloseGradients() gave
  // the buffer away.
  void AddToOwnGradients(const at::Tensor& part);

  // Returns the number of elements of matrices that the optimizer orthogonalises; they come first.
  int64_t orthogonal_elements() const { return orthogonal_elements_; }
  // Returns the intersection of `range` with shard `shard`, which may be empty.
  ElementRange PartOnShard(const ElementRange& range, int64_t shard) const;
  int64_t shard_elements() const { return shard_elements_; }
  // Adds the gradients of `part` to their momentum, and writes the Nesterov direction, which
  // combines gradient and momentum, to `directions`. `part` is a range of this rank's elements, and
  // `directions` has as many elements. `scratch` has the accumulator dtype and any size.
  void UpdateMomentum(const ElementRange& part, const MuonOptions& options,
                      const at::Tensor& directions, const at::Tensor& scratch);
  // Decays the weights of `part`, then moves them along `directions` by `scale` times the learning
  // rate.
  void UpdateAlong(const ElementRange& part, const at::Tensor& directions, double scale,
                   const AdamWOptions& options, const at::Tensor& scratch);

  // Does one AdamW update of this rank's elements, except for orthogonalised matrices. `step`
  // counts from 1. Offloaded states are updated on the host: this rank's gradients are copied to
  // the host, and its weights are copied back.
  void Update(RankContext& context, const AdamWOptions& options, int64_t step);
  // Gathers the weights from all shards. If the unit does not keep whole weights, they are whole
  // from the end of the operation until ReleaseWeights(). Does nothing if there are no shards.
  Pending GatherWeights();
  void ReleaseWeights();

 private:
  // The part of a range of the unit's elements that this rank owns.
  struct OwnRange {
    int64_t begin = 0;
    int64_t count = 0;  // zero or negative if it owns none
  };

  // Allocates zeroed optimizer states on the device, or on the host if they are offloaded.
  at::Tensor NewState(RankContext& context, int64_t elements) const;
  // Runs the AdamW update on the own elements.
  void UpdateWith(const kernels::Kernels& kernels, kernels::ElementType type,
                  const AdamWOptions& options, int64_t step, const at::Tensor& gradients,
                  const at::Tensor& weights) const;
  void AllocateWeights(const at::TensorOptions& options);
  void AllocateGradients(const at::TensorOptions& options);
  // Zeroes the whole gradients of vectors, and the padding.
  void ZeroBehindMatrices();
  void EmptyMatrices();
  void Initialize(const RankContext& context);
  void ViewWeights();
  OwnRange OwnRangeOf(int64_t begin, int64_t end) const;

  ParameterUnit parameters_;
  const Replicas replicas_;
  const int32_t zero_;
  const int64_t elements_;
  const int64_t matrix_elements_;        // matrices come first
  const int64_t whole_matrix_elements_;  // the last matrices
  // The first matrices; includes routers in a unit that has any.
  const int64_t orthogonal_elements_;
  const int64_t replicated_elements_;  // these follow the matrices
  const int64_t router_elements_;      // the first replicated ones
  const int64_t partial_elements_;     // follow the routers
  const int64_t head_norm_elements_;   // the last partial ones
  const int64_t shard_elements_;
  const int64_t padded_elements_;
  const int64_t own_begin_;
  const bool keeps_weights_;  // whether the unit always holds whole weights
  const bool keeps_gradients_;
  const bool states_on_host_;
  int32_t users_ = 0;
  at::Tensor weights_;  // undefined while not whole
  at::Tensor own_weights_;
  at::Tensor gradients_;  // undefined while closed
  at::Tensor own_gradients_;
  at::Tensor vector_gradients_;
  at::Tensor first_moment_;  // of the own part, like the master copy
  // For the last elements of the own part. All ranks allocate the same number, the largest that any
  // rank needs.
  at::Tensor second_moment_;
  at::Tensor master_;  // undefined if weights have the accumulator dtype
  std::vector<at::Tensor> weight_views_;
  std::vector<at::Tensor> matrix_gradient_views_;
  std::vector<bool> matrix_is_empty_;  // valid while gradients are open
  // If true, the shard has no gradients yet; used if CloseGradients() gives buffers away.
  bool own_is_empty_ = false;
  std::vector<at::Tensor> vector_gradient_views_;
};

}  // namespace meshwright::worker
