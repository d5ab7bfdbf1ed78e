#include "planner/spec/training_spec.h"

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"

namespace meshwright::planner {
namespace {

constexpr double kMostExpertLoad = 1000.0;

}  // namespace

absl::Status Validate(const TrainingSpec& training) {
  RETURN_IF_ERROR(CheckRange("seq_len", training.seq_len, 1, int64_t{1} << 24));
  if (!(training.expert_load >= 1.0 && training.expert_load <= kMostExpertLoad)) {
    return FieldError(
        "imbalance", absl::StrCat(training.expert_load),
        "must be from 1, where every rank's experts take equally many tokens, to 1000");
  }
  RETURN_IF_ERROR(CheckRange("media_tokens", training.media_tokens, 0, training.seq_len));
  return CheckRange("global_batch", training.global_batch, 1, int64_t{1} << 24);
}

}  // namespace meshwright::planner
