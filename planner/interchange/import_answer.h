// AnswerImport() reads a framework's files for a command or for a server.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "planner/interchange/imported.h"

namespace meshwright::planner {

struct ImportAnswer {
  std::string from;  // the framework's name
  Imported imported;
};

// If `from` is empty, words in the files tell which framework they belong to. Returns
// InvalidArgument about `from` if the words do not tell it, InvalidArgument about a value of the
// question that is out of range, and every error of Import().
absl::StatusOr<ImportAnswer> AnswerImport(std::string_view from, const ImportQuestion& question);

}  // namespace meshwright::planner
