// Turns adapters (LoRA, planner/spec/trained_parts.h) into settings that tables of names connect
// with a framework's own, and back.
#pragma once

#include "planner/interchange/settings.h"
#include "planner/spec/trained_parts.h"

namespace meshwright::planner {

// Sets how an adapter is said. Without one, nothing is set.
void SetAdapter(const Adapter& adapter, Settings& settings);

// Sets `train` from the settings of an adapter, after an import.
void ResolveAdapter(Settings& settings);

}  // namespace meshwright::planner
