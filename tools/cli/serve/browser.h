// OpenInBrowser() shows an address in the user's browser.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "executor/command/run_folder.h"
#include "tools/command_line/defaults.h"

namespace meshwright::cli {

// Writes a page that leads to `url` into `folder`, and opens the page in a browser (xdg-open). The
// page keeps `url` from other users of this machine: they can see the arguments of a command, which
// name the page, but not the page's text. Returns Unavailable if there is no desktop or no program
// that opens pages. REQUIRES: the folder exists for as long as the browser takes to read the page.
absl::Status OpenInBrowser(const std::string& url, const command::RunFolder& folder,
                           const command_line::Environment& environment);

}  // namespace meshwright::cli
