#include "tools/cli/context.h"

#include "nlohmann/json.hpp"
#include "planner/spec/field_error.h"

namespace meshwright {

int ReportError(CommandContext& context, OutputFormat format, const absl::Status& status) {
  const std::string message(
      (context.in_words_of_line ? context.in_words_of_line(status) : status).message());
  context.err << "meshwright: " << message << std::endl;
  if (format == OutputFormat::kJson) {
    nlohmann::ordered_json error = {{"code", absl::StatusCodeToString(status.code())},
                                    {"message", message}};
    if (const std::string field = FieldOf(status); !field.empty()) error["field"] = field;
    // What the message quotes need not be UTF-8.
    const auto replace = nlohmann::ordered_json::error_handler_t::replace;
    context.out << nlohmann::ordered_json{{"error", error}}.dump(2, ' ', false, replace)
                << std::endl;
  }
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kAlreadyExists:
      return kExitBadInput;
    default:
      return kExitFailed;
  }
}

}  // namespace meshwright
