// Ablation measures how much throughput one choice of a layout, or of its kernels, gains. It
// compares the fastest layouts under each value of that choice, with everything else free.
//
// The choices and recommendations are those of Hagemann et al. (arXiv 2311.05610). The paper held
// the rest of a layout fixed; here the rest is optimised again for each value.
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
  std::string name;                  // such as "micro-batch 1"
  bool recommended = false;          // whether the paper recommends this value
  std::optional<RankedLayout> best;  // the fastest layout that fits
  std::string problem;               // why there is no layout; empty if there is one
};

enum class Verdict : uint8_t {
  kOpen,         // no recommended arm has a layout, or no other arm has one
  kHolds,        // the fastest recommended arm is faster than all others
  kTies,         // the difference is less than the estimate can tell
  kDoesNotHold,  // another arm is faster than all recommended ones
};
inline constexpr EnumNames<Verdict, 4> kVerdictNames = {{
    {Verdict::kOpen, "open"},
    {Verdict::kHolds, "holds"},
    {Verdict::kTies, "ties"},
    {Verdict::kDoesNotHold, "does_not_hold"},
}};

struct Ablation {
  std::string name;            // such as "micro_batch"
  std::string recommendation;  // the paper's recommendation, in words
  std::vector<Arm> arms = {};  // at least two
  Verdict verdict = Verdict::kOpen;
  // Throughput of the fastest recommended arm, divided by that of the fastest other arm, minus 1.
  // Not set if one of the two does not exist.
  std::optional<double> gain = std::nullopt;
  std::string sentence = {};  // the verdict with its numbers

  // Returns the fastest of the recommended arms, or of the other arms; null if none of them has a
  // layout.
  const Arm* Fastest(bool recommended) const;
};

using StudyProgress = std::function<void(int64_t done, int64_t of)>;

// Runs the request's search under each value of each choice. The request's `where` applies to every
// search. A difference of throughput up to the share `within` is a tie. A value under which no
// layout fits is still listed in the answer. Returns the errors of Search() for the whole space.
absl::StatusOr<std::vector<Ablation>> Study(const SearchRequest& request, double within,
                                            const StudyProgress& progress = {});

}  // namespace meshwright::planner
