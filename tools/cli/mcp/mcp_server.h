// McpServer serves tools to a coding agent over the Model Context Protocol. Each line is one
// JSON-RPC message.
//
// Tools run in parallel, each until it is done or cancelled by its client. Requests may come from
// anybody who talks to the coding agent. The server therefore writes no files and reads files below
// one folder only.
#pragma once

#include <atomic>
#include <cstdint>
#include <istream>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/system/work_queue.h"
#include "nlohmann/json.hpp"
#include "tools/cli/common/json_call.h"
#include "tools/cli/mcp/json_rpc.h"
#include "tools/cli/mcp/mcp_tools.h"

namespace meshwright::cli {

struct McpOptions {
  CommandTree tree;
  std::string root;                  // folder below which files are read
  nlohmann::ordered_json arguments;  // given to each tool that has them, such as `server`
  bool may_change_sweeps = false;
};

class McpServer {
 public:
  // REQUIRES: `context` and `out` outlive the server. Nobody else writes to `out`.
  McpServer(McpOptions options, const CommandContext& context, std::ostream& out);
  ~McpServer();

  // Answers the lines of `in` until it ends and all calls are done.
  void Serve(std::istream& in);

 private:
  struct Call {
    nlohmann::ordered_json id;
    nlohmann::ordered_json progress_token;  // null if the client wants no progress
    McpTool tool;
    nlohmann::ordered_json arguments;
    std::shared_ptr<std::atomic<bool>> cancelled;
  };

  void Answer(const RpcMessage& message);
  nlohmann::ordered_json Initialized(const nlohmann::ordered_json& params) const;
  nlohmann::ordered_json Listings();
  void StartCall(const RpcMessage& message);
  void Cancel(const nlohmann::ordered_json& params);
  void Run(const Call& call);
  // Runs the tool's command, and returns the result of the call.
  nlohmann::ordered_json Result(const Call& call);
  void Write(const std::string& line) ABSL_LOCKS_EXCLUDED(out_mutex_);

  const McpOptions options_;
  const CommandContext& context_;
  std::vector<McpTool> tools_;

  absl::Mutex out_mutex_;
  std::ostream& out_ ABSL_GUARDED_BY(out_mutex_);
  absl::Mutex calls_mutex_;
  // By the JSON of their ids.
  std::map<std::string, std::shared_ptr<std::atomic<bool>>> running_ ABSL_GUARDED_BY(calls_mutex_);
  WorkQueue<Call> calls_;  // last: its threads use the other members
};

}  // namespace meshwright::cli
