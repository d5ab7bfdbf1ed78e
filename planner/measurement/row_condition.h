// A row condition says which measured rows a preset describes, in addition to the rows that name
// it.
//
// Its text is a list of comparisons separated by ";". All of them must hold for the row:
//
//   framework = megatron; attn = fused-softmax | unfused; hidden >= 3072
//
// A comparison with "=" holds if the cell contains one of the texts that "|" separates, as whole
// words. Case and punctuation between words do not matter (PlainWords()); ":" and ";" in the cell
// also separate words. The text "(empty)" stands for an empty cell. A comparison with ">=" or "<="
// is of whole numbers, and does not hold for an empty cell.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/measurement/measurement.h"

namespace meshwright::planner {

// Returns the number of comparisons in `condition` if all comparisons hold for the row, otherwise
// 0. Returns InvalidArgument, which names the profile's key `rows`, if the text is not a condition.
absl::StatusOr<int32_t> ComparisonsThatHold(std::string_view condition, const Measurement& row);

// Returns the largest number of comparisons in a condition that holds for the row, or 0 if none
// holds.
absl::StatusOr<int32_t> MostComparisonsThatHold(const std::vector<std::string>& conditions,
                                                const Measurement& row);

}  // namespace meshwright::planner
