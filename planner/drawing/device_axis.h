// DeviceAxis draws the horizontal axis of curves over the number of devices. It is logarithmic, and
// its marks are the sizes that were searched.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace meshwright::planner {

class DeviceAxis {
 public:
  // `left` and `width` are those of the frame, in pixels. REQUIRES: sizes are positive, ascending,
  // and at least one.
  DeviceAxis(double left, double width, std::vector<int64_t> sizes);

  double X(int64_t devices) const;
  // Appends the marks, without those whose labels would touch the one before, and the axis's name
  // below a frame that ends at `bottom`. The axis takes kHeight pixels.
  void Append(double bottom, std::string& svg) const;

  static constexpr double kHeight = 38.0;

 private:
  double left_;
  double width_;
  std::vector<int64_t> sizes_;
};

}  // namespace meshwright::planner
