// SweepOutlook summarises a running sweep for a watcher: the best step so far, the expected gains
// of the running trials, and how long the sweep may take.
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
  // Sets the largest number of trials.
  void SetMost(int64_t trials) { most_ = trials; }
  // Counts a trial with a reused result. `step_s` is its median step, if it has one.
  void TakeReused(std::optional<double> step_s) { CountEnded(step_s); }
  // Updates the outlook with the sweep's next event.
  void Take(const v1::SweepEvent& event);

  int64_t ended() const { return ended_; }
  int64_t most() const { return most_; }
  // Returns "best 0.51 s, may gain 2.3 %, at most 40 s more", without the parts that are not known.
  std::string ToText() const;

 private:
  void CountEnded(std::optional<double> step_s);
  // Returns how long it may take until `most_` trials have ended. The time between two ends of
  // trials is assumed to be the average so far, and at least the time since the last end. Returns
  // zero or less if that can't be determined.
  absl::Duration TimeLeft() const;

  int64_t most_ = 0;
  int64_t ended_ = 0;
  int64_t ran_ = 0;  // ended trials without a reused result
  std::optional<double> best_s_;
  std::map<std::string, double> gains_;  // expected gains of the running trials
  std::optional<absl::Time> begin_;      // of the first trial
  absl::Time last_end_;                  // of a trial
  absl::Time now_;                       // of the newest event
};

}  // namespace meshwright::cli
