// TimePart names the parts of a step's time. All breakdowns of step times, estimated and measured,
// use this enumeration and its names.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <utility>

namespace meshwright::planner {

// The parts, in the order in which they are shown.
enum class TimePart : uint8_t {
  kCompute,    // matmuls, attention and memory-bound operators
  kRecompute,  // forward passes that are recomputed (planner/block/recompute.h)
  kTp,         // kTp to kDp: communication by axis that compute does not hide
  kCp,
  kEp,  // all-to-alls of tokens to experts and back
  kPp,
  kDp,
  kOffload,    // copies between devices and hosts, beyond what compute or the update hides
  kBubble,     // idle while the pipeline fills and drains
  kStraggler,  // waiting for devices that are slower than the average one
  kPressure,   // time that the caching allocator adds if memory is nearly full
  kOptimizer,
};

inline constexpr std::array kTimeParts = {
    TimePart::kCompute, TimePart::kRecompute, TimePart::kTp,       TimePart::kCp,
    TimePart::kEp,      TimePart::kPp,        TimePart::kDp,       TimePart::kOffload,
    TimePart::kBubble,  TimePart::kStraggler, TimePart::kPressure, TimePart::kOptimizer};

// Returns the part's key in JSON and its field in messages, such as "bubble_s".
constexpr std::string_view TimePartKey(TimePart part) {
  constexpr std::array<std::string_view, kTimeParts.size()> kKeys = {
      "compute_s", "recompute_s", "tp_s",     "cp_s",        "ep_s",       "pp_s",
      "dp_s",      "offload_s",   "bubble_s", "straggler_s", "pressure_s", "optimizer_s"};
  return kKeys[static_cast<size_t>(part)];
}

// Returns the key without its unit, such as "bubble".
constexpr std::string_view PartName(TimePart part) {
  const std::string_view key = TimePartKey(part);
  return key.substr(0, key.size() - 2);
}

// The names of all parts, in their order.
inline constexpr std::array<std::string_view, kTimeParts.size()> kTimePartNames = [] {
  std::array<std::string_view, kTimeParts.size()> names;
  for (const TimePart part : kTimeParts) names[static_cast<size_t>(part)] = PartName(part);
  return names;
}();

// Seconds by part. A part that is not set is 0.
class TimeParts {
 public:
  constexpr TimeParts() = default;
  constexpr TimeParts(std::initializer_list<std::pair<TimePart, double>> parts) {
    for (const auto& [part, seconds] : parts) (*this)[part] = seconds;
  }

  constexpr double& operator[](TimePart part) { return seconds_[static_cast<size_t>(part)]; }
  constexpr double operator[](TimePart part) const { return seconds_[static_cast<size_t>(part)]; }

  constexpr double total_s() const {
    double total_s = 0.0;
    for (const double seconds : seconds_) total_s += seconds;
    return total_s;
  }

  // Adds `count` times each part of `other`.
  constexpr void Add(const TimeParts& other, double count = 1.0) {
    for (size_t i = 0; i < seconds_.size(); ++i) seconds_[i] += count * other.seconds_[i];
  }

  // Multiplies each part by `factor`.
  constexpr void Scale(double factor) {
    for (double& seconds : seconds_) seconds *= factor;
  }

  friend constexpr bool operator==(const TimeParts&, const TimeParts&) = default;

 private:
  std::array<double, kTimeParts.size()> seconds_{};
};

// Visits every part by its key.
template <typename Parts, typename Visitor>
requires std::same_as<std::remove_const_t<Parts>, TimeParts>
void VisitFields(Parts& parts, Visitor& visit) {
  for (const TimePart part : kTimeParts) {
    if constexpr (std::is_const_v<Parts>) {
      const double seconds = parts[part];
      visit(TimePartKey(part), seconds);
    } else {
      visit(TimePartKey(part), parts[part]);
    }
  }
}

}  // namespace meshwright::planner
