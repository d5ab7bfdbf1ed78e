// How far another host's clock is ahead of this one's, from questions for its time.
#pragma once

#include <deque>

namespace meshwright::gang {

class ClockEstimate {
 public:
  // A question that left at `sent_s` and whose answer came at `received_s`, both of this host's
  // clock, and the other clock's time in the answer.
  void Take(double sent_s, double far_s, double received_s);

  // By the answer that took least of the last ones, which is off by half of its way at the most; 0
  // without any.
  double ahead_s() const;
  int answers() const { return answers_; }

 private:
  struct Sample {
    double way_s = 0.0;  // there and back
    double ahead_s = 0.0;
  };

  int answers_ = 0;
  std::deque<Sample> samples_;
};

}  // namespace meshwright::gang
