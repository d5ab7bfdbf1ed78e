// PageFiles() returns the files of server/page, which are part of the program.
#pragma once

#include "absl/types/span.h"
#include "planner/data/embedded.h"

namespace meshwright::server {

// A file's name is its path below server/page: "index.html", "views/plan.js".
absl::Span<const planner::EmbeddedFile> PageFiles();

}  // namespace meshwright::server
