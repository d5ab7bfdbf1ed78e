#include "base/text/field_error.h"

#include <cmath>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/optional.h"
#include "base/text/message_text.h"
#include "base/text/string_view.h"

namespace meshwright {
namespace {

constexpr char kFieldPayload[] = "meshwright/field";
constexpr size_t kShownBytes = 400;  // enough for a path or a layout in full, and part of a file

}  // namespace

absl::Status FieldError(std::string_view field, std::string_view value, std::string_view problem) {
  absl::Status status = absl::InvalidArgumentError(
      absl::StrCat(AbslView(field), " = ", EscapeControls(ShortText(value, kShownBytes)), ": ",
                   AbslView(problem)));
  return WithField(std::move(status), field);
}

absl::Status FieldError(std::string_view field, int64_t value, std::string_view problem) {
  return FieldError(field, std::to_string(value), problem);
}

absl::Status WithField(absl::Status status, std::string_view field) {
  status.SetPayload(kFieldPayload, absl::Cord(AbslView(field)));
  return status;
}

std::string FieldOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kFieldPayload);
  return payload ? std::string(*payload) : std::string();
}

absl::Status CheckRange(std::string_view field, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return FieldError(field, value,
                    absl::StrFormat("must be a whole number from %d to %d", low, high));
}

absl::Status CheckPositive(std::string_view field, double value) {
  if (std::isfinite(value) && value > 0) return absl::OkStatus();
  return FieldError(field, absl::StrCat(value), "must be a positive number");
}

absl::Status CheckShare(std::string_view field, double value) {
  if (value > 0 && value <= 1) return absl::OkStatus();
  return FieldError(field, absl::StrCat(value), "must be above 0 and at most 1");
}

std::string FieldPath::ToText() const {
  const std::string before = around_ == nullptr ? "" : around_->ToText();
  if (is_index_) return absl::StrCat(before, "[", index_, "]");
  // A root is used as it is: "plan." has its own dot.
  const bool joined = around_ == nullptr || before.empty() || before.back() == '.';
  std::string path = joined ? before : before + ".";
  path.append(key_);
  return path;
}

}  // namespace meshwright
