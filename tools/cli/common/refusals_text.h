// Why rows of measurements were not modelled, as text.
#pragma once

#include <ostream>
#include <string_view>

#include "planner/measurement/refusals.h"

namespace meshwright::cli {

// Unreadable rows with file and line, then the causes why others were not modelled; nothing where
// there are none. Long lists are cut; `all_in` says where all of them stand, empty for nowhere.
void PrintRefusals(const planner::Refusals& refusals, std::string_view all_in, std::ostream& out);

}  // namespace meshwright::cli
