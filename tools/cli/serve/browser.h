// OpenInBrowser() shows an address in the user's browser.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "executor/command/run_folder.h"
#include "tools/command_line/defaults.h"

namespace meshwright::cli {

// Writes a page into `folder` that leads to `url`, and starts a browser (xdg-open) with it. Other
// users of this machine see the words of a command, and so the page's name, but not the address.
// Returns Unavailable if there is no desktop or no program that opens pages. REQUIRES: the folder
// exists for as long as the browser takes to read the page.
absl::Status OpenInBrowser(const std::string& url, const command::RunFolder& folder,
                           const command_line::Environment& environment);

}  // namespace meshwright::cli
