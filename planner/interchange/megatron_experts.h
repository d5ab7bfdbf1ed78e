// Writes a model's experts as flags of Megatron-LM.
#pragma once

#include "absl/status/status.h"
#include "planner/interchange/aside_keys.h"
#include "planner/interchange/megatron_script.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// Appends the flags of an FFN with experts. Returns InvalidArgument, which names the key of the
// model's config, if Megatron-LM has no flags for these experts.
absl::Status AddExperts(const ModelSpec& model, const Ffn& ffn, bool is_hybrid, AsideKeys& aside,
                        MegatronScript& script);

}  // namespace meshwright::planner
