#include "executor/trial/result_check.h"

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "planner/base/field_error.h"
#include "planner/base/status_macros.h"

namespace meshwright::trial {
namespace {

// The difference of two readings of a clock may be rounded to this much below 0.
constexpr double kRounding = 1e-9;

absl::Status CheckNumber(const nlohmann::json& number, const std::string& path, bool signed_value) {
  const double value = number.get<double>();
  if (!std::isfinite(value)) return FieldError(path, absl::StrCat(value), "must be finite");
  if (signed_value || value >= -kRounding) return absl::OkStatus();
  return FieldError(path, absl::StrCat(value), "must not be negative");
}

// Every number of the result, whatever part of it is the next to get one. `path` is as before when
// it returns OK: only a problem needs it as a text of its own.
absl::Status CheckNumbers(const nlohmann::json& json, std::string& path, bool signed_value) {
  if (json.is_number()) return CheckNumber(json, path, signed_value);
  const size_t length = path.size();
  if (json.is_array()) {
    for (size_t i = 0; i < json.size(); ++i) {
      absl::StrAppend(&path, "[", i, "]");
      RETURN_IF_ERROR(CheckNumbers(json[i], path, signed_value));
      path.resize(length);
    }
  } else if (json.is_object()) {
    for (auto entry = json.begin(); entry != json.end(); ++entry) {
      absl::StrAppend(&path, length == 0 ? "" : ".", entry.key());
      RETURN_IF_ERROR(CheckNumbers(*entry, path, signed_value || path == "losses"));
      path.resize(length);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckCount(const std::string& field, size_t count, int64_t most) {
  return CheckRange(absl::StrCat("number of ", field), static_cast<int64_t>(count), 0, most);
}

absl::Status CheckRank(const std::string& path, int32_t rank, int32_t pipeline_rank,
                       const ResultLimits& limits) {
  RETURN_IF_ERROR(CheckRange(absl::StrCat(path, ".rank"), rank, 0, limits.devices - 1));
  return CheckRange(absl::StrCat(path, ".pipeline_rank"), pipeline_rank, 0, limits.devices - 1);
}

}  // namespace

absl::Status CheckResult(const TrialResult& result, const ResultLimits& limits) {
  return CheckResult(result, ToJson(result), limits);
}

absl::Status CheckResult(const TrialResult& result, const nlohmann::json& json,
                         const ResultLimits& limits) {
  std::string path;
  RETURN_IF_ERROR(CheckNumbers(json, path, /*signed_value=*/false));
  RETURN_IF_ERROR(CheckCount("step_times_s", result.step_times_s.size(), limits.steps));
  RETURN_IF_ERROR(CheckCount("losses", result.losses.size(), limits.steps));
  RETURN_IF_ERROR(CheckCount("gradient_norms", result.gradient_norms.size(), limits.steps));
  RETURN_IF_ERROR(CheckCount("ranks", result.ranks.size(), limits.devices));
  for (size_t i = 0; i < result.ranks.size(); ++i) {
    const RankResult& rank = result.ranks[i];
    RETURN_IF_ERROR(
        CheckRank(absl::StrCat("ranks[", i, "]"), rank.rank, rank.pipeline_rank, limits));
  }
  if (result.oom) {
    RETURN_IF_ERROR(CheckRank("oom", result.oom->rank, result.oom->pipeline_rank, limits));
  }
  if (result.outcome == TrialOutcome::kOk) return CheckPositive("step_s", result.step_s);
  return absl::OkStatus();
}

}  // namespace meshwright::trial
