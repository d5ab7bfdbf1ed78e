#include "executor/worker/flat_unit.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>

#include "executor/worker/random.h"

namespace meshwright {
namespace {

constexpr float kInitialDeviation = 0.02f;

// Values of one part's row `row`, counted within the part.
void FillRow(const ParameterPart& part, uint64_t seed, int64_t row, float* out) {
  switch (part.initial) {
    case Initial::kOnes:
      std::fill_n(out, part.columns, 1.0f);
      return;
    case Initial::kZeros:
      std::fill_n(out, part.columns, 0.0f);
      return;
    case Initial::kNormal:
      FillNormal(RandomKey(seed, part.name),
                 (part.row_begin + row) * part.global_columns + part.column_begin, part.columns,
                 kInitialDeviation, out);
      return;
  }
}

std::vector<at::Tensor> Views(const at::Tensor& flat, const ParameterUnit& parameters) {
  std::vector<at::Tensor> views;
  int64_t offset = 0;
  for (const LocalParameter& parameter : parameters) {
    at::Tensor view = flat.narrow(0, offset, parameter.elements());
    if (parameter.decay) {
      view = view.view({parameter.rows(), parameter.columns()});
    }
    views.push_back(std::move(view));
    offset += parameter.elements();
  }
  return views;
}

// Replicated parameters stand side by side.
at::Tensor ReplicatedPart(const at::Tensor& flat, const ParameterUnit& parameters) {
  int64_t offset = 0;
  int64_t begin = 0;
  int64_t elements = 0;
  for (const LocalParameter& parameter : parameters) {
    if (parameter.replicated) {
      if (elements == 0) begin = offset;
      elements += parameter.elements();
    }
    offset += parameter.elements();
  }
  return flat.narrow(0, begin, elements);
}

}  // namespace

FlatUnit::FlatUnit(const RankContext& context, ParameterUnit parameters)
    : parameters_(std::move(parameters)) {
  const int64_t elements = UnitElements(parameters_);
  for (const LocalParameter& parameter : parameters_) {
    if (parameter.decay) decayed_elements_ += parameter.elements();
  }
  const at::TensorOptions wide = context.options_of(context.accumulator_dtype());
  weights_ = at::empty({elements}, context.options());
  gradients_ = at::zeros({elements}, wide);
  first_moment_ = at::zeros({elements}, wide);
  second_moment_ = at::zeros({elements}, wide);
  if (context.dtype() != context.accumulator_dtype()) master_ = at::empty({elements}, wide);
  weight_views_ = Views(weights_, parameters_);
  gradient_views_ = Views(gradients_, parameters_);
  replicated_gradients_ = ReplicatedPart(gradients_, parameters_);
  Initialize(context.seed);
}

void FlatUnit::Initialize(uint64_t seed) {
  std::vector<float> values;
  int64_t offset = 0;
  for (const LocalParameter& parameter : parameters_) {
    values.resize(static_cast<size_t>(parameter.elements()));
    float* out = values.data();
    for (const ParameterPart& part : parameter.parts) {
      for (int64_t row = 0; row < part.rows; ++row, out += part.columns) {
        FillRow(part, seed, row, out);
      }
    }
    const at::Tensor source = at::from_blob(values.data(), {parameter.elements()}, at::kFloat);
    weights_.narrow(0, offset, parameter.elements()).copy_(source);
    if (master_.defined()) master_.narrow(0, offset, parameter.elements()).copy_(source);
    offset += parameter.elements();
  }
}

void FlatUnit::ZeroGradients() { gradients_.zero_(); }

void FlatUnit::Update(const RankContext& context, const AdamWOptions& options, int64_t step) {
  const auto from = [](const at::Tensor& flat, int64_t begin) -> void* {
    if (!flat.defined()) return nullptr;
    return static_cast<char*>(flat.mutable_data_ptr()) +
           begin * static_cast<int64_t>(flat.element_size());
  };
  const auto run = [&](int64_t begin, int64_t count, double weight_decay) {
    if (count == 0) return;
    context.device->kernels().Run(kernels::AdamW{.type = context.element(),
                                                 .count = count,
                                                 .learning_rate = options.learning_rate,
                                                 .beta1 = options.beta1,
                                                 .beta2 = options.beta2,
                                                 .epsilon = options.epsilon,
                                                 .weight_decay = weight_decay,
                                                 .step = step,
                                                 .gradient = from(gradients_, begin),
                                                 .first_moment = from(first_moment_, begin),
                                                 .second_moment = from(second_moment_, begin),
                                                 .master = from(master_, begin),
                                                 .weights = from(weights_, begin)});
  };
  run(0, decayed_elements_, options.weight_decay);
  run(decayed_elements_, gradients_.numel() - decayed_elements_, 0.0);
}

}  // namespace meshwright
