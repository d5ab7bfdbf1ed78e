#include "tests/kernels/operator_cases.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace meshwright::kernels {
namespace {

// Arrays of one case.
class Operands {
 public:
  Operands(Memory& memory, ElementType type) : memory_(memory), type_(type) {}

  // Uniform in [low, high), of the case's element type.
  void* Elements(int64_t count, double low = -1.0, double high = 1.0) {
    return type_ == ElementType::kFp32 ? Put(Random(count, low, high)) : PutBf16(count, low, high);
  }
  float* Floats(int64_t count, double low = -1.0, double high = 1.0) {
    return Put(Random(count, low, high));
  }
  float* Zeros(int64_t count) { return Put(std::vector<float>(static_cast<size_t>(count))); }
  double* Double(double value) { return Put(std::vector<double>{value}); }
  int32_t* Integers(int64_t count, int32_t end) {
    std::vector<int32_t> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<int32_t>(Next() % end));
    return Put(values);
  }

  void Collect(const float* data, int64_t count) {
    std::vector<float> values(static_cast<size_t>(count));
    memory_.Download(values.data(), data, values.size() * sizeof(float));
    outputs_.insert(outputs_.end(), values.begin(), values.end());
  }
  void CollectElements(const void* data, int64_t count) {
    if (type_ == ElementType::kFp32) return Collect(static_cast<const float*>(data), count);
    std::vector<Bf16> values(static_cast<size_t>(count));
    memory_.Download(values.data(), data, values.size() * sizeof(Bf16));
    for (const Bf16 value : values) outputs_.push_back(ToFloat(value));
  }
  void CollectDouble(const double* data) {
    double value = 0.0;
    memory_.Download(&value, data, sizeof(value));
    outputs_.push_back(static_cast<float>(value));
  }
  std::vector<float> outputs() const { return outputs_; }

 private:
  uint64_t Next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 33;
  }
  std::vector<float> Random(int64_t count, double low, double high) {
    std::vector<float> values;
    for (int64_t i = 0; i < count; ++i) {
      const double unit = static_cast<double>(Next()) / 2147483648.0;
      values.push_back(static_cast<float>(low + (high - low) * unit));
    }
    return values;
  }
  template <typename T>
  T* Put(const std::vector<T>& values) {
    void* data = memory_.Allocate(values.size() * sizeof(T));
    memory_.Upload(data, values.data(), values.size() * sizeof(T));
    return static_cast<T*>(data);
  }
  void* PutBf16(int64_t count, double low, double high) {
    std::vector<Bf16> values(static_cast<size_t>(count));
    const std::vector<float> exact = Random(count, low, high);
    for (size_t i = 0; i < exact.size(); ++i) FromFloat(exact[i], values[i]);
    return Put(values);
  }

  Memory& memory_;
  const ElementType type_;
  uint64_t state_ = 7;
  std::vector<float> outputs_;
};

constexpr int64_t kRows = 67;
constexpr int64_t kWidth = 291;

std::vector<float> RunNormForward(const Kernels& kernels, Memory& memory, ElementType type) {
  Operands o(memory, type);
  RmsNormForward args{.type = type,
                      .rows = kRows,
                      .width = kWidth,
                      .epsilon = 1e-5f,
                      .x = o.Elements(kRows * kWidth),
                      .weight = o.Elements(kWidth),
                      .y = o.Elements(kRows * kWidth),
                      .rstd = o.Zeros(kRows)};
  kernels.Run(args);
  o.CollectElements(args.y, kRows * kWidth);
  o.Collect(args.rstd, kRows);
  return o.outputs();
}

std::vector<float> RunNormBackward(const Kernels& kernels, Memory& memory, ElementType type,
                                   bool residual) {
  Operands o(memory, type);
  void* dy = o.Elements(kRows * kWidth);
  RmsNormBackward args{.type = type,
                       .rows = kRows,
                       .width = kWidth,
                       .dy = dy,
                       .x = o.Elements(kRows * kWidth),
                       .weight = o.Elements(kWidth),
                       .rstd = o.Floats(kRows, 0.5, 2.0),
                       .residual_gradient = residual ? o.Elements(kRows * kWidth) : nullptr,
                       .dx = dy,
                       .weight_gradient = o.Floats(kWidth)};
  kernels.Run(args);
  o.CollectElements(args.dx, kRows * kWidth);
  o.Collect(args.weight_gradient, kWidth);
  return o.outputs();
}

std::vector<float> RunSwiglu(const Kernels& kernels, Memory& memory, ElementType type) {
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

std::vector<float> RunRope(const Kernels& kernels, Memory& memory, ElementType type, bool inverse) {
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
            .cosine = o.Floats(kSeqLen * kHeadDim / 2),
            .sine = o.Floats(kSeqLen * kHeadDim / 2),
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

std::vector<float> RunCrossEntropy(const Kernels& kernels, Memory& memory, ElementType type) {
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
  o.Collect(statistics.local_max, kRows);
  o.Collect(statistics.target_logit, kRows);
  float* global_max = o.Floats(kRows, 9.0, 11.0);
  kernels.Run(CrossEntropyRescale{.rows = kRows,
                                  .local_max = statistics.local_max,
                                  .global_max = global_max,
                                  .local_sum = statistics.local_sum});
  double* loss_sum = o.Double(3.0);
  kernels.Run(CrossEntropyLoss{.rows = kRows,
                               .sum = statistics.local_sum,
                               .target_logit = statistics.target_logit,
                               .max_to_log_sum_exp = global_max,
                               .loss_sum = loss_sum});
  o.Collect(global_max, kRows);
  kernels.Run(CrossEntropyBackward{.type = type,
                                   .rows = kRows,
                                   .width = kWidth,
                                   .vocab_begin = kVocabBegin,
                                   .scale = 3.0f,
                                   .targets = targets,
                                   .log_sum_exp = global_max,
                                   .logits = logits});
  o.CollectElements(logits, kRows * kWidth);
  std::vector<float> outputs = o.outputs();
  // The sum over all rows would hide the rest behind its size.
  double loss = 0.0;
  memory.Download(&loss, loss_sum, sizeof(loss));
  outputs.push_back(static_cast<float>(loss / kRows));
  return outputs;
}

std::vector<float> RunEmbedding(const Kernels& kernels, Memory& memory, ElementType type) {
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
                             .table_gradient = o.Floats(kVocab * kWidth)};
  kernels.Run(backward);
  o.Collect(backward.table_gradient, kVocab * kWidth);
  return o.outputs();
}

std::vector<float> RunAccumulate(const Kernels& kernels, Memory& memory, ElementType type) {
  constexpr int64_t kCount = 50'021;
  Operands o(memory, type);
  Accumulate args{
      .type = type, .count = kCount, .source = o.Elements(kCount), .target = o.Floats(kCount)};
  kernels.Run(args);
  o.Collect(args.target, kCount);
  return o.outputs();
}

std::vector<float> RunAdamW(const Kernels& kernels, Memory& memory, ElementType type) {
  constexpr int64_t kCount = 50'021;
  Operands o(memory, type);
  AdamW args{.type = type,
             .count = kCount,
             .learning_rate = 0.01f,
             .beta1 = 0.9f,
             .beta2 = 0.95f,
             .epsilon = 1e-8f,
             .weight_decay = 0.1f,
             .step = 3,
             .gradient = o.Floats(kCount),
             .first_moment = o.Floats(kCount),
             .second_moment = o.Floats(kCount, 0.1, 1.0),
             .master = type == ElementType::kFp32 ? nullptr : o.Floats(kCount),
             .weights = o.Elements(kCount)};
  kernels.Run(args);
  o.Collect(args.first_moment, kCount);
  o.Collect(args.second_moment, kCount);
  o.CollectElements(args.weights, kCount);
  if (args.master != nullptr) o.Collect(args.master, kCount);
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
      {"AdamW", RunAdamW}};
}

double RelativeError(const std::vector<float>& actual, const std::vector<float>& reference) {
  if (actual.size() != reference.size()) return INFINITY;
  double difference = 0.0;
  double magnitude = 0.0;
  for (size_t i = 0; i < actual.size(); ++i) {
    const double d = std::abs(static_cast<double>(actual[i]) - static_cast<double>(reference[i]));
    if (!std::isfinite(d)) return INFINITY;
    difference = std::max(difference, d);
    magnitude = std::max(magnitude, std::abs(static_cast<double>(reference[i])));
  }
  return magnitude > 0.0 ? difference / magnitude : difference;
}

// fp32 results differ in the order of sums; bf16 results by one rounding.
double Tolerance(ElementType type) { return type == ElementType::kFp32 ? 4e-6 : 8e-3; }

}  // namespace meshwright::kernels
