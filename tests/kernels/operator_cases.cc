#include "tests/kernels/operator_cases.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace meshwright::kernels {
namespace {

// Arrays of one case. Statistics and gradients of weights ("Acc") have the accumulator type.
class Operands {
 public:
  Operands(Memory& memory, ElementType type) : memory_(memory), type_(type) {}

  // Uniform in [low, high), of the case's element type.
  void* Elements(int64_t count, double low = -1.0, double high = 1.0) {
    return Put(type_, Random(count, low, high));
  }
  void* Acc(int64_t count, double low = -1.0, double high = 1.0) {
    return Put(AccType(), Random(count, low, high));
  }
  void* Zeros(int64_t count) {
    return Put(AccType(), std::vector<double>(static_cast<size_t>(count)));
  }
  double* Double(double value) { return PutAs<double>({value}); }
  double* Doubles(int64_t count) { return PutAs<double>(Random(count, -1.0, 1.0)); }
  int32_t* Integers(int64_t count, int32_t end) {
    std::vector<double> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>(Next() % end));
    return PutAs<int32_t>(values);
  }

  void CollectAcc(const void* data, int64_t count) { Collect(AccType(), data, count); }
  void CollectElements(const void* data, int64_t count) { Collect(type_, data, count); }
  void CollectValue(double value) { outputs_.push_back(value); }
  std::vector<double> outputs() const { return outputs_; }

 private:
  ElementType AccType() const {
    return type_ == ElementType::kFp64 ? ElementType::kFp64 : ElementType::kFp32;
  }
  uint64_t Next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 33;
  }
  std::vector<double> Random(int64_t count, double low, double high) {
    std::vector<double> values;
    for (int64_t i = 0; i < count; ++i) {
      const double unit = static_cast<double>(Next()) / 2147483648.0;
      values.push_back(low + (high - low) * unit);
    }
    return values;
  }

  static void Convert(double value, Bf16& out) { Narrow(static_cast<float>(value), out); }
  template <typename T>
  static void Convert(double value, T& out) {
    out = static_cast<T>(value);
  }
  template <typename T>
  T* PutAs(const std::vector<double>& values) {
    std::vector<T> converted(values.size());
    for (size_t i = 0; i < values.size(); ++i) Convert(values[i], converted[i]);
    void* data = memory_.Allocate(converted.size() * sizeof(T));
    memory_.Upload(data, converted.data(), converted.size() * sizeof(T));
    return static_cast<T*>(data);
  }
  void* Put(ElementType type, const std::vector<double>& values) {
    if (type == ElementType::kFp64) return PutAs<double>(values);
    if (type == ElementType::kBf16) return PutAs<Bf16>(values);
    return PutAs<float>(values);
  }
  template <typename T>
  void CollectAs(const void* data, int64_t count) {
    std::vector<T> values(static_cast<size_t>(count));
    memory_.Download(values.data(), data, values.size() * sizeof(T));
    for (const T value : values) outputs_.push_back(static_cast<double>(Widen(value)));
  }
  void Collect(ElementType type, const void* data, int64_t count) {
    if (type == ElementType::kFp64) return CollectAs<double>(data, count);
    if (type == ElementType::kBf16) return CollectAs<Bf16>(data, count);
    CollectAs<float>(data, count);
  }

  Memory& memory_;
  const ElementType type_;
  uint64_t state_ = 7;
  std::vector<double> outputs_;
};

constexpr int64_t kRows = 67;
constexpr int64_t kWidth = 291;

std::vector<double> RunNormForward(const Kernels& kernels, Memory& memory, ElementType type) {
  Operands o(memory, type);
  RmsNormForward args{.type = type,
                      .rows = kRows,
                      .width = kWidth,
                      .epsilon = 1e-5,
                      .x = o.Elements(kRows * kWidth),
                      .weight = o.Elements(kWidth),
                      .y = o.Elements(kRows * kWidth),
                      .rstd = o.Zeros(kRows)};
  kernels.Run(args);
  o.CollectElements(args.y, kRows * kWidth);
  o.CollectAcc(args.rstd, kRows);
  return o.outputs();
}

std::vector<double> RunNormBackward(const Kernels& kernels, Memory& memory, ElementType type,
                                    bool residual) {
  Operands o(memory, type);
  void* dy = o.Elements(kRows * kWidth);
  RmsNormBackward args{.type = type,
                       .rows = kRows,
                       .width = kWidth,
                       .dy = dy,
                       .x = o.Elements(kRows * kWidth),
                       .weight = o.Elements(kWidth),
                       .rstd = o.Acc(kRows, 0.5, 2.0),
                       .residual_gradient = residual ? o.Elements(kRows * kWidth) : nullptr,
                       .dx = dy,
                       .weight_gradient = o.Acc(kWidth)};
  kernels.Run(args);
  o.CollectElements(args.dx, kRows * kWidth);
  o.CollectAcc(args.weight_gradient, kWidth);
  return o.outputs();
}

std::vector<double> RunSwiglu(const Kernels& kernels, Memory& memory, ElementType type) {
  Operands o(memory, type);
  void* gate_up = o.Elements(kRows * 2 * kWidth, -6.0, 6.0);
  SwigluForward forward{.type = type,
                        .rows = kRows,
                        .width = kWidth,
                        .gate_up = gate_up,
                        .product = o.Elements(kRows * kWidth)};
  kernels.Run(forward);
  o.CollectElements(forward.product, kRows * kWidth);
  kernels.Run(SwigluBackward{.type = type,
                             .rows = kRows,
                             .width = kWidth,
                             .dproduct = o.Elements(kRows * kWidth),
                             .gate_up = gate_up});
  o.CollectElements(gate_up, kRows * 2 * kWidth);
  return o.outputs();
}

std::vector<double> RunRope(const Kernels& kernels, Memory& memory, ElementType type,
                            bool inverse) {
  constexpr int64_t kHeads = 3;
  constexpr int64_t kHeadDim = 22;
  constexpr int64_t kSeqLen = 13;
  constexpr int64_t kStride = kHeads * kHeadDim + 5;
  Operands o(memory, type);
  void* x = o.Elements(kRows * kStride);
  Rope args{.type = type,
            .rows = kRows,
            .seq_len = kSeqLen,
            .heads = kHeads,
            .head_dim = kHeadDim,
            .inverse = inverse,
            .cosine = o.Acc(kSeqLen * kHeadDim / 2),
            .sine = o.Acc(kSeqLen * kHeadDim / 2),
            .x = x,
            .x_stride = kStride,
            .x_head_stride = kHeadDim,
            .y = inverse ? o.Elements(kRows * 2 * kStride) : x,
            .y_stride = inverse ? 2 * kStride : kStride,
            .y_head_stride = inverse ? 2 * kHeadDim : kHeadDim};
  kernels.Run(args);
  o.CollectElements(args.y, kRows * args.y_stride);
  return o.outputs();
}

std::vector<double> RunCrossEntropy(const Kernels& kernels, Memory& memory, ElementType type) {
  constexpr int64_t kVocabBegin = 100;
  Operands o(memory, type);
  void* logits = o.Elements(kRows * kWidth, -9.0, 9.0);
  // Some targets are on other ranks.
  const int32_t* targets = o.Integers(kRows, 500);
  CrossEntropyStatistics statistics{.type = type,
                                    .rows = kRows,
                                    .width = kWidth,
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
                                   .width = kWidth,
                                   .vocab_begin = kVocabBegin,
                                   .scale = 3.0,
                                   .targets = targets,
                                   .log_sum_exp = global_max,
                                   .logits = logits});
  o.CollectElements(logits, kRows * kWidth);
  // The sum over all rows would hide the rest behind its size.
  double loss = 0.0;
  memory.Download(&loss, loss_sum, sizeof(loss));
  o.CollectValue(loss / kRows);
  return o.outputs();
}

std::vector<double> RunEmbedding(const Kernels& kernels, Memory& memory, ElementType type) {
  constexpr int64_t kVocab = 40;
  Operands o(memory, type);
  // Repeats tokens, and has some that are other ranks'.
  const int32_t* tokens = o.Integers(kRows, 80);
  EmbeddingForward forward{.type = type,
                           .rows = kRows,
                           .width = kWidth,
                           .vocab_begin = 20,
                           .vocab_count = kVocab,
                           .tokens = tokens,
                           .table = o.Elements(kVocab * kWidth),
                           .y = o.Elements(kRows * kWidth)};
  kernels.Run(forward);
  o.CollectElements(forward.y, kRows * kWidth);
  EmbeddingBackward backward{.type = type,
                             .rows = kRows,
                             .width = kWidth,
                             .vocab_begin = 20,
                             .vocab_count = kVocab,
                             .tokens = tokens,
                             .dy = o.Elements(kRows * kWidth),
                             .table_gradient = o.Acc(kVocab * kWidth)};
  kernels.Run(backward);
  o.CollectAcc(backward.table_gradient, kVocab * kWidth);
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

void* HostMemory::Allocate(size_t bytes) {
  blocks_.push_back(std::make_unique<std::byte[]>(bytes));
  return blocks_.back().get();
}
void HostMemory::Upload(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }
void HostMemory::Download(void* to, const void* from, size_t bytes) {
  std::memcpy(to, from, bytes);
}

std::vector<OperatorCase> OperatorCases() {
  return {
      {"RmsNormForward", RunNormForward},
      {"RmsNormBackward",
       [](const Kernels& k, Memory& m, ElementType t) { return RunNormBackward(k, m, t, false); }},
      {"RmsNormBackwardWithResidual",
       [](const Kernels& k, Memory& m, ElementType t) { return RunNormBackward(k, m, t, true); }},
      {"Swiglu", RunSwiglu},
      {"RopeInPlace",
       [](const Kernels& k, Memory& m, ElementType t) { return RunRope(k, m, t, false); }},
      {"RopeInverse",
       [](const Kernels& k, Memory& m, ElementType t) { return RunRope(k, m, t, true); }},
      {"CrossEntropy", RunCrossEntropy},
      {"Embedding", RunEmbedding},
      {"Accumulate", RunAccumulate},
      {"SumOfSquares",
       [](const Kernels& k, Memory& m, ElementType t) { return RunSumOfSquares(k, m, t, 5021); }},
      {"SumOfManySquares", [](const Kernels& k, Memory& m,
                              ElementType t) { return RunSumOfSquares(k, m, t, 1'200'021); }},
      {"AdamW", RunAdamW}};
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

// fp32 and fp64 results differ in the order of sums; bf16 results by one rounding.
double Tolerance(ElementType type) {
  switch (type) {
    case ElementType::kFp32:
      return 4e-6;
    case ElementType::kBf16:
      return 8e-3;
    case ElementType::kFp64:
      return 1e-14;
  }
  return 0.0;
}

}  // namespace meshwright::kernels
