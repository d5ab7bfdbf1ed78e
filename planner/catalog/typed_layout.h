// TypedLayout is a layout as its user wrote it, completed as the framework completes it.
//
// A framework has defaults for what a text leaves out. Megatron-LM divides each expert's matrices
// over the TP ranks (--expert-tensor-parallel-size is the tensor-parallel size) unless told
// otherwise, and every framework takes a ZeRO stage on one data-parallel rank, where there is nothing
// to shard. Layouts that the planner lists, stores and exports say both.
#pragma once

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
  std::vector<std::string> notes;  // a sentence for each key that the text does not say so
};

// Returns InvalidArgument where ParseLayout() does.
absl::StatusOr<TypedLayout> ReadTypedLayout(std::string_view text, const ModelSpec& model,
                                            const FrameworkProfile& profile);

}  // namespace meshwright::planner
