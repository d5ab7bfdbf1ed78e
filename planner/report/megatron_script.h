// MegatronScript is a script that starts Megatron-LM, while it is put together.
#pragma once

#include <string>
#include <vector>

namespace meshwright::planner {

struct MegatronScript {
  std::vector<std::string> comments;  // above the flags
  std::vector<std::string> flags;     // in lines
};

}  // namespace meshwright::planner
