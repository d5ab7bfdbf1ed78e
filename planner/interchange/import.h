// Reads a framework's launch script or configuration as a layout, a request and options.
//
// Every entry of the files gets one of three statuses: it is used, it is ignored because it changes
// neither memory nor time, or it is rejected because an estimate can't follow it. Nothing is
// dropped.
#pragma once

#include "absl/status/statusor.h"
#include "planner/interchange/framework.h"
#include "planner/interchange/imported.h"

namespace meshwright::planner {

// Returns InvalidArgument if a file can't be read as the framework's syntax.
absl::StatusOr<Imported> Import(const Framework& framework, const ImportQuestion& question);

}  // namespace meshwright::planner
