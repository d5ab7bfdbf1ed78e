// Errors that come from elsewhere, as errors about what a command was given.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace meshwright::cli {

// `status`, about the text of the file that the flag `flag` names, as one that names both. The
// field that it is about stays.
absl::Status InFile(std::string_view flag, const std::string& path, const absl::Status& status);

// A status about the field `from` of a request as one about the flag `to`, which is sent as that
// field; any other status as it is.
absl::Status RenameField(const absl::Status& status, std::string_view from, std::string_view to);

}  // namespace meshwright::cli
