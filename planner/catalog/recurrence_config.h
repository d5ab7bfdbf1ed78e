// Reads the sizes of a config.json's recurrent layers.
#pragma once

#include <cstdint>

#include "planner/catalog/architecture.h"
#include "planner/codec/json_fields.h"
#include "planner/spec/recurrence.h"

namespace meshwright::planner {

// Returns the recurrence of the layers that have one. The config is canonical (CanonicalConfig()),
// `fields` are its fields, and `hidden` is the width of its hidden state. If a size is absent and
// has no default, `fields` records the error.
Recurrence ReadRecurrence(JsonFields& fields, const Architecture& architecture, int64_t hidden);

}  // namespace meshwright::planner
