// Objective is the figure by which a search ranks layouts: speed, energy, memory, or a figure that
// follows from them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/text/enum_names.h"
#include "planner/estimate/estimate.h"

namespace meshwright::planner {

enum class Objective : uint8_t {
  kMfu,
  kTokensPerS,  // tokens per second of all devices
  kCost,        // device-hours per token
  kTimeToLoss,  // seconds until a run at the requested batch reaches a loss
  kEnergy,      // joules per token
  kMemory,      // bytes of the fullest device
};
inline constexpr EnumNames<Objective, 6> kObjectiveNames = {{
    {Objective::kMfu, "mfu"},
    {Objective::kTokensPerS, "tokens_per_s"},
    {Objective::kCost, "cost"},
    {Objective::kTimeToLoss, "time_to_loss"},
    {Objective::kEnergy, "energy"},
    {Objective::kMemory, "memory"},
}};

// The distinct ways in which objectives rank layouts. For one number of devices and one batch, the
// first four objectives all rank by kSpeed.
enum class Merit : uint8_t { kSpeed, kEnergy, kMemory };
inline constexpr size_t kMerits = 3;

Merit MeritOf(Objective objective);

// One score for each merit; more is better.
struct Scores {
  std::array<double, kMerits> of{};

  double operator[](Merit merit) const { return of[static_cast<size_t>(merit)]; }
  double& operator[](Merit merit) { return of[static_cast<size_t>(merit)]; }
};

// Returns the scores of an estimate: its MFU, its tokens per joule (0 if the cluster does not state
// its devices' power), and its negated bytes.
Scores ScoresOf(const Estimate& estimate);

// Returns a score that compares estimates for different numbers of devices; more is better. The
// score is the MFU for kMfu, tokens per second for kTokensPerS and kTimeToLoss, tokens per second
// and device for kCost, tokens per joule for kEnergy, and the negated bytes for kMemory.
double ScoreOf(Objective objective, const Estimate& estimate);

// Parses the name of an objective. Returns InvalidArgument naming `field`, with the accepted names,
// for any other text.
absl::StatusOr<Objective> ParseObjective(std::string_view field, std::string_view text);

// Parses a list of objectives such as "mfu,memory" into two or three different merits. Returns
// InvalidArgument naming `field`, with what is accepted, for any other list.
absl::StatusOr<std::vector<Merit>> ParseMerits(std::string_view field, std::string_view text);

// Returns InvalidArgument naming `field` if the cluster does not state its devices' power, without
// which there is no estimate of energy.
absl::Status CheckPower(std::string_view field, const ClusterSpec& cluster);

}  // namespace meshwright::planner
