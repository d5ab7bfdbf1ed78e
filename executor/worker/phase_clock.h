// Where a rank's time goes: every moment between two steps belongs to exactly one phase.
//
// Host time. On a device, work that is only issued in a phase is not waited for there.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace meshwright {

enum class Phase : uint8_t {
  kOther,
  kForward,
  kBackward,
  kTensorParallel,   // waiting for the TP group's collectives
  kContextParallel,  // waiting for keys and values of other parts of the sequence
  kPipeline,         // waiting for neighbours, the bubble included
  kDataParallel,     // waiting for gradient reductions
  kOptimizer
};
inline constexpr size_t kPhases = 8;

// "forward", "backward", ...
constexpr std::string_view PhaseName(Phase phase) {
  constexpr std::array<std::string_view, kPhases> kNames = {
      "other",    "forward",       "backward", "tensor_parallel", "context_parallel",
      "pipeline", "data_parallel", "optimizer"};
  return kNames[static_cast<size_t>(phase)];
}

class PhaseClock {
 public:
  // Ends the current phase and starts `phase`; returns the one that ended.
  Phase Switch(Phase phase) {
    const auto now = Clock::now();
    spent_[static_cast<size_t>(current_)] += now - since_;
    since_ = now;
    const Phase ended = current_;
    current_ = phase;
    return ended;
  }

  double Seconds(Phase phase) const {
    return std::chrono::duration<double>(spent_[static_cast<size_t>(phase)]).count();
  }

 private:
  using Clock = std::chrono::steady_clock;

  Phase current_ = Phase::kOther;
  Clock::time_point since_ = Clock::now();
  std::array<Clock::duration, kPhases> spent_{};
};

class ScopedPhase {
 public:
  ScopedPhase(PhaseClock& clock, Phase phase) : clock_(clock), outer_(clock.Switch(phase)) {}
  ~ScopedPhase() { clock_.Switch(outer_); }
  ScopedPhase(const ScopedPhase&) = delete;
  ScopedPhase& operator=(const ScopedPhase&) = delete;

 private:
  PhaseClock& clock_;
  const Phase outer_;
};

}  // namespace meshwright
