// Measures what one choice of a layout, or of its kernels, is worth: the fastest layout under each
// of its values, everything else free. The choices are those that Hagemann et al. (arXiv
// 2311.05610) varied, with their recommendations. They held the rest of a layout fixed; here it
// follows each value.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/text/enum_names.h"
#include "planner/search/search.h"

namespace meshwright::planner {

// The layouts with one value of the choice.
struct Arm {
  std::string name;                  // "micro-batch 1"
  bool recommended = false;          // by the paper
  std::optional<RankedLayout> best;  // the fastest that fits
  std::string problem;               // why there is no layout; empty where there is one
};

enum class Verdict : uint8_t {
  kOpen,         // only one side has layouts, or neither
  kHolds,        // the fastest recommended arm is faster than all others
  kTies,         // faster or slower by less than the estimate can tell
  kDoesNotHold,  // another arm is faster
};
inline constexpr EnumNames<Verdict, 4> kVerdictNames = {{
    {Verdict::kOpen, "open"},
    {Verdict::kHolds, "holds"},
    {Verdict::kTies, "ties"},
    {Verdict::kDoesNotHold, "does_not_hold"},
}};

struct Ablation {
  std::string name;            // "micro_batch"
  std::string recommendation;  // the paper's, in words
  std::vector<Arm> arms = {};  // at least two
  Verdict verdict = Verdict::kOpen;
  // Throughput of the fastest recommended arm over that of the fastest other, less 1; not set where
  // a side has no layout.
  std::optional<double> gain = std::nullopt;
  std::string sentence = {};  // the verdict with its numbers

  const Arm* Fastest(bool recommended) const;  // among these arms; null where none fits
};

using StudyProgress = std::function<void(int64_t done, int64_t of)>;

// Runs the request's search under each value of each choice. Its `where` applies to all of them.
// `within`: a difference of throughput up to this share is a tie. Errors as Search() for the whole
// space; a value without a layout is part of the answer.
absl::StatusOr<std::vector<Ablation>> Study(const SearchRequest& request, double within,
                                            const StudyProgress& progress = {});

}  // namespace meshwright::planner
