// A block with experts keeps what its operators save, and holds what they take while they run. One
// rank of groups that are not there.
#include <ATen/Parallel.h>
#include <ATen/ops/randn.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executor/worker/comm/cpu_device.h"
#include "executor/worker/comm/fake_communicator.h"
#include "executor/worker/model/block.h"
#include "planner/block/block.h"
#include "planner/block/kept.h"
#include "planner/block/recompute.h"
#include "planner/catalog/catalog.h"
#include "planner/profile/layer_shape.h"
#include "planner/worker_memory/worker_block.h"
#include "tests/executor/test_models.h"

namespace meshwright::worker {
namespace {

struct ExpertMemoryCase {
  std::string name;
  planner::Layout layout = {};
  planner::Experts experts = {.count = 4, .top_k = 2};
  planner::Precision precision = planner::Precision::kFp32;
  bool latent = false;
  bool biases = false;  // of the router and of experts, which are clamped
};

void PrintTo(const ExpertMemoryCase& test_case, std::ostream* out) { *out << test_case.name; }

class ExpertMemoryTest : public testing::TestWithParam<ExpertMemoryCase> {
 protected:
  ExpertMemoryTest() {
    at::set_num_threads(1);
    KeepMatmulsWithoutScratch();
    context_.model = trial::TinyModel();
    planner::LayerGroup& group = Group();
    group.ffn.hidden = 24;
    group.ffn.experts = GetParam().experts;
    if (GetParam().latent) group.attention = trial::TinyLatentAttention(/*value_dim=*/8);
    if (GetParam().biases) {
      group.ffn.bias = true;
      group.ffn.experts.router_bias = true;
      group.ffn.clamp = 0.125;
    }
    context_.training = trial::TinyTraining();
    context_.training.precision = GetParam().precision;
    context_.layout = GetParam().layout;
    context_.layout.micro_batch = 2;
    auto device = std::make_unique<CpuDevice>();
    device_ = device.get();
    context_.device = std::move(device);
    const planner::Layout& layout = context_.layout;
    context_.groups.tp = Join(layout.tp);
    context_.groups.ep = Join(layout.ep);
    context_.groups.etp = Join(layout.etp);
    layer_.emplace(context_, LayerUnit(context_.model, 0, 0, layout.tp), Replicas());
    experts_.emplace(context_, ExpertUnit(context_.model, 0, {.ep = layout.ep, .etp = layout.etp}),
                     Replicas());
    for (FlatUnit* unit : Units()) unit->ClearGradients();
    rope_.emplace(context_);
    block_.emplace(context_, group, Units(), *rope_, 0);
    shape_ = planner::LayerShape({.model = context_.model,
                                  .cluster = planner::FindCluster("local-cpu", 2).value(),
                                  .training = context_.training,
                                  .profile = planner::FindProfile("meshwright").value()},
                                 layout, group);
  }

  planner::LayerGroup& Group() { return context_.model.groups.front(); }
  std::vector<FlatUnit*> Units() { return {&*layer_, &*experts_}; }
  static std::unique_ptr<Communicator> Join(int32_t size) {
    return size > 1 ? MakeFakeCommunicator(0, size, nullptr) : nullptr;
  }

  at::Tensor Stream() const {
    return at::randn({context_.stream_tokens(), context_.model.hidden}, context_.options());
  }

  // The most that `body` holds beside `before`.
  int64_t PeakOf(int64_t before, const std::function<void()>& body) {
    device_->ResetPeakMemory();
    body();
    return device_->PeakMemory().allocated_bytes - before;
  }

  planner::WorkerBlockBytes Listed() const {
    return planner::BlockBytes({.block = shape_}, planner::RecomputeOf(context_.layout, 0));
  }

  static int64_t MostOf(const planner::WorkerBlockBytes::Halves& halves) {
    return std::max(halves.ffn.kept + halves.ffn.workspace,
                    halves.attention.kept + halves.attention.workspace);
  }

  const c10::InferenceMode no_tape_;
  RankContext context_;
  CpuDevice* device_ = nullptr;
  std::optional<FlatUnit> layer_;
  std::optional<FlatUnit> experts_;
  std::optional<RopeTable> rope_;
  std::optional<Block> block_;
  planner::BlockShape shape_;
};

TEST_P(ExpertMemoryTest, KeepsWhatTheListSaves) {
  const int64_t before = device_->HeldBytes();
  BlockSaved saved;
  at::Tensor stream = block_->Forward(Stream(), saved);
  const auto stream_bytes = static_cast<int64_t>(stream.nbytes());
  EXPECT_EQ(device_->HeldBytes() - before - stream_bytes, Listed().kept);
  stream = block_->BackwardInput(std::move(stream), saved);
  EXPECT_EQ(device_->HeldBytes() - before - stream_bytes, Listed().split);
  block_->BackwardWeight(saved);
  EXPECT_EQ(device_->HeldBytes() - before, stream_bytes);
}

TEST_P(ExpertMemoryTest, HoldsWhatTheListsTensorsTakeWhileTheyLive) {
  const int64_t before = device_->HeldBytes();
  BlockSaved saved;
  at::Tensor stream;
  EXPECT_EQ(PeakOf(before, [&] { stream = block_->Forward(Stream(), saved); }),
            Listed().forward.kept + Listed().forward.workspace);
  EXPECT_EQ(PeakOf(before, [&] { block_->Backward(std::move(stream), saved); }),
            MostOf(Listed().backward));
  stream = block_->Forward(Stream(), saved);
  EXPECT_EQ(PeakOf(before, [&] { stream = block_->BackwardInput(std::move(stream), saved); }),
            MostOf(Listed().input));
  stream.reset();
  EXPECT_EQ(PeakOf(before, [&] { block_->BackwardWeight(saved); }), MostOf(Listed().weight));
  EXPECT_EQ(device_->HeldBytes(), before);
}

constexpr planner::Experts kShared = {.count = 8, .top_k = 4, .shared_hidden = 16};

std::vector<ExpertMemoryCase> Cases() {
  using planner::Recompute;
  std::vector<ExpertMemoryCase> cases;
  const auto add = [&](const std::string& name, const planner::Layout& layout) {
    cases.push_back({.name = name, .layout = layout});
    cases.push_back({.name = name + "Shared", .layout = layout, .experts = kShared});
  };
  add("OneRank", {});
  add("ExpertParallel", {.dp = 2, .ep = 2});
  add("ExpertTensorParallel", {.dp = 2, .etp = 2});
  add("BothParallel", {.dp = 4, .ep = 2, .etp = 2});
  add("SequenceParallel", {.tp = 2, .ep = 2, .sequence_parallel = true});
  add("Selective", {.dp = 2, .ep = 2, .recompute = Recompute::kSelective});
  add("Full", {.dp = 2, .ep = 2, .recompute = Recompute::kFull});
  add("SequenceParallelFull",
      {.tp = 2, .ep = 2, .sequence_parallel = true, .recompute = Recompute::kFull});
  using planner::RecomputeModule;
  const auto with = [](planner::Layout layout, const planner::RecomputeModules& modules) {
    layout.recompute = Recompute::kModules;
    layout.recompute_modules = modules;
    return layout;
  };
  const planner::Layout expert_parallel = {.dp = 2, .ep = 2};
  const planner::Layout sequence_parallel = {.tp = 2, .ep = 2, .sequence_parallel = true};
  add("Norms", with(expert_parallel, {RecomputeModule::kLayerNorm}));
  add("Activation", with(expert_parallel, {RecomputeModule::kMoeAct}));
  add("NormsAndActivation",
      with(sequence_parallel, {RecomputeModule::kLayerNorm, RecomputeModule::kMoeAct}));
  add("Moe", with({}, {RecomputeModule::kMoe}));
  add("ExpertParallelMoe", with(expert_parallel, {RecomputeModule::kMoe}));
  add("BothParallelMoe", with({.dp = 4, .ep = 2, .etp = 2}, {RecomputeModule::kMoe}));
  add("NormsAndMoe", with(sequence_parallel, {RecomputeModule::kLayerNorm, RecomputeModule::kMoe}));
  cases.push_back({.name = "SharedExperts",
                   .layout = with(sequence_parallel, {RecomputeModule::kSharedExperts}),
                   .experts = kShared});
  for (const planner::Precision precision :
       {planner::Precision::kFp32, planner::Precision::kFp64}) {
    const std::string name(PrecisionName(precision));
    cases.push_back({.name = "LatentParts_" + name,
                     .layout = with(sequence_parallel,
                                    {RecomputeModule::kLayerNorm, RecomputeModule::kMoeAct,
                                     RecomputeModule::kMlaUpProj, RecomputeModule::kSharedExperts}),
                     .experts = kShared,
                     .precision = precision,
                     .latent = true});
    cases.push_back(
        {.name = "LatentMoe_" + name,
         .layout = with(sequence_parallel, {RecomputeModule::kLayerNorm,
                                            RecomputeModule::kMlaUpProj, RecomputeModule::kMoe}),
         .experts = kShared,
         .precision = precision,
         .latent = true});
  }
  cases.push_back({.name = "Biases", .layout = {.dp = 4, .ep = 2, .etp = 2}, .biases = true});
  cases.push_back({.name = "BiasesFull",
                   .layout = {.dp = 2, .ep = 2, .recompute = Recompute::kFull},
                   .biases = true});
  cases.push_back({.name = "Fp64",
                   .layout = {.dp = 2, .ep = 2},
                   .experts = kShared,
                   .precision = planner::Precision::kFp64});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Blocks, ExpertMemoryTest, testing::ValuesIn(Cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace meshwright::worker
