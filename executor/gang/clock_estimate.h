// ClockEstimate estimates the offset of another host's clock from request and reply times.
#pragma once

#include <deque>

namespace meshwright::gang {

class ClockEstimate {
 public:
  // Adds one exchange. The request left at `sent_s` and the reply arrived at `received_s`, both in
  // seconds on this host's clock. The reply carried `remote_s`, the time of the other host's clock.
  void Take(double sent_s, double remote_s, double received_s);

  // Returns by how many seconds the other clock is ahead, as measured by the recent exchange with
  // the shortest round trip. The error is at most half of that round trip. Returns 0 before the
  // first exchange.
  double ahead_s() const;
  int answers() const { return answers_; }

 private:
  struct Sample {
    double way_s = 0.0;  // round trip
    double ahead_s = 0.0;
  };

  int answers_ = 0;
  std::deque<Sample> samples_;
};

}  // namespace meshwright::gang
