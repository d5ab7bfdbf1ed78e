#include "planner/interchange/import_answer.h"

#include <cstdint>

#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/interchange/config_files.h"
#include "planner/interchange/import.h"

namespace meshwright::planner {
namespace {

constexpr int64_t kMostDevices = int64_t{1} << 24;

}  // namespace

absl::StatusOr<ImportAnswer> AnswerImport(std::string_view from, const ImportQuestion& question) {
  if (question.devices) RETURN_IF_ERROR(CheckRange("gpus", *question.devices, 1, kMostDevices));
  ASSIGN_OR_RETURN(const Framework* framework,
                   from.empty() ? FrameworkOfFiles(question.files) : FindFramework("from", from));
  ImportAnswer answer;
  answer.from = std::string(framework->name);
  ASSIGN_OR_RETURN(answer.imported, Import(*framework, question));
  return answer;
}

}  // namespace meshwright::planner
