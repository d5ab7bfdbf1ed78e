#include "executor/trial/result_check.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"

namespace meshwright::trial {
namespace {

// Rounding may put the difference of two clock readings this far below 0.
constexpr double kRounding = 1e-9;

// Factor on a CPU's measured peak, which other load may have lowered.
constexpr double kMostOfProcessor = 10.0;

// Entries of a list whose length does not follow from what the trial was asked for: the actions,
// collectives or experts of a rank.
constexpr int64_t kMostEntries = 4096;

constexpr std::string_view kPerStep[] = {"step_times_s", "losses", "gradient_norms"};
constexpr std::string_view kPerDevice[] = {"ranks", "stages", "pipeline_ranks"};

template <size_t kSize>
bool IsOneOf(const std::string_view (&names)[kSize], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// Returns the last key of a path such as "ranks[1].peak_bytes".
std::string_view LastKey(std::string_view path) {
  path = path.substr(0, path.find_last_not_of("0123456789[]") + 1);
  return path.substr(path.rfind('.') + 1);
}

absl::Status CheckNumber(const nlohmann::json& number, const std::string& path, bool signed_value) {
  const double value = number.get<double>();
  if (!std::isfinite(value)) return FieldError(path, absl::StrCat(value), "must be finite");
  if (path.ends_with("_bytes") && value > static_cast<double>(kMostBytes)) {
    return FieldError(path, absl::StrCat(value), absl::StrCat("must be at most ", kMostBytes));
  }
  if (signed_value || value >= -kRounding) return absl::OkStatus();
  return FieldError(path, absl::StrCat(value), "must not be negative");
}

// Every list of the result has a bound, including lists added later.
absl::Status CheckLength(const std::string& path, size_t length, const ResultLimits& limits) {
  const std::string_view name = LastKey(path);
  const int64_t most = IsOneOf(kPerStep, name)     ? limits.steps
                       : IsOneOf(kPerDevice, name) ? limits.devices
                                                   : kMostEntries;
  return CheckRange(absl::StrCat("number of ", path), static_cast<int64_t>(length), 0, most);
}

// Checks every number of the result, including fields added later. Restores `path` when it returns
// OK; a text of its own is made only for an error.
absl::Status CheckNumbers(const nlohmann::json& json, std::string& path, bool signed_value,
                          const ResultLimits& limits) {
  if (json.is_number()) return CheckNumber(json, path, signed_value);
  const size_t length = path.size();
  if (json.is_array()) {
    RETURN_IF_ERROR(CheckLength(path, json.size(), limits));
    for (size_t i = 0; i < json.size(); ++i) {
      absl::StrAppend(&path, "[", i, "]");
      RETURN_IF_ERROR(CheckNumbers(json[i], path, signed_value, limits));
      path.resize(length);
    }
  } else if (json.is_object()) {
    for (auto entry = json.begin(); entry != json.end(); ++entry) {
      absl::StrAppend(&path, length == 0 ? "" : ".", entry.key());
      RETURN_IF_ERROR(CheckNumbers(*entry, path, signed_value || path == "losses", limits));
      path.resize(length);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckRank(const std::string& path, int32_t rank, int32_t pipeline_rank,
                       const ResultLimits& limits) {
  RETURN_IF_ERROR(CheckRange(absl::StrCat(path, ".rank"), rank, 0, limits.devices - 1));
  return CheckRange(absl::StrCat(path, ".pipeline_rank"), pipeline_rank, 0, limits.devices - 1);
}

absl::Status CheckRanks(const TrialResult& result, const ResultLimits& limits) {
  std::set<int32_t> seen;
  for (size_t i = 0; i < result.ranks.size(); ++i) {
    const RankResult& rank = result.ranks[i];
    const std::string path = absl::StrCat("ranks[", i, "]");
    RETURN_IF_ERROR(CheckRank(path, rank.rank, rank.pipeline_rank, limits));
    if (!seen.insert(rank.rank).second) {
      return FieldError(absl::StrCat(path, ".rank"), rank.rank, "must not be there twice");
    }
  }
  if (result.outcome != TrialOutcome::kOk || !result.ranks.empty()) return absl::OkStatus();
  return FieldError("ranks", "[]", "must have at least one rank, since the outcome is ok");
}

absl::Status CheckMemory(const TrialResult& result, const ResultLimits& limits) {
  if (!limits.memory_limit_bytes) return absl::OkStatus();
  for (size_t i = 0; i < result.ranks.size(); ++i) {
    if (result.ranks[i].peak_bytes <= *limits.memory_limit_bytes) continue;
    return FieldError(absl::StrCat("ranks[", i, "].peak_bytes"), result.ranks[i].peak_bytes,
                      absl::StrCat("must be at most ", *limits.memory_limit_bytes,
                                   ", which is what a rank of this trial may hold"));
  }
  return absl::OkStatus();
}

// A median lies within its sample. A slice's step is composed, not timed.
absl::Status CheckStep(const TrialResult& result) {
  const double step_s = result.step_s;
  const std::vector<double>& times_s = result.step_times_s;
  if (!times_s.empty() && !result.slice) {
    const auto [least, most] = std::minmax_element(times_s.begin(), times_s.end());
    if (step_s < *least * (1 - kRounding) || step_s > *most * (1 + kRounding)) {
      return FieldError("step_s", absl::StrCat(step_s),
                        absl::StrCat("must be from ", *least, " to ", *most,
                                     ", which is how long its steps took"));
    }
  }
  if (!result.step_interval) return absl::OkStatus();
  RETURN_IF_ERROR(CheckPositive("step_interval.low_s", result.step_interval->low_s));
  if (result.step_interval->low_s > result.step_interval->high_s) {
    return FieldError("step_interval.low_s", absl::StrCat(result.step_interval->low_s),
                      absl::StrCat("must be at most high_s, ", result.step_interval->high_s));
  }
  return absl::OkStatus();
}

absl::Status CheckShare(const char* field, double share, double most) {
  if (share <= most) return absl::OkStatus();
  return FieldError(field, absl::StrCat(share),
                    absl::StrCat("must be at most ", most,
                                 ": no devices do more than their peak; either the time is wrong, "
                                 "or the peak is"));
}

absl::Status CheckUtilisation(const TrialResult& result, const ResultLimits& limits) {
  const bool is_cuda = limits.device_kind == planner::DeviceKind::kCuda;
  const double most = is_cuda ? 1.0 : kMostOfProcessor;
  // PaLM's MFU counts all of attention, of which a causal model computes half.
  RETURN_IF_ERROR(CheckShare("mfu_causal", result.mfu_causal, most));
  RETURN_IF_ERROR(CheckShare("mfu", result.mfu, 2 * most));
  if (!is_cuda || !result.peak_flops) return absl::OkStatus();
  RETURN_IF_ERROR(CheckShare("mfu_causal_of_peak", result.mfu_causal_of_peak, most));
  return CheckShare("mfu_of_peak", result.mfu_of_peak, 2 * most);
}

}  // namespace

absl::Status CheckResult(const TrialResult& result, const ResultLimits& limits) {
  return CheckResult(result, ToJson(result), limits);
}

absl::Status CheckResult(const TrialResult& result, const nlohmann::json& json,
                         const ResultLimits& limits) {
  std::string path;
  RETURN_IF_ERROR(CheckNumbers(json, path, /*signed_value=*/false, limits));
  RETURN_IF_ERROR(CheckRanks(result, limits));
  if (result.oom) {
    RETURN_IF_ERROR(CheckRank("oom", result.oom->rank, result.oom->pipeline_rank, limits));
  }
  RETURN_IF_ERROR(CheckMemory(result, limits));
  if (result.outcome != TrialOutcome::kOk) return absl::OkStatus();
  RETURN_IF_ERROR(CheckPositive("step_s", result.step_s));
  RETURN_IF_ERROR(CheckStep(result));
  return CheckUtilisation(result, limits);
}

}  // namespace meshwright::trial
