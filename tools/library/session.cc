#include "tools/library/session.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "executor/host/host.h"

namespace meshwright::library {
namespace {

// The first process, of this one and those that it was forked from, that has used a server.
std::atomic<pid_t> process_with_server{0};

// The folder of the programs: bin/, beside the folder of this library or, in an archive, which has
// lib/cli/, one above it.
std::string ProgramFolder() {
  Dl_info library = {};
  if (dladdr(reinterpret_cast<const void*>(&ProgramFolder), &library) == 0) return ".";
  std::error_code error;
  const auto here = std::filesystem::absolute(library.dli_fname, error).parent_path();
  for (const auto& folder : {here.parent_path(), here.parent_path().parent_path()}) {
    if (std::filesystem::exists(folder / "bin/meshwright", error)) return (folder / "bin").string();
  }
  return here.string();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Session>> OpenSession(std::string_view arguments) {
  auto session = std::make_shared<Session>();
  ASSIGN_OR_RETURN(session->arguments, ParseOrderedJson("arguments", arguments));
  if (!session->arguments.is_object()) {
    return FieldError("arguments", ShowJson(session->arguments), "must be an object");
  }
  session->process = getpid();
  session->host_cores = host::PhysicalCores();
  session->binary_dir = ProgramFolder();
  return session;
}

absl::Status CheckOwnProcess(pid_t process) {
  if (process == getpid()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("this session belongs to process ", process,
                                                    ", and this is process ", getpid(),
                                                    ", its child by fork(); open a session here"));
}

absl::Status CheckMayCallServer() {
  pid_t first = 0;
  const pid_t self = getpid();
  if (process_with_server.compare_exchange_strong(first, self) || first == self) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "process ", first, " had used a server when it made process ", self,
      " by fork(), and gRPC works in the parent alone; start a new process (in Python, "
      "multiprocessing's method \"spawn\"), or fork before the first call to a server"));
}

}  // namespace meshwright::library
