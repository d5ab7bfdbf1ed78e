// A block whose products are narrowed keeps what its operators save, and holds what they take while
// they run. One rank of groups that are not there.
#include <ATen/Parallel.h>
#include <ATen/ops/randn.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
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
#include "planner/worker_memory/worker_narrowed.h"
#include "tests/executor/narrow_models.h"

namespace meshwright::worker {
namespace {

struct Case {
  std::string name;
  planner::Layout layout = {};
  planner::Precision around_products = planner::Precision::kBf16;
  planner::FfnKind ffn = planner::FfnKind::kSwiGlu;
  bool biases = false;
  bool qk_norm = false;
  planner::Experts experts = {};
  int64_t hidden = 128;
  int64_t ffn_hidden = 256;
};

void PrintTo(const Case& test_case, std::ostream* out) { *out << test_case.name; }

class NarrowMemoryTest : public testing::TestWithParam<Case> {
 protected:
  NarrowMemoryTest() {
    at::set_num_threads(1);
    KeepMatmulsWithoutScratch();
    context_.model = trial::NarrowModel(/*layers=*/1);
    context_.model.hidden = GetParam().hidden;
    planner::LayerGroup& group = context_.model.groups.front();
    group.attention.qkv_bias = group.attention.output_bias = group.ffn.bias = GetParam().biases;
    group.attention.qk_norm = GetParam().qk_norm;
    group.ffn.kind = GetParam().ffn;
    group.ffn.hidden = GetParam().ffn_hidden;
    group.ffn.experts = GetParam().experts;
    context_.training = trial::NarrowTraining(GetParam().around_products);
    context_.layout = GetParam().layout;
    auto device = std::make_unique<CpuDevice>();
    device_ = device.get();
    context_.device = std::move(device);
    const planner::Layout& layout = context_.layout;
    context_.groups.tp = Join(layout.tp);
    context_.groups.cp = Join(layout.cp);
    context_.groups.ep = Join(layout.ep);
    context_.groups.etp = Join(layout.etp);
    AddUnit(LayerUnit(context_.model, 0, 0, layout.tp));
    if (group.ffn.has_experts()) {
      AddUnit(ExpertUnit(context_.model, 0, {.ep = layout.ep, .etp = layout.etp}));
    }
    std::vector<FlatUnit*> units;
    units.reserve(units_.size());
    for (const auto& unit : units_) units.push_back(unit.get());
    rope_.emplace(context_);
    block_.emplace(context_, group, units, *rope_, 0);
    shape_ = planner::LayerShape({.model = context_.model,
                                  .cluster = planner::FindCluster("local-cpu", 2).value(),
                                  .training = context_.training,
                                  .profile = planner::FindProfile("meshwright").value()},
                                 layout, group);
  }

  static std::unique_ptr<Communicator> Join(int32_t size) {
    return size > 1 ? MakeFakeCommunicator(0, size, nullptr) : nullptr;
  }
  void AddUnit(ParameterUnit parameters) {
    units_.push_back(std::make_unique<FlatUnit>(context_, std::move(parameters), Replicas()));
    units_.back()->ClearGradients();
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
  std::vector<std::unique_ptr<FlatUnit>> units_;
  std::optional<RopeTable> rope_;
  std::optional<Block> block_;
  planner::BlockShape shape_;
};

TEST_P(NarrowMemoryTest, KeepsWhatTheListSaves) {
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

TEST_P(NarrowMemoryTest, HoldsWhatTheListsTensorsTakeWhileTheyLive) {
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

std::vector<Case> MemoryCases() {
  using planner::Precision;
  using planner::Recompute;
  std::vector<Case> cases;
  const auto add = [&](const std::string& name, const planner::Layout& layout) {
    cases.push_back({.name = name, .layout = layout});
    cases.push_back({.name = name + "Fp64", .layout = layout, .around_products = Precision::kFp64});
  };
  add("OneRank", {});
  add("TwoSequences", {.micro_batch = 2});
  add("TensorParallel", {.tp = 2});
  add("SequenceParallel", {.tp = 2, .sequence_parallel = true});
  add("ContextParallel", {.cp = 2});
  add("Selective", {.recompute = Recompute::kSelective});
  add("SequenceParallelSelective",
      {.tp = 2, .sequence_parallel = true, .recompute = Recompute::kSelective});
  add("Full", {.recompute = Recompute::kFull});
  add("SequenceParallelFull", {.tp = 2, .sequence_parallel = true, .recompute = Recompute::kFull});
  const planner::Layout both = {.tp = 2, .sequence_parallel = true};
  cases.push_back({.name = "Gelu", .layout = both, .ffn = planner::FfnKind::kGelu});
  cases.push_back({.name = "Relu", .layout = both, .ffn = planner::FfnKind::kRelu});
  cases.push_back({.name = "SelectiveRelu",
                   .layout = {.recompute = Recompute::kSelective},
                   .ffn = planner::FfnKind::kRelu});
  cases.push_back({.name = "Biases", .layout = both, .biases = true});
  cases.push_back({.name = "QkNorm", .layout = both, .qk_norm = true});
  cases.push_back({.name = "Fp32", .layout = both, .around_products = Precision::kFp32});
  const planner::Experts few = {.count = 4, .top_k = 2};
  const planner::Experts shared = {.count = 4, .top_k = 2, .shared_hidden = 256};
  cases.push_back({.name = "Experts", .experts = few});
  cases.push_back({.name = "ExpertParallel",
                   .layout = {.dp = 2, .ep = 2, .micro_batch = 2},
                   .experts = shared});
  cases.push_back({.name = "ExpertTensorParallel",
                   .layout = {.dp = 2, .etp = 2},
                   .around_products = Precision::kFp64,
                   .experts = few});
  cases.push_back({.name = "SequenceParallelExperts",
                   .layout = {.tp = 2, .ep = 2, .sequence_parallel = true},
                   .experts = shared});
  cases.push_back({.name = "ExpertsSelective",
                   .layout = {.dp = 2, .ep = 2, .recompute = Recompute::kSelective},
                   .experts = shared});
  cases.push_back({.name = "ExpertsFull",
                   .layout = {.dp = 2, .ep = 2, .recompute = Recompute::kFull},
                   .experts = shared});
  using planner::RecomputeModule;
  const auto with = [](planner::Layout layout, const planner::RecomputeModules& modules) {
    layout.recompute = Recompute::kModules;
    layout.recompute_modules = modules;
    return layout;
  };
  const planner::Layout halves = {.dp = 2, .ep = 2};
  cases.push_back({.name = "Mlp", .layout = with(both, {RecomputeModule::kMlp})});
  cases.push_back({.name = "ExpertsNormAndActivation",
                   .layout = with(halves, {RecomputeModule::kLayerNorm, RecomputeModule::kMoeAct}),
                   .experts = shared});
  cases.push_back(
      {.name = "ExpertsMoe", .layout = with(halves, {RecomputeModule::kMoe}), .experts = shared});
  cases.push_back({.name = "SharedExperts",
                   .layout = with(halves, {RecomputeModule::kSharedExperts}),
                   .experts = shared});
  // Factors that are widened in several pieces.
  cases.push_back({.name = "Wide", .hidden = 1152, .ffn_hidden = 4480});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Blocks, NarrowMemoryTest, testing::ValuesIn(MemoryCases()),
                         [](const auto& test) { return test.param.name; });

TEST(NarrowedPiecesTest, AreSeveralOfWideFactorsAndWholeOfSmallOnes) {
  const planner::NarrowedPieces wide(4480, 256, 1152);
  EXPECT_LT(wide.row_count, 4480);
  EXPECT_EQ(wide.column_count, 256);
  EXPECT_LE(wide.row_count * wide.depth, int64_t{1} << 20);
  const planner::NarrowedPieces deep(8, 8, int64_t{1} << 21);
  EXPECT_EQ(deep.row_count, 1);
}

}  // namespace
}  // namespace meshwright::worker
