#include "planner/interchange/layer_list.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace meshwright::planner {
namespace {

// Returns the length of the shortest prefix whose repetition gives all flags.
size_t PeriodOf(const LayerFlags& flags) {
  for (size_t period = 1; period < flags.size(); ++period) {
    if (flags.size() % period != 0) continue;
    bool repeats = true;
    for (size_t i = period; repeats && i < flags.size(); ++i) {
      repeats = flags[i] == flags[i - period];
    }
    if (repeats) return period;
  }
  return flags.size();
}

}  // namespace

std::string PythonList(const LayerFlags& flags) {
  const size_t period = PeriodOf(flags);
  std::vector<std::string> runs;
  for (size_t begin = 0; begin < period;) {
    size_t end = begin + 1;
    while (end < period && flags[end] == flags[begin]) ++end;
    runs.push_back(absl::StrFormat("[%d]*%d", flags[begin] ? 1 : 0, end - begin));
    begin = end;
  }
  const std::string list = "(" + absl::StrJoin(runs, "+") + ")";
  return period == flags.size() ? list : absl::StrCat(list, "*", flags.size() / period);
}

}  // namespace meshwright::planner
