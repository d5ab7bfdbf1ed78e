#include "planner/interchange/exported_job.h"

namespace meshwright::planner {

std::vector<std::string> ExportedJob::Arguments() const {
  std::vector<std::string> words;
  for (const std::vector<std::string>& line : argument_lines) {
    words.insert(words.end(), line.begin(), line.end());
  }
  return words;
}

}  // namespace meshwright::planner
