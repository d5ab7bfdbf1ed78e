// The names of verl's Hydra overrides.
#pragma once

#include "planner/interchange/name_table.h"

namespace meshwright::planner {

NameTable VerlNames();

}  // namespace meshwright::planner
