#include "tests/kernels/quantise_operator_cases.h"

#include <string>

#include "tests/kernels/operands.h"

namespace meshwright::kernels {
namespace {

// Both cut off the last tiles.
constexpr int64_t kRows = 157;
constexpr int64_t kColumns = 331;

// What is between the columns of a wider matrix, and a piece of what came of it in the middle of
// tiles.
std::vector<double> RunQuantise(const Kernels& kernels, Memory& memory, ElementType type,
                                ScaleTiles tiles) {
  constexpr int64_t kStride = kColumns + 13;
  constexpr int64_t kPieceRows = 101;
  constexpr int64_t kPieceColumns = 190;
  Operands o(memory, type);
  const ScaleShape scales = ScalesOf(tiles, kRows, kColumns);
  const int64_t scale_count = scales.rows * scales.columns;
  const Quantise quantise{.type = type,
                          .tiles = tiles,
                          .rows = kRows,
                          .columns = kColumns,
                          .x = o.Elements(kRows * kStride, -3.0, 3.0),
                          .x_stride = kStride,
                          .values = o.Bytes(kRows * kColumns),
                          .scales = o.Floats(scale_count)};
  kernels.Run(quantise);
  o.CollectBytes(quantise.values, kRows * kColumns);
  o.CollectFloats(quantise.scales, scale_count);
  const Dequantise dequantise{.type = type,
                              .tiles = tiles,
                              .first_row = 37,
                              .first_column = 130,
                              .rows = kPieceRows,
                              .columns = kPieceColumns,
                              .values = quantise.values,
                              .value_stride = kColumns,
                              .scales = quantise.scales,
                              .scale_stride = scales.columns,
                              .y = o.Elements(kPieceRows * kPieceColumns)};
  kernels.Run(dequantise);
  o.CollectElements(dequantise.y, kPieceRows * kPieceColumns);
  return o.outputs();
}

}  // namespace

std::vector<OperatorCase> QuantiseOperatorCases() {
  std::vector<OperatorCase> cases;
  const auto add = [&](std::string name, ScaleTiles tiles) {
    cases.push_back({std::move(name), [=](const Kernels& k, Memory& m, ElementType t) {
                       return RunQuantise(k, m, t, tiles);
                     }});
  };
  add("QuantiseRows", ScaleTiles::kRows);
  add("QuantiseColumns", ScaleTiles::kColumns);
  add("QuantiseBlocks", ScaleTiles::kBlocks);
  return cases;
}

}  // namespace meshwright::kernels
