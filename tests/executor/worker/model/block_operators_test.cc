// The layers run the operators of planner/block/block.h: the same products, kernels and
// collectives, with the parameters and for the sizes that the list says, and keep what it saves.
// One rank of groups that are not there.
#include <ATen/Parallel.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "executor/worker/model/block.h"
#include "executor/worker/model/embedding_layer.h"
#include "executor/worker/model/head_layer.h"
#include "planner/block/block.h"
#include "planner/block/recompute.h"
#include "planner/catalog/catalog.h"
#include "planner/profile/layer_shape.h"
#include "planner/worker_memory/worker_block.h"
#include "tests/executor/test_models.h"
#include "tests/executor/worker/model/listed_run.h"
#include "tests/executor/worker/model/run_recorder.h"

namespace meshwright::worker {
namespace {

using planner::OperatorList;
using planner::OperatorName;

struct Case {
  const char* name = "";
  planner::Layout layout = {};
  int64_t kv_heads = 2;  // of 4
  bool qkv_bias = false;
  bool qk_norm = false;
  planner::Precision precision = planner::Precision::kFp32;
  planner::FfnKind ffn = planner::FfnKind::kSwiGlu;
  planner::StreamNorm norm = planner::StreamNorm::kRms;
  bool other_biases = false;  // of the other products
  double rotary_share = 1.0;
  planner::Positions positions = planner::Positions::kRotary;
  int64_t window = 0;
  int64_t value_dim = 0;  // of latent attention; 0: it is not latent
  bool sinks = false;
};

Case GptBlock(const char* name, const planner::Layout& layout) {
  return {.name = name,
          .layout = layout,
          .qkv_bias = true,
          .ffn = planner::FfnKind::kGelu,
          .norm = planner::StreamNorm::kLayer,
          .other_biases = true};
}

planner::Layout WithModules(planner::Layout layout, const planner::RecomputeModules& modules) {
  layout.recompute = planner::Recompute::kModules;
  layout.recompute_modules = modules;
  return layout;
}

constexpr planner::RecomputeModules kNorms = {planner::RecomputeModule::kLayerNorm};
constexpr planner::RecomputeModules kUpProjection = {planner::RecomputeModule::kMlaUpProj};
constexpr planner::RecomputeModules kFfn = {planner::RecomputeModule::kMlp};
constexpr planner::RecomputeModules kAllModules = kNorms.With(kUpProjection).With(kFfn);

void PrintTo(const Case& test_case, std::ostream* out) { *out << test_case.name; }

template <typename T>
void Append(const std::vector<T>& more, std::vector<T>& all) {
  all.insert(all.end(), more.begin(), more.end());
}

class OperatorsTest : public testing::TestWithParam<Case> {
 protected:
  OperatorsTest() {
    at::set_num_threads(1);
    KeepMatmulsWithoutScratch();
    context_.model = trial::TinyModel();
    context_.model.norm = GetParam().norm;
    context_.model.rotary_share = GetParam().rotary_share;
    context_.model.positions = GetParam().positions;
    // Queries are wider than the stream: every product is another one. An FFN as wide as those of
    // real models has the forward's peak; attention's own scratch there is not in the list.
    planner::Ffn& ffn = context_.model.groups.front().ffn;
    ffn.hidden = 4 * context_.model.hidden;
    ffn.kind = GetParam().ffn;
    ffn.bias = GetParam().other_biases;
    planner::Attention& attention = context_.model.groups.front().attention;
    attention.head_dim = 16;
    attention.kv_heads = GetParam().kv_heads;
    attention.qkv_bias = GetParam().qkv_bias;
    attention.qk_norm = GetParam().qk_norm;
    attention.output_bias = GetParam().other_biases;
    if (GetParam().value_dim > 0) attention = trial::TinyLatentAttention(GetParam().value_dim);
    attention.window = GetParam().window;
    attention.sinks = GetParam().sinks;
    context_.training = trial::TinyTraining();
    context_.training.precision = GetParam().precision;
    context_.layout = GetParam().layout;
    context_.layout.micro_batch = 2;
    auto device = std::make_unique<RecordingDevice>(recorder_);
    device_ = device.get();
    context_.device = std::move(device);
    const planner::Layout& layout = context_.layout;
    if (layout.tp > 1) context_.groups.tp = Join(planner::GroupRole::kTensor);
    if (layout.cp > 1) context_.groups.cp = Join(planner::GroupRole::kContext);
    const planner::ClusterSpec cluster = planner::FindCluster("local-cpu", 2).value();
    const planner::FrameworkProfile profile = planner::FindProfile("meshwright").value();
    shape_ = planner::LayerShape({.model = context_.model,
                                  .cluster = cluster,
                                  .training = context_.training,
                                  .profile = profile},
                                 layout, context_.model.groups.front());
  }

  std::unique_ptr<Communicator> Join(planner::GroupRole group) {
    return recorder_.Join(group, static_cast<int32_t>(planner::GroupSize(group, context_.layout)));
  }

  FlatUnit& AddUnit(ParameterUnit parameters) {
    units_.push_back(std::make_unique<FlatUnit>(context_, std::move(parameters), Replicas()));
    units_.back()->ClearGradients();
    recorder_.Name(*units_.back());
    return *units_.back();
  }

  at::Tensor Stream() const {
    return at::randn({context_.stream_tokens(), context_.model.hidden}, context_.options());
  }
  at::Tensor TokenIds() const {
    return at::randint(context_.model.vocab, {context_.tokens()}, context_.options_of(at::kInt));
  }

  // Layers look their weights up by position: it is that of `op`'s matrices, stacked.
  static void ExpectMatrix(const FlatUnit& unit, size_t position, const OperatorList& operators,
                           OperatorName name) {
    const planner::Operator* op = Find(operators, name);
    ASSERT_NE(op, nullptr) << planner::NameOf(name);
    ASSERT_LT(position, unit.parameters().size()) << planner::NameOf(name);
    EXPECT_EQ(unit.weight(position).sizes().vec(),
              (std::vector<int64_t>{op->matmul.outputs, op->matmul.inputs}))
        << planner::NameOf(name);
  }

  // It is that of `op`'s vectors from `first` on, `count` of them, one behind the other.
  static void ExpectVector(const FlatUnit& unit, size_t position, const OperatorList& operators,
                           OperatorName name, size_t first, size_t count) {
    const planner::Operator* op = Find(operators, name);
    ASSERT_NE(op, nullptr) << planner::NameOf(name);
    ASSERT_LE(first + count, op->parameters.size()) << planner::NameOf(name);
    ASSERT_LT(position, unit.parameters().size()) << planner::NameOf(name);
    int64_t elements = 0;
    for (size_t i = first; i < first + count; ++i) {
      elements += op->parameters[i].rank_elements();
    }
    EXPECT_EQ(unit.weight(position).sizes().vec(), std::vector<int64_t>{elements})
        << planner::NameOf(name);
  }

  static void ExpectSame(const RankRun& ran, const RankRun& listed) {
    EXPECT_EQ(ran.computed, listed.computed);
    EXPECT_EQ(ran.communicated, listed.communicated);
  }

  static void ExpectSame(const PassRuns& ran, const PassRuns& listed) {
    {
      SCOPED_TRACE("forward");
      ExpectSame(ran.forward, listed.forward);
    }
    {
      SCOPED_TRACE("input gradient");
      ExpectSame(ran.input_gradient, listed.input_gradient);
    }
    {
      SCOPED_TRACE("weight gradient");
      ExpectSame(ran.weight_gradient, listed.weight_gradient);
    }
    EXPECT_EQ(ran.kept_bytes, listed.kept_bytes);
  }

  const c10::InferenceMode no_tape_;
  RunRecorder recorder_;
  RankContext context_;
  RecordingDevice* device_ = nullptr;
  planner::BlockShape shape_;

 private:
  std::vector<std::unique_ptr<FlatUnit>> units_;
};

class BlockOperatorsTest : public OperatorsTest {
 protected:
  void SetUp() override {
    unit_ = &AddUnit(LayerUnit(context_.model, 0, 0, context_.layout.tp));
    whole_ = planner::BlockOperators(shape_);
    kept_ = whole_;
    planner::Apply(planner::PartsOf(planner::RecomputeOf(context_.layout, 0), shape_), kept_);
    ASSERT_NO_FATAL_FAILURE(ExpectPositions());
    ASSERT_FALSE(HasFailure());
    rope_.emplace(context_);
    block_.emplace(context_, context_.model.groups.front(), std::vector<FlatUnit*>{unit_}, *rope_,
                   0);
  }

  void ExpectPositions() const {
    const planner::Attention& attention = context_.model.groups.front().attention;
    const auto matrix = [&](size_t position, OperatorName name) {
      ExpectMatrix(*unit_, position, whole_, name);
    };
    const auto vector = [&](size_t position, OperatorName name, size_t first, size_t count) {
      ExpectVector(*unit_, position, whole_, name, first, count);
    };
    matrix(kQkvWeight, OperatorName::kQkvProjection);
    if (attention.is_latent()) {
      for (const OperatorName name :
           {OperatorName::kQueryProjection, OperatorName::kLatentProjection}) {
        matrix(MatrixOf(unit_->parameters(), name), name);
      }
      const size_t norms = VectorsOf(unit_->parameters(), OperatorName::kLatentNorm).weight;
      vector(norms, OperatorName::kLatentNorm, 0, 1);
      vector(norms + 1, OperatorName::kLatentNorm, 1, 1);
    }
    matrix(kOutputWeight, OperatorName::kOutputProjection);
    matrix(kGateUpWeight, OperatorName::kGateUpProjection);
    matrix(kDownWeight, OperatorName::kDownProjection);
    const auto of = [&](OperatorName name) { return VectorsOf(unit_->parameters(), name); };
    for (const OperatorName name : {OperatorName::kAttentionNorm, OperatorName::kFfnNorm}) {
      if (context_.model.norm == planner::StreamNorm::kLayerPlain) continue;
      vector(of(name).weight, name, 0, 1);
      if (context_.model.norm == planner::StreamNorm::kLayer) vector(of(name).bias, name, 1, 1);
    }
    if (attention.qk_norm) {
      vector(of(OperatorName::kHeadNorm).weight, OperatorName::kHeadNorm, 0, 1);
      vector(of(OperatorName::kHeadNorm).weight + 1, OperatorName::kHeadNorm, 1, 1);
    }
    if (attention.sinks) {
      vector(of(OperatorName::kAttention).weight, OperatorName::kAttention, 0, 1);
    }
    if (attention.output_bias) {
      const size_t inner = context_.model.groups.front().ffn.gated() ? 2 : 1;
      vector(of(OperatorName::kOutputProjection).bias, OperatorName::kOutputProjection, 1, 1);
      vector(of(OperatorName::kGateUpProjection).bias, OperatorName::kGateUpProjection, inner,
             inner);
      vector(of(OperatorName::kDownProjection).bias, OperatorName::kDownProjection, 1, 1);
    }
    if (attention.qkv_bias) {
      vector(of(OperatorName::kQkvProjection).bias, OperatorName::kQkvProjection, 3, 3);
    }
  }

  // A forward, and its backward in two parts.
  PassRuns RunSplit() {
    PassRuns runs;
    const int64_t before = device_->HeldBytes();
    BlockSaved saved;
    recorder_.Take();
    at::Tensor stream = block_->Forward(Stream(), saved);
    runs.forward = recorder_.Take();
    runs.kept_bytes = device_->HeldBytes() - before - static_cast<int64_t>(stream.nbytes());
    stream = block_->BackwardInput(std::move(stream), saved);
    runs.input_gradient = recorder_.Take();
    Sort(runs.input_gradient);
    left_bytes_ = device_->HeldBytes() - before - static_cast<int64_t>(stream.nbytes());
    block_->BackwardWeight(saved);
    runs.weight_gradient = recorder_.Take();
    return runs;
  }

  // The most that `body` holds beside `before`.
  int64_t PeakOf(int64_t before, const std::function<void()>& body) {
    device_->ResetPeakMemory();
    body();
    return device_->PeakMemory().allocated_bytes - before;
  }

  OperatorList whole_;
  OperatorList kept_;  // as recompute leaves them
  FlatUnit* unit_ = nullptr;
  std::optional<RopeTable> rope_;
  std::optional<Block> block_;
  int64_t left_bytes_ = 0;  // between the two parts of the backward
};

TEST_P(BlockOperatorsTest, RunsTheListAndKeepsWhatItSaves) {
  ExpectSame(RunSplit(), ListedRuns(kept_, whole_, context_.layout));
}

TEST_P(BlockOperatorsTest, NoOperatorOfTheListCanBeLeftOut) {
  const PassRuns ran = RunSplit();
  for (size_t i = 0; i < kept_.size(); ++i) {
    const OperatorName name = kept_[i].name;
    const auto without = [name](OperatorList operators) {
      operators.RemoveIf([name](const planner::Operator& op) { return op.name == name; });
      return operators;
    };
    EXPECT_NE(ran, ListedRuns(without(kept_), without(whole_), context_.layout))
        << planner::NameOf(name);
  }
}

TEST_P(BlockOperatorsTest, AWholeBackwardRunsBothOfItsParts) {
  BlockSaved saved;
  at::Tensor stream = block_->Forward(Stream(), saved);
  recorder_.Take();
  block_->Backward(std::move(stream), saved);
  RankRun ran = recorder_.Take();
  const PassRuns listed = ListedRuns(kept_, whole_, context_.layout);
  RankRun expected = listed.input_gradient;
  const RankRun& weight = listed.weight_gradient;
  Append(weight.computed, expected.computed);
  Append(weight.communicated, expected.communicated);
  // The weight gradients' collectives run beside the others.
  for (RankRun* run : {&ran, &expected}) {
    Sort(*run);
    std::sort(run->communicated.begin(), run->communicated.end());
  }
  ExpectSame(ran, expected);
}

TEST_P(BlockOperatorsTest, HoldsWhatTheListsTensorsTakeWhileTheyLive) {
  const planner::WorkerBlockBytes bytes =
      planner::BlockBytes({.block = shape_}, planner::RecomputeOf(context_.layout, 0));
  const auto most = [](const planner::WorkerBlockBytes::Halves& halves) {
    return std::max(halves.ffn.kept + halves.ffn.workspace,
                    halves.attention.kept + halves.attention.workspace);
  };
  RunSplit();
  EXPECT_EQ(left_bytes_, bytes.split);
  const int64_t before = device_->HeldBytes();
  BlockSaved saved;
  at::Tensor stream;
  EXPECT_EQ(PeakOf(before, [&] { stream = block_->Forward(Stream(), saved); }),
            bytes.forward.kept + bytes.forward.workspace);
  EXPECT_EQ(PeakOf(before, [&] { block_->Backward(std::move(stream), saved); }),
            most(bytes.backward));
  stream = block_->Forward(Stream(), saved);
  EXPECT_EQ(PeakOf(before, [&] { stream = block_->BackwardInput(std::move(stream), saved); }),
            most(bytes.input));
  stream.reset();
  EXPECT_EQ(PeakOf(before, [&] { block_->BackwardWeight(saved); }), most(bytes.weight));
  EXPECT_EQ(device_->HeldBytes(), before);
}

INSTANTIATE_TEST_SUITE_P(
    Blocks, BlockOperatorsTest,
    testing::Values(
        Case{.name = "OneRank"}, Case{.name = "MultiHead", .kv_heads = 4},
        Case{.name = "Fp64", .precision = planner::Precision::kFp64},
        Case{.name = "QkvBias", .qkv_bias = true}, Case{.name = "QkNorm", .qk_norm = true},
        Case{.name = "TensorParallel", .layout = {.tp = 2}},
        Case{.name = "TensorParallelQkvBias", .layout = {.tp = 2}, .qkv_bias = true},
        Case{.name = "SequenceParallel", .layout = {.tp = 2, .sequence_parallel = true}},
        Case{.name = "SequenceParallelQkNormAndBias",
             .layout = {.tp = 2, .sequence_parallel = true},
             .qkv_bias = true,
             .qk_norm = true},
        Case{.name = "ContextParallel", .layout = {.cp = 2}},
        Case{.name = "TensorAndContextParallel",
             .layout = {.tp = 2, .cp = 2, .sequence_parallel = true},
             .kv_heads = 4},
        Case{.name = "SelectiveRecompute",
             .layout = {.tp = 2,
                        .sequence_parallel = true,
                        .recompute = planner::Recompute::kSelective}},
        Case{.name = "FullRecompute",
             .layout = {.tp = 2, .recompute = planner::Recompute::kFull},
             .qkv_bias = true},
        Case{.name = "FullRecomputeQkNorm",
             .layout = {.tp = 2, .sequence_parallel = true, .recompute = planner::Recompute::kFull},
             .qk_norm = true},
        Case{.name = "Gelu", .ffn = planner::FfnKind::kGelu},
        Case{.name = "Relu", .ffn = planner::FfnKind::kRelu},
        Case{.name = "SequenceParallelRelu",
             .layout = {.tp = 2, .sequence_parallel = true},
             .ffn = planner::FfnKind::kRelu},
        Case{.name = "SelectiveRecomputeGelu",
             .layout = {.tp = 2, .recompute = planner::Recompute::kSelective},
             .ffn = planner::FfnKind::kGelu},
        Case{.name = "SelectiveRecomputeRelu",
             .layout = {.recompute = planner::Recompute::kSelective},
             .ffn = planner::FfnKind::kRelu},
        Case{.name = "FullRecomputeRelu",
             .layout = {.recompute = planner::Recompute::kFull},
             .ffn = planner::FfnKind::kRelu},
        Case{.name = "LayerNorm", .norm = planner::StreamNorm::kLayer},
        Case{.name = "LayerNormWithoutBias", .norm = planner::StreamNorm::kLayerWithoutBias},
        Case{.name = "SequenceParallelLayerNorm",
             .layout = {.tp = 2, .sequence_parallel = true},
             .norm = planner::StreamNorm::kLayer},
        Case{.name = "SelectiveRecomputeLayerNorm",
             .layout = {.tp = 2,
                        .sequence_parallel = true,
                        .recompute = planner::Recompute::kSelective},
             .norm = planner::StreamNorm::kLayer},
        Case{.name = "FullRecomputeLayerNorm",
             .layout = {.recompute = planner::Recompute::kFull},
             .norm = planner::StreamNorm::kLayer},
        Case{.name = "PlainLayerNorm", .norm = planner::StreamNorm::kLayerPlain},
        Case{.name = "PartialRotary", .rotary_share = 0.25},
        Case{.name = "PartialRotaryQkNorm", .qk_norm = true, .rotary_share = 0.5},
        Case{.name = "NoPositions", .positions = planner::Positions::kNone},
        Case{.name = "Window", .window = 5},
        Case{.name = "SequenceParallelWindowQkNorm",
             .layout = {.tp = 2, .sequence_parallel = true},
             .qk_norm = true,
             .window = 5},
        Case{.name = "FullRecomputeMultiHeadWindow",
             .layout = {.recompute = planner::Recompute::kFull},
             .kv_heads = 4,
             .window = 3},
        Case{.name = "Sinks", .sinks = true},
        Case{.name = "SequenceParallelSinksInAWindow",
             .layout = {.tp = 2, .sequence_parallel = true},
             .qkv_bias = true,
             .window = 5,
             .sinks = true},
        Case{.name = "ContextParallelMultiHeadSinks",
             .layout = {.cp = 2},
             .kv_heads = 4,
             .sinks = true},
        Case{.name = "FullRecomputeSinks",
             .layout = {.tp = 2, .recompute = planner::Recompute::kFull},
             .sinks = true},
        Case{.name = "Latent", .value_dim = 8}, Case{.name = "EvenLatent", .value_dim = 12},
        Case{.name = "Fp64Latent", .precision = planner::Precision::kFp64, .value_dim = 8},
        Case{.name = "TensorParallelLatent", .layout = {.tp = 2}, .value_dim = 8},
        Case{.name = "SequenceParallelLatent",
             .layout = {.tp = 2, .sequence_parallel = true},
             .value_dim = 8},
        Case{.name = "ContextParallelLatent", .layout = {.cp = 2}, .value_dim = 8},
        Case{.name = "TensorAndContextParallelLatent",
             .layout = {.tp = 2, .cp = 2, .sequence_parallel = true},
             .value_dim = 8},
        Case{.name = "SelectiveRecomputeLatent",
             .layout = {.tp = 2,
                        .sequence_parallel = true,
                        .recompute = planner::Recompute::kSelective},
             .value_dim = 8},
        Case{.name = "FullRecomputeLatent",
             .layout = {.tp = 2, .sequence_parallel = true, .recompute = planner::Recompute::kFull},
             .value_dim = 8},
        Case{.name = "Biases", .qkv_bias = true, .other_biases = true}, GptBlock("GptBlock", {}),
        GptBlock("TensorParallelGptBlock", {.tp = 2}),
        GptBlock("SequenceParallelGptBlock", {.tp = 2, .sequence_parallel = true}),
        GptBlock("SelectiveRecomputeGptBlock", {.recompute = planner::Recompute::kSelective}),
        GptBlock("FullRecomputeGptBlock", {.tp = 2, .recompute = planner::Recompute::kFull})),
    [](const auto& test) { return std::string(test.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Modules, BlockOperatorsTest,
    testing::Values(
        Case{.name = "Ffn", .layout = WithModules({}, kFfn)},
        Case{.name = "SequenceParallelFfn",
             .layout = WithModules({.tp = 2, .sequence_parallel = true}, kFfn),
             .qk_norm = true},
        Case{.name = "ReluFfn",
             .layout = WithModules({.tp = 2}, kFfn),
             .ffn = planner::FfnKind::kRelu},
        GptBlock("GptFfn", WithModules({.tp = 2, .sequence_parallel = true}, kFfn)),
        Case{.name = "LatentNorms", .layout = WithModules({}, kNorms), .value_dim = 8},
        Case{.name = "UpProjection", .layout = WithModules({}, kUpProjection), .value_dim = 8},
        Case{.name = "Fp64UpProjection",
             .layout = WithModules({}, kUpProjection),
             .precision = planner::Precision::kFp64,
             .value_dim = 12},
        Case{.name = "TensorParallelUpProjection",
             .layout = WithModules({.tp = 2}, kUpProjection),
             .value_dim = 8},
        Case{.name = "SequenceParallelUpProjection",
             .layout = WithModules({.tp = 2, .sequence_parallel = true}, kUpProjection),
             .value_dim = 8},
        Case{.name = "ContextParallelUpProjectionAndFfn",
             .layout = WithModules({.cp = 2}, kUpProjection.With(kFfn)),
             .value_dim = 8},
        Case{.name = "AllModules",
             .layout = WithModules({.tp = 2, .cp = 2, .sequence_parallel = true}, kAllModules),
             .value_dim = 8}),
    [](const auto& test) { return std::string(test.param.name); });

class EndOperatorsTest : public OperatorsTest {};

TEST_P(EndOperatorsTest, TheEmbeddingRunsTheListAndKeepsWhatItSaves) {
  const OperatorList operators = planner::EmbeddingOperators(shape_);
  FlatUnit& unit = AddUnit(EmbeddingUnit(context_.model, 0, context_.layout.tp));
  const EmbeddingLayer embedding(context_, unit);
  PassRuns runs;
  const int64_t before = device_->HeldBytes();
  const at::Tensor tokens = TokenIds();
  const at::Tensor stream = embedding.Forward(tokens);
  runs.kept_bytes = device_->HeldBytes() - before - static_cast<int64_t>(stream.nbytes());
  runs.forward = recorder_.Take();
  // One call has both parts: the collective is the input gradient's, the lookup the weight's.
  embedding.Backward(tokens, stream);
  RankRun backward = recorder_.Take();
  runs.weight_gradient.computed = std::move(backward.computed);
  runs.input_gradient.communicated = std::move(backward.communicated);
  ExpectSame(runs, ListedRuns(operators, operators, context_.layout));
}

TEST_P(EndOperatorsTest, TheHeadRunsTheListAndKeepsWhatItSaves) {
  const OperatorList operators = planner::HeadOperators(shape_);
  FlatUnit& projection = AddUnit(HeadUnit(context_.model, 0, context_.layout.tp));
  FlatUnit& final_norm = AddUnit(FinalNormUnit(context_.model));
  ExpectMatrix(projection, kHeadWeight, operators, OperatorName::kHeadProjection);
  ExpectVector(final_norm, VectorsOf(final_norm.parameters(), OperatorName::kFinalNorm).weight,
               operators, OperatorName::kFinalNorm, 0, 1);
  ASSERT_FALSE(HasFailure());
  const HeadLayer head(context_, projection, final_norm);
  const at::Tensor loss_sum = at::zeros({1}, context_.options_of(at::kDouble));
  PassRuns runs;
  const int64_t before = device_->HeldBytes();
  HeadSaved saved;
  head.Forward(Stream(), TokenIds(), loss_sum, saved);
  runs.kept_bytes = device_->HeldBytes() - before;
  runs.forward = recorder_.Take();
  head.BackwardInput(saved);
  runs.input_gradient = recorder_.Take();
  Sort(runs.input_gradient);
  head.BackwardWeight(saved);
  runs.weight_gradient = recorder_.Take();
  ExpectSame(runs, ListedRuns(operators, operators, context_.layout));
}

INSTANTIATE_TEST_SUITE_P(Ends, EndOperatorsTest,
                         testing::Values(Case{.name = "OneRank"},
                                         Case{.name = "TensorParallel", .layout = {.tp = 2}},
                                         Case{.name = "SequenceParallel",
                                              .layout = {.tp = 2, .sequence_parallel = true}},
                                         Case{.name = "ContextParallel", .layout = {.cp = 2}},
                                         Case{.name = "SequenceParallelLayerNorm",
                                              .layout = {.tp = 2, .sequence_parallel = true},
                                              .norm = planner::StreamNorm::kLayer}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace meshwright::worker
