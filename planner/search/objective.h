// Objectives that a search can rank layouts by: speed, energy, memory and what follows from them.
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
  kTokensPerS,  // of all devices
  kCost,        // device-hours per token
  kTimeToLoss,  // of a run at the requested batch
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

// The distinct orders of layouts of one number of devices and one batch: the first four objectives
// rank these alike.
enum class Merit : uint8_t { kSpeed, kEnergy, kMemory };
inline constexpr size_t kMerits = 3;

Merit MeritOf(Objective objective);

// Scores by merit; more is better.
struct Scores {
  std::array<double, kMerits> of{};

  double operator[](Merit merit) const { return of[static_cast<size_t>(merit)]; }
  double& operator[](Merit merit) { return of[static_cast<size_t>(merit)]; }
};

// Returns MFU, tokens per joule (0 where the cluster does not give its devices' power) and the
// negated bytes.
Scores ScoresOf(const Estimate& estimate);

// Returns the score over any numbers of devices, more is better. By objective: MFU, tokens per
// second, tokens per second and device, tokens per second, tokens per joule, negated bytes.
double ScoreOf(Objective objective, const Estimate& estimate);

// Returns the objective of a name. InvalidArgument about `field` lists the names that are accepted.
absl::StatusOr<Objective> ParseObjective(std::string_view field, std::string_view text);

// Returns the merits of a list such as "mfu,memory": two or three different ones. InvalidArgument
// as above.
absl::StatusOr<std::vector<Merit>> ParseMerits(std::string_view field, std::string_view text);

// InvalidArgument where energy is asked for on a cluster that does not give its devices' power.
absl::Status CheckPower(std::string_view field, const ClusterSpec& cluster);

}  // namespace meshwright::planner
