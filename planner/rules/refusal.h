// Turns a broken rule into an error that says why a layout of a model can't run.
#pragma once

#include "absl/status/status.h"
#include "planner/layout/layout.h"
#include "planner/profile/framework_profile.h"
#include "planner/rules/rule.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// Returns whether the violation means that the program has no layer for a part of the model. Every
// layout of the model then has this violation.
bool IsAboutParts(const Violation& violation);

// Returns InvalidArgument. If the program lacks layers for parts of the model, the error names the
// keys of the model's config.json that ask for these parts. If no kernel takes the size of the
// heads, it names head_dim. Otherwise it names the layout.
absl::Status RefusalOf(const ModelSpec& model, const FrameworkProfile& profile,
                       const Layout& layout, const Violation& violation);

}  // namespace meshwright::planner
