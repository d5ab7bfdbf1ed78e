#include "tools/library/meshwright.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/time/time.h"
#include "planner/codec/json_codec.h"
#include "tools/cli/common/error_fields.h"
#include "tools/cli/program_main.h"
#include "tools/library/session.h"
#include "tools/library/task.h"

namespace library = meshwright::library;

struct mw_session {
  std::shared_ptr<const library::Session> session;
};

struct mw_task {
  mw_task(std::shared_ptr<const library::Session> session, std::string_view request)
      : task(std::move(session), request) {}

  library::Task task;
};

namespace {

// The caller frees it with mw_free_text().
char* Copied(const std::string& text) {
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace

const char* mw_version(void) { return MESHWRIGHT_VERSION; }

mw_session* mw_open(const char* arguments, char** error) {
  auto session = library::OpenSession(arguments);
  if (session.ok()) return new mw_session{*std::move(session)};
  *error = Copied(library::JsonLine(meshwright::planner::WriteOrderedJson(
      meshwright::cli::ErrorText{meshwright::cli::ErrorOf(session.status())})));
  return nullptr;
}

void mw_close(mw_session* session) { delete session; }

mw_task* mw_start(mw_session* session, const char* request) {
  return new mw_task(session->session, request);
}

char* mw_next(mw_task* task, int32_t timeout_ms) {
  const std::optional<library::Event> event = task->task.Next(absl::Milliseconds(timeout_ms));
  return event ? Copied(event->ToText()) : nullptr;
}

void mw_cancel(mw_task* task) { task->task.Cancel(); }

void mw_free(mw_task* task) {
  // A parent's task has no thread here that could be waited for, so its memory stays.
  if (task != nullptr && task->task.IsOwn()) delete task;
}

char* mw_call(mw_session* session, const char* request) {
  library::Task task(session->session, request);
  return Copied(task.Answer());
}

void mw_free_text(char* text) { std::free(text); }

int mw_main(int argc, char** argv) { return meshwright::cli::ProgramMain(argc, argv); }
