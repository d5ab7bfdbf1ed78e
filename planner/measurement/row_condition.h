// A row condition says which measured rows a preset describes, beside the rows that bear its name.
//
// Its text is a list of comparisons divided by ";", all of which hold for such a row:
//
//   framework = megatron; attn = fused-softmax | unfused; hidden >= 3072
//
// A text column holds one of the texts divided by "|", as whole words in any case and spelling;
// ":" divides words too. "(empty)" stands for an empty cell. A column of whole numbers is compared
// by ">=" or "<=", and an empty cell fails.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/measurement/measurement.h"

namespace meshwright::planner {

// Returns the number of comparisons in `condition` if all comparisons hold for the row, otherwise
// 0. Returns InvalidArgument about `rows` if the text is not a condition.
absl::StatusOr<int32_t> ComparisonsThatHold(std::string_view condition, const Measurement& row);

// Returns the largest number of comparisons among the conditions that hold, else 0.
absl::StatusOr<int32_t> MostComparisonsThatHold(const std::vector<std::string>& conditions,
                                                const Measurement& row);

}  // namespace meshwright::planner
