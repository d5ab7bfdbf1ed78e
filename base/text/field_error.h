// Errors about one named input field: its value and what is accepted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace meshwright {

// Returns InvalidArgument "`field` = value: problem". The field's name is a payload of the status,
// so that a server can report it as a field violation.
absl::Status FieldError(std::string_view field, std::string_view value, std::string_view problem);
absl::Status FieldError(std::string_view field, int64_t value, std::string_view problem);

// Returns `status`, which comes from elsewhere, as one about `field`.
absl::Status WithField(absl::Status status, std::string_view field);

// Returns the field that `status` is about; empty where none was named.
std::string FieldOf(const absl::Status& status);

// OK when low <= value <= high.
absl::Status CheckRange(std::string_view field, int64_t value, int64_t low, int64_t high);
absl::Status CheckPositive(std::string_view field, double value);
// OK when 0 < value <= 1.
absl::Status CheckShare(std::string_view field, double value);

}  // namespace meshwright
