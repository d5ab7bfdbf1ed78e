// Cases of the operators that quantise and dequantise.
#include <string>

#include "tests/kernels/operands.h"
#include "tests/kernels/operator_cases.h"

namespace meshwright::kernels {
namespace {

// Columns of a matrix, of the wider one that it is a part of, and of a piece of it in the middle of
// tiles.
struct Widths {
  int64_t columns;
  int64_t stride;
  int64_t first_column;
  int64_t piece_columns;
};

// Both cut off the last tiles. No row but the first begins where a wide access may.
constexpr Widths kOdd{.columns = 331, .stride = 344, .first_column = 130, .piece_columns = 190};
// All of them do.
constexpr Widths kEven{.columns = 336, .stride = 352, .first_column = 144, .piece_columns = 176};

constexpr int64_t kQuantisedRows = 157;

// What is between the columns of a wider matrix, and a piece of what came of it.
std::vector<double> RunQuantise(const Kernels& kernels, Memory& memory, ElementType type,
                                ScaleTiles tiles, const Widths& widths) {
  constexpr int64_t kPieceRows = 101;
  Operands o(memory, type);
  const ScaleShape scales = ScalesOf(tiles, kQuantisedRows, widths.columns);
  const int64_t scale_count = scales.rows * scales.columns;
  const Quantise quantise{.type = type,
                          .tiles = tiles,
                          .rows = kQuantisedRows,
                          .columns = widths.columns,
                          .x = o.Elements(kQuantisedRows * widths.stride, -3.0, 3.0),
                          .x_stride = widths.stride,
                          .values = o.Bytes(kQuantisedRows * widths.columns),
                          .scales = o.Floats(scale_count)};
  kernels.Run(quantise);
  o.CollectBytes(quantise.values, kQuantisedRows * widths.columns);
  o.CollectFloats(quantise.scales, scale_count);
  const Dequantise dequantise{.type = type,
                              .tiles = tiles,
                              .first_row = 37,
                              .first_column = widths.first_column,
                              .rows = kPieceRows,
                              .columns = widths.piece_columns,
                              .values = quantise.values,
                              .value_stride = widths.columns,
                              .scales = quantise.scales,
                              .scale_stride = scales.columns,
                              .y = o.Elements(kPieceRows * widths.piece_columns)};
  kernels.Run(dequantise);
  o.CollectElements(dequantise.y, kPieceRows * widths.piece_columns);
  return o.outputs();
}

}  // namespace

std::vector<OperatorCase> QuantiseOperatorCases() {
  std::vector<OperatorCase> cases;
  const auto add = [&](const std::string& name, ScaleTiles tiles) {
    for (const Widths& widths : {kOdd, kEven}) {
      cases.push_back(
          {name + std::to_string(widths.columns), [=](const Kernels& k, Memory& m, ElementType t) {
             return RunQuantise(k, m, t, tiles, widths);
           }});
    }
  };
  add("QuantiseRows", ScaleTiles::kRows);
  add("QuantiseColumns", ScaleTiles::kColumns);
  add("QuantiseBlocks", ScaleTiles::kBlocks);
  return cases;
}

}  // namespace meshwright::kernels
