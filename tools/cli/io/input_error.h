// InFile() and RenameField() turn errors of other modules into errors about a command's input.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace meshwright::cli {

// Adds the flag and the path of its file to the message of `status`, an error in the file's text.
// Keeps the status's field.
absl::Status InFile(std::string_view flag, const std::string& path, const absl::Status& status);

// If `status` names the request's field `from`, returns it with the flag `to`, whose value is sent
// in that field, in place of the field. Returns other statuses unchanged.
absl::Status RenameField(const absl::Status& status, std::string_view from, std::string_view to);

}  // namespace meshwright::cli
