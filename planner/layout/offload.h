// What a layout moves to the memory of its devices' hosts: the value of offload= in its text,
// "act:8", "opt" or "act:8+opt".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright::planner {

struct Offload {
  // So many layers of each chunk, its first ones: what they keep goes to the host behind their
  // forward and comes back ahead of their backward. The last layers of a chunk, whose backward
  // comes first, would come back as soon as they have gone.
  int32_t activation_layers = 0;
  // Master weights and moments live on the host, which also updates them: gradients go there, and
  // new weights come back.
  bool optimizer = false;

  bool any() const { return activation_layers > 0 || optimizer; }

  friend bool operator==(const Offload&, const Offload&) = default;
};

std::string FormatOffload(const Offload& offload);  // empty where nothing is moved

// InvalidArgument says what would be accepted.
absl::StatusOr<Offload> ParseOffload(std::string_view text);

// Several of them, divided by commas; none in an empty text.
absl::StatusOr<std::vector<Offload>> ParseOffloads(std::string_view text);

}  // namespace meshwright::planner
