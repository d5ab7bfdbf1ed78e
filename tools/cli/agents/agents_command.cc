#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "meshwright/v1/agents.grpc.pb.h"
#include "planner/codec/json_codec.h"
#include "tools/cli/commands.h"
#include "tools/cli/common/agent_clusters.h"
#include "tools/cli/common/agent_fields.h"
#include "tools/cli/common/flags.h"
#include "tools/cli/common/server_client.h"
#include "tools/cli/common/stop_request.h"
#include "tools/cli/io/json_output.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

struct AgentsFlags {
  OutputFlags output;
  std::string name;
};

absl::Status ListAgents(const AgentsFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const std::vector<v1::Agent> agents,
                   ListAgents(flags.output.server.OrDefault()));
  PrintAgents(agents, flags.output.format, context.out);
  return absl::OkStatus();
}

// Makes one call about the agent and prints the state that results.
template <typename Request, typename Response>
absl::Status Decide(const AgentsFlags& flags, const std::string& now,
                    grpc::Status (v1::Agents::Stub::*method)(grpc::ClientContext*, const Request&,
                                                             Response*),
                    CommandContext& context) {
  ASSIGN_OR_RETURN(const std::shared_ptr<grpc::Channel> channel,
                   ConnectTo(flags.output.server.OrDefault()));
  const std::unique_ptr<v1::Agents::Stub> stub = v1::Agents::NewStub(channel);
  grpc::ClientContext call;
  SetDeadline(call);
  Request request;
  request.set_name(flags.name);
  Response response;
  RETURN_IF_ERROR(CallStatus((stub.get()->*method)(&call, request, &response)));
  if (flags.output.format == OutputFormat::kJson) {
    PrintJson(planner::WriteOrderedJson(DecidedText{flags.name, now}), context.out);
  } else {
    context.out << "agent " << flags.name << " " << now << "\n";
  }
  return absl::OkStatus();
}

absl::Status Drain(const AgentsFlags& flags, CommandContext& context) {
  return Decide(flags, "finishes what it runs and gets nothing new", &v1::Agents::Stub::DrainAgent,
                context);
}

absl::Status Resume(const AgentsFlags& flags, CommandContext& context) {
  return Decide(flags, "gets trials again", &v1::Agents::Stub::ResumeAgent, context);
}

CLI::App* AddAction(CLI::App& group, CommandContext& context, const std::string& name,
                    const std::string& description, const std::shared_ptr<AgentsFlags>& flags,
                    absl::Status (*action)(const AgentsFlags&, CommandContext&)) {
  CLI::App* command = group.add_subcommand(name, description);
  flags->output.AddFormat(*command);
  flags->output.AddServer(*command, context);
  command->callback([flags, &context, action] {
    Finish(context, flags->output.format, action(*flags, context));
  });
  return command;
}

}  // namespace

void AddAgentsCommand(CLI::App& app, CommandContext& context) {
  CLI::App* group = app.add_subcommand(
      "agents",
      "Show a server's agents, choose which of them get trials, and start agents on a "
      "cluster");
  group->require_subcommand(1);
  CLI::App* list = AddAction(*group, context, "list", "Agents that are connected or were lost",
                             std::make_shared<AgentsFlags>(), ListAgents);
  command_line::AddExample(*list, "meshwright agents list");
  const auto add_named = [&](const std::string& name, const std::string& description,
                             absl::Status (*action)(const AgentsFlags&, CommandContext&)) {
    const auto flags = std::make_shared<AgentsFlags>();
    CLI::App* command = AddAction(*group, context, name, description, flags, action);
    command->add_option("name", flags->name, "Name of the agent")->required()->option_text("NAME");
    command_line::AddExample(*command, absl::StrCat("meshwright agents ", name, " node-1"));
  };
  add_named("drain", "Let an agent finish its trials, and give it no new trials", Drain);
  add_named("resume", "Give trials again to an agent that was drained or quarantined", Resume);
  AddAgentsUpCommand(*group, context);
}

}  // namespace meshwright::cli
