#include "tools/library/task.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <ostream>
#include <sstream>
#include <streambuf>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/text/status_macros.h"
#include "planner/codec/json_codec.h"
#include "tools/cli/app.h"
#include "tools/cli/common/error_fields.h"
#include "tools/cli/common/json_call.h"
#include "tools/cli/common/json_request.h"
#include "tools/cli/io/terminal.h"

namespace meshwright::library {
namespace {

using nlohmann::ordered_json;

// Makes an event of each JSON document: commands flush the stream behind each.
class DocumentBuffer : public std::streambuf {
 public:
  explicit DocumentBuffer(EventQueue& events) : events_(events) {}

 protected:
  int_type overflow(int_type c) override {
    if (c != traits_type::eof()) text_.push_back(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
  }
  std::streamsize xsputn(const char* text, std::streamsize bytes) override {
    text_.append(text, static_cast<size_t>(bytes));
    return bytes;
  }
  int sync() override {
    const absl::string_view document = absl::StripAsciiWhitespace(text_);
    if (!document.empty()) events_.Add({Event::Kind::kOutput, std::string(document)});
    text_.clear();
    return 0;
  }

 private:
  EventQueue& events_;
  std::string text_;
};

double NowSeconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

std::optional<std::string> Variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

// The command's streams and context; what it prints become events.
class CommandRun {
 public:
  CommandRun(const Session& session, const std::atomic<bool>& cancelled, EventQueue& events)
      : session_(session), events_(events), documents_(events), out_(&documents_) {
    cli::AttachTerminal(err_, &terminal_);
    terminal_.on_progress = [this](int64_t done, int64_t of, const std::string& text) {
      events_.Add({Event::Kind::kProgress, JsonLine({{"done", done}, {"of", of}, {"text", text}})});
    };
    context_.emplace(cli::CommandContext{.out = out_,
                                         .err = err_,
                                         .host_cores = session.host_cores,
                                         .binary_dir = session.binary_dir,
                                         .now_s = NowSeconds,
                                         .interrupted = cancelled,
                                         .environment = Variable});
    context_->take_error = [this](const cli::CommandError& error) { error_ = error; };
  }

  // Runs the request and returns its last event.
  ordered_json Run(const std::string& text) {
    const absl::Status status = RunRequest(text);
    if (!status.ok()) {
      context_->exit_code = cli::ReportError(*context_, cli::OutputFormat::kJson, status);
    }
    ordered_json done = {{"exit_code", context_->exit_code},
                         {"messages", Messages()},
                         {"texts", context_->files.KeptTexts()}};
    if (error_) done["error"] = planner::WriteOrderedJson(*error_);
    return done;
  }

 private:
  // Returns what is wrong with the request. The command itself reports to TakeError().
  absl::Status RunRequest(const std::string& text) {
    ASSIGN_OR_RETURN(cli::JsonRequest request, cli::ReadJsonRequest(text));
    if (session_.arguments.contains("server") || request.arguments.contains("server")) {
      RETURN_IF_ERROR(CheckMayCallServer());
    }
    return cli::RunJsonRequest(cli::AllCommands(), std::move(request), session_.arguments,
                               /*check=*/{}, *context_);
  }

  std::vector<std::string> Messages() const {
    return absl::StrSplit(err_.str(), '\n', absl::SkipWhitespace());
  }

  const Session& session_;
  EventQueue& events_;
  DocumentBuffer documents_;
  std::ostream out_;
  std::ostringstream err_;
  cli::Terminal terminal_;
  std::optional<cli::CommandContext> context_;
  std::optional<cli::CommandError> error_;
};

// Returns the last event of a task that could not run.
ordered_json FailedWith(const absl::Status& status) {
  return {{"exit_code", cli::kExitFailed},
          {"error", planner::WriteOrderedJson(cli::ErrorOf(status))}};
}

// Starts a thread that takes no signal of the process: those are for the caller's threads.
template <typename Run>
std::thread StartWithoutSignals(Run run) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(run));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

Task::Task(std::shared_ptr<const Session> session, std::string_view request)
    : session_(std::move(session)), process_(getpid()) {
  if (const absl::Status status = CheckOwnProcess(session_->process); !status.ok()) {
    events_.Add({Event::Kind::kDone, JsonLine(FailedWith(status))});
    return;
  }
  thread_ = StartWithoutSignals([this, text = std::string(request)] { Run(text); });
}

Task::~Task() {
  Cancel();
  if (thread_.joinable()) thread_.join();
}

bool Task::IsOwn() const { return process_ == getpid(); }

void Task::Run(const std::string& request) {
  CommandRun run(*session_, cancelled_, events_);
  events_.Add({Event::Kind::kDone, JsonLine(run.Run(request))});
}

std::optional<Event> Task::Next(absl::Duration timeout) {
  if (IsOwn()) return events_.Next(timeout);
  // The parent's thread may hold the queue's mutex for ever.
  return Event{Event::Kind::kDone, JsonLine(FailedWith(CheckOwnProcess(process_)))};
}

std::string Task::Answer() {
  std::vector<std::string> outputs;
  while (std::optional<Event> event = Next(absl::InfiniteDuration())) {
    if (event->kind == Event::Kind::kOutput) outputs.push_back(std::move(event->json));
    if (event->kind != Event::Kind::kDone) continue;
    return absl::StrCat("{\"outputs\": [", absl::StrJoin(outputs, ", "),
                        "], \"done\": ", event->json, "}");
  }
  return "{}";
}

}  // namespace meshwright::library
