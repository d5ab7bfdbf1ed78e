// An independent, plain implementation of the model on one rank with Torch's autograd, with which
// every layout of the worker must agree. Shares only the random numbers with the worker.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::worker {

struct ReferenceStep {
  double loss = 0.0;           // before the update
  double gradient_norm = 0.0;  // L2, over all parameters
};

class ReferenceModel {
 public:
  // Computes in fp64 where the training does, else in fp32, with narrowed factors in blocks'
  // products where the training narrows them.
  ReferenceModel(planner::ModelSpec model, planner::TrainingSpec training, uint64_t seed);

  // Returns the loss over the global batch of `step`; its gradients are then in gradient().
  double Loss(int64_t step);
  // Applies AdamW or Muon with the worker's options. Steps count from 0.
  void Update(int64_t step);
  // Runs the first `steps` steps, each with its update. `computed(step)` may be empty; it is called
  // when the step's gradients are there.
  std::vector<ReferenceStep> Train(int64_t steps,
                                   const std::function<void(int64_t)>& computed = nullptr);

  // By the names of executor/worker/state/parameter_map.h, in the model's shape.
  const at::Tensor& gradient(const std::string& name) const { return weights_.at(name).grad(); }
  double GradientNorm() const;
  // For a layer with experts, zeros where it has none: [experts], fp64.
  const at::Tensor& selection_bias(int64_t layer) const;
  const std::map<std::string, at::Tensor>& weights() const { return weights_; }

 private:
  void MoveSelectionBiases();
  bool Orthogonalises(const std::string& name) const;
  void Add(const std::string& name, const std::vector<int64_t>& shape, bool random);
  void AddLatentAttention(const std::string& prefix, const planner::Attention& attention);
  void AddStreamNorm(const std::string& name);
  at::Tensor StreamNorm(const at::Tensor& x, const std::string& name) const;
  at::Tensor Normed(const at::Tensor& x) const;
  at::Tensor Norm(const at::Tensor& x, const std::string& weight) const;
  at::Tensor Project(const at::Tensor& x, const std::string& name, const std::string& bias) const;
  at::Tensor Turn(const at::Tensor& whole_heads) const;
  at::Tensor Hidden(const planner::Attention& attention) const;
  at::Tensor Softmax(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const planner::Attention& attention, const std::string& prefix) const;
  at::Tensor AttendLatent(const at::Tensor& x, const planner::Attention& attention,
                          const std::string& prefix) const;
  at::Tensor Attend(const at::Tensor& x, const planner::Attention& attention,
                    const std::string& prefix) const;
  void AddExperts(const planner::Ffn& ffn, const std::string& prefix);
  at::Tensor PickedExperts(const at::Tensor& scores, const planner::Experts& experts) const;
  at::Tensor WithinCapacity(const at::Tensor& picked, const planner::Experts& experts) const;
  at::Tensor RouterLoss(const at::Tensor& logits, const at::Tensor& scores,
                        const at::Tensor& picked, const planner::Experts& experts) const;
  at::Tensor RunExpert(const at::Tensor& x, const planner::Ffn& ffn,
                       const std::string& expert) const;
  at::Tensor MixExperts(const at::Tensor& x, const planner::Ffn& ffn, const std::string& prefix);
  at::Tensor MixNarrowExperts(const at::Tensor& x, const at::Tensor& weights, int64_t count,
                              const std::string& prefix) const;
  at::Tensor FeedForward(const at::Tensor& x, const planner::Ffn& ffn,
                         const std::string& prefix) const;

  const planner::ModelSpec model_;
  const planner::TrainingSpec training_;
  const uint64_t seed_;
  const at::ScalarType dtype_;
  std::map<std::string, at::Tensor> weights_;
  std::map<std::string, std::pair<at::Tensor, at::Tensor>> moments_;
  std::vector<at::Tensor> router_losses_;  // of the step's layers
  // By layer prefix, for each expert: the bias, and how many tokens of the step selected it.
  std::map<std::string, at::Tensor> selection_biases_;
  std::map<std::string, at::Tensor> loads_;
};

}  // namespace meshwright::worker
