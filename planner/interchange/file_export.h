// Exports that are a file of the framework, such as a YAML file. Its comments say how it is used.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "planner/interchange/export_job.h"
#include "planner/interchange/exported_job.h"

namespace meshwright::planner {

// What a command in a comment calls the file that has the comment.
inline constexpr std::string_view kThisFile = "THIS_FILE";

// Returns an export with the file's name, and with the model, the layout and `use` as its comments.
ExportedJob FileExport(const ExportJob& job, std::string name, const std::vector<std::string>& use);

// Writes the file: the comments, the command of a node and the text. REQUIRES: launcher, program
// and arguments are set.
void FinishFile(ExportedJob& exported, const std::string& text);

}  // namespace meshwright::planner
