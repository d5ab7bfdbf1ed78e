// MegatronScript holds the parts of a script that starts Megatron-LM.
#pragma once

#include <string>
#include <vector>

namespace meshwright::planner {

struct MegatronScript {
  std::vector<std::string> comments;  // above the flags
  std::vector<std::string> flags;     // each is one line of flags
};

}  // namespace meshwright::planner
