#include "tools/cli/sweep/sweep_outlook.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/wire/wire.h"
#include "tools/cli/io/text.h"

namespace meshwright::cli {
namespace {

// Returns whole seconds, or minutes from two minutes on.
std::string RoughTime(absl::Duration time) {
  constexpr double kMinute = 60.0;
  const double seconds = absl::ToDoubleSeconds(time);
  if (seconds < 2 * kMinute) return absl::StrCat(std::lround(seconds), " s");
  return absl::StrCat(std::lround(seconds / kMinute), " min");
}

}  // namespace

void SweepOutlook::CountEnded(std::optional<double> step_s) {
  ended_ = std::min(ended_ + 1, most_);
  if (step_s) best_s_ = std::min(best_s_.value_or(*step_s), *step_s);
}

void SweepOutlook::Take(const v1::SweepEvent& event) {
  now_ = wire::FromWire(event.time());
  switch (event.kind()) {
    case v1::SWEEP_EVENT_KIND_TRIAL_ASSIGNED:
      if (!begin_) begin_ = now_;
      if (event.placed().has_expected_gain()) {
        gains_[event.trial()] = event.placed().expected_gain();
      }
      break;
    case v1::SWEEP_EVENT_KIND_TRIAL_REQUEUED:
      gains_.erase(event.trial());
      break;
    case v1::SWEEP_EVENT_KIND_TRIAL_ENDED:
      gains_.erase(event.trial());
      ++ran_;
      last_end_ = now_;
      CountEnded(event.left().has_step_s() ? std::optional(event.left().step_s()) : std::nullopt);
      break;
    case v1::SWEEP_EVENT_KIND_SWEEP_FINISHED:
      most_ = ended_;
      break;
    default:
      break;
  }
}

std::string SweepOutlook::ToText() const {
  std::vector<std::string> parts;
  if (best_s_) parts.push_back(absl::StrCat("best ", FormatSeconds(*best_s_)));
  if (!gains_.empty()) {
    const auto most =
        std::max_element(gains_.begin(), gains_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    parts.push_back(absl::StrCat("may gain ", FormatPercent(most->second)));
  }
  const absl::Duration left = TimeLeft();
  if (left > absl::ZeroDuration()) {
    parts.push_back(absl::StrCat("at most ", RoughTime(left), " more"));
  }
  return absl::StrJoin(parts, ", ");
}

absl::Duration SweepOutlook::TimeLeft() const {
  if (!begin_ || ran_ == 0) return absl::ZeroDuration();
  const absl::Duration waited = now_ - last_end_;
  const absl::Duration each = std::max((last_end_ - *begin_) / ran_, waited);
  return each * (most_ - ended_) - waited;
}

}  // namespace meshwright::cli
