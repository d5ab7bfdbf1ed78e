#include "tests/executor/worker/reference_model.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/norm.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "executor/worker/comm/host_kernels.h"
#include "executor/worker/state/random.h"
#include "tests/executor/worker/reference_quantisation.h"

namespace meshwright::worker {

ReferenceModel::ReferenceModel(planner::ModelSpec model, planner::TrainingSpec training,
                               uint64_t seed)
    : model_(std::move(model)),
      training_(training),
      seed_(seed),
      dtype_(training.formats().activations == planner::NumberFormat::kFp64 ? at::kDouble
                                                                            : at::kFloat) {
  const int64_t hidden = model_.hidden;
  Add("embedding", {model_.vocab, hidden}, true);
  for (int64_t layer = 0; layer < model_.layers(); ++layer) {
    const std::string prefix = "layers." + std::to_string(layer) + ".";
    const planner::Attention& attention = model_.GroupOf(layer).attention;
    const int64_t queries = attention.heads * attention.head_dim;
    const int64_t keys = attention.kv_heads * attention.head_dim;
    const int64_t ffn = model_.GroupOf(layer).ffn.dense_hidden();
    if (attention.is_latent()) {
      AddLatentAttention(prefix, attention);
    } else {
      Add(prefix + "q", {queries, hidden}, true);
      Add(prefix + "k", {keys, hidden}, true);
      Add(prefix + "v", {keys, hidden}, true);
      Add(prefix + "o", {hidden, queries}, true);
    }
    if (ffn > 0) {
      if (model_.GroupOf(layer).ffn.gated()) Add(prefix + "gate", {ffn, hidden}, true);
      Add(prefix + "up", {ffn, hidden}, true);
      Add(prefix + "down", {hidden, ffn}, true);
    }
    AddExperts(model_.GroupOf(layer).ffn, prefix);
    AddStreamNorm(prefix + "attention_norm");
    AddStreamNorm(prefix + "ffn_norm");
    if (attention.qk_norm) {
      Add(prefix + "q_norm", {attention.head_dim}, false);
      Add(prefix + "k_norm", {attention.head_dim}, false);
    }
    if (attention.sinks) Add(prefix + "sinks", {attention.heads}, true);
    if (attention.output_bias) Add(prefix + "o_bias", {hidden}, false);
    const planner::Ffn& inner = model_.GroupOf(layer).ffn;
    if (ffn > 0 && inner.bias && inner.gated()) Add(prefix + "gate_bias", {ffn}, false);
    if (ffn > 0 && inner.bias) {
      Add(prefix + "up_bias", {ffn}, false);
      Add(prefix + "down_bias", {hidden}, false);
    }
    if (attention.qkv_bias) {
      Add(prefix + "q_bias", {queries}, false);
      Add(prefix + "k_bias", {keys}, false);
      Add(prefix + "v_bias", {keys}, false);
    }
  }
  AddStreamNorm("final_norm");
  if (!model_.tied_embeddings) Add("head", {model_.vocab, hidden}, true);
}

void ReferenceModel::AddLatentAttention(const std::string& prefix,
                                        const planner::Attention& attention) {
  const int64_t plain = attention.head_dim - attention.rotary_dim;
  Add(prefix + "q_down", {attention.query_rank, model_.hidden}, true);
  Add(prefix + "kv_down", {attention.kv_rank + attention.rotary_dim, model_.hidden}, true);
  Add(prefix + "q_latent_norm", {attention.query_rank}, false);
  Add(prefix + "kv_latent_norm", {attention.kv_rank}, false);
  Add(prefix + "q", {attention.heads * attention.head_dim, attention.query_rank}, true);
  Add(prefix + "kv", {attention.heads * (plain + attention.value_dim), attention.kv_rank}, true);
  Add(prefix + "o", {model_.hidden, attention.heads * attention.value_dim}, true);
}

void ReferenceModel::Add(const std::string& name, const std::vector<int64_t>& shape, bool random) {
  const bool bias = name.ends_with("bias");
  at::Tensor initial = at::full(shape, bias ? 0.0 : 1.0, at::kFloat);
  if (random) {
    HostKernels().Run(
        kernels::RandomNormal{.key = RandomKey(seed_, name),
                              .begin = 0,
                              .rows = 1,
                              .columns = initial.numel(),
                              .stride = initial.numel(),
                              .deviation = static_cast<float>(model_.initializer_range),
                              .values = initial.data_ptr<float>()});
  }
  const at::Tensor weight = initial.to(dtype_);
  weights_[name] = weight.requires_grad_(true);
  moments_[name] = {at::zeros_like(weight), at::zeros_like(weight)};
}

void ReferenceModel::AddExperts(const planner::Ffn& ffn, const std::string& prefix) {
  if (!ffn.has_experts()) return;
  Add(prefix + "router", {ffn.experts.count, model_.hidden}, true);
  if (ffn.experts.router_bias) Add(prefix + "router_bias", {ffn.experts.count}, false);
  for (int64_t i = 0; i < ffn.experts.count; ++i) {
    const std::string expert = prefix + "experts." + std::to_string(i) + ".";
    Add(expert + "expert_gate", {ffn.hidden, model_.hidden}, true);
    Add(expert + "expert_up", {ffn.hidden, model_.hidden}, true);
    Add(expert + "expert_down", {model_.hidden, ffn.hidden}, true);
    if (!ffn.bias) continue;
    Add(expert + "expert_gate_bias", {ffn.hidden}, true);
    Add(expert + "expert_up_bias", {ffn.hidden}, true);
    Add(expert + "expert_down_bias", {model_.hidden}, true);
  }
}

void ReferenceModel::AddStreamNorm(const std::string& name) {
  if (model_.norm == planner::StreamNorm::kLayerPlain) return;
  Add(name, {model_.hidden}, false);
  if (model_.norm == planner::StreamNorm::kLayer) Add(name + "_bias", {model_.hidden}, false);
}

at::Tensor ReferenceModel::StreamNorm(const at::Tensor& x, const std::string& name) const {
  if (model_.norm == planner::StreamNorm::kRms) return Norm(x, name);
  const at::Tensor centred = x - x.mean(-1, /*keepdim=*/true);
  if (model_.norm == planner::StreamNorm::kLayerPlain) return Normed(centred);
  const at::Tensor normed = Norm(centred, name);
  return model_.norm == planner::StreamNorm::kLayer ? normed + weights_.at(name + "_bias") : normed;
}

at::Tensor ReferenceModel::Normed(const at::Tensor& x) const {
  const at::Tensor mean_square = at::pow(x, 2).mean(-1, /*keepdim=*/true);
  return x * (mean_square + model_.norm_epsilon).rsqrt();
}

at::Tensor ReferenceModel::Norm(const at::Tensor& x, const std::string& weight) const {
  return Normed(x) * weights_.at(weight);
}

at::Tensor ReferenceModel::Project(const at::Tensor& x, const std::string& name,
                                   const std::string& bias) const {
  const bool of_block = name.starts_with("layers.") && !name.ends_with("router");
  const at::Tensor& weight = weights_.at(name);
  const at::Tensor y =
      of_block && training_.quantisation().narrows()
          ? NarrowProduct(x.flatten(0, -2), weight).unflatten(0, x.sizes().slice(0, x.dim() - 1))
          : at::matmul(x, weight.t());
  return bias.empty() ? y : y + weights_.at(bias);
}

namespace {

// Written from wavelengths, as the rule was published, and not with the planner's own function.
at::Tensor Scaled(const at::Tensor& frequencies, const planner::RopeScaling& scaling) {
  if (scaling.kind == planner::RopeScalingKind::kNone) return frequencies;
  at::Tensor divided = frequencies / scaling.factor;
  if (scaling.kind == planner::RopeScalingKind::kLinear) return divided;
  const auto positions = static_cast<double>(scaling.original_max_positions);
  const at::Tensor wavelengths = 2.0 * std::numbers::pi / frequencies;
  const at::Tensor smooth = (positions / wavelengths - scaling.low_freq_factor) /
                            (scaling.high_freq_factor - scaling.low_freq_factor);
  const at::Tensor between = (1.0 - smooth) * divided + smooth * frequencies;
  const at::Tensor short_or_between =
      at::where(wavelengths < positions / scaling.high_freq_factor, frequencies, between);
  return at::where(wavelengths > positions / scaling.low_freq_factor, divided, short_or_between);
}

}  // namespace

// heads [batch, heads, seq_len, head_dim].
at::Tensor ReferenceModel::Turn(const at::Tensor& whole_heads) const {
  if (model_.positions == planner::Positions::kNone) return whole_heads;
  const int64_t head_dim = whole_heads.size(3);
  const auto width = std::llround(model_.rotary_share * static_cast<double>(head_dim));
  const at::Tensor heads = whole_heads.narrow(3, 0, width);
  const int64_t half = width / 2;
  const at::Tensor exponents = at::arange(half, at::kDouble) * (-1.0 / static_cast<double>(half));
  const at::Tensor frequencies = Scaled(
      at::pow(at::full({half}, model_.rope_theta, at::kDouble), exponents), model_.rope_scaling);
  const at::Tensor angles = at::outer(at::arange(training_.seq_len, at::kDouble), frequencies);
  const at::Tensor cosine = at::cat({angles.cos(), angles.cos()}, 1).to(dtype_);
  const at::Tensor sine = at::cat({angles.sin(), angles.sin()}, 1).to(dtype_);
  const at::Tensor rotated = at::cat({-heads.narrow(3, half, half), heads.narrow(3, 0, half)}, 3);
  const at::Tensor turned = heads * cosine + rotated * sine;
  return at::cat({turned, whole_heads.narrow(3, width, head_dim - width)}, 3);
}

// [queries, keys]: which keys a query does not see.
at::Tensor ReferenceModel::Hidden(const planner::Attention& attention) const {
  const at::Tensor positions = at::arange(training_.seq_len);
  const at::Tensor ahead = positions.unsqueeze(1) - positions.unsqueeze(0);
  const at::Tensor future = ahead < 0;
  if (attention.chunked) {
    const at::Tensor chunks = positions.div(attention.window, "floor");
    return future.logical_or(chunks.unsqueeze(1) != chunks.unsqueeze(0));
  }
  return attention.window > 0 ? future.logical_or(ahead >= attention.window) : future;
}

// All [batch, heads, seq_len, width]. A sink is one key more, which nothing is attached to.
at::Tensor ReferenceModel::Softmax(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                   const planner::Attention& attention,
                                   const std::string& prefix) const {
  const at::Tensor products =
      at::matmul(q, k.transpose(2, 3)) / std::sqrt(static_cast<double>(attention.head_dim));
  at::Tensor scores = products.masked_fill(Hidden(attention), -INFINITY);
  if (attention.sinks) {
    const at::Tensor sinks = weights_.at(prefix + "sinks").view({1, attention.heads, 1, 1});
    scores = at::cat({scores, sinks.expand({q.size(0), attention.heads, q.size(2), 1})}, -1);
  }
  const at::Tensor weights = at::softmax(scores, -1).narrow(-1, 0, k.size(2));
  return at::matmul(weights, v).transpose(1, 2).flatten(2);
}

at::Tensor ReferenceModel::AttendLatent(const at::Tensor& x, const planner::Attention& attention,
                                        const std::string& prefix) const {
  const int64_t heads = attention.heads;
  const int64_t rotary = attention.rotary_dim;
  const int64_t plain = attention.head_dim - rotary;
  const auto up = [&](const at::Tensor& latent, const char* name, int64_t width) {
    const at::Tensor normed = Norm(latent, prefix + name + "_latent_norm");
    return Project(normed, prefix + name, "").unflatten(2, {heads, width}).transpose(1, 2);
  };
  const at::Tensor q = up(Project(x, prefix + "q_down", ""), "q", attention.head_dim);
  const at::Tensor down = Project(x, prefix + "kv_down", "");
  const at::Tensor kv = up(down.narrow(2, 0, attention.kv_rank), "kv", plain + attention.value_dim);
  const at::Tensor turned_key = Turn(down.narrow(2, attention.kv_rank, rotary).unsqueeze(1));
  const at::Tensor turned_q = at::cat({q.narrow(3, 0, plain), Turn(q.narrow(3, plain, rotary))}, 3);
  const at::Tensor k = at::cat({kv.narrow(3, 0, plain), turned_key.repeat_interleave(heads, 1)}, 3);
  return Project(Softmax(turned_q, k, kv.narrow(3, plain, attention.value_dim), attention, prefix),
                 prefix + "o", "");
}

at::Tensor ReferenceModel::Attend(const at::Tensor& x, const planner::Attention& attention,
                                  const std::string& prefix) const {
  if (attention.is_latent()) return AttendLatent(x, attention, prefix);
  const int64_t batch = x.size(0);
  const int64_t seq_len = x.size(1);
  const auto heads = [&](const char* name, int64_t count) {
    const std::string bias = attention.qkv_bias ? prefix + name + "_bias" : "";
    return Project(x, prefix + name, bias)
        .view({batch, seq_len, count, attention.head_dim})
        .transpose(1, 2);
  };
  const auto turned = [&](const char* name, int64_t count) {
    const at::Tensor projected = heads(name, count);
    return Turn(attention.qk_norm ? Norm(projected, prefix + name + "_norm") : projected);
  };
  const int64_t group = attention.heads / attention.kv_heads;
  const at::Tensor q = turned("q", attention.heads);
  const at::Tensor k = turned("k", attention.kv_heads).repeat_interleave(group, 1);
  const at::Tensor v = heads("v", attention.kv_heads).repeat_interleave(group, 1);
  const at::Tensor output = Softmax(q, k, v, attention, prefix);
  return Project(output, prefix + "o", attention.output_bias ? prefix + "o_bias" : "");
}

at::Tensor ReferenceModel::FeedForward(const at::Tensor& x, const planner::Ffn& ffn,
                                       const std::string& prefix) const {
  const auto project = [&](const at::Tensor& from, const std::string& name) {
    return Project(from, prefix + name, ffn.bias ? prefix + name + "_bias" : "");
  };
  const at::Tensor up = project(x, "up");
  const auto product = [&] {
    switch (ffn.kind) {
      case planner::FfnKind::kSwiGlu:
        return at::silu(project(x, "gate")) * up;
      case planner::FfnKind::kGelu:
        return at::gelu(up);
      case planner::FfnKind::kRelu:
        return at::relu(up);
      case planner::FfnKind::kGeGlu:
        return at::gelu(project(x, "gate")) * up;
      case planner::FfnKind::kReluSquared:
        return at::relu(up).square();
      case planner::FfnKind::kXielu:
      case planner::FfnKind::kNone:
        break;  // no worker runs these
    }
    return at::Tensor();
  };
  return project(product(), "down");
}

// scores [batch, seq_len, experts], biases added -> whether each expert takes each token.
at::Tensor ReferenceModel::PickedExperts(const at::Tensor& scores,
                                         const planner::Experts& experts) const {
  at::Tensor picked = at::zeros_like(scores, at::kBool);
  const at::Tensor here = scores.detach().to(at::kDouble).contiguous();
  const int64_t size = experts.count / experts.groups;
  for (int64_t token = 0; token < scores.numel() / experts.count; ++token) {
    const double* of = here.const_data_ptr<double>() + token * experts.count;
    bool* takes = picked.mutable_data_ptr<bool>() + token * experts.count;
    if (training_.routing == planner::Routing::kBalanced) {
      const int64_t position = token % training_.seq_len;
      for (int64_t k = 0; k < experts.top_k; ++k) {
        takes[(position * experts.top_k + k) % experts.count] = true;
      }
      continue;
    }
    std::vector<std::pair<double, int64_t>> groups;  // by their best, which comes first
    for (int64_t group = 0; group < experts.groups; ++group) {
      std::vector<double> of_group(of + group * size, of + (group + 1) * size);
      std::sort(of_group.rbegin(), of_group.rend());
      const bool pairs = experts.score == planner::RouterScore::kSigmoid && size > 1;
      groups.emplace_back(-(of_group[0] + (pairs ? of_group[1] : 0.0)), group);
    }
    std::sort(groups.begin(), groups.end());
    groups.resize(static_cast<size_t>(experts.top_groups));
    std::vector<std::pair<double, int64_t>> order;
    for (const auto& [best, group] : groups) {
      for (int64_t i = group * size; i < (group + 1) * size; ++i) order.emplace_back(-of[i], i);
    }
    std::sort(order.begin(), order.end());
    for (int64_t k = 0; k < experts.top_k; ++k) takes[order[static_cast<size_t>(k)].second] = true;
  }
  return picked;
}

// picked [batch, seq_len, experts] -> those among the first of their sequence that an expert takes.
at::Tensor ReferenceModel::WithinCapacity(const at::Tensor& picked,
                                          const planner::Experts& experts) const {
  if (experts.capacity_factor == 0.0) return picked;
  const double even =
      static_cast<double>(training_.seq_len * experts.top_k) / static_cast<double>(experts.count);
  const at::Tensor place = picked.to(at::kLong).cumsum(1);
  return picked.logical_and(place <= std::ceil(experts.capacity_factor * even));
}

// The losses of one layer's router: scores and logits [batch, seq_len, experts].
at::Tensor ReferenceModel::RouterLoss(const at::Tensor& logits, const at::Tensor& scores,
                                      const at::Tensor& picked,
                                      const planner::Experts& experts) const {
  const at::Tensor shares = scores / scores.sum(-1, true);
  const at::Tensor frequencies = picked.to(dtype_).mean(1) * static_cast<double>(experts.count) /
                                 static_cast<double>(experts.top_k);
  const at::Tensor balance = (frequencies * shares.mean(1)).sum(-1).mean();
  const at::Tensor z = at::pow(at::logsumexp(logits, -1), 2).mean();
  return experts.balance_loss * balance + experts.z_loss * z;
}

// What one expert makes of every token.
at::Tensor ReferenceModel::RunExpert(const at::Tensor& x, const planner::Ffn& ffn,
                                     const std::string& expert) const {
  const auto project = [&](const at::Tensor& from, const std::string& name) {
    return Project(from, expert + name, ffn.bias ? expert + name + "_bias" : "");
  };
  at::Tensor gate = project(x, "expert_gate");
  at::Tensor up = project(x, "expert_up");
  if (ffn.clamp == 0.0) return project(at::silu(gate) * up, "expert_down");
  gate = gate.clamp_max(ffn.clamp);
  up = up.clamp(-ffn.clamp, ffn.clamp);
  return project((up + 1.0) * gate * at::sigmoid(1.702 * gate), "expert_down");
}

// Every expert works on every token, and counts where it was picked.
at::Tensor ReferenceModel::MixExperts(const at::Tensor& x, const planner::Ffn& ffn,
                                      const std::string& prefix) {
  const at::Tensor logits =
      Project(x, prefix + "router", ffn.experts.router_bias ? prefix + "router_bias" : "");
  const at::Tensor scores = ffn.experts.score == planner::RouterScore::kSigmoid
                                ? at::sigmoid(logits)
                                : at::softmax(logits, -1);
  at::Tensor& bias = selection_biases_[prefix];
  if (!bias.defined()) bias = at::zeros({ffn.experts.count}, at::kDouble);
  const at::Tensor picked = PickedExperts(scores.detach() + bias, ffn.experts);
  loads_[prefix] = picked.sum(at::IntArrayRef({0, 1}));
  router_losses_.push_back(RouterLoss(logits, scores, picked, ffn.experts));
  const at::Tensor taken = scores * picked.to(dtype_);
  const at::Tensor normed = ffn.experts.top_k > 1 ? taken / taken.sum(-1, true) : taken;
  const at::Tensor weights = normed * WithinCapacity(picked, ffn.experts).to(dtype_);
  if (training_.quantisation().narrows()) {
    return MixNarrowExperts(x, weights, ffn.experts.count, prefix);
  }
  at::Tensor sum = at::zeros_like(x);
  for (int64_t i = 0; i < ffn.experts.count; ++i) {
    const std::string expert = prefix + "experts." + std::to_string(i) + ".";
    sum = sum + weights.narrow(-1, i, 1) * RunExpert(x, ffn, expert);
  }
  return sum;
}

// Every expert works on its own tokens, in their order, so that they share its tiles. Weights are
// applied before the last product.
at::Tensor ReferenceModel::MixNarrowExperts(const at::Tensor& x, const at::Tensor& weights,
                                            int64_t count, const std::string& prefix) const {
  const at::Tensor tokens = x.flatten(0, 1);
  at::Tensor sum = at::zeros_like(tokens);
  for (int64_t i = 0; i < count; ++i) {
    const std::string expert = prefix + "experts." + std::to_string(i) + ".";
    const at::Tensor weight = weights.flatten(0, 1).narrow(1, i, 1);
    const at::Tensor taken = weight.detach().flatten().nonzero().flatten();
    if (taken.numel() == 0) continue;
    const at::Tensor own = tokens.index_select(0, taken);
    const at::Tensor product = at::silu(Project(own, expert + "expert_gate", "")) *
                               Project(own, expert + "expert_up", "") *
                               weight.index_select(0, taken);
    sum = sum.index_add(0, taken, Project(product, expert + "expert_down", ""));
  }
  return sum.view(x.sizes());
}

double ReferenceModel::Loss(int64_t step) {
  const int64_t batch = training_.global_batch;
  const int64_t seq_len = training_.seq_len;
  const at::Tensor samples = at::empty({batch, seq_len + 1}, at::kInt);
  for (int64_t i = 0; i < batch; ++i) {
    FillTokens(seed_, step * batch + i, 0, seq_len + 1, model_.vocab,
               samples.data_ptr<int32_t>() + i * (seq_len + 1));
  }
  const at::Tensor inputs = samples.narrow(1, 0, seq_len).reshape({-1}).to(at::kLong);
  const at::Tensor targets = samples.narrow(1, 1, seq_len).to(at::kLong);
  at::Tensor x =
      weights_.at("embedding").index_select(0, inputs).view({batch, seq_len, model_.hidden});
  for (int64_t layer = 0; layer < model_.layers(); ++layer) {
    const std::string prefix = "layers." + std::to_string(layer) + ".";
    x = x +
        Attend(StreamNorm(x, prefix + "attention_norm"), model_.GroupOf(layer).attention, prefix);
    const planner::Ffn& ffn = model_.GroupOf(layer).ffn;
    const at::Tensor normed = StreamNorm(x, prefix + "ffn_norm");
    if (ffn.dense_hidden() > 0) x = x + FeedForward(normed, ffn, prefix);
    if (ffn.has_experts()) x = x + MixExperts(normed, ffn, prefix);
  }
  const at::Tensor logits =
      Project(StreamNorm(x, "final_norm"), model_.tied_embeddings ? "embedding" : "head", "");
  const at::Tensor loss = -at::log_softmax(logits, -1).gather(2, targets.unsqueeze(2)).mean();
  for (auto& [name, weight] : weights_) weight.mutable_grad().reset();
  at::Tensor sum = loss;
  for (const at::Tensor& router : router_losses_) sum = sum + router;
  router_losses_.clear();
  sum.backward();
  return loss.item<double>();
}

// As Muon's authors write it down.
static at::Tensor NewtonSchulz(const at::Tensor& g) {
  at::Tensor x = g / (g.norm() + 1e-7);
  const bool tall = x.size(0) > x.size(1);
  if (tall) x = x.t();
  for (int i = 0; i < 5; ++i) {
    const at::Tensor a = at::matmul(x, x.t());
    x = 3.4445 * x + at::matmul(-4.7750 * a + 2.0315 * at::matmul(a, a), x);
  }
  return tall ? x.t() : x;
}

bool ReferenceModel::Orthogonalises(const std::string& name) const {
  return training_.optimizer == planner::kMuon && name.starts_with("layers.") &&
         weights_.at(name).dim() == 2;
}

void ReferenceModel::Update(int64_t step) {
  const at::NoGradGuard no_grad;
  MoveSelectionBiases();
  const auto count = static_cast<double>(step + 1);
  for (auto& [name, weight] : weights_) {
    auto& [first, second] = moments_.at(name);
    const at::Tensor& gradient = weight.grad();
    if (Orthogonalises(name)) {
      first.mul_(0.95).add_(gradient);
      weight.mul_(1.0 - 3e-4 * 0.1);
      weight.sub_(NewtonSchulz(gradient + 0.95 * first) *
                  (3e-4 * 0.2 * std::sqrt(std::max(weight.size(0), weight.size(1)))));
      continue;
    }
    first.mul_(0.9).add_(gradient, 0.1);
    second.mul_(0.95).add_(at::pow(gradient, 2), 0.05);
    const bool matrix = weight.dim() == 2;
    weight.mul_(1.0 - 3e-4 * (matrix ? 0.1 : 0.0));
    const at::Tensor unbiased = second / (1.0 - std::pow(0.95, count));
    weight.sub_(first / (1.0 - std::pow(0.9, count)) / (unbiased.sqrt() + 1e-8) * 3e-4);
  }
}

void ReferenceModel::MoveSelectionBiases() {
  if (training_.routing == planner::Routing::kBalanced) return;
  for (int64_t layer = 0; layer < model_.layers(); ++layer) {
    const planner::Experts& experts = model_.GroupOf(layer).ffn.experts;
    if (!experts.selection_bias) continue;
    const std::string prefix = "layers." + std::to_string(layer) + ".";
    const at::Tensor load = loads_.at(prefix).to(at::kDouble);
    selection_biases_.at(prefix).add_((load.mean() - load).sign(), experts.bias_update_rate);
  }
}

const at::Tensor& ReferenceModel::selection_bias(int64_t layer) const {
  return selection_biases_.at("layers." + std::to_string(layer) + ".");
}

double ReferenceModel::GradientNorm() const {
  double square_sum = 0.0;
  for (const auto& [name, weight] : weights_) {
    square_sum += at::pow(weight.grad().to(at::kDouble), 2).sum().item<double>();
  }
  return std::sqrt(square_sum);
}

std::vector<ReferenceStep> ReferenceModel::Train(int64_t steps,
                                                 const std::function<void(int64_t)>& computed) {
  std::vector<ReferenceStep> done;
  for (int64_t step = 0; step < steps; ++step) {
    const double loss = Loss(step);
    done.push_back({.loss = loss, .gradient_norm = GradientNorm()});
    if (computed) computed(step);
    Update(step);
  }
  return done;
}

}  // namespace meshwright::worker
