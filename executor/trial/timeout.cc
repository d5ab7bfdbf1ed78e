#include "executor/trial/timeout.h"

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"

namespace meshwright::trial {

absl::Status CheckTimeout(double timeout_s) {
  if (timeout_s > 0.0 && timeout_s <= kMostTimeoutS) return absl::OkStatus();
  return FieldError(
      "timeout_s", absl::StrCat(timeout_s),
      absl::StrCat("must be above 0 and at most ", static_cast<int64_t>(kMostTimeoutS)));
}

std::chrono::milliseconds OperationTimeout(double timeout_s) {
  return std::chrono::milliseconds(static_cast<int64_t>(timeout_s * 2000.0) + 10000);
}

}  // namespace meshwright::trial
