#include "tools/cli/common/context.h"

#include <cerrno>
#include <cstring>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/text/field_error.h"
#include "planner/codec/json_codec.h"
#include "tools/cli/common/error_fields.h"
#include "tools/cli/io/json_output.h"
#include "tools/cli/io/terminal.h"

namespace meshwright::cli {

std::string Today() { return absl::FormatTime("%Y-%m-%d", absl::Now(), absl::UTCTimeZone()); }

CommandError ErrorOf(const absl::Status& status) {
  return {absl::StatusCodeToString(status.code()), std::string(status.message()), FieldOf(status)};
}

namespace {

void PrintError(const CommandError& error, OutputFormat format, CommandContext& context) {
  context.out.flush();  // earlier output comes first
  context.err << Styled(context.err, Style::kBad, "meshwright:") << " " << error.message
              << std::endl;
  if (format == OutputFormat::kJson) {
    PrintJson(planner::WriteOrderedJson(ErrorText{error}), context.out);
  }
}

}  // namespace

int ReportError(CommandContext& context, OutputFormat format, const absl::Status& status) {
  const CommandError error =
      ErrorOf(context.in_words_of_line ? context.in_words_of_line(status) : status);
  if (context.take_error) {
    context.take_error(error);
  } else {
    PrintError(error, format, context);
  }
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kAlreadyExists:
      return kExitBadInput;
    case absl::StatusCode::kCancelled:
      return kExitInterrupted;
    default:
      return kExitFailed;
  }
}

int FinishOutput(CommandContext& context, int exit_code) {
  context.out.flush();
  if (context.out.good()) return exit_code;
  const int error = context.out_errno();
  if (error == EPIPE) return exit_code;
  context.err << Styled(context.err, Style::kBad, "meshwright:")
              << " standard output can't be written, so what was printed is not complete";
  if (error != 0) context.err << ": " << std::strerror(error);
  context.err << std::endl;
  return kExitFailed;
}

}  // namespace meshwright::cli
