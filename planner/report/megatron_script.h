// The contents of a script that starts Megatron-LM.
#pragma once

#include <string>
#include <vector>

namespace meshwright::planner {

// Lines of flags, and the comments above them.
struct MegatronScript {
  std::vector<std::string> comments;
  std::vector<std::string> flags;
};

}  // namespace meshwright::planner
