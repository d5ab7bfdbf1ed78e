// What somebody who watches a sweep may still expect of it: the best so far, what the trials that
// run are expected to gain on it, and how long the sweep may take.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "meshwright/v1/sweeps.pb.h"

namespace meshwright::cli {

class SweepOutlook {
 public:
  // Trials at most.
  void SetMost(int64_t trials) { most_ = trials; }
  // A trial that had its result before the sweep began; its median step where it has one.
  void TakeReused(std::optional<double> step_s) { CountEnded(step_s); }
  void Take(const v1::SweepEvent& event);

  int64_t ended() const { return ended_; }
  int64_t most() const { return most_; }
  // "best 0.51 s, may gain 2.3 %, at most 40 s more", of which what is not known is left out.
  std::string ToText() const;

 private:
  void CountEnded(std::optional<double> step_s);
  // Until as many trials have ended as may, if each takes as long as those that ended did on
  // average, and at least as long as the next has already. At most zero where that can't be told.
  absl::Duration TimeLeft() const;

  int64_t most_ = 0;
  int64_t ended_ = 0;
  int64_t ran_ = 0;  // of those that ended
  std::optional<double> best_s_;
  std::map<std::string, double> gains_;  // that trials which run are expected to bring
  std::optional<absl::Time> begin_;      // of the first trial
  absl::Time last_end_;                  // of a trial
  absl::Time now_;                       // of the newest event
};

}  // namespace meshwright::cli
