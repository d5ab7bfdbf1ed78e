#include "tests/kernels/gpt_operator_cases.h"

#include <string>
#include <utility>

#include "tests/kernels/operands.h"

namespace meshwright::kernels {
namespace {

constexpr int64_t kRows = 67;
// Leaves a remainder to vectors of every length; whole vectors, and more than one for a thread.
constexpr int64_t kOddWidth = 291;
constexpr int64_t kEvenWidth = 2176;

// Which of a norm's vectors there are.
enum class Vectors { kNone, kWeight, kBoth };

// Values around 3, which are far from their mean of squares.
std::vector<double> RunLayerNormForward(const Kernels& kernels, Memory& memory, ElementType type,
                                        int64_t width, Vectors vectors, bool with_branch) {
  Operands o(memory, type);
  void* branch = with_branch ? o.Elements(kRows * width) : nullptr;
  const LayerNormForward args{.type = type,
                              .rows = kRows,
                              .width = width,
                              .epsilon = 1e-5,
                              .x = o.Elements(kRows * width, 2.0, 4.0),
                              .branch = branch,
                              .sum = branch,
                              .weight = vectors == Vectors::kNone ? nullptr : o.Elements(width),
                              .bias = vectors == Vectors::kBoth ? o.Elements(width) : nullptr,
                              .y = o.Elements(kRows * width),
                              .statistics = o.Zeros(2 * kRows)};
  kernels.Run(args);
  if (with_branch) o.CollectElements(branch, kRows * width);
  o.CollectElements(args.y, kRows * width);
  o.CollectAcc(args.statistics, 2 * kRows);
  return o.outputs();
}

std::vector<double> RunLayerNormBackward(const Kernels& kernels, Memory& memory, ElementType type,
                                         int64_t width, Vectors vectors, bool residual) {
  Operands o(memory, type);
  void* dy = o.Elements(kRows * width);
  const bool weight = vectors != Vectors::kNone;
  const LayerNormBackward args{.type = type,
                               .rows = kRows,
                               .width = width,
                               .dy = dy,
                               .x = o.Elements(kRows * width),
                               .weight = weight ? o.Elements(width) : nullptr,
                               .statistics = o.Acc(2 * kRows, 0.5, 1.5),
                               .residual_gradient = residual ? o.Elements(kRows * width) : nullptr,
                               .dx = dy,
                               .weight_gradient = weight ? o.Acc(width) : nullptr,
                               .bias_gradient = vectors == Vectors::kBoth ? o.Acc(width) : nullptr};
  kernels.Run(args);
  o.CollectElements(args.dx, kRows * width);
  if (args.weight_gradient != nullptr) o.CollectAcc(args.weight_gradient, width);
  if (args.bias_gradient != nullptr) o.CollectAcc(args.bias_gradient, width);
  return o.outputs();
}

// The gradient takes the place of what came in, or of what the activation was applied to.
std::vector<double> RunActivation(const Kernels& kernels, Memory& memory, ElementType type,
                                  Activation activation, int64_t count) {
  Operands o(memory, type);
  void* up = o.Elements(count, -6.0, 6.0);
  void* product = o.Elements(count);
  void* dproduct = o.Elements(count);
  kernels.Run(ActivationForward{
      .type = type, .activation = activation, .count = count, .up = up, .product = product});
  o.CollectElements(product, count);
  const bool from_product = activation == Activation::kRelu;
  void* gradient = from_product ? dproduct : up;
  kernels.Run(ActivationBackward{.type = type,
                                 .activation = activation,
                                 .count = count,
                                 .dproduct = dproduct,
                                 .up = from_product ? product : up,
                                 .gradient = gradient});
  o.CollectElements(gradient, count);
  return o.outputs();
}

std::vector<double> RunBiasGradient(const Kernels& kernels, Memory& memory, ElementType type,
                                    int64_t rows, int64_t width) {
  Operands o(memory, type);
  const BiasGradient args{.type = type,
                          .rows = rows,
                          .width = width,
                          .dy = o.Elements(rows * width),
                          .bias_gradient = o.Acc(width)};
  kernels.Run(args);
  o.CollectAcc(args.bias_gradient, width);
  return o.outputs();
}

}  // namespace

std::vector<OperatorCase> GptOperatorCases() {
  std::vector<OperatorCase> cases;
  const auto add = [&](std::string name, auto run, auto... options) {
    cases.push_back({std::move(name), [=](const Kernels& k, Memory& m, ElementType t) {
                       return run(k, m, t, options...);
                     }});
  };
  for (const int64_t width : {kOddWidth, kEvenWidth}) {
    const std::string suffix = width == kOddWidth ? "" : "Even";
    add("LayerNormForward" + suffix, RunLayerNormForward, width, Vectors::kBoth, false);
    add("LayerNormForwardOfSum" + suffix, RunLayerNormForward, width, Vectors::kBoth, true);
    add("LayerNormForwardPlain" + suffix, RunLayerNormForward, width, Vectors::kNone, false);
    add("LayerNormBackward" + suffix, RunLayerNormBackward, width, Vectors::kBoth, false);
    add("LayerNormBackwardWithResidual" + suffix, RunLayerNormBackward, width, Vectors::kBoth,
        true);
    add("LayerNormBackwardWithoutBias" + suffix, RunLayerNormBackward, width, Vectors::kWeight,
        true);
    add("LayerNormBackwardPlain" + suffix, RunLayerNormBackward, width, Vectors::kNone, true);
    add("Gelu" + suffix, RunActivation, Activation::kGelu, kRows * width);
    add("Relu" + suffix, RunActivation, Activation::kRelu, kRows * width);
    add("BiasGradient" + suffix, RunBiasGradient, kRows, width);
  }
  add("BiasGradientManyRows", RunBiasGradient, int64_t{5021}, int64_t{33});
  return cases;
}

}  // namespace meshwright::kernels
