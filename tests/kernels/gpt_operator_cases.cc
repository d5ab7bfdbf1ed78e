// Cases of the operators that blocks like GPT-2's have and blocks like Llama's lack: LayerNorm,
// FFNs without a gate, and biases.
#include <string>
#include <utility>

#include "tests/kernels/operands.h"
#include "tests/kernels/operator_cases.h"

namespace meshwright::kernels {
namespace {

constexpr int64_t kGptRows = 67;
// Leaves a remainder to vectors of every length; whole vectors, and more than one for a thread.
constexpr int64_t kOddGptWidth = 291;
constexpr int64_t kEvenGptWidth = 2176;

// Which of a norm's vectors there are.
enum class Vectors { kNone, kWeight, kBoth };

// Values around 3, which are far from their mean of squares.
std::vector<double> RunLayerNormForward(const Kernels& kernels, Memory& memory, ElementType type,
                                        int64_t width, Vectors vectors, bool with_branch) {
  const int64_t rows = RowsOf(width);
  Operands o(memory, type);
  void* branch = with_branch ? o.Elements(rows * width) : nullptr;
  const LayerNormForward args{.type = type,
                              .rows = rows,
                              .width = width,
                              .epsilon = 1e-5,
                              .x = o.Elements(rows * width, 2.0, 4.0),
                              .branch = branch,
                              .sum = branch,
                              .weight = vectors == Vectors::kNone ? nullptr : o.Elements(width),
                              .bias = vectors == Vectors::kBoth ? o.Elements(width) : nullptr,
                              .y = o.Elements(rows * width),
                              .statistics = o.Zeros(2 * rows)};
  kernels.Run(args);
  if (with_branch) o.CollectElements(branch, rows * width);
  o.CollectElements(args.y, rows * width);
  o.CollectAcc(args.statistics, 2 * rows);
  return o.outputs();
}

std::vector<double> RunLayerNormBackward(const Kernels& kernels, Memory& memory, ElementType type,
                                         int64_t width, Vectors vectors, bool residual) {
  const int64_t rows = RowsOf(width);
  Operands o(memory, type);
  void* dy = o.Elements(rows * width);
  const bool weight = vectors != Vectors::kNone;
  const LayerNormBackward args{.type = type,
                               .rows = rows,
                               .width = width,
                               .dy = dy,
                               .x = o.Elements(rows * width),
                               .weight = weight ? o.Elements(width) : nullptr,
                               .statistics = o.Acc(2 * rows, 0.5, 1.5),
                               .residual_gradient = residual ? o.Elements(rows * width) : nullptr,
                               .dx = dy,
                               .weight_gradient = weight ? o.Acc(width) : nullptr,
                               .bias_gradient = vectors == Vectors::kBoth ? o.Acc(width) : nullptr};
  kernels.Run(args);
  o.CollectElements(args.dx, rows * width);
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
  for (const int64_t width : {kOddGptWidth, kEvenGptWidth}) {
    const std::string suffix = width == kOddGptWidth ? "" : "Even";
    add("LayerNormForward" + suffix, RunLayerNormForward, width, Vectors::kBoth, false);
    add("LayerNormForwardOfSum" + suffix, RunLayerNormForward, width, Vectors::kBoth, true);
    add("LayerNormForwardPlain" + suffix, RunLayerNormForward, width, Vectors::kNone, false);
    add("LayerNormBackward" + suffix, RunLayerNormBackward, width, Vectors::kBoth, false);
    add("LayerNormBackwardWithResidual" + suffix, RunLayerNormBackward, width, Vectors::kBoth,
        true);
    add("LayerNormBackwardWithoutBias" + suffix, RunLayerNormBackward, width, Vectors::kWeight,
        true);
    add("LayerNormBackwardPlain" + suffix, RunLayerNormBackward, width, Vectors::kNone, true);
    add("Gelu" + suffix, RunActivation, Activation::kGelu, kGptRows * width);
    add("Relu" + suffix, RunActivation, Activation::kRelu, kGptRows * width);
    add("BiasGradient" + suffix, RunBiasGradient, kGptRows, width);
  }
  for (const int64_t packs : kRowPacks) {
    const std::string suffix = "Of" + std::to_string(packs) + "Packs";
    add("LayerNormForward" + suffix, OfPacks(RunLayerNormForward, packs), Vectors::kBoth, false);
    add("LayerNormForwardOfSum" + suffix, OfPacks(RunLayerNormForward, packs), Vectors::kWeight,
        true);
    add("LayerNormBackward" + suffix, OfPacks(RunLayerNormBackward, packs), Vectors::kBoth, true);
  }
  add("BiasGradientManyRows", RunBiasGradient, int64_t{5021}, int64_t{33});
  return cases;
}

}  // namespace meshwright::kernels
