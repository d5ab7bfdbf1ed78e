#include "tools/bench/operator_cases.h"

#include <cmath>
#include <set>

namespace meshwright::kernels {
namespace {

ElementType AccumulatorType(ElementType type) {
  return type == ElementType::kFp64 ? type : ElementType::kFp32;
}

int64_t AccumulatorSize(ElementType type) { return ElementSize(AccumulatorType(type)); }

int64_t QueryWidth(const BenchShape& s) { return s.model.heads * s.model.head_dim; }

// Every token of the vocabulary is equally frequent.
std::vector<int32_t> EvenTokens(const BenchShape& s) {
  std::vector<int32_t> tokens;
  tokens.reserve(static_cast<size_t>(s.tokens));
  for (int64_t i = 0; i < s.tokens; ++i) {
    tokens.push_back(static_cast<int32_t>(i * 7919 % s.model.vocab));
  }
  return tokens;
}

// As uneven as in texts (Zipf's law): the k-th most frequent has a share of about 1 / (k ln vocab).
std::vector<int32_t> TextTokens(const BenchShape& s) {
  constexpr double kGoldenRatio = 0.6180339887498949;
  std::vector<int32_t> tokens;
  for (int64_t i = 0; i < s.tokens; ++i) {
    const double even = std::fmod(static_cast<double>(i) * kGoldenRatio, 1.0);
    const double rank = std::pow(static_cast<double>(s.model.vocab), even);
    tokens.push_back(static_cast<int32_t>(rank) - 1);
  }
  return tokens;
}

template <typename Args>
BenchCase Running(const Args& args, int64_t bytes) {
  return {.run = [args](const Kernels& kernels) { kernels.Run(args); }, .bytes = bytes};
}

BenchCase MakeNormForward(BenchMemory& m, ElementType t, const BenchShape& s, bool with_branch) {
  void* branch = with_branch ? m.Elements(t, s.tokens * s.model.hidden) : nullptr;
  const RmsNormForward args{.type = t,
                            .rows = s.tokens,
                            .width = s.model.hidden,
                            .epsilon = 1e-5,
                            .x = m.Elements(t, s.tokens * s.model.hidden),
                            .branch = branch,
                            .sum = branch,
                            .weight = m.Elements(t, s.model.hidden),
                            .y = m.Elements(t, s.tokens * s.model.hidden),
                            .rstd = m.Accumulators(t, s.tokens)};
  return Running(args, (with_branch ? 4 : 2) * s.tokens * s.model.hidden * ElementSize(t));
}

BenchCase NormForward(BenchMemory& m, ElementType t, const BenchShape& s) {
  return MakeNormForward(m, t, s, false);
}
BenchCase NormForwardOfSum(BenchMemory& m, ElementType t, const BenchShape& s) {
  return MakeNormForward(m, t, s, true);
}

BenchCase NormBackward(BenchMemory& m, ElementType t, const BenchShape& s) {
  void* dy = m.Elements(t, s.tokens * s.model.hidden);
  const RmsNormBackward args{.type = t,
                             .rows = s.tokens,
                             .width = s.model.hidden,
                             .dy = dy,
                             .x = m.Elements(t, s.tokens * s.model.hidden),
                             .weight = m.Elements(t, s.model.hidden),
                             .rstd = m.Accumulators(t, s.tokens),
                             .residual_gradient = m.Elements(t, s.tokens * s.model.hidden),
                             .dx = dy,
                             .weight_gradient = m.Accumulators(t, s.model.hidden)};
  return Running(args, 4 * s.tokens * s.model.hidden * ElementSize(t));
}

BenchCase CentredNormForward(BenchMemory& m, ElementType t, const BenchShape& s) {
  const LayerNormForward args{.type = t,
                              .rows = s.tokens,
                              .width = s.model.hidden,
                              .epsilon = 1e-5,
                              .x = m.Elements(t, s.tokens * s.model.hidden),
                              .branch = nullptr,
                              .sum = nullptr,
                              .weight = m.Elements(t, s.model.hidden),
                              .bias = m.Elements(t, s.model.hidden),
                              .y = m.Elements(t, s.tokens * s.model.hidden),
                              .statistics = m.Accumulators(t, 2 * s.tokens)};
  return Running(args, 2 * s.tokens * s.model.hidden * ElementSize(t));
}

BenchCase CentredNormBackward(BenchMemory& m, ElementType t, const BenchShape& s) {
  void* dy = m.Elements(t, s.tokens * s.model.hidden);
  const LayerNormBackward args{.type = t,
                               .rows = s.tokens,
                               .width = s.model.hidden,
                               .dy = dy,
                               .x = m.Elements(t, s.tokens * s.model.hidden),
                               .weight = m.Elements(t, s.model.hidden),
                               .statistics = m.Accumulators(t, 2 * s.tokens),
                               .residual_gradient = m.Elements(t, s.tokens * s.model.hidden),
                               .dx = dy,
                               .weight_gradient = m.Accumulators(t, s.model.hidden),
                               .bias_gradient = m.Accumulators(t, s.model.hidden)};
  return Running(args, 4 * s.tokens * s.model.hidden * ElementSize(t));
}

BenchCase HeadNorm(BenchMemory& m, ElementType t, const BenchShape& s) {
  const HeadNormForward args{.type = t,
                             .rows = s.tokens,
                             .heads = s.model.heads,
                             .head_dim = s.model.head_dim,
                             .epsilon = 1e-6,
                             .x = m.Elements(t, s.tokens * QueryWidth(s)),
                             .x_stride = QueryWidth(s),
                             .x_head_stride = s.model.head_dim,
                             .weight = m.Elements(t, s.model.head_dim),
                             .y = m.Elements(t, s.tokens * QueryWidth(s)),
                             .y_stride = QueryWidth(s),
                             .y_head_stride = s.model.head_dim,
                             .rstd = m.Accumulators(t, s.tokens * s.model.heads)};
  return Running(args, 2 * s.tokens * QueryWidth(s) * ElementSize(t) +
                           s.tokens * s.model.heads * AccumulatorSize(t));
}

BenchCase HeadNormGradient(BenchMemory& m, ElementType t, const BenchShape& s) {
  void* x = m.Elements(t, s.tokens * QueryWidth(s));
  const HeadNormBackward args{.type = t,
                              .rows = s.tokens,
                              .heads = s.model.heads,
                              .head_dim = s.model.head_dim,
                              .dy = m.Elements(t, s.tokens * QueryWidth(s)),
                              .dy_stride = QueryWidth(s),
                              .dy_head_stride = s.model.head_dim,
                              .x = x,
                              .x_stride = QueryWidth(s),
                              .x_head_stride = s.model.head_dim,
                              .weight = m.Elements(t, s.model.head_dim),
                              .rstd = m.Accumulators(t, s.tokens * s.model.heads),
                              .dx = x,
                              .dx_stride = QueryWidth(s),
                              .dx_head_stride = s.model.head_dim,
                              .weight_gradient = m.Accumulators(t, s.model.head_dim)};
  return Running(args, 3 * s.tokens * QueryWidth(s) * ElementSize(t) +
                           s.tokens * s.model.heads * AccumulatorSize(t));
}

BenchCase Swiglu(BenchMemory& m, ElementType t, const BenchShape& s) {
  const SwigluForward args{.type = t,
                           .rows = s.tokens,
                           .width = s.model.ffn,
                           .gate_up = m.Elements(t, 2 * s.tokens * s.model.ffn),
                           .product = m.Elements(t, s.tokens * s.model.ffn)};
  return Running(args, 3 * s.tokens * s.model.ffn * ElementSize(t));
}

BenchCase SwigluGradient(BenchMemory& m, ElementType t, const BenchShape& s) {
  const SwigluBackward args{.type = t,
                            .rows = s.tokens,
                            .width = s.model.ffn,
                            .dproduct = m.Elements(t, s.tokens * s.model.ffn),
                            .gate_up = m.Elements(t, 2 * s.tokens * s.model.ffn)};
  return Running(args, 5 * s.tokens * s.model.ffn * ElementSize(t));
}

BenchCase GeluGradient(BenchMemory& m, ElementType t, const BenchShape& s) {
  const int64_t count = s.tokens * s.model.ffn;
  void* up = m.Elements(t, count);
  return Running(ActivationBackward{.type = t,
                                    .activation = Activation::kGelu,
                                    .count = count,
                                    .dproduct = m.Elements(t, count),
                                    .up = up,
                                    .gradient = up},
                 3 * count * ElementSize(t));
}

BenchCase Rotary(BenchMemory& m, ElementType t, const BenchShape& s) {
  void* x = m.Elements(t, s.tokens * QueryWidth(s));
  const Rope args{.type = t,
                  .rows = s.tokens,
                  .seq_len = s.tokens,
                  .heads = s.model.heads,
                  .head_dim = s.model.head_dim,
                  .inverse = false,
                  .cosine = m.Accumulators(t, s.tokens * s.model.head_dim / 2),
                  .sine = m.Accumulators(t, s.tokens * s.model.head_dim / 2),
                  .x = x,
                  .x_stride = QueryWidth(s),
                  .x_head_stride = s.model.head_dim,
                  .y = x,
                  .y_stride = QueryWidth(s),
                  .y_head_stride = s.model.head_dim};
  return Running(args, 2 * s.tokens * QueryWidth(s) * ElementSize(t) +
                           s.tokens * s.model.head_dim * AccumulatorSize(t));
}

BenchCase Merge(BenchMemory& m, ElementType t, const BenchShape& s) {
  const int64_t heads = s.model.heads;
  const int64_t width = heads * s.model.head_dim;
  const HeadStrides output = {.batch = 0, .query = width, .head = s.model.head_dim};
  const HeadStrides log_sum_exp = {.batch = 0, .query = 1, .head = s.tokens};
  const AttentionMerge args{.type = t,
                            .batch = 1,
                            .queries = s.tokens,
                            .heads = heads,
                            .head_dim = s.model.head_dim,
                            .output = m.Accumulators(t, s.tokens * width),
                            .output_strides = output,
                            .log_sum_exp = m.Accumulators(t, s.tokens * heads),
                            .log_sum_exp_strides = log_sum_exp,
                            .part_output = m.Elements(t, s.tokens * width),
                            .part_output_strides = output,
                            .part_log_sum_exp = m.Accumulators(t, s.tokens * heads),
                            .part_log_sum_exp_strides = log_sum_exp};
  return Running(args, s.tokens * width * (ElementSize(t) + 2 * AccumulatorSize(t)) +
                           3 * s.tokens * heads * AccumulatorSize(t));
}

BenchCase Sink(BenchMemory& m, ElementType t, const BenchShape& s) {
  const int64_t heads = s.model.heads;
  const int64_t width = heads * s.model.head_dim;
  const AttentionSink args{.type = t,
                           .batch = 1,
                           .queries = s.tokens,
                           .heads = heads,
                           .head_dim = s.model.head_dim,
                           .sinks = m.Elements(t, heads),
                           .sink_stride = 1,
                           .output = m.Elements(t, s.tokens * width),
                           .output_strides = {.batch = 0, .query = width, .head = s.model.head_dim},
                           .log_sum_exp = m.Accumulators(t, s.tokens * heads),
                           .log_sum_exp_strides = {.batch = 0, .query = 1, .head = s.tokens}};
  return Running(args, 2 * s.tokens * (width * ElementSize(t) + heads * AccumulatorSize(t)));
}

BenchCase SinkGradient(BenchMemory& m, ElementType t, const BenchShape& s) {
  const int64_t heads = s.model.heads;
  const int64_t width = heads * s.model.head_dim;
  const HeadStrides strides = {.batch = 0, .query = width, .head = s.model.head_dim};
  const AttentionSinkGradient args{
      .type = t,
      .batch = 1,
      .queries = s.tokens,
      .heads = heads,
      .head_dim = s.model.head_dim,
      .sinks = m.Elements(t, heads),
      .sink_stride = 1,
      .output = m.Elements(t, s.tokens * width),
      .output_strides = strides,
      .doutput = m.Elements(t, s.tokens * width),
      .doutput_strides = strides,
      .log_sum_exp = m.Accumulators(t, s.tokens * heads),
      .log_sum_exp_strides = {.batch = 0, .query = 1, .head = s.tokens},
      .sink_gradient = m.Accumulators(t, heads)};
  return Running(args, s.tokens * (2 * width * ElementSize(t) + heads * AccumulatorSize(t)));
}

// For experts that share all of the tokens.
BenchCase ClampedExperts(BenchMemory& m, ElementType t, const BenchShape& s) {
  const ExpertSwigluForward args{.type = t,
                                 .rows = s.tokens,
                                 .width = s.model.ffn,
                                 .form = ClampedSwiglu(7.0),
                                 .gate_up = m.Elements(t, 2 * s.tokens * s.model.ffn),
                                 .weights = m.Accumulators(t, s.tokens),
                                 .product = m.Elements(t, s.tokens * s.model.ffn)};
  return Running(args, 3 * s.tokens * s.model.ffn * ElementSize(t));
}

BenchCase ClampedExpertsGradient(BenchMemory& m, ElementType t, const BenchShape& s) {
  const ExpertSwigluBackward args{.type = t,
                                  .rows = s.tokens,
                                  .width = s.model.ffn,
                                  .form = ClampedSwiglu(7.0),
                                  .dproduct = m.Elements(t, s.tokens * s.model.ffn),
                                  .gate_up = m.Elements(t, 2 * s.tokens * s.model.ffn),
                                  .weights = m.Accumulators(t, s.tokens)};
  return Running(args, 5 * s.tokens * s.model.ffn * ElementSize(t));
}

BenchCase ExpertBias(BenchMemory& m, ElementType t, const BenchShape& s) {
  const WeighedBias args{.type = t,
                         .rows = s.tokens,
                         .width = s.model.hidden,
                         .weights = m.Accumulators(t, s.tokens),
                         .bias = m.Elements(t, s.model.hidden),
                         .y = m.Elements(t, s.tokens * s.model.hidden)};
  return Running(args, 2 * s.tokens * s.model.hidden * ElementSize(t));
}

BenchCase ExpertBiasGradient(BenchMemory& m, ElementType t, const BenchShape& s) {
  const WeighedBiasBackward args{.type = t,
                                 .rows = s.tokens,
                                 .width = s.model.hidden,
                                 .dy = m.Elements(t, s.tokens * s.model.hidden),
                                 .bias = m.Elements(t, s.model.hidden),
                                 .dweights = m.Accumulators(t, s.tokens)};
  return Running(args, s.tokens * s.model.hidden * ElementSize(t));
}

BenchCase LossStatistics(BenchMemory& m, ElementType t, const BenchShape& s) {
  const CrossEntropyStatistics args{.type = t,
                                    .rows = s.tokens,
                                    .width = s.model.vocab,
                                    .vocab_begin = 0,
                                    .logits = m.Elements(t, s.tokens * s.model.vocab),
                                    .targets = m.Integers(EvenTokens(s)),
                                    .local_max = m.Accumulators(t, s.tokens),
                                    .local_sum = m.Accumulators(t, s.tokens),
                                    .target_logit = m.Accumulators(t, s.tokens)};
  return Running(args, s.tokens * s.model.vocab * ElementSize(t));
}

BenchCase LossBackward(BenchMemory& m, ElementType t, const BenchShape& s) {
  const CrossEntropyBackward args{.type = t,
                                  .rows = s.tokens,
                                  .width = s.model.vocab,
                                  .vocab_begin = 0,
                                  .scale = 1e-6,
                                  .targets = m.Integers(EvenTokens(s)),
                                  .log_sum_exp = m.Accumulators(t, s.tokens),
                                  .logits = m.Elements(t, s.tokens * s.model.vocab)};
  return Running(args, 2 * s.tokens * s.model.vocab * ElementSize(t));
}

BenchCase Embed(BenchMemory& m, ElementType t, const BenchShape& s) {
  const EmbeddingForward args{.type = t,
                              .rows = s.tokens,
                              .width = s.model.hidden,
                              .vocab_begin = 0,
                              .vocab_count = s.model.vocab,
                              .tokens = m.Integers(EvenTokens(s)),
                              .table = m.Elements(t, s.model.vocab * s.model.hidden),
                              .y = m.Elements(t, s.tokens * s.model.hidden)};
  return Running(args, 2 * s.tokens * s.model.hidden * ElementSize(t));
}

BenchCase MakeEmbedBackward(BenchMemory& m, ElementType t, const BenchShape& s,
                            const std::vector<int32_t>& tokens) {
  const EmbeddingBackward args{.type = t,
                               .rows = s.tokens,
                               .width = s.model.hidden,
                               .vocab_begin = 0,
                               .vocab_count = s.model.vocab,
                               .tokens = m.Integers(tokens),
                               .dy = m.Elements(t, s.tokens * s.model.hidden),
                               .table_gradient = m.Accumulators(t, s.model.vocab * s.model.hidden)};
  const auto distinct =
      static_cast<int64_t>(std::set<int32_t>(tokens.begin(), tokens.end()).size());
  return Running(args,
                 s.model.hidden * (s.tokens * ElementSize(t) + distinct * 2 * AccumulatorSize(t)));
}

BenchCase EmbedBackward(BenchMemory& m, ElementType t, const BenchShape& s) {
  return MakeEmbedBackward(m, t, s, EvenTokens(s));
}
BenchCase EmbedBackwardOfText(BenchMemory& m, ElementType t, const BenchShape& s) {
  return MakeEmbedBackward(m, t, s, TextTokens(s));
}

BenchCase GradientAccumulation(BenchMemory& m, ElementType t, const BenchShape& s) {
  const Accumulate args{.type = t,
                        .count = s.parameters,
                        .source = m.Elements(t, s.parameters),
                        .target = m.Accumulators(t, s.parameters)};
  return Running(args, s.parameters * (ElementSize(t) + 2 * AccumulatorSize(t)));
}

// Of gradients, which are fp32 in bf16 training.
BenchCase GradientNorm(BenchMemory& m, ElementType t, const BenchShape& s) {
  const SumOfSquares args{.type = AccumulatorType(t),
                          .count = s.parameters,
                          .x = m.Accumulators(t, s.parameters),
                          .partial_sums = m.Doubles(SumOfSquares::kPartialSums),
                          .sum = m.Doubles(1)};
  return Running(args, s.parameters * AccumulatorSize(t));
}

BenchCase Optimizer(BenchMemory& m, ElementType t, const BenchShape& s) {
  const bool has_master = t == ElementType::kBf16;
  const AdamW args{.type = t,
                   .count = s.parameters,
                   .learning_rate = 1e-4,
                   .beta1 = 0.9,
                   .beta2 = 0.95,
                   .epsilon = 1e-8,
                   .weight_decay = 0.1,
                   .step = 1,
                   .gradient = m.Accumulators(t, s.parameters),
                   .first_moment = m.Accumulators(t, s.parameters),
                   .second_moment = m.Accumulators(t, s.parameters),
                   .master = has_master ? m.Accumulators(t, s.parameters) : nullptr,
                   .weights = m.Elements(t, s.parameters)};
  // Gradient read; moments and weights read and written; bf16 weights written beside their fp32
  // master.
  return Running(args, s.parameters * (7 * AccumulatorSize(t) + (has_master ? ElementSize(t) : 0)));
}

// For activations as wide as the residual stream. The bytes of scales are negligible.
BenchCase Quantisation(BenchMemory& m, ElementType t, const BenchShape& s, ScaleTiles tiles) {
  const int64_t elements = s.tokens * s.model.hidden;
  const ScaleShape scales = ScalesOf(tiles, s.tokens, s.model.hidden);
  const Quantise args{
      .type = t,
      .tiles = tiles,
      .rows = s.tokens,
      .columns = s.model.hidden,
      .x = m.Elements(t, elements),
      .x_stride = s.model.hidden,
      .values = static_cast<uint8_t*>(m.Elements(ElementType::kBf16, elements)),
      .scales = static_cast<float*>(m.Elements(ElementType::kFp32, scales.rows * scales.columns))};
  return Running(args, elements * (ElementSize(t) + 1));
}
BenchCase QuantiseRows(BenchMemory& m, ElementType t, const BenchShape& s) {
  return Quantisation(m, t, s, ScaleTiles::kRows);
}
BenchCase QuantiseColumns(BenchMemory& m, ElementType t, const BenchShape& s) {
  return Quantisation(m, t, s, ScaleTiles::kColumns);
}
BenchCase QuantiseBlocks(BenchMemory& m, ElementType t, const BenchShape& s) {
  return Quantisation(m, t, s, ScaleTiles::kBlocks);
}

BenchCase DequantiseRows(BenchMemory& m, ElementType t, const BenchShape& s) {
  const int64_t elements = s.tokens * s.model.hidden;
  const ScaleShape scales = ScalesOf(ScaleTiles::kRows, s.tokens, s.model.hidden);
  const Dequantise args{
      .type = t,
      .tiles = ScaleTiles::kRows,
      .first_row = 0,
      .first_column = 0,
      .rows = s.tokens,
      .columns = s.model.hidden,
      .values = static_cast<uint8_t*>(m.Elements(ElementType::kBf16, elements)),
      .value_stride = s.model.hidden,
      .scales = static_cast<float*>(m.Elements(ElementType::kFp32, scales.rows * scales.columns)),
      .scale_stride = scales.columns,
      .y = m.Elements(t, elements)};
  return Running(args, elements * (ElementSize(t) + 1));
}

}  // namespace

void* BenchMemory::Elements(ElementType type, int64_t count) {
  const float fp32 = 1.0f;
  const double fp64 = 1.0;
  Bf16 bf16;
  Narrow(fp32, bf16);
  switch (type) {
    case ElementType::kFp32:
      return Repeat(&fp32, sizeof(fp32), count);
    case ElementType::kBf16:
      return Repeat(&bf16, sizeof(bf16), count);
    case ElementType::kFp64:
      return Repeat(&fp64, sizeof(fp64), count);
  }
  return nullptr;
}

void* BenchMemory::Accumulators(ElementType type, int64_t count) {
  return Elements(AccumulatorType(type), count);
}

double* BenchMemory::Doubles(int64_t count) {
  return static_cast<double*>(Elements(ElementType::kFp64, count));
}

int32_t* BenchMemory::Integers(const std::vector<int32_t>& values) {
  const auto bytes = static_cast<int64_t>(values.size() * sizeof(int32_t));
  return static_cast<int32_t*>(Repeat(values.data(), bytes, 1));
}

const std::vector<BenchOperator>& BenchOperators() {
  static const auto& operators =
      *new std::vector<BenchOperator>{{"RmsNormForward", NormForward},
                                      {"RmsNormForwardOfSum", NormForwardOfSum},
                                      {"RmsNormBackward", NormBackward},
                                      {"LayerNormForward", CentredNormForward},
                                      {"LayerNormBackward", CentredNormBackward},
                                      {"HeadNormForward", HeadNorm},
                                      {"HeadNormBackward", HeadNormGradient},
                                      {"Rope", Rotary},
                                      {"AttentionMerge", Merge},
                                      {"AttentionSink", Sink},
                                      {"AttentionSinkGradient", SinkGradient},
                                      {"ExpertSwigluClamped", ClampedExperts},
                                      {"ExpertSwigluClampedBackward", ClampedExpertsGradient},
                                      {"WeighedBias", ExpertBias},
                                      {"WeighedBiasBackward", ExpertBiasGradient},
                                      {"SwigluForward", Swiglu},
                                      {"SwigluBackward", SwigluGradient},
                                      {"GeluBackward", GeluGradient},
                                      {"EmbeddingForward", Embed},
                                      {"EmbeddingBackward", EmbedBackward},
                                      {"EmbeddingBackwardOfText", EmbedBackwardOfText},
                                      {"CrossEntropyStatistics", LossStatistics},
                                      {"CrossEntropyBackward", LossBackward},
                                      {"Accumulate", GradientAccumulation, /*of_model=*/false},
                                      {"GradientNorm", GradientNorm, /*of_model=*/false},
                                      {"AdamW", Optimizer, /*of_model=*/false},
                                      {"QuantiseRows", QuantiseRows},
                                      {"QuantiseColumns", QuantiseColumns},
                                      {"QuantiseBlocks", QuantiseBlocks},
                                      {"DequantiseRows", DequantiseRows}};
  return operators;
}

int64_t ElementSize(ElementType type) {
  switch (type) {
    case ElementType::kFp32:
      return 4;
    case ElementType::kBf16:
      return 2;
    case ElementType::kFp64:
      return 8;
  }
  return 0;
}

const char* ElementName(ElementType type) {
  switch (type) {
    case ElementType::kFp32:
      return "fp32";
    case ElementType::kBf16:
      return "bf16";
    case ElementType::kFp64:
      return "fp64";
  }
  return "";
}

}  // namespace meshwright::kernels
