#include "planner/block/stream_operators.h"

#include <gtest/gtest.h>

#include "planner/block/block.h"
#include "planner/block/kept.h"
#include "planner/block/parameters.h"
#include "planner/block/recompute.h"

namespace meshwright::planner {
namespace {

constexpr int64_t kStreamHidden = 64;
constexpr int64_t kStreamRank = 8;
constexpr int64_t kStreams = 4;

ModelSpec Gemma3n() {
  ModelSpec model;
  model.hidden = kStreamHidden;
  model.vocab = 512;
  model.tied_embeddings = true;
  model.arrangement = Arrangement::kSandwich;
  model.residual_streams = kStreams;
  model.stream_kind = StreamKind::kAltUp;
  model.laurel_rank = kStreamRank;
  model.groups = {{.attention = {.heads = 4, .kv_heads = 2, .head_dim = 16},
                   .ffn = {.kind = FfnKind::kGeGlu, .hidden = 96},
                   .count = 3}};
  return model;
}

ModelSpec WithOneStream() {
  ModelSpec model = Gemma3n();
  model.residual_streams = 1;
  model.laurel_rank = 0;
  return model;
}

OperatorList LayerOf(const ModelSpec& model) {
  return BlockOperators(WholeShape(model, model.groups[0], 1024));
}

TEST(StreamOperatorsTest, AltUpAndLaurelHaveTheParametersOfTheirClasses) {
  const int64_t alt_up = kStreamHidden + kStreams * kStreams + kStreams * kStreams * kStreams +
                         kStreams * kStreamHidden + kStreamHidden;
  const int64_t laurel = 2 * kStreamHidden * kStreamRank + kStreamHidden;
  const int64_t ends = 2 * (kStreams - 1) * kStreamHidden * kStreamHidden;
  EXPECT_EQ(Parameters(Gemma3n()) - Parameters(WithOneStream()), 3 * (alt_up + laurel) + ends);
}

TEST(StreamOperatorsTest, AltUpKeepsAllStreamsOnceAndTheLayersOwnTwice) {
  const OperatorList layer = LayerOf(Gemma3n());
  constexpr int64_t kStreamBytes = 2 * kStreamHidden;
  EXPECT_EQ(KeptBytes(layer, KeptTensor::kAttentionResidual), kStreams * kStreamBytes);
  EXPECT_EQ(KeptBytes(layer, KeptTensor::kFfnResidual), kStreamBytes);
  // The norm's input; what the layer changed, and what the router read.
  EXPECT_EQ(KeptBytes(layer, KeptTensor::kStreams), 3 * kStreamBytes);
  EXPECT_EQ(KeptBytes(layer, KeptTensor::kLaurel), 2 * kStreamRank + kStreamBytes);
}

TEST(StreamOperatorsTest, FullRecomputeOfAltUpKeepsAllStreams) {
  OperatorList layer = LayerOf(Gemma3n());
  const BlockShape shape = WholeShape(Gemma3n(), Gemma3n().groups[0], 1024);
  Apply(PartsOf({.mode = Recompute::kFull}, shape), layer);
  EXPECT_EQ(KeptBytes(layer), kStreams * 2 * kStreamHidden);
}

TEST(StreamOperatorsTest, TheEndsOfAltUpMultiplyTheStreams) {
  const TrainingSpec training = {.seq_len = 1024, .global_batch = 1};
  const double ends = 2.0 * (kStreams - 1) * kStreamHidden * kStreamHidden;
  const double layers = 3.0 * (2 * kStreams * kStreamHidden + 2 * kStreamHidden * kStreamRank);
  const double flops =
      CausalStepFlops(Gemma3n(), training) - CausalStepFlops(WithOneStream(), training);
  EXPECT_DOUBLE_EQ(flops, 6.0 * 1024 * (ends + layers));
}

}  // namespace
}  // namespace meshwright::planner
