// Converts adapters (LoRA, planner/spec/trained_parts.h) to settings, which the tables of names
// connect with a framework's names, and back.
#pragma once

#include "planner/interchange/settings.h"
#include "planner/spec/trained_parts.h"

namespace meshwright::planner {

// Adds the settings that describe the adapter; adds none if `adapter` does not exist.
void SetAdapter(const Adapter& adapter, Settings& settings);

// After an import, sets `train` from the settings that describe an adapter.
void ResolveAdapter(Settings& settings);

}  // namespace meshwright::planner
