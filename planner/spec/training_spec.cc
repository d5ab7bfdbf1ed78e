#include "planner/spec/training_spec.h"

#include "planner/base/field_error.h"
#include "planner/base/status_macros.h"

namespace meshwright::planner {

absl::Status Validate(const TrainingSpec& training) {
  RETURN_IF_ERROR(CheckRange("seq_len", training.seq_len, 1, int64_t{1} << 24));
  return CheckRange("global_batch", training.global_batch, 1, int64_t{1} << 24);
}

}  // namespace meshwright::planner
