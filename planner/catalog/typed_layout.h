// TypedLayout is a layout that a user wrote, completed with the framework's defaults.
//
// A framework has defaults for keys that the text leaves out: Megatron-LM sets
// --expert-tensor-parallel-size to the tensor-parallel size unless told otherwise. Every framework
// also accepts a ZeRO stage on a single data-parallel rank. Such a rank has nothing to shard, so
// the stage means zero0. Layouts that the planner lists, stores and exports contain both keys, with
// the values that take effect.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/layout/layout.h"
#include "planner/profile/framework_profile.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

struct TypedLayout {
  Layout layout;
  std::vector<std::string> notes;  // a sentence for each key that differs from the text
};

// Parses the text with ParseLayoutOn() and returns its errors.
absl::StatusOr<TypedLayout> ReadTypedLayout(std::string_view text, const ModelSpec& model,
                                            const FrameworkProfile& profile,
                                            std::optional<int64_t> devices);

// Does the same for a layout that the user runs today. If the text gives no ZeRO stage and the
// layout has ranks to shard over, the stage is the one that the framework's runs are assumed to use
// (the larger of Supports::unsaid_zero and Supports::min_zero).
absl::StatusOr<TypedLayout> ReadRunningLayout(std::string_view text, const ModelSpec& model,
                                              const FrameworkProfile& profile,
                                              std::optional<int64_t> devices);

}  // namespace meshwright::planner
