// Finds the profile that describes a framework under the options of a run: compiled or eager, with
// or without CUDA graphs, with one dispatcher or another. These options change which tensors
// operators keep for the backward, how fast operators run, and how much communication is hidden.
// Each combination has its own evidence, and is therefore a profile of its own.
#pragma once

#include "absl/status/statusor.h"
#include "planner/profile/framework_profile.h"
#include "planner/spec/run_options.h"

namespace meshwright::planner {

// Returns the profile of the same framework that describes runs with these options. This is
// `profile` itself if the options select no other. Returns InvalidArgument, which names the option
// and the values that the framework has, if the profile has no such variant.
absl::StatusOr<FrameworkProfile> VariantOf(FrameworkProfile profile, const RunOptions& options);

}  // namespace meshwright::planner
