#include "tools/cli/context.h"

#include "nlohmann/json.hpp"
#include "planner/spec/field_error.h"
#include "tools/cli/json_output.h"

namespace meshwright {

int ReportError(CommandContext& context, OutputFormat format, const absl::Status& status) {
  const std::string message(status.message());
  context.err << "meshwright: " << message << std::endl;
  if (format == OutputFormat::kJson) {
    nlohmann::ordered_json error = {{"code", absl::StatusCodeToString(status.code())},
                                    {"message", message}};
    if (const std::string field = FieldOf(status); !field.empty()) error["field"] = field;
    PrintJson({{"error", error}}, context.out);
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
