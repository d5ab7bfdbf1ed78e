// The names of the fields of torchtitan's Trainer.Config.
#pragma once

#include "planner/interchange/name_table.h"

namespace meshwright::planner {

NameTable TorchtitanNames();

}  // namespace meshwright::planner
