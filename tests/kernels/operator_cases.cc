#include "tests/kernels/operator_cases.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "tests/kernels/operands.h"

namespace meshwright::kernels {
namespace {

constexpr int64_t kRows = 67;
// Leaves a remainder to vectors of every length; whole vectors, and more than one for a thread.
constexpr int64_t kOddWidth = 291;
constexpr int64_t kEvenWidth = 2176;

// Where the sum of input and branch goes.
enum class SumPlace { kNone, kBranch, kOwn };

std::vector<double> RunNormForward(const Kernels& kernels, Memory& memory, ElementType type,
                                   int64_t width, SumPlace place) {
  const int64_t rows = RowsOf(width);
  Operands o(memory, type);
  void* branch = place == SumPlace::kNone ? nullptr : o.Elements(rows * width);
  RmsNormForward args{.type = type,
                      .rows = rows,
                      .width = width,
                      .epsilon = 1e-5,
                      .x = o.Elements(rows * width),
                      .branch = branch,
                      .sum = place == SumPlace::kOwn ? o.Elements(rows * width) : branch,
                      .weight = o.Elements(width),
                      .y = o.Elements(rows * width),
                      .rstd = o.Zeros(rows)};
  kernels.Run(args);
  if (args.sum != nullptr) o.CollectElements(args.sum, rows * width);
  o.CollectElements(args.y, rows * width);
  o.CollectAcc(args.rstd, rows);
  return o.outputs();
}

std::vector<double> RunNormBackward(const Kernels& kernels, Memory& memory, ElementType type,
                                    int64_t width, bool residual) {
  const int64_t rows = RowsOf(width);
  Operands o(memory, type);
  void* dy = o.Elements(rows * width);
  RmsNormBackward args{.type = type,
                       .rows = rows,
                       .width = width,
                       .dy = dy,
                       .x = o.Elements(rows * width),
                       .weight = o.Elements(width),
                       .rstd = o.Acc(rows, 0.5, 2.0),
                       .residual_gradient = residual ? o.Elements(rows * width) : nullptr,
                       .dx = dy,
                       .weight_gradient = o.Acc(width)};
  kernels.Run(args);
  o.CollectElements(args.dx, rows * width);
  o.CollectAcc(args.weight_gradient, width);
  return o.outputs();
}

// `gap` elements lie between a row's last head and the next row, beside a head's width.
std::vector<double> RunHeadNorm(const Kernels& kernels, Memory& memory, ElementType type,
                                int64_t head_dim, int64_t gap) {
  constexpr int64_t kHeads = 3;
  const int64_t stride = (kHeads + 1) * head_dim + gap;
  Operands o(memory, type);
  HeadNormForward forward{.type = type,
                          .rows = kRows,
                          .heads = kHeads,
                          .head_dim = head_dim,
                          .epsilon = 1e-5,
                          .x = o.Elements(kRows * stride),
                          .x_stride = stride,
                          .x_head_stride = head_dim,
                          .weight = o.Elements(head_dim),
                          .y = o.Elements(kRows * 2 * stride),
                          .y_stride = 2 * stride,
                          .y_head_stride = 2 * head_dim,
                          .rstd = o.Zeros(kRows * kHeads)};
  kernels.Run(forward);
  o.CollectElements(forward.y, kRows * 2 * stride);
  o.CollectAcc(forward.rstd, kRows * kHeads);
  void* x = o.Elements(kRows * stride);
  HeadNormBackward backward{.type = type,
                            .rows = kRows,
                            .heads = kHeads,
                            .head_dim = head_dim,
                            .dy = o.Elements(kRows * 2 * stride),
                            .dy_stride = 2 * stride,
                            .dy_head_stride = 2 * head_dim,
                            .x = x,
                            .x_stride = stride,
                            .x_head_stride = head_dim,
                            .weight = o.Elements(head_dim),
                            .rstd = o.Acc(kRows * kHeads, 0.5, 2.0),
                            .dx = x,
                            .dx_stride = stride,
                            .dx_head_stride = head_dim,
                            .weight_gradient = o.Acc(head_dim)};
  kernels.Run(backward);
  o.CollectElements(backward.dx, kRows * stride);
  o.CollectAcc(backward.weight_gradient, head_dim);
  return o.outputs();
}

std::vector<double> RunSwiglu(const Kernels& kernels, Memory& memory, ElementType type,
                              int64_t width) {
  Operands o(memory, type);
  void* gate_up = o.Elements(kRows * 2 * width, -6.0, 6.0);
  SwigluForward forward{.type = type,
                        .rows = kRows,
                        .width = width,
                        .gate_up = gate_up,
                        .product = o.Elements(kRows * width)};
  kernels.Run(forward);
  o.CollectElements(forward.product, kRows * width);
  kernels.Run(SwigluBackward{.type = type,
                             .rows = kRows,
                             .width = width,
                             .dproduct = o.Elements(kRows * width),
                             .gate_up = gate_up});
  o.CollectElements(gate_up, kRows * 2 * width);
  return o.outputs();
}

std::vector<double> RunRope(const Kernels& kernels, Memory& memory, ElementType type,
                            int64_t head_dim, bool inverse) {
  constexpr int64_t kHeads = 3;
  constexpr int64_t kSeqLen = 13;
  const int64_t stride = 4 * head_dim;
  Operands o(memory, type);
  void* x = o.Elements(kRows * stride);
  Rope args{.type = type,
            .rows = kRows,
            .seq_len = kSeqLen,
            .heads = kHeads,
            .head_dim = head_dim,
            .inverse = inverse,
            .cosine = o.Acc(kSeqLen * head_dim / 2),
            .sine = o.Acc(kSeqLen * head_dim / 2),
            .x = x,
            .x_stride = stride,
            .x_head_stride = head_dim,
            .y = inverse ? o.Elements(kRows * 2 * stride) : x,
            .y_stride = inverse ? 2 * stride : stride,
            .y_head_stride = inverse ? 2 * head_dim : head_dim};
  kernels.Run(args);
  o.CollectElements(args.y, kRows * args.y_stride);
  return o.outputs();
}

// Queries and heads lie differently in each of the four arrays. Some queries have seen no keys yet,
// which leaves their output undefined; to some the further keys are none.
std::vector<double> RunAttentionMerge(const Kernels& kernels, Memory& memory, ElementType type,
                                      int64_t head_dim) {
  constexpr int64_t kBatch = 2;
  constexpr int64_t kHeads = 3;
  constexpr int64_t kWords = kBatch * kRows * kHeads;
  const auto is_new = [](int64_t i) { return i % 5 == 2; };
  const auto has_part = [&](int64_t i) { return i % 7 != 3 || is_new(i); };
  std::vector<double> output(static_cast<size_t>(kWords * 2 * head_dim));
  std::vector<double> log_sum_exp(kWords);
  std::vector<double> part_log_sum_exp(kWords);
  for (int64_t i = 0; i < kWords; ++i) {
    const int64_t row = i / kHeads;
    const int64_t head = i % kHeads;
    const int64_t heads_first =
        (row / kRows * kHeads + head) * kRows + row % kRows;  // [batch, heads, queries]
    log_sum_exp[heads_first] = is_new(i) ? -INFINITY : 4.0 * std::sin(static_cast<double>(i));
    part_log_sum_exp[i] = has_part(i) ? 4.0 * std::cos(static_cast<double>(i)) : -INFINITY;
    for (int64_t k = 0; k < head_dim; ++k) {
      output[2 * i * head_dim + k] = is_new(i) ? NAN : std::sin(static_cast<double>(i + 3 * k));
    }
  }
  Operands o(memory, type);
  const AttentionMerge args{
      .type = type,
      .batch = kBatch,
      .queries = kRows,
      .heads = kHeads,
      .head_dim = head_dim,
      .output = o.AccOf(output),
      .output_strides = {.batch = kRows * kHeads * 2 * head_dim,
                         .query = kHeads * 2 * head_dim,
                         .head = 2 * head_dim},
      .log_sum_exp = o.AccOf(log_sum_exp),
      .log_sum_exp_strides = {.batch = kHeads * kRows, .query = 1, .head = kRows},
      .part_output = o.Elements(kWords * head_dim),
      .part_output_strides = {.batch = kHeads * kRows * head_dim,
                              .query = head_dim,
                              .head = kRows * head_dim},
      .part_log_sum_exp = o.AccOf(part_log_sum_exp),
      .part_log_sum_exp_strides = {.batch = kRows * kHeads, .query = kHeads, .head = 1}};
  kernels.Run(args);
  o.CollectAcc(args.output, static_cast<int64_t>(output.size()));
  o.CollectAcc(args.log_sum_exp, kWords);
  return o.outputs();
}

// Heads lie differently in each array, and there are more of them than those that have the sinks:
// every second one.
std::vector<double> RunAttentionSink(const Kernels& kernels, Memory& memory, ElementType type,
                                     int64_t head_dim) {
  constexpr int64_t kBatch = 2;
  constexpr int64_t kHeads = 3;
  const int64_t elements = kBatch * kRows * 2 * kHeads * head_dim;
  const HeadStrides strides = {
      .batch = kRows * 2 * kHeads * head_dim, .query = 2 * kHeads * head_dim, .head = 2 * head_dim};
  Operands o(memory, type);
  const AttentionSink args{
      .type = type,
      .batch = kBatch,
      .queries = kRows,
      .heads = kHeads,
      .head_dim = head_dim,
      .sinks = o.Elements(2 * kHeads, -3.0, 3.0),
      .sink_stride = 2,
      .output = o.Elements(elements),
      .output_strides = strides,
      .log_sum_exp = o.Acc(kBatch * kRows * kHeads, -3.0, 3.0),
      .log_sum_exp_strides = {.batch = kHeads * kRows, .query = 1, .head = kRows}};
  kernels.Run(args);
  o.CollectElements(args.output, elements);
  o.CollectAcc(args.log_sum_exp, kBatch * kRows * kHeads);
  const AttentionSinkGradient gradient{.type = type,
                                       .batch = kBatch,
                                       .queries = kRows,
                                       .heads = kHeads,
                                       .head_dim = head_dim,
                                       .sinks = args.sinks,
                                       .sink_stride = args.sink_stride,
                                       .output = args.output,
                                       .output_strides = strides,
                                       .doutput = o.Elements(elements / 2),
                                       .doutput_strides = {.batch = kHeads * kRows * head_dim,
                                                           .query = head_dim,
                                                           .head = kRows * head_dim},
                                       .log_sum_exp = args.log_sum_exp,
                                       .log_sum_exp_strides = args.log_sum_exp_strides,
                                       .sink_gradient = o.Acc(2 * kHeads)};
  kernels.Run(gradient);
  o.CollectAcc(gradient.sink_gradient, 2 * kHeads);
  return o.outputs();
}

std::vector<double> RunCrossEntropy(const Kernels& kernels, Memory& memory, ElementType type,
                                    int64_t width) {
  constexpr int64_t kVocabBegin = 100;
  Operands o(memory, type);
  void* logits = o.Elements(kRows * width, -9.0, 9.0);
  // Some targets are on other ranks.
  const int32_t* targets = o.Integers(kRows, 500);
  CrossEntropyStatistics statistics{.type = type,
                                    .rows = kRows,
                                    .width = width,
                                    .vocab_begin = kVocabBegin,
                                    .logits = logits,
                                    .targets = targets,
                                    .local_max = o.Zeros(kRows),
                                    .local_sum = o.Zeros(kRows),
                                    .target_logit = o.Zeros(kRows)};
  kernels.Run(statistics);
  o.CollectAcc(statistics.local_max, kRows);
  o.CollectAcc(statistics.target_logit, kRows);
  void* global_max = o.Acc(kRows, 9.0, 11.0);
  kernels.Run(CrossEntropyRescale{.type = type,
                                  .rows = kRows,
                                  .local_max = statistics.local_max,
                                  .global_max = global_max,
                                  .local_sum = statistics.local_sum});
  double* loss_sum = o.Double(3.0);
  kernels.Run(CrossEntropyLoss{.type = type,
                               .rows = kRows,
                               .sum = statistics.local_sum,
                               .target_logit = statistics.target_logit,
                               .max_to_log_sum_exp = global_max,
                               .loss_sum = loss_sum});
  o.CollectAcc(global_max, kRows);
  kernels.Run(CrossEntropyBackward{.type = type,
                                   .rows = kRows,
                                   .width = width,
                                   .vocab_begin = kVocabBegin,
                                   .scale = 3.0,
                                   .targets = targets,
                                   .log_sum_exp = global_max,
                                   .logits = logits});
  o.CollectElements(logits, kRows * width);
  // The sum over all rows would hide the rest behind its size.
  double loss = 0.0;
  memory.Download(&loss, loss_sum, sizeof(loss));
  o.CollectValue(loss / kRows);
  return o.outputs();
}

std::vector<double> RunEmbedding(const Kernels& kernels, Memory& memory, ElementType type,
                                 int64_t width) {
  constexpr int64_t kVocab = 40;
  Operands o(memory, type);
  // Repeats tokens, and has some that are other ranks'.
  const int32_t* tokens = o.Integers(kRows, 80);
  EmbeddingForward forward{.type = type,
                           .rows = kRows,
                           .width = width,
                           .vocab_begin = 20,
                           .vocab_count = kVocab,
                           .tokens = tokens,
                           .table = o.Elements(kVocab * width),
                           .y = o.Elements(kRows * width)};
  kernels.Run(forward);
  o.CollectElements(forward.y, kRows * width);
  EmbeddingBackward backward{.type = type,
                             .rows = kRows,
                             .width = width,
                             .vocab_begin = 20,
                             .vocab_count = kVocab,
                             .tokens = tokens,
                             .dy = o.Elements(kRows * width),
                             .table_gradient = o.Acc(kVocab * width)};
  kernels.Run(backward);
  o.CollectAcc(backward.table_gradient, kVocab * width);
  return o.outputs();
}

// How the tokens of many rows are spread over the vocabulary.
enum class Tokens {
  kEven,      // a few rows each
  kFalling,   // from the last token to the first, over and over
  kOneOften,  // half of all rows have the same one
  kOne,       // all rows have
};

int32_t TokenAt(Tokens tokens, int64_t row, int64_t vocab) {
  switch (tokens) {
    case Tokens::kEven:
      return static_cast<int32_t>(row * 7919 % vocab);
    case Tokens::kFalling:
      return static_cast<int32_t>(vocab - 1 - row % vocab);
    case Tokens::kOneOften:
      return static_cast<int32_t>(row % 2 == 0 ? 5 : row * 7919 % vocab);
    case Tokens::kOne:
      return 5;
  }
  return 0;
}

// More rows than the CUDA kernel lists at once, and fewer columns than its blocks have.
std::vector<double> RunManyRowsEmbeddingBackward(const Kernels& kernels, Memory& memory,
                                                 ElementType type, Tokens tokens) {
  constexpr int64_t kManyRows = 5201;
  constexpr int64_t kVocab = 1000;
  constexpr int64_t kWidth = 36;
  Operands o(memory, type);
  std::vector<int32_t> values;
  values.reserve(kManyRows);
  for (int64_t row = 0; row < kManyRows; ++row) values.push_back(TokenAt(tokens, row, kVocab));
  // Half of the vocabulary is another rank's.
  EmbeddingBackward args{.type = type,
                         .rows = kManyRows,
                         .width = kWidth,
                         .vocab_begin = 0,
                         .vocab_count = kVocab / 2,
                         .tokens = o.Integers(values),
                         .dy = o.Elements(kManyRows * kWidth),
                         .table_gradient = o.Acc(kVocab / 2 * kWidth)};
  kernels.Run(args);
  o.CollectAcc(args.table_gradient, kVocab / 2 * kWidth);
  return o.outputs();
}

std::vector<double> RunAccumulate(const Kernels& kernels, Memory& memory, ElementType type) {
  constexpr int64_t kCount = 50'021;
  Operands o(memory, type);
  Accumulate args{
      .type = type, .count = kCount, .source = o.Elements(kCount), .target = o.Acc(kCount)};
  kernels.Run(args);
  o.CollectAcc(args.target, kCount);
  return o.outputs();
}

std::vector<double> RunSumOfSquares(const Kernels& kernels, Memory& memory, ElementType type,
                                    int64_t count) {
  Operands o(memory, type);
  double* sum = o.Double(0.5);
  kernels.Run(SumOfSquares{.type = type,
                           .count = count,
                           .x = o.Elements(count),
                           .partial_sums = o.Doubles(SumOfSquares::kPartialSums),
                           .sum = sum});
  double value = 0.0;
  memory.Download(&value, sum, sizeof(value));
  o.CollectValue(value);
  return o.outputs();
}

std::vector<double> RunAdamW(const Kernels& kernels, Memory& memory, ElementType type) {
  constexpr int64_t kCount = 50'021;
  Operands o(memory, type);
  AdamW args{.type = type,
             .count = kCount,
             .learning_rate = 0.01,
             .beta1 = 0.9,
             .beta2 = 0.95,
             .epsilon = 1e-8,
             .weight_decay = 0.1,
             .step = 3,
             .gradient = o.Acc(kCount),
             .first_moment = o.Acc(kCount),
             .second_moment = o.Acc(kCount, 0.1, 1.0),
             .master = type == ElementType::kBf16 ? o.Acc(kCount) : nullptr,
             .weights = o.Elements(kCount)};
  kernels.Run(args);
  o.CollectAcc(args.first_moment, kCount);
  o.CollectAcc(args.second_moment, kCount);
  o.CollectElements(args.weights, kCount);
  if (args.master != nullptr) o.CollectAcc(args.master, kCount);
  return o.outputs();
}

}  // namespace

std::vector<OperatorCase> OperatorCases() {
  std::vector<OperatorCase> cases;
  const auto add = [&](std::string name, auto run, auto... options) {
    cases.push_back({std::move(name), [=](const Kernels& k, Memory& m, ElementType t) {
                       return run(k, m, t, options...);
                     }});
  };
  for (const int64_t width : {kOddWidth, kEvenWidth}) {
    const std::string suffix = width == kOddWidth ? "" : "Even";
    add("RmsNormForward" + suffix, RunNormForward, width, SumPlace::kNone);
    add("RmsNormForwardOfSum" + suffix, RunNormForward, width, SumPlace::kOwn);
    add("RmsNormForwardOfSumInPlace" + suffix, RunNormForward, width, SumPlace::kBranch);
    add("RmsNormBackward" + suffix, RunNormBackward, width, false);
    add("RmsNormBackwardWithResidual" + suffix, RunNormBackward, width, true);
    add("Swiglu" + suffix, RunSwiglu, width);
    add("CrossEntropy" + suffix, RunCrossEntropy, width);
    add("Embedding" + suffix, RunEmbedding, width);
  }
  for (const int64_t packs : kRowPacks) {
    const std::string suffix = "Of" + std::to_string(packs) + "Packs";
    add("RmsNormForward" + suffix, OfPacks(RunNormForward, packs), SumPlace::kNone);
    add("RmsNormForwardOfSum" + suffix, OfPacks(RunNormForward, packs), SumPlace::kOwn);
    add("RmsNormBackward" + suffix, OfPacks(RunNormBackward, packs), true);
  }
  for (const int64_t head_dim : {22, 48, 64, 128, 256}) {
    add("HeadNorm" + std::to_string(head_dim), RunHeadNorm, head_dim, int64_t{0});
  }
  add("HeadNorm128OddStrides", RunHeadNorm, int64_t{128}, int64_t{1});
  add("HeadNorm256OddStrides", RunHeadNorm, int64_t{256}, int64_t{3});
  for (const int64_t head_dim : {22, 48, 128}) {
    const std::string suffix = std::to_string(head_dim);
    add("RopeInPlace" + suffix, RunRope, head_dim, false);
    add("RopeInverse" + suffix, RunRope, head_dim, true);
    add("AttentionMerge" + suffix, RunAttentionMerge, head_dim);
    add("AttentionSink" + suffix, RunAttentionSink, head_dim);
  }
  add("EmbeddingFours", RunEmbedding, int64_t{2180});
  add("EmbeddingBackwardManyRows", RunManyRowsEmbeddingBackward, Tokens::kEven);
  add("EmbeddingBackwardFallingTokens", RunManyRowsEmbeddingBackward, Tokens::kFalling);
  add("EmbeddingBackwardFrequentToken", RunManyRowsEmbeddingBackward, Tokens::kOneOften);
  add("EmbeddingBackwardOneToken", RunManyRowsEmbeddingBackward, Tokens::kOne);
  add("Accumulate", RunAccumulate);
  add("SumOfSquares", RunSumOfSquares, int64_t{5021});
  add("SumOfManySquares", RunSumOfSquares, int64_t{1'200'021});
  add("AdamW", RunAdamW);
  for (OperatorCase& more : ExpertOperatorCases()) cases.push_back(std::move(more));
  for (OperatorCase& more : GptOperatorCases()) cases.push_back(std::move(more));
  for (OperatorCase& more : QuantiseOperatorCases()) cases.push_back(std::move(more));
  return cases;
}

double RelativeError(const std::vector<double>& actual, const std::vector<double>& reference) {
  if (actual.size() != reference.size()) return INFINITY;
  double difference = 0.0;
  double magnitude = 0.0;
  for (size_t i = 0; i < actual.size(); ++i) {
    const double d = std::abs(actual[i] - reference[i]);
    if (!std::isfinite(d)) return INFINITY;
    difference = std::max(difference, d);
    magnitude = std::max(magnitude, std::abs(reference[i]));
  }
  return magnitude > 0.0 ? difference / magnitude : difference;
}

std::string TypeName(ElementType type) {
  switch (type) {
    case ElementType::kFp32:
      return "Fp32";
    case ElementType::kBf16:
      return "Bf16";
    case ElementType::kFp64:
      return "Fp64";
  }
  return "";
}

// fp32 and fp64 results differ in the order of sums, which over the widest rows is one chain of
// 8,000 where a sanitizer keeps loops from being vectorised; bf16 results by one rounding.
double Tolerance(ElementType type) {
  switch (type) {
    case ElementType::kFp32:
      return 8e-6;
    case ElementType::kBf16:
      return 8e-3;
    case ElementType::kFp64:
      return 1e-14;
  }
  return 0.0;
}

}  // namespace meshwright::kernels
