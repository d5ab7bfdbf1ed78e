// These functions answer the Planner service's calls Export and Import, which write and read
// frameworks' files.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "meshwright/v1/planner.pb.h"

namespace meshwright::server {

// `host_cores` is as in planner::FindCluster(). Returns every error of planner::AnswerExport().
absl::Status WriteExport(const v1::ExportRequest& request, int32_t host_cores,
                         v1::ExportResponse* response);

// Returns every error of planner::AnswerImport().
absl::Status ReadFrameworkFiles(const v1::ImportRequest& request, v1::ImportResponse* response);

}  // namespace meshwright::server
