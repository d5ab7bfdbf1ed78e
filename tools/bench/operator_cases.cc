#include "tools/bench/operator_cases.h"

namespace meshwright::kernels {
namespace {

// Widths like those of an 8B model on two tensor parallel ranks: hidden, FFN, head.
constexpr int64_t kHidden = 4096;
constexpr int64_t kFfn = 7168;
constexpr int64_t kHeadDim = 128;
constexpr int64_t kVocab = kBenchVocab;

ElementType AccumulatorType(ElementType type) {
  return type == ElementType::kFp64 ? type : ElementType::kFp32;
}

int64_t AccumulatorSize(ElementType type) { return ElementSize(AccumulatorType(type)); }

template <typename Args>
BenchCase Running(const Args& args, int64_t bytes) {
  return {.run = [args](const Kernels& kernels) { kernels.Run(args); }, .bytes = bytes};
}

BenchCase MakeNormForward(BenchMemory& m, ElementType t, const BenchShape& s, bool with_branch) {
  void* branch = with_branch ? m.Elements(t, s.tokens * kHidden) : nullptr;
  const RmsNormForward args{.type = t,
                            .rows = s.tokens,
                            .width = kHidden,
                            .epsilon = 1e-5,
                            .x = m.Elements(t, s.tokens * kHidden),
                            .branch = branch,
                            .sum = branch,
                            .weight = m.Elements(t, kHidden),
                            .y = m.Elements(t, s.tokens * kHidden),
                            .rstd = m.Accumulators(t, s.tokens)};
  return Running(args, (with_branch ? 4 : 2) * s.tokens * kHidden * ElementSize(t));
}

BenchCase NormForward(BenchMemory& m, ElementType t, const BenchShape& s) {
  return MakeNormForward(m, t, s, false);
}
BenchCase NormForwardOfSum(BenchMemory& m, ElementType t, const BenchShape& s) {
  return MakeNormForward(m, t, s, true);
}

BenchCase NormBackward(BenchMemory& m, ElementType t, const BenchShape& s) {
  void* dy = m.Elements(t, s.tokens * kHidden);
  const RmsNormBackward args{.type = t,
                             .rows = s.tokens,
                             .width = kHidden,
                             .dy = dy,
                             .x = m.Elements(t, s.tokens * kHidden),
                             .weight = m.Elements(t, kHidden),
                             .rstd = m.Accumulators(t, s.tokens),
                             .residual_gradient = m.Elements(t, s.tokens * kHidden),
                             .dx = dy,
                             .weight_gradient = m.Accumulators(t, kHidden)};
  return Running(args, 4 * s.tokens * kHidden * ElementSize(t));
}

BenchCase HeadNorm(BenchMemory& m, ElementType t, const BenchShape& s) {
  const HeadNormForward args{.type = t,
                             .rows = s.tokens,
                             .heads = kHidden / kHeadDim,
                             .head_dim = kHeadDim,
                             .epsilon = 1e-6,
                             .x = m.Elements(t, s.tokens * kHidden),
                             .x_stride = kHidden,
                             .x_head_stride = kHeadDim,
                             .weight = m.Elements(t, kHeadDim),
                             .y = m.Elements(t, s.tokens * kHidden),
                             .y_stride = kHidden,
                             .y_head_stride = kHeadDim,
                             .rstd = m.Accumulators(t, s.tokens * kHidden / kHeadDim)};
  return Running(args, 2 * s.tokens * kHidden * ElementSize(t) +
                           s.tokens * kHidden / kHeadDim * AccumulatorSize(t));
}

BenchCase HeadNormGradient(BenchMemory& m, ElementType t, const BenchShape& s) {
  void* x = m.Elements(t, s.tokens * kHidden);
  const HeadNormBackward args{.type = t,
                              .rows = s.tokens,
                              .heads = kHidden / kHeadDim,
                              .head_dim = kHeadDim,
                              .dy = m.Elements(t, s.tokens * kHidden),
                              .dy_stride = kHidden,
                              .dy_head_stride = kHeadDim,
                              .x = x,
                              .x_stride = kHidden,
                              .x_head_stride = kHeadDim,
                              .weight = m.Elements(t, kHeadDim),
                              .rstd = m.Accumulators(t, s.tokens * kHidden / kHeadDim),
                              .dx = x,
                              .dx_stride = kHidden,
                              .dx_head_stride = kHeadDim,
                              .weight_gradient = m.Accumulators(t, kHeadDim)};
  return Running(args, 3 * s.tokens * kHidden * ElementSize(t) +
                           s.tokens * kHidden / kHeadDim * AccumulatorSize(t));
}

BenchCase ActivationForward(BenchMemory& m, ElementType t, const BenchShape& s) {
  const SwigluForward args{.type = t,
                           .rows = s.tokens,
                           .width = kFfn,
                           .gate_up = m.Elements(t, 2 * s.tokens * kFfn),
                           .product = m.Elements(t, s.tokens * kFfn)};
  return Running(args, 3 * s.tokens * kFfn * ElementSize(t));
}

BenchCase ActivationBackward(BenchMemory& m, ElementType t, const BenchShape& s) {
  const SwigluBackward args{.type = t,
                            .rows = s.tokens,
                            .width = kFfn,
                            .dproduct = m.Elements(t, s.tokens * kFfn),
                            .gate_up = m.Elements(t, 2 * s.tokens * kFfn)};
  return Running(args, 5 * s.tokens * kFfn * ElementSize(t));
}

BenchCase Rotary(BenchMemory& m, ElementType t, const BenchShape& s) {
  void* x = m.Elements(t, s.tokens * kHidden);
  const Rope args{.type = t,
                  .rows = s.tokens,
                  .seq_len = s.tokens,
                  .heads = kHidden / kHeadDim,
                  .head_dim = kHeadDim,
                  .inverse = false,
                  .cosine = m.Accumulators(t, s.tokens * kHeadDim / 2),
                  .sine = m.Accumulators(t, s.tokens * kHeadDim / 2),
                  .x = x,
                  .x_stride = kHidden,
                  .x_head_stride = kHeadDim,
                  .y = x,
                  .y_stride = kHidden,
                  .y_head_stride = kHeadDim};
  return Running(
      args, 2 * s.tokens * kHidden * ElementSize(t) + s.tokens * kHeadDim * AccumulatorSize(t));
}

BenchCase Merge(BenchMemory& m, ElementType t, const BenchShape& s) {
  constexpr int64_t kHeads = kHidden / kHeadDim;
  const HeadStrides output = {.batch = 0, .query = kHidden, .head = kHeadDim};
  const HeadStrides log_sum_exp = {.batch = 0, .query = 1, .head = s.tokens};
  const AttentionMerge args{.type = t,
                            .batch = 1,
                            .queries = s.tokens,
                            .heads = kHeads,
                            .head_dim = kHeadDim,
                            .output = m.Accumulators(t, s.tokens * kHidden),
                            .output_strides = output,
                            .log_sum_exp = m.Accumulators(t, s.tokens * kHeads),
                            .log_sum_exp_strides = log_sum_exp,
                            .part_output = m.Elements(t, s.tokens * kHidden),
                            .part_output_strides = output,
                            .part_log_sum_exp = m.Accumulators(t, s.tokens * kHeads),
                            .part_log_sum_exp_strides = log_sum_exp};
  return Running(args, s.tokens * kHidden * (ElementSize(t) + 2 * AccumulatorSize(t)) +
                           3 * s.tokens * kHeads * AccumulatorSize(t));
}

BenchCase LossStatistics(BenchMemory& m, ElementType t, const BenchShape& s) {
  const CrossEntropyStatistics args{.type = t,
                                    .rows = s.tokens,
                                    .width = kVocab,
                                    .vocab_begin = 0,
                                    .logits = m.Elements(t, s.tokens * kVocab),
                                    .targets = m.Tokens(s.tokens),
                                    .local_max = m.Accumulators(t, s.tokens),
                                    .local_sum = m.Accumulators(t, s.tokens),
                                    .target_logit = m.Accumulators(t, s.tokens)};
  return Running(args, s.tokens * kVocab * ElementSize(t));
}

BenchCase LossBackward(BenchMemory& m, ElementType t, const BenchShape& s) {
  const CrossEntropyBackward args{.type = t,
                                  .rows = s.tokens,
                                  .width = kVocab,
                                  .vocab_begin = 0,
                                  .scale = 1e-6,
                                  .targets = m.Tokens(s.tokens),
                                  .log_sum_exp = m.Accumulators(t, s.tokens),
                                  .logits = m.Elements(t, s.tokens * kVocab)};
  return Running(args, 2 * s.tokens * kVocab * ElementSize(t));
}

BenchCase Embed(BenchMemory& m, ElementType t, const BenchShape& s) {
  const EmbeddingForward args{.type = t,
                              .rows = s.tokens,
                              .width = kHidden,
                              .vocab_begin = 0,
                              .vocab_count = kVocab,
                              .tokens = m.Tokens(s.tokens),
                              .table = m.Elements(t, kVocab * kHidden),
                              .y = m.Elements(t, s.tokens * kHidden)};
  return Running(args, 2 * s.tokens * kHidden * ElementSize(t));
}

BenchCase EmbedBackward(BenchMemory& m, ElementType t, const BenchShape& s) {
  const EmbeddingBackward args{.type = t,
                               .rows = s.tokens,
                               .width = kHidden,
                               .vocab_begin = 0,
                               .vocab_count = kVocab,
                               .tokens = m.Tokens(s.tokens),
                               .dy = m.Elements(t, s.tokens * kHidden),
                               .table_gradient = m.Accumulators(t, kVocab * kHidden)};
  return Running(args, s.tokens * kHidden * (ElementSize(t) + 2 * AccumulatorSize(t)));
}

BenchCase GradientAccumulation(BenchMemory& m, ElementType t, const BenchShape& s) {
  const Accumulate args{.type = t,
                        .count = s.parameters,
                        .source = m.Elements(t, s.parameters),
                        .target = m.Accumulators(t, s.parameters)};
  return Running(args, s.parameters * (ElementSize(t) + 2 * AccumulatorSize(t)));
}

// Of gradients, which bf16 training has in fp32.
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
  // Gradient read; moments and weights read and written; bf16 weights written beside their master.
  return Running(args, s.parameters * (7 * AccumulatorSize(t) + (has_master ? ElementSize(t) : 0)));
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

int32_t* BenchMemory::Tokens(int64_t count) {
  std::vector<int32_t> tokens;
  for (int64_t i = 0; i < kVocab; ++i) tokens.push_back(static_cast<int32_t>(i * 7919 % kVocab));
  return static_cast<int32_t*>(
      Repeat(tokens.data(), kVocab * static_cast<int64_t>(sizeof(int32_t)), count / kVocab));
}

const std::vector<BenchOperator>& BenchOperators() {
  static const auto& operators =
      *new std::vector<BenchOperator>{{"RmsNormForward", NormForward},
                                      {"RmsNormForwardOfSum", NormForwardOfSum},
                                      {"RmsNormBackward", NormBackward},
                                      {"HeadNormForward", HeadNorm},
                                      {"HeadNormBackward", HeadNormGradient},
                                      {"Rope", Rotary},
                                      {"AttentionMerge", Merge},
                                      {"SwigluForward", ActivationForward},
                                      {"SwigluBackward", ActivationBackward},
                                      {"EmbeddingForward", Embed},
                                      {"EmbeddingBackward", EmbedBackward},
                                      {"CrossEntropyStatistics", LossStatistics},
                                      {"CrossEntropyBackward", LossBackward},
                                      {"Accumulate", GradientAccumulation},
                                      {"GradientNorm", GradientNorm},
                                      {"AdamW", Optimizer}};
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
