#include "tools/cli/mcp/mcp_server.h"

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "tools/cli/common/error_fields.h"
#include "tools/cli/io/terminal.h"

namespace meshwright::cli {
namespace {

using nlohmann::ordered_json;

constexpr int32_t kCallsAtOnce = 4;
constexpr size_t kMostCalls = 64;  // running and waiting
// Revisions of the protocol that are spoken, the newest first.
constexpr std::array<std::string_view, 3> kRevisions = {"2025-06-18", "2025-03-26", "2024-11-05"};
constexpr char kInstructions[] =
    "Meshwright predicts memory and step time of parallel layouts for training language models. "
    "Ask "
    "`recommend` which layout trains a model fastest on a cluster; `estimate` and `compare` for "
    "layouts that are given, such as tp4.pp2.dp8.mb1.zero1.sp1; `fit` for the largest sizes. "
    "`model` "
    "is a preset, a config.json as an object or a path; `cluster` is a preset or words such as "
    "h100:8x4 (4 nodes of 8). Units stand in the names of keys. Say the 80 % interval "
    "(step_low_s, step_high_s) with a predicted step.";

std::string Text(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

// A tool's result whose text the model reads.
ordered_json ToolText(std::string text, bool is_error) {
  return {{"content", {{{"type", "text"}, {"text", std::move(text)}}}}, {"isError", is_error}};
}

ordered_json ToolFailure(const CommandError& error) {
  return ToolText(absl::StrCat(error.code, ": ", error.message), /*is_error=*/true);
}

// The command's own warnings, which are no part of its JSON.
void AddMessages(const std::string& messages, ordered_json& result) {
  if (messages.empty()) return;
  result["content"].push_back({{"type", "text"}, {"text", messages}});
}

}  // namespace

McpServer::McpServer(McpOptions options, const CommandContext& context, std::ostream& out)
    : options_(std::move(options)),
      context_(context),
      tools_(McpTools(options_.arguments.contains("server"), options_.may_change_sweeps)),
      out_(out),
      calls_(kCallsAtOnce, [this](Call call, size_t) {
        Run(call);
        return std::function<void()>();
      }) {}

McpServer::~McpServer() {
  {
    const absl::MutexLock lock(&calls_mutex_);
    for (const auto& [id, cancelled] : running_) cancelled->store(true);
  }
  calls_.Close();
  calls_.Join();
}

void McpServer::Serve(std::istream& in) {
  std::string line;
  while (std::getline(in, line)) {
    if (line.empty()) continue;
    const RpcRead read = ReadRpc(line);
    if (read.refusal) Write(read.refusal->response);
    if (read.message) Answer(*read.message);
  }
  calls_.Flush();
}

void McpServer::Answer(const RpcMessage& message) {
  if (!message.id) {
    if (message.method == "notifications/cancelled") Cancel(message.params);
    return;
  }
  if (message.method == "initialize")
    return Write(RpcResult(*message.id, Initialized(message.params)));
  if (message.method == "ping") return Write(RpcResult(*message.id, ordered_json::object()));
  if (message.method == "tools/list") {
    return Write(RpcResult(*message.id, {{"tools", Listings()}}));
  }
  if (message.method == "tools/call") return StartCall(message);
  Write(RpcError(*message.id, kRpcUnknownMethod,
                 absl::StrCat("method `", message.method, "` is not known")));
}

ordered_json McpServer::Initialized(const ordered_json& params) const {
  const ordered_json wanted = params.value("protocolVersion", ordered_json());
  std::string_view revision = kRevisions.front();
  for (const std::string_view known : kRevisions) {
    if (wanted == known) revision = known;
  }
  return {{"protocolVersion", revision},
          {"capabilities", {{"tools", ordered_json::object()}}},
          {"serverInfo", {{"name", "meshwright"}, {"version", MESHWRIGHT_VERSION}}},
          {"instructions", kInstructions}};
}

ordered_json McpServer::Listings() {
  std::ostringstream nothing;
  CommandContext context = {.out = nothing,
                            .err = nothing,
                            .binary_dir = context_.binary_dir,
                            .now_s = context_.now_s,
                            .interrupted = context_.interrupted};
  const std::unique_ptr<CLI::App> app = options_.tree.make(context, {});
  ordered_json listings = ordered_json::array();
  for (const McpTool& tool : tools_) {
    listings.push_back(McpListing(tool, **JsonCommand(*app, tool.command)));
  }
  return listings;
}

void McpServer::StartCall(const RpcMessage& message) {
  const ordered_json name = message.params.value("name", ordered_json());
  const auto tool = std::find_if(tools_.begin(), tools_.end(),
                                 [&](const McpTool& known) { return name == known.name; });
  const ordered_json arguments = message.params.value("arguments", ordered_json::object());
  if (tool == tools_.end() || !arguments.is_object()) {
    return Write(RpcError(*message.id, kRpcInvalidParams,
                          absl::StrCat("there is no tool ", ShowJson(name),
                                       " with these arguments; `tools/list` names the tools")));
  }
  Call call = {.id = *message.id,
               .progress_token = nullptr,
               .tool = *tool,
               .arguments = arguments,
               .cancelled = std::make_shared<std::atomic<bool>>(false)};
  const ordered_json meta = message.params.value("_meta", ordered_json::object());
  if (meta.is_object()) call.progress_token = meta.value("progressToken", ordered_json());
  {
    const absl::MutexLock lock(&calls_mutex_);
    running_[Text(call.id)] = call.cancelled;
  }
  const std::string id = Text(call.id);
  if (calls_.Offer(call, kMostCalls).offered == decltype(calls_)::Offered::kTaken) return;
  {
    const absl::MutexLock lock(&calls_mutex_);
    running_.erase(id);
  }
  Write(RpcResult(call.id,
                  ToolFailure({"RESOURCE_EXHAUSTED",
                               absl::StrCat(kMostCalls, " calls wait or run already"), ""})));
}

void McpServer::Cancel(const ordered_json& params) {
  const absl::MutexLock lock(&calls_mutex_);
  const auto call = running_.find(Text(params.value("requestId", ordered_json())));
  if (call != running_.end()) call->second->store(true);
}

void McpServer::Run(const Call& call) {
  const ordered_json result = Result(call);
  {
    const absl::MutexLock lock(&calls_mutex_);
    running_.erase(Text(call.id));
  }
  // Who cancelled a call waits for no response to it.
  if (!call.cancelled->load()) Write(RpcResult(call.id, result));
}

ordered_json McpServer::Result(const Call& call) {
  std::ostringstream out;
  std::ostringstream err;
  Terminal terminal;
  terminal.on_progress = [&](int64_t done, int64_t of, const std::string& text) {
    if (call.progress_token.is_null()) return;
    Write(RpcNotification("notifications/progress", {{"progressToken", call.progress_token},
                                                     {"progress", done},
                                                     {"total", of},
                                                     {"message", text}}));
  };
  AttachTerminal(err, &terminal);
  CommandContext context = {.out = out,
                            .err = err,
                            .host_cores = context_.host_cores,
                            .binary_dir = context_.binary_dir,
                            .now_s = context_.now_s,
                            .interrupted = *call.cancelled,
                            .today = context_.today,
                            .environment = context_.environment};
  context.files.RestrictTo(options_.root);
  std::optional<CommandError> error;
  context.take_error = [&error](const CommandError& failed) { error = failed; };
  const auto check = [&call](const CLI::App& command) {
    return CheckMcpArguments(call.tool, command, call.arguments);
  };
  const absl::Status status = RunJsonRequest(
      options_.tree,
      {.command = std::string(call.tool.command), .arguments = call.arguments, .keep = {}},
      options_.arguments, check, context);
  if (!status.ok()) error = ErrorOf(status);
  if (error) return ToolFailure(*error);
  absl::StatusOr<ordered_json> answer = ParseOrderedJson("answer", out.str());
  if (!answer.ok()) return ToolFailure(ErrorOf(answer.status()));
  ordered_json result = ToolText(Text(*answer), /*is_error=*/false);
  result["structuredContent"] = *std::move(answer);
  AddMessages(err.str(), result);
  return result;
}

void McpServer::Write(const std::string& line) {
  const absl::MutexLock lock(&out_mutex_);
  out_ << line << std::endl;
}

}  // namespace meshwright::cli
