#include "planner/report/slower_parts.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/text/amounts.h"
#include "base/text/message_text.h"
#include "planner/report/explain.h"

namespace meshwright::planner {
namespace {

// A part is named as a reason where it makes up at least this share of the time that all parts lose
// together.
constexpr double kSlowerWorthNaming = 0.15;
constexpr size_t kMostReasons = 3;

std::string_view SubjectOf(const SlowerPart& slower) {
  const auto* part = std::find_if(kTimeParts.begin(), kTimeParts.end(),
                                  [&](TimePart p) { return PartName(p) == slower.part; });
  return Subject(*part);
}

}  // namespace

std::vector<SlowerPart> SlowerParts(const TimeEstimate& mine, const TimeEstimate& other) {
  std::vector<SlowerPart> parts;
  double lost_s = 0.0;
  for (const TimePart part : kTimeParts) {
    const double more_s = mine[part] - other[part];
    if (more_s <= 0.0) continue;
    lost_s += more_s;
    parts.push_back({std::string(PartName(part)), more_s});
  }
  std::erase_if(parts, [&](const SlowerPart& p) { return p.more_s < kSlowerWorthNaming * lost_s; });
  std::stable_sort(parts.begin(), parts.end(),
                   [](const SlowerPart& a, const SlowerPart& b) { return a.more_s > b.more_s; });
  if (parts.size() > kMostReasons) parts.resize(kMostReasons);
  return parts;
}

std::string Reasons(const std::vector<SlowerPart>& because) {
  std::vector<std::string> parts;
  for (const SlowerPart& slower : because) {
    const std::string subject(SubjectOf(slower));
    parts.push_back(
        absl::StrCat(subject, parts.empty() ? " takes " : " ", Seconds(slower.more_s), " more"));
  }
  if (parts.empty()) return "";
  return absl::StrCat(", because ", ListInWords(parts, "and"));
}

}  // namespace meshwright::planner
