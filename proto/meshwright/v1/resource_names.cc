#include "proto/meshwright/v1/resource_names.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/text/string_view.h"

namespace meshwright {
namespace {

constexpr std::string_view kSweeps = "sweeps/";
constexpr std::string_view kTrials = "/trials/";
constexpr size_t kMaxName = 63;
constexpr size_t kMaxStem = kMaxName - 20;  // leaves room for "-" and 19 digits

bool IsNameCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '_';
}

// `what`: "a sweep".
absl::Status CheckName(std::string_view what, std::string_view name) {
  if (!name.empty() && name.size() <= kMaxName && name.front() != '.' && name.front() != '-' &&
      std::all_of(name.begin(), name.end(), IsNameCharacter)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", AbslView(name), "\" can't name ", AbslView(what),
                   ": use letters, digits, '.', '-' and ", "'_', at most ", kMaxName,
                   " of them, not starting with '.' or '-'"));
}

}  // namespace

std::string FormatSweepName(std::string_view sweep) {
  return absl::StrCat(AbslView(kSweeps), AbslView(sweep));
}

std::string FormatTrialName(std::string_view sweep, int32_t number) {
  return absl::StrCat(AbslView(kSweeps), AbslView(sweep), AbslView(kTrials), number);
}

absl::Status CheckSweepId(std::string_view sweep) { return CheckName("a sweep", sweep); }

absl::Status CheckAgentName(std::string_view agent) { return CheckName("an agent", agent); }

std::string SweepIdStem(std::string_view model) {
  std::string stem;
  for (const char c : model) {
    if (stem.size() == kMaxStem) break;
    const char kept = IsNameCharacter(c) ? c : '-';
    // A name begins with neither, and one '-' stands for all that can't be held.
    if (stem.empty() && (kept == '-' || kept == '.')) continue;
    if (kept == '-' && stem.back() == '-') continue;
    stem += kept;
  }
  while (!stem.empty() && stem.back() == '-') stem.pop_back();
  return stem.empty() ? "sweep" : stem;
}

absl::StatusOr<std::string> ParseSweepName(std::string_view name) {
  if (!name.starts_with(kSweeps) || name.size() == kSweeps.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", AbslView(name), "\" is not a sweep's name: it looks like sweeps/NAME"));
  }
  return std::string(name.substr(kSweeps.size()));
}

absl::StatusOr<TrialName> ParseTrialName(std::string_view name) {
  const absl::Status malformed = absl::InvalidArgumentError(absl::StrCat(
      "\"", AbslView(name), "\" is not a trial's name: it looks like sweeps/NAME/trials/1"));
  const size_t split = name.rfind(kTrials);
  if (split == std::string_view::npos) return malformed;
  absl::StatusOr<std::string> sweep = ParseSweepName(name.substr(0, split));
  if (!sweep.ok()) return malformed;
  TrialName result{*std::move(sweep), 0};
  if (!absl::SimpleAtoi(AbslView(name.substr(split + kTrials.size())), &result.number) ||
      result.number < 1) {
    return malformed;
  }
  return result;
}

}  // namespace meshwright
