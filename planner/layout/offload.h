// Offload says which tensors a layout moves to the memory of its devices' hosts. It is the value of
// offload= in the layout's text: "act:8", "opt", "act:8+opt", "opt+param" or "opt+param+grad".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright::planner {

struct Offload {
  // The number of first layers of each chunk that keep their activations on the host. A layer's
  // activations move there after its forward and return before its backward. The last layers would
  // gain nothing: their backward comes first, so their activations would return as soon as they
  // have moved.
  int32_t activation_layers = 0;
  // Master weights and moments live on the host, which also updates them. Gradients move to the
  // host, and new weights return.
  bool optimizer = false;
  // In addition to `optimizer`: the shards of ZeRO-3's weights live on the host too, and every pass
  // copies them to the device.
  bool parameters = false;
  // In addition to `parameters`: the shards of gradients live on the host, and every backward
  // copies them there.
  bool gradients = false;

  bool any() const { return activation_layers > 0 || optimizer; }

  friend bool operator==(const Offload&, const Offload&) = default;
};

// Returns the value of offload=, or an empty text if nothing is moved.
std::string FormatOffload(const Offload& offload);

// Returns the Offload of a text. Returns InvalidArgument, which says what would be accepted, if the
// text is wrong.
absl::StatusOr<Offload> ParseOffload(std::string_view text);

// Returns the Offloads of a text, separated by commas; an empty text has none. The errors are those
// of ParseOffload().
absl::StatusOr<std::vector<Offload>> ParseOffloads(std::string_view text);

}  // namespace meshwright::planner
