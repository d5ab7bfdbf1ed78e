#include "tools/cli/launcher/job_array.h"

#include <algorithm>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/text/string_view.h"

namespace meshwright::cli {
namespace {

constexpr char kLimitMark = '%';

int32_t TaskNumberOf(std::string_view job) {
  int32_t number = 0;
  return absl::SimpleAtoi(TaskOfJob(job), &number) ? number : 0;
}

}  // namespace

std::string FleetOfJob(std::string_view job) { return std::string(job.substr(0, job.rfind('-'))); }

std::string TaskOfJob(std::string_view job) { return std::string(job.substr(job.rfind('-') + 1)); }

std::string TasksOfJobs(const std::vector<std::string>& jobs) {
  std::string text;
  for (size_t begin = 0; begin < jobs.size();) {
    const int32_t first = TaskNumberOf(jobs[begin]);
    int32_t last = first;
    for (++begin; begin < jobs.size() && TaskNumberOf(jobs[begin]) == last + 1; ++begin) ++last;
    absl::StrAppend(&text, text.empty() ? "" : ",", first);
    if (last > first) absl::StrAppend(&text, "-", last);
  }
  return text;
}

int32_t MostAtOnce(const std::vector<QueuedJob>& jobs) {
  struct Array {
    int32_t live = 0;
    int32_t limit = 0;
  };
  std::map<std::string_view, Array> arrays;  // by number; a job alone is an array of its own
  for (const QueuedJob& job : jobs) {
    if (job.phase == JobPhase::kEnded) continue;
    const std::string_view id = job.id;
    Array& array = arrays[job.array_limit == 0 ? id : id.substr(0, id.find('_'))];
    ++array.live;
    array.limit = job.array_limit;
  }
  int32_t most = 0;
  for (const auto& [number, array] : arrays) {
    most += array.limit == 0 ? array.live : std::min(array.live, array.limit);
  }
  return most;
}

std::string ToText(const ArrayComment& comment) {
  if (comment.at_once == 0) return comment.owner;
  return absl::StrCat(comment.owner, std::string(1, kLimitMark), comment.at_once);
}

ArrayComment ReadArrayComment(const std::string& text) {
  const size_t mark = text.rfind(kLimitMark);
  ArrayComment comment = {.owner = text.substr(0, mark)};
  if (mark == std::string::npos ||
      !absl::SimpleAtoi(AbslView(text).substr(mark + 1), &comment.at_once)) {
    return {.owner = text};
  }
  return comment;
}

}  // namespace meshwright::cli
