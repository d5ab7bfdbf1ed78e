// One rank against the autograd reference: loss, every gradient, and what it holds in memory.
#include "executor/worker/run/trainer.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <tuple>

#include "executor/worker/comm/cpu_device.h"
#include "planner/block/block.h"
#include "planner/block/kept.h"
#include "planner/worker_memory/worker_memory.h"
#include "tests/executor/test_models.h"
#include "tests/executor/worker/reference_model.h"

namespace meshwright::worker {
namespace {

constexpr uint64_t kSeed = 11;

std::unique_ptr<RankContext> OneRank(const planner::ModelSpec& model, int32_t micro_batch,
                                     planner::Precision precision = planner::Precision::kFp32) {
  // Tiny products gain nothing from threads, and waiting ones take turns with the rest.
  at::set_num_threads(1);
  auto context = std::make_unique<RankContext>();
  context->model = model;
  context->training = trial::TinyTraining();
  context->training.precision = precision;
  context->layout.micro_batch = micro_batch;
  context->seed = kSeed;
  context->device = std::make_unique<CpuDevice>();
  return context;
}

std::vector<planner::Action> ActionsOf(const RankContext& context) {
  return planner::MakeSchedule(context.layout, 0, static_cast<int32_t>(context.micro_batches()))
      .value();
}

// Norm of the difference over the norm.
double Distance(const at::Tensor& actual, const at::Tensor& expected) {
  const at::Tensor reference = expected.reshape({-1}).to(at::kDouble);
  const double norm = reference.norm().item<double>();
  const double difference =
      (actual.reshape({-1}).to(at::kDouble) - reference).norm().item<double>();
  return norm > 0.0 ? difference / norm : difference;
}

// Checks every gradient that the trainer holds; returns how many there are.
int CompareGradients(const Trainer& trainer, const ReferenceModel& reference, double tolerance) {
  int compared = 0;
  const auto compare = [&](const FlatUnit& unit) {
    int64_t offset = 0;
    for (const LocalParameter& parameter : unit.parameters()) {
      for (const ParameterPart& part : parameter.parts) {
        const int64_t elements = part.rows * part.columns;
        EXPECT_LT(Distance(unit.own_gradients().narrow(0, offset, elements),
                           reference.gradient(part.name)),
                  tolerance)
            << part.name;
        offset += elements;
        ++compared;
      }
    }
  };
  for (const auto& stage : trainer.stages()) {
    for (const auto& unit : stage->units()) compare(*unit);
  }
  return compared;
}

struct Variant {
  std::string name = {};
  bool tied = false;
  bool grouped = true;
  bool bias = false;
  bool qk_norm = false;
  planner::RopeScaling rope_scaling = {};
  double initializer_range = 0.02;
  int32_t micro_batch = 2;
  planner::ScheduleKind schedule = planner::ScheduleKind::k1f1b;
  int32_t vpp = 1;
  planner::Recompute recompute = planner::Recompute::kNone;
  int32_t recompute_layers = 0;
  bool two_kinds_of_layers = false;
};

// Of the second half another attention and another FFN.
std::vector<planner::LayerGroup> TwoKindsOfLayers(planner::LayerGroup first) {
  first.count /= 2;
  planner::LayerGroup second = first;
  second.attention.heads = 2;
  second.attention.kv_heads = 1;
  second.attention.qkv_bias = !first.attention.qkv_bias;
  second.attention.qk_norm = !first.attention.qk_norm;
  second.ffn.hidden *= 2;
  return {first, second};
}

class TrainerReferenceTest
    : public testing::TestWithParam<std::tuple<Variant, planner::Precision>> {};

TEST_P(TrainerReferenceTest, LossAndEveryGradientEqualAutograd) {
  const auto& [variant, precision] = GetParam();
  planner::ModelSpec model = trial::TinyModel();
  model.tied_embeddings = variant.tied;
  planner::Attention& attention = model.groups.front().attention;
  attention.qkv_bias = variant.bias;
  attention.qk_norm = variant.qk_norm;
  model.rope_scaling = variant.rope_scaling;
  model.initializer_range = variant.initializer_range;
  if (!variant.grouped) attention.kv_heads = attention.heads;
  if (variant.two_kinds_of_layers) model.groups = TwoKindsOfLayers(model.groups.front());
  const auto context = OneRank(model, variant.micro_batch, precision);
  context->layout.schedule = variant.schedule;
  context->layout.vpp = variant.vpp;
  context->layout.recompute = variant.recompute;
  context->layout.recompute_layers = variant.recompute_layers;
  ReferenceModel reference(model, context->training, kSeed);
  // Updates that differ by rounding make the later gradients differ a little more.
  const double tolerance = precision == planner::Precision::kFp64 ? 1e-9 : 1e-4;
  const c10::InferenceMode no_tape;
  Trainer trainer(*context, ActionsOf(*context));
  for (int64_t step = 0; step < 3; ++step) {
    const StepResult result = trainer.Step(step);
    double expected = 0.0;
    {
      const c10::InferenceMode with_tape(false);
      expected = reference.Loss(step);
    }
    ASSERT_TRUE(result.loss.has_value());
    EXPECT_NEAR(*result.loss, expected, 0.1 * tolerance) << "step " << step;
    EXPECT_NEAR(std::sqrt(result.gradient_square_sum) / reference.GradientNorm(), 1.0, tolerance)
        << "step " << step;
    EXPECT_EQ(CompareGradients(trainer, reference, tolerance),
              static_cast<int>(reference.weights().size()));
    const c10::InferenceMode with_tape(false);
    reference.Update(step);
  }
}

std::string NameOfCase(const testing::TestParamInfo<std::tuple<Variant, planner::Precision>>& test) {
  const auto& [variant, precision] = test.param;
  return variant.name + (precision == planner::Precision::kFp64 ? "Fp64" : "Fp32");
}

// Of TinyModel()'s four frequencies one stays, one is on the ramp and two are divided.
constexpr planner::RopeScaling kTinyLlama3Rope = {.kind = planner::RopeScalingKind::kLlama3,
                                                  .factor = 8.0,
                                                  .low_freq_factor = 1.0,
                                                  .high_freq_factor = 4.0,
                                                  .original_max_positions = 100};

INSTANTIATE_TEST_SUITE_P(
    Models, TrainerReferenceTest,
    testing::Combine(
        testing::Values(
            Variant{.name = "GroupedQueries"}, Variant{.name = "Tied", .tied = true},
            Variant{.name = "MultiHead", .grouped = false},
            Variant{.name = "QkvBias", .bias = true}, Variant{.name = "QkNorm", .qk_norm = true},
            Variant{.name = "QkNormMultiHead", .grouped = false, .qk_norm = true},
            Variant{.name = "TwoKindsOfLayers", .two_kinds_of_layers = true},
            Variant{.name = "QkvBiasAndQkNorm", .bias = true, .qk_norm = true},
            Variant{.name = "Llama3Rope", .rope_scaling = kTinyLlama3Rope},
            Variant{.name = "LinearRope",
                    .rope_scaling = {.kind = planner::RopeScalingKind::kLinear, .factor = 4.0}},
            Variant{.name = "SmallFirstWeights", .initializer_range = 0.005},
            Variant{.name = "OneMicroBatch", .micro_batch = 8}),
        testing::Values(planner::Precision::kFp32, planner::Precision::kFp64)),
    NameOfCase);

// A pipeline of one rank: its chunks hand activations and gradients over without a send.
std::vector<Variant> OneRankSchedules() {
  const std::vector<Variant> schedules = {
      {.name = "OneF", .schedule = planner::ScheduleKind::k1f1b},
      {.name = "Gpipe", .schedule = planner::ScheduleKind::kGpipe},
      {.name = "BreadthFirst", .schedule = planner::ScheduleKind::kBreadthFirst},
      {.name = "BreadthFirst4", .schedule = planner::ScheduleKind::kBreadthFirst, .vpp = 4},
      {.name = "BreadthFirst2Tied",
       .tied = true,
       .schedule = planner::ScheduleKind::kBreadthFirst,
       .vpp = 2},
      {.name = "ZbH1", .schedule = planner::ScheduleKind::kZbH1},
      {.name = "ZbH1MultiHead", .grouped = false, .schedule = planner::ScheduleKind::kZbH1},
      {.name = "ZbV", .schedule = planner::ScheduleKind::kZbV, .vpp = 2},
      {.name = "ZbVTied", .tied = true, .schedule = planner::ScheduleKind::kZbV, .vpp = 2},
      {.name = "ZbVBias", .bias = true, .schedule = planner::ScheduleKind::kZbV, .vpp = 2},
      {.name = "OneFQkNorm", .qk_norm = true},
      {.name = "ZbH1QkNorm", .qk_norm = true, .schedule = planner::ScheduleKind::kZbH1}};
  std::vector<Variant> variants;
  for (const auto& [name, recompute, layers] :
       {std::tuple("", planner::Recompute::kNone, 0),
        std::tuple("Selective", planner::Recompute::kSelective, 0),
        std::tuple("Full", planner::Recompute::kFull, 0),
        std::tuple("Block1", planner::Recompute::kBlock, 1)}) {
    for (Variant variant : schedules) {
      variant.name += name;
      variant.recompute = recompute;
      variant.recompute_layers = layers;
      variants.push_back(std::move(variant));
    }
  }
  return variants;
}

INSTANTIATE_TEST_SUITE_P(Schedules, TrainerReferenceTest,
                         testing::Combine(testing::ValuesIn(OneRankSchedules()),
                                          testing::Values(planner::Precision::kFp32,
                                                          planner::Precision::kFp64)),
                         NameOfCase);

TEST(TrainerTest, Bf16FollowsTheReferenceWithinItsPrecision) {
  const planner::ModelSpec model = trial::TinyModel();
  ReferenceModel reference(model, trial::TinyTraining(), kSeed);
  const double expected = reference.Loss(0);
  const auto context = OneRank(model, 2, planner::Precision::kBf16);
  const c10::InferenceMode no_tape;
  Trainer trainer(*context, ActionsOf(*context));
  EXPECT_NEAR(*trainer.Step(0).loss, expected, 0.02);
  CompareGradients(trainer, reference, 0.1);
}

int64_t BytesOf(const at::Tensor& tensor) { return static_cast<int64_t>(tensor.nbytes()); }

int64_t LogSumExpBytes(const AttentionSaved& saved) {
  int64_t bytes = 0;
  for (const AttentionStatistics& statistics : saved.attention.statistics) {
    bytes += BytesOf(statistics.log_sum_exp);
  }
  return bytes;
}

planner::BlockShape ShapeOf(const RankContext& context) {
  const planner::ModelSpec& model = context.model;
  const planner::Attention& attention = model.groups.front().attention;
  return {.tokens = context.tokens(),
          .hidden = model.hidden,
          .heads = attention.heads,
          .kv_heads = attention.kv_heads,
          .head_dim = attention.head_dim,
          .ffn_hidden = model.groups.front().ffn.hidden,
          .element_bytes = planner::BytesOf(context.training.formats().activations),
          .tp = 1,
          .head_norm = attention.qk_norm,
          .keeps_head_norm_input = false,
          .selective_drops_operators = true,
          .keys = context.training.seq_len,
          .vocab = model.vocab};
}

planner::ModelSpec WithQkNorm(bool qk_norm) {
  planner::ModelSpec model = trial::TinyModel();
  model.groups.front().attention.qk_norm = qk_norm;
  return model;
}

class BlockTableTest : public testing::TestWithParam<bool> {};

TEST_P(BlockTableTest, ABlockKeepsExactlyWhatTheTableSays) {
  const auto context = OneRank(WithQkNorm(GetParam()), 2);
  const c10::InferenceMode no_tape;
  const RopeTable rope(*context);
  Stage stage(*context,
              planner::StageOf(context->model, context->layout, planner::StagePartition::kEqual, 0),
              rope);
  stage.BeginStep(nullptr);
  stage.Forward(0, {}, TokenSource(*context, 0));
  const planner::OperatorList operators = planner::BlockOperators(ShapeOf(*context));
  const auto kept = [&](planner::KeptTensor tensor) {
    return planner::KeptBytes(operators, tensor);
  };
  for (const BlockSaved& block : stage.saved_blocks(0)) {
    const AttentionSaved& attention = block.attention;
    const FfnSaved& ffn = block.ffn;
    EXPECT_EQ(BytesOf(attention.residual), kept(planner::KeptTensor::kAttentionResidual));
    EXPECT_EQ(BytesOf(attention.norm_output.wide), kept(planner::KeptTensor::kAttentionNormOutput));
    EXPECT_EQ(BytesOf(attention.norm_rstd), kept(planner::KeptTensor::kAttentionNormRstd));
    EXPECT_EQ(BytesOf(attention.qkv), kept(planner::KeptTensor::kQuery) +
                                          kept(planner::KeptTensor::kKey) +
                                          kept(planner::KeptTensor::kValue));
    EXPECT_EQ(BytesOf(attention.attention.output), kept(planner::KeptTensor::kAttentionOutput));
    EXPECT_EQ(LogSumExpBytes(attention), kept(planner::KeptTensor::kLogSumExp));
    EXPECT_EQ(BytesOf(ffn.residual), kept(planner::KeptTensor::kFfnResidual));
    EXPECT_EQ(BytesOf(ffn.gate_up_input.wide), kept(planner::KeptTensor::kFfnNormOutput));
    EXPECT_EQ(BytesOf(ffn.norm_rstd), kept(planner::KeptTensor::kFfnNormRstd));
    EXPECT_EQ(BytesOf(ffn.gate_up),
              kept(planner::KeptTensor::kGate) + kept(planner::KeptTensor::kUp));
    EXPECT_EQ(BytesOf(ffn.product.wide), kept(planner::KeptTensor::kFfnProduct));
  }
}

INSTANTIATE_TEST_SUITE_P(QkNorm, BlockTableTest, testing::Bool());

class KeptBytesTest
    : public testing::TestWithParam<std::tuple<planner::Precision, planner::Recompute, bool>> {};

TEST_P(KeptBytesTest, AllThatAMicroBatchKeepsIsInTheTables) {
  const auto [precision, recompute, qk_norm] = GetParam();
  const auto context = OneRank(WithQkNorm(qk_norm), 2, precision);
  context->layout.recompute = recompute;
  context->layout.recompute_layers = 3;
  auto& device = static_cast<CpuDevice&>(*context->device);
  const c10::InferenceMode no_tape;
  const RopeTable rope(*context);
  Stage stage(*context,
              planner::StageOf(context->model, context->layout, planner::StagePartition::kEqual, 0),
              rope);
  stage.BeginStep(nullptr);
  const int64_t before = device.HeldBytes();
  const planner::WorkerShape shape = {.block = ShapeOf(*context)};
  const planner::WorkerStageBytes expected =
      planner::WorkerStages({shape}, context->layout)
          .BytesOf({.layers = {{.group = 0, .count = context->model.layers()}},
                    .first = true,
                    .last = true});
  stage.Forward(0, {}, TokenSource(*context, 0));
  EXPECT_EQ(device.HeldBytes() - before, expected.kept.total_bytes());
  stage.Backward(0, {});
  EXPECT_EQ(device.HeldBytes(), before);
  stage.Forward(1, {}, TokenSource(*context, 0));
  stage.BackwardInput(1, {});
  EXPECT_EQ(device.HeldBytes() - before, expected.kept_split.total_bytes());
  stage.BackwardWeight(1);
  EXPECT_EQ(device.HeldBytes(), before);
}

INSTANTIATE_TEST_SUITE_P(
    Modes, KeptBytesTest,
    testing::Combine(testing::Values(planner::Precision::kFp32, planner::Precision::kBf16,
                                     planner::Precision::kFp64),
                     testing::Values(planner::Recompute::kNone, planner::Recompute::kSelective,
                                     planner::Recompute::kFull, planner::Recompute::kBlock),
                     testing::Bool()));

// Calls back with each unit whose gradients are complete.
class CompletionObserver : public UnitObserver {
 public:
  explicit CompletionObserver(std::function<void()> complete) : complete_(std::move(complete)) {}

  void BeforeWeights(const WeightGroup&) override {}
  void AfterWeights(const WeightGroup&) override {}
  void BeforeGradients(FlatUnit&) override {}
  void AfterGradients(FlatUnit&, bool pass_complete) override {
    if (pass_complete) complete_();
  }

 private:
  const std::function<void()> complete_;
};

// Layered gradient accumulation: a layer's gradients are complete, and their reduction starts, when
// its last micro-batch is done and the layers in front of it have not begun.
TEST(TrainerTest, BreadthFirstCompletesLayersFromTheLastToTheFirst) {
  const auto context = OneRank(trial::TinyModel(), 2);
  context->layout.schedule = planner::ScheduleKind::kBreadthFirst;
  context->layout.vpp = 4;
  const c10::InferenceMode no_tape;
  const RopeTable rope(*context);
  std::vector<std::unique_ptr<Stage>> stages;
  stages.reserve(4);
  for (int32_t i = 0; i < 4; ++i) {
    stages.push_back(std::make_unique<Stage>(
        *context,
        planner::StageOf(context->model, context->layout, planner::StagePartition::kEqual, i),
        rope));
  }
  std::vector<int32_t> ready;  // stages of the units, in the order of their completion
  std::vector<std::unique_ptr<CompletionObserver>> observers;
  observers.reserve(4);
  for (int32_t i = 0; i < 4; ++i) {
    observers.push_back(std::make_unique<CompletionObserver>([&, i] {
      ready.push_back(i);
      for (int32_t front = 0; front < i; ++front) {
        for (const auto& unit : stages[front]->units()) {
          EXPECT_EQ(unit->own_gradients().abs().max().item<float>(), 0.0f) << front;
        }
      }
    }));
    stages[i]->BeginStep(observers.back().get());
  }
  const std::vector<planner::Action> actions = ActionsOf(*context);
  PipelineExecutor executor(*context, stages, actions, /*open_sends=*/1);
  executor.Run(TokenSource(*context, 0));
  EXPECT_EQ(ready, (std::vector<int32_t>{3, 3, 3, 2, 1, 0, 0}));
  EXPECT_EQ(executor.peak_in_flight(), planner::PeakInFlight(actions));
}

TEST(TrainerTest, SplitBackwardGivesTheSameGradients) {
  const auto context = OneRank(trial::TinyModel(), 8);
  const c10::InferenceMode no_tape;
  const RopeTable rope(*context);
  Stage stage(*context,
              planner::StageOf(context->model, context->layout, planner::StagePartition::kEqual, 0),
              rope);
  const TokenSource tokens(*context, 0);
  stage.BeginStep(nullptr);
  stage.Forward(0, {}, tokens);
  stage.Backward(0, {});
  std::vector<at::Tensor> expected;
  for (const auto& unit : stage.units()) expected.push_back(unit->own_gradients().clone());
  int ready = 0;
  CompletionObserver observer([&] { ++ready; });
  stage.BeginStep(&observer);
  stage.Forward(0, {}, tokens);
  stage.BackwardInput(0, {});
  EXPECT_EQ(ready, 0);
  stage.BackwardWeight(0);
  EXPECT_EQ(ready, static_cast<int>(stage.units().size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_LT(Distance(stage.units()[i]->own_gradients(), expected[i]), 1e-6);
  }
}

}  // namespace
}  // namespace meshwright::worker
