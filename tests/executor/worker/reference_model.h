// ReferenceModel is an independent, plain implementation of the model on one rank with Torch's
// autograd. Every layout of the worker must agree with it. It shares only the random numbers with
// the worker.
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
  // Computes in fp64 if the training does, and otherwise in fp32. Factors of the blocks' products
  // are quantised if the training quantises them.
  ReferenceModel(planner::ModelSpec model, planner::TrainingSpec training, uint64_t seed);

  // Returns the loss over the global batch of `step`. gradient() then returns the loss's gradients.
  double Loss(int64_t step);
  // Applies AdamW or Muon with the worker's options. Steps count from 0.
  void Update(int64_t step);
  // Runs the first `steps` steps, each with its update. Calls computed(step), which may be empty,
  // after the step's gradients were computed.
  std::vector<ReferenceStep> Train(int64_t steps,
                                   const std::function<void(int64_t)>& computed = nullptr);

  // Returns the gradient of the parameter with this name (executor/worker/state/parameter_map.h),
  // in the model's shape.
  const at::Tensor& gradient(const std::string& name) const { return weights_.at(name).grad(); }
  double GradientNorm() const;
  // Returns the selection biases [experts], in fp64, of a layer with experts, or zeros if the layer
  // has no selection biases.
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
  // By layer prefix: each expert's bias, and the number of the step's tokens that selected the
  // expert.
  std::map<std::string, at::Tensor> selection_biases_;
  std::map<std::string, at::Tensor> loads_;
};

}  // namespace meshwright::worker
