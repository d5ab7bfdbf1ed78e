#include "planner/profile/framework_profile.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "planner/spec/field_error.h"
#include "planner/spec/status_macros.h"

namespace meshwright {

absl::Status Validate(const FrameworkProfile& profile) {
  if (profile.name.empty()) return FieldError("name", profile.name, "must not be empty");
  RETURN_IF_ERROR(CheckRange("gradient_bytes", profile.gradient_bytes, 1, 16));
  RETURN_IF_ERROR(CheckRange("optimizer_bytes", profile.optimizer_bytes, 4, 64));
  RETURN_IF_ERROR(CheckPositive("loss_peak_bytes_per_logit", profile.loss_peak_bytes_per_logit));
  const double overlap = profile.data_parallel_overlap;
  if (!(overlap >= 0 && overlap <= 1)) {
    return FieldError("data_parallel_overlap", absl::StrCat(overlap), "must be from 0 to 1");
  }
  RETURN_IF_ERROR(CheckRange("max_zero", profile.max_zero, 0, 3));
  return CheckRange("vocab_multiple", profile.vocab_multiple, 0, 1 << 16);
}

}  // namespace meshwright
