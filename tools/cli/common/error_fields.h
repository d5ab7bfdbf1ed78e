// ErrorText declares the fields that any command prints with --format json if it fails
// (planner/codec/fields.h).
#pragma once

#include <string>

#include "absl/status/status.h"
#include "planner/codec/fields.h"

namespace meshwright::cli {

struct CommandError {
  std::string code;
  std::string message;
  std::string field;
};

// Returns the error of a status that is not OK.
CommandError ErrorOf(const absl::Status& status);

template <typename Visitor>
void VisitFields(const CommandError& error, Visitor& visit) {
  visit({"code", "Canonical status code, such as INVALID_ARGUMENT"}, error.code);
  visit({"message", "One sentence"}, error.message);
  visit(planner::OnlyIf(!error.field.empty(),
                        {"field", "Key or flag that is off; absent where none is"}),
        error.field);
}

struct ErrorText {
  CommandError error;
};

template <typename Visitor>
void VisitFields(const ErrorText& text, Visitor& visit) {
  visit({"error", "What went wrong"}, text.error);
}

}  // namespace meshwright::cli
