// What a search looks for in a layout: speed, little energy or little memory.
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
  kCost,        // device-hours of a token
  kTimeToLoss,  // of a run in the batch that is asked for
  kEnergy,      // joules of a token
  kMemory,      // of the fullest device
};
inline constexpr EnumNames<Objective, 6> kObjectiveNames = {{
    {Objective::kMfu, "mfu"},
    {Objective::kTokensPerS, "tokens_per_s"},
    {Objective::kCost, "cost"},
    {Objective::kTimeToLoss, "time_to_loss"},
    {Objective::kEnergy, "energy"},
    {Objective::kMemory, "memory"},
}};

// What tells layouts of one number of devices and one batch apart: the first four objectives rank
// these alike.
enum class Merit : uint8_t { kSpeed, kEnergy, kMemory };
inline constexpr size_t kMerits = 3;

Merit MeritOf(Objective objective);

// By merit; more is better.
struct Scores {
  std::array<double, kMerits> of{};

  double operator[](Merit merit) const { return of[static_cast<size_t>(merit)]; }
  double& operator[](Merit merit) { return of[static_cast<size_t>(merit)]; }
};

// MFU, tokens a joule (0 where the cluster does not say what its devices draw) and minus the bytes.
Scores ScoresOf(const Estimate& estimate);

// More is better, over any numbers of devices: MFU, tokens a second, tokens a second and device,
// tokens a second, tokens a joule, minus the bytes.
double ScoreOf(Objective objective, const Estimate& estimate);

// Returns the objective of a name. InvalidArgument about `field` lists what would be accepted.
absl::StatusOr<Objective> ParseObjective(std::string_view field, std::string_view text);

// Returns the merits of a list such as "mfu,memory": two or three, of which no two are the same.
// InvalidArgument as above.
absl::StatusOr<std::vector<Merit>> ParseMerits(std::string_view field, std::string_view text);

// InvalidArgument where energy is looked for on a cluster that does not say what its devices draw.
absl::Status CheckPower(std::string_view field, const ClusterSpec& cluster);

}  // namespace meshwright::planner
