// Turns errors from elsewhere into errors about a command's input.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace meshwright::cli {

// Makes `status`, about the text of the file that the flag `flag` names, name both. Its field
// stays.
absl::Status InFile(std::string_view flag, const std::string& path, const absl::Status& status);

// Makes a status about the field `from` of a request one about the flag `to`, which is sent as that
// field; other statuses are unchanged.
absl::Status RenameField(const absl::Status& status, std::string_view from, std::string_view to);

}  // namespace meshwright::cli
