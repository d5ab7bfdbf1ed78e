#include "proto/meshwright/v1/resource_names.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace meshwright {
namespace {

constexpr std::string_view kSweeps = "sweeps/";
constexpr std::string_view kTrials = "/trials/";
constexpr size_t kMaxSweepId = 63;

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

bool IsNameCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '_';
}

// What sweeps that are stored may be called.
bool IsKnownForm(std::string_view sweep) {
  return !sweep.empty() && sweep.size() <= kMaxSweepId && sweep.front() != '.' &&
         std::all_of(sweep.begin(), sweep.end(), IsNameCharacter);
}

absl::Status CantName(std::string_view sweep) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", View(sweep), "\" can't name a sweep: use letters, digits, '.', '-' and ",
                   "'_', at most ", kMaxSweepId, " of them, not starting with '.' or '-'"));
}

}  // namespace

std::string FormatSweepName(std::string_view sweep) {
  return absl::StrCat(View(kSweeps), View(sweep));
}

std::string FormatTrialName(std::string_view sweep, int32_t number) {
  return absl::StrCat(View(kSweeps), View(sweep), View(kTrials), number);
}

absl::Status CheckSweepId(std::string_view sweep) {
  if (IsKnownForm(sweep) && sweep.front() != '-') return absl::OkStatus();
  return CantName(sweep);
}

absl::StatusOr<std::string> ParseSweepName(std::string_view name) {
  if (!name.starts_with(kSweeps)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", View(name), "\" is not a sweep's name: it looks like sweeps/NAME"));
  }
  name.remove_prefix(kSweeps.size());
  if (!IsKnownForm(name)) return CantName(name);
  return std::string(name);
}

absl::StatusOr<TrialName> ParseTrialName(std::string_view name) {
  const absl::Status malformed = absl::InvalidArgumentError(absl::StrCat(
      "\"", View(name), "\" is not a trial's name: it looks like sweeps/NAME/trials/1"));
  const size_t split = name.find(kTrials);
  if (split == std::string_view::npos) return malformed;
  absl::StatusOr<std::string> sweep = ParseSweepName(name.substr(0, split));
  if (!sweep.ok()) return malformed;
  TrialName result{*std::move(sweep), 0};
  if (!absl::SimpleAtoi(View(name.substr(split + kTrials.size())), &result.number) ||
      result.number < 1) {
    return malformed;
  }
  return result;
}

}  // namespace meshwright
