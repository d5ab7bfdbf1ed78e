#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "meshwright/v1/standby.grpc.pb.h"
#include "planner/codec/json_codec.h"
#include "tools/cli/commands.h"
#include "tools/cli/common/flags.h"
#include "tools/cli/common/server_client.h"
#include "tools/cli/common/standing_call.h"
#include "tools/cli/common/stop_request.h"
#include "tools/cli/io/json_output.h"
#include "tools/cli/standby/standby_fields.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

std::string BehindText(const v1::StandbyLag& lag) {
  if (!lag.complete()) return "no complete copy yet";
  const std::string behind =
      lag.transactions() == 0
          ? "lacks nothing"
          : absl::StrFormat("%d transactions, %d bytes and %.3g s behind", lag.transactions(),
                            lag.behind_bytes(), lag.behind_s());
  return lag.connected() ? behind : absl::StrCat("not connected; ", behind, " when it was");
}

void PrintStanding(const v1::GetStandingResponse& standing, std::ostream& out) {
  out << (standing.is_standby() ? "a standby" : "decides");
  if (!standing.store_id().empty()) {
    out << ", store " << standing.store_id() << ", epoch " << standing.epoch();
  }
  out << "\n";
  if (standing.is_standby()) {
    out << "follows " << standing.follows() << ": " << BehindText(standing.lag()) << "\n";
  }
  for (const v1::StandbyLag& lag : standing.standbys()) {
    out << "standby " << lag.name() << ": " << BehindText(lag) << "\n";
  }
  for (const v1::MissingResult& missing : standing.missing_results()) {
    out << "lacked the result of " << ShortName(missing.trial()) << ", attempt "
        << missing.attempt() << " on agent " << missing.agent() << ", which the server of epoch "
        << missing.acknowledged_epoch() << " had acknowledged\n";
  }
}

absl::Status Show(const OutputFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const v1::GetStandingResponse standing,
                   AskForStanding(flags.server.OrDefault()));
  if (flags.format == OutputFormat::kJson) {
    PrintJson(planner::WriteOrderedJson(StandingText{standing}), context.out);
  } else {
    PrintStanding(standing, context.out);
  }
  return absl::OkStatus();
}

absl::Status TakeOver(const OutputFlags& flags, CommandContext& context) {
  const ServerFlags server = flags.server.OrDefault();
  if (server.addresses().size() != 1) {
    return FieldError("server", server.address(), "must be the address of the standby alone");
  }
  ASSIGN_OR_RETURN(const std::shared_ptr<grpc::Channel> channel, ConnectTo(server));
  const std::unique_ptr<v1::Standby::Stub> stub = v1::Standby::NewStub(channel);
  ASSIGN_OR_RETURN(const v1::TakeOverResponse taken,
                   Call(*stub, &v1::Standby::Stub::TakeOver, v1::TakeOverRequest()));
  if (flags.format == OutputFormat::kJson) {
    PrintJson(planner::WriteOrderedJson(TakenOverText{taken}), context.out);
  } else {
    context.out << "took over as epoch " << taken.epoch()
                << "; the copy, as far as is known: " << BehindText(taken.lag()) << "\n";
  }
  return absl::OkStatus();
}

void AddAction(CLI::App& group, CommandContext& context, const std::string& name,
               const std::string& description, const std::string& example,
               absl::Status (*action)(const OutputFlags&, CommandContext&)) {
  const auto flags = std::make_shared<OutputFlags>();
  CLI::App* command = group.add_subcommand(name, description);
  flags->AddFormat(*command);
  flags->AddServer(*command, context);
  command_line::AddExample(*command, example);
  command->callback(
      [flags, &context, action] { Finish(context, flags->format, action(*flags, context)); });
}

}  // namespace

void AddStandbyCommand(CLI::App& app, CommandContext& context) {
  CLI::App* group = app.add_subcommand(
      "standby", "Show how far a standby is behind its first server, and let it take over");
  group->require_subcommand(1);
  AddAction(*group, context, "show",
            "Who decides about the store of a server, and who follows it how far behind",
            "meshwright standby show --server 127.0.0.1:7077", Show);
  AddAction(*group, context, "take-over",
            "Let the standby at --server decide from now on; agents and commands refuse the first "
            "server from then on",
            "meshwright standby take-over --server 127.0.0.1:7078", TakeOver);
}

}  // namespace meshwright::cli
