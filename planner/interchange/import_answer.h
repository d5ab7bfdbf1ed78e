// AnswerImport() reads a framework's files, for a command and for a server.
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

// If `from` is empty, the names and words of the files say which framework they are of. Returns
// InvalidArgument about `from` if they do not, and about a value of the question that is out of
// range, and every error of Import().
absl::StatusOr<ImportAnswer> AnswerImport(std::string_view from, const ImportQuestion& question);

}  // namespace meshwright::planner
