#include "executor/worker/observe/phase_clock.h"

#include <algorithm>
#include <iterator>

namespace meshwright::worker {

void PhaseClock::Use(std::unique_ptr<DeviceClock> clock) {
  clock_ = std::move(clock);
  began_.clear();
}

void PhaseClock::Restart() {
  clock_->Restart();
  began_.clear();
  began_.emplace_back(clock_->Now(), current_);
}

PhaseClock::Switched PhaseClock::Switch(trial::Phase phase) {
  const Switched switched{.ended = current_, .at = clock_->Now()};
  current_ = phase;
  began_.emplace_back(switched.at, phase);
  return switched;
}

trial::PhaseSeconds PhaseClock::Seconds() const {
  if (began_.empty()) return {};
  return Between(began_.front().first, began_.back().first);
}

trial::PhaseSeconds PhaseClock::Between(Mark begin, Mark end) const {
  trial::PhaseSeconds seconds;
  // Marks increase.
  const auto first = std::lower_bound(began_.begin(), began_.end(), begin,
                                      [](const auto& at, Mark mark) { return at.first < mark; });
  for (auto at = first; at != began_.end() && at->first < end; ++at) {
    seconds[at->second] += clock_->Seconds(std::next(at)->first) - clock_->Seconds(at->first);
  }
  return seconds;
}

trial::TimeSpan PhaseClock::HullOf(trial::Phase phase) const {
  trial::TimeSpan hull;
  bool seen = false;
  for (size_t i = 0; i + 1 < began_.size(); ++i) {
    if (began_[i].second != phase) continue;
    if (!seen) hull.begin_s = clock_->Seconds(began_[i].first);
    seen = true;
    hull.end_s = clock_->Seconds(began_[i + 1].first);
  }
  return hull;
}

}  // namespace meshwright::worker
