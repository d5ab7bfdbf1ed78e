// The JSON form of what a program's layers and kernels take, inside framework files. The keys stand
// beside the profile's own and are there only where they limit something.
#pragma once

#include "nlohmann/json.hpp"
#include "planner/codec/json_fields.h"
#include "planner/profile/kernel_support.h"

namespace meshwright::planner {

// Problems go to `fields`.
KernelSupport ReadKernelSupport(JsonFields& fields);

void WriteKernelSupport(const KernelSupport& kernels, nlohmann::ordered_json& object);

}  // namespace meshwright::planner
