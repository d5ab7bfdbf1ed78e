#include "tools/cli/io/input_error.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/text/field_error.h"

namespace meshwright::cli {
namespace {

// Returns the message without a leading "field = ".
absl::string_view WithoutField(const absl::Status& status, std::string_view field) {
  absl::string_view message = status.message();
  absl::ConsumePrefix(&message, absl::StrCat(std::string(field), " = "));
  return message;
}

}  // namespace

absl::Status InFile(std::string_view flag, const std::string& path, const absl::Status& status) {
  if (status.ok()) return status;
  const std::string field = FieldOf(status);
  const absl::string_view message = WithoutField(status, flag);
  const absl::Status in_file =
      FieldError(flag, path, std::string_view(message.data(), message.size()));
  return field.empty() ? in_file : WithField(in_file, field);
}

absl::Status RenameField(const absl::Status& status, std::string_view from, std::string_view to) {
  if (FieldOf(status) != from) return status;
  const absl::string_view message = WithoutField(status, from);
  const bool named = message.size() < status.message().size();
  return WithField(absl::Status(status.code(), named ? absl::StrCat(std::string(to), " = ", message)
                                                     : std::string(message)),
                   to);
}

}  // namespace meshwright::cli
