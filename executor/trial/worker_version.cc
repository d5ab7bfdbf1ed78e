#include "executor/trial/worker_version.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"

namespace meshwright::trial {
namespace {

// Starting LibTorch from a cold network file system takes seconds.
constexpr double kVersionTimeoutS = 60.0;
constexpr size_t kShownVersionBytes = 60;

bool LooksLikeVersion(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '.' || c == '-' || c == '+';
  }) && absl::ascii_isdigit(static_cast<unsigned char>(text.front()));
}

}  // namespace

absl::Status CheckWorkerVersion(const std::string& worker_path, const ProgramRunner& run) {
  const absl::StatusOr<std::string> printed = run({worker_path, "--version"}, kVersionTimeoutS);
  const std::string own(WorkerVersion());
  if (!printed.ok()) {
    return FieldError("worker", worker_path,
                      absl::StrCat("did not print its version, which must be ", own, " (",
                                   printed.status().message(), ")"));
  }
  const absl::string_view version = absl::StripAsciiWhitespace(*printed);
  if (version == own) return absl::OkStatus();
  if (LooksLikeVersion(version)) {
    return FieldError("worker", worker_path,
                      absl::StrCat("is a worker of version ", version, ", and this program is of ",
                                   "version ", own, ": use the one that came with it"));
  }
  return FieldError("worker", worker_path,
                    absl::StrCat("is no meshwright-worker of version ", own, ": asked for its ",
                                 "version it prints \"",
                                 absl::CHexEscape(version.substr(0, kShownVersionBytes)), "\""));
}

}  // namespace meshwright::trial
