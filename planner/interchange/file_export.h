// Makes exports that are one file of the framework, such as a YAML file, whose comments say how it
// is used.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "planner/interchange/export_job.h"
#include "planner/interchange/exported_job.h"

namespace meshwright::planner {

// The name by which a command in a file's comments refers to that file.
inline constexpr std::string_view kThisFile = "THIS_FILE";

// Returns an export whose file is called `name`, and whose comments are the model, the layout and
// `use`.
ExportedJob FileExport(const ExportJob& job, std::string name, const std::vector<std::string>& use);

// Writes the file: the comments, the command that each node runs, and `text`. REQUIRES: launcher,
// program and arguments are set.
void FinishFile(ExportedJob& exported, const std::string& text);

}  // namespace meshwright::planner
