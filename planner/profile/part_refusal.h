// Refuses a model that has parts which a program lacks. The error names the keys of the model's
// config.json that ask for these parts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "planner/containers/enum_set.h"
#include "planner/profile/kernel_support.h"
#include "planner/profile/model_part.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// Names of further parts of a model, which are not in ModelPart.
inline constexpr const char* kFfnPart = "ffn";         // the kind of its FFNs
inline constexpr const char* kQkNormPart = "qk_norm";  // norms of each query and key head
inline constexpr const char* kQkvBiasPart = "qkv_bias";
inline constexpr const char* kShapesPart = "layer_shapes";  // layers of different shapes

// Returns the names of these parts.
std::vector<std::string> PartNames(const EnumSet<ModelPart>& parts);

// Returns all parts of the model that a program has no layer for.
std::vector<std::string> LackingParts(const ModelSpec& model, const KernelSupport& has);

// Returns InvalidArgument about the first part's key, with its value. The message names the keys of
// all parts, and then `keys`. `lacks` says what the program lacks, such as "the worker has no layer
// for", and `instead` says what the user can do. REQUIRES: there is a part or a key.
absl::Status RefuseParts(const ModelSpec& model, const std::vector<std::string>& parts,
                         const std::vector<SetAsideKey>& keys, std::string_view lacks,
                         std::string_view instead);

}  // namespace meshwright::planner
