// FieldError() makes an error for one input field. The error states the field's position, its value
// and what is accepted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace meshwright {

// Returns InvalidArgument "`field` = value: problem". The field's name is a payload of the status,
// so that a server can report it as a field violation.
absl::Status FieldError(std::string_view field, std::string_view value, std::string_view problem);
absl::Status FieldError(std::string_view field, int64_t value, std::string_view problem);

// Returns a status like `status` that names `field`.
absl::Status WithField(absl::Status status, std::string_view field);

// Returns the field that `status` names, or an empty string if it names none.
std::string FieldOf(const absl::Status& status);

// Returns OK if low <= value <= high, otherwise InvalidArgument.
absl::Status CheckRange(std::string_view field, int64_t value, int64_t low, int64_t high);
// Returns OK if `value` is positive and finite, otherwise InvalidArgument.
absl::Status CheckPositive(std::string_view field, double value);
// Returns OK if 0 < value <= 1, otherwise InvalidArgument.
absl::Status CheckShare(std::string_view field, double value);

// The position of a field in a text or a message, such as "ranks[2].phases.bubble_s". Only ToText()
// assembles the text. REQUIRES: the enclosing path and the key outlive the path.
class FieldPath {
 public:
  // Makes a root. The paths of its fields begin with this text.
  explicit FieldPath(std::string_view root) : key_(root) {}
  FieldPath(const FieldPath& around, std::string_view key) : around_(&around), key_(key) {}
  FieldPath(const FieldPath& around, size_t index)
      : around_(&around), index_(index), is_index_(true) {}

  std::string ToText() const;

 private:
  const FieldPath* around_ = nullptr;
  std::string_view key_;
  size_t index_ = 0;
  bool is_index_ = false;
};

}  // namespace meshwright
