#include "planner/schedule/action.h"

#include "absl/strings/str_cat.h"

namespace meshwright::planner {

std::string FormatAction(const Action& action) {
  const char letter = kActionLetters[static_cast<size_t>(action.kind)];
  return absl::StrCat(std::string(1, letter), action.micro_batch, ".c", action.chunk);
}

}  // namespace meshwright::planner
