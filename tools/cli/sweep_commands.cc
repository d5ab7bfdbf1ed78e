#include "tools/cli/sweep_commands.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executor/agent/wire.h"
#include "meshwright/v1/sweeps.grpc.pb.h"
#include "planner/spec/field_error.h"
#include "planner/spec/status_macros.h"
#include "proto/meshwright/v1/resource_names.h"
#include "tools/cli/devices_flag.h"
#include "tools/cli/flags.h"
#include "tools/cli/json_output.h"
#include "tools/cli/server_client.h"
#include "tools/cli/sweep_follow.h"
#include "tools/cli/sweep_text.h"

namespace meshwright {
namespace {

using nlohmann::ordered_json;

constexpr int32_t kPageSize = 1000;

struct SweepFlags {
  QueryFlags query;
  OutputFlags output;
  std::string name;  // of an existing sweep, or the new one's
  int32_t trials = 0;
  std::optional<int32_t> steps;
  int64_t seed = 0;
  double memory_limit_gib = 0.0;
  bool watch = false;
  int64_t after = 0;
};

using Stub = std::unique_ptr<v1::Sweeps::Stub>;

absl::StatusOr<Stub> Dial(const SweepFlags& flags) {
  ASSIGN_OR_RETURN(const std::shared_ptr<grpc::Channel> channel, ConnectTo(flags.output.server));
  return v1::Sweeps::NewStub(channel);
}

// The {sweep} part of what the user typed, with or without "sweeps/".
absl::StatusOr<std::string> SweepId(const std::string& typed) {
  if (typed.rfind("sweeps/", 0) == 0) return ParseSweepName(typed);
  if (absl::Status status = CheckSweepId(typed); !status.ok()) {
    return WithField(status, "name");
  }
  return typed;
}

// Numbers are sent as they are: what is out of range the server says.
absl::StatusOr<v1::CreateSweepRequest> ReadRequest(const SweepFlags& flags) {
  v1::CreateSweepRequest request;
  ASSIGN_OR_RETURN(const PlanQuery query, flags.query.ToQuery(flags.output.server));
  *request.mutable_plan() = ToWire(query);
  // Only the server knows what a cluster file resolves to.
  if (flags.query.dtype.empty()) request.mutable_plan()->clear_dtype();
  if (flags.steps) RETURN_IF_ERROR(CheckRange("steps", *flags.steps, 1, kMostSteps));
  RETURN_IF_ERROR(CheckRange("seed", flags.seed, 0, INT64_MAX));
  request.set_trials(flags.trials);
  request.set_steps(flags.steps.value_or(0));
  request.set_seed(static_cast<uint64_t>(flags.seed));
  if (flags.memory_limit_gib != 0.0) {
    ASSIGN_OR_RETURN(const int64_t limit, ParseMemoryLimit(flags.memory_limit_gib));
    request.set_memory_limit_bytes(limit);
  }
  request.set_sweep_id(flags.name);
  return request;
}

absl::Status Start(const SweepFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const v1::CreateSweepRequest request, ReadRequest(flags));
  ASSIGN_OR_RETURN(const Stub stub, Dial(flags));
  grpc::ClientContext call;
  SetDeadline(call);
  v1::Sweep sweep;
  const absl::Status status = CallStatus(stub->CreateSweep(&call, request, &sweep));
  if (absl::IsFailedPrecondition(status)) {
    ReportError(context, flags.output.format, status);
    context.exit_code = kExitNothingFits;
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(status);
  const std::string name = ShortName(sweep.name());
  if (flags.watch) {
    if (flags.output.format == OutputFormat::kText) {
      context.out << "sweep " << name << ": " << sweep.trials() << " trials" << std::endl;
    }
    RETURN_IF_ERROR(FollowSweep(flags.output.server, name, 0, flags.output.format, context));
    if (flags.output.format == OutputFormat::kText && context.exit_code == kExitOk) {
      context.out << "meshwright sweep show " << name << " --server " << flags.output.server
                  << " compares predicted and measured\n";
    }
    return absl::OkStatus();
  }
  if (flags.output.format == OutputFormat::kJson) {
    PrintJson(SweepToJson(sweep), context.out);
  } else {
    context.out << "sweep " << name << ": " << sweep.trials() << " trials, "
                << StateName(sweep.state()) << " (" << sweep.reason() << ")\n"
                << "follow it with: meshwright sweep watch " << name << " --server "
                << flags.output.server << "\n";
  }
  return absl::OkStatus();
}

absl::Status List(const SweepFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const Stub stub, Dial(flags));
  std::vector<v1::Sweep> sweeps;
  v1::ListSweepsRequest request;
  request.set_page_size(kPageSize);
  do {
    grpc::ClientContext call;
    SetDeadline(call);
    v1::ListSweepsResponse page;
    RETURN_IF_ERROR(CallStatus(stub->ListSweeps(&call, request, &page)));
    sweeps.insert(sweeps.end(), page.sweeps().begin(), page.sweeps().end());
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  if (flags.output.format == OutputFormat::kText) {
    PrintSweeps(sweeps, context.out);
    return absl::OkStatus();
  }
  ordered_json json = {{"sweeps", ordered_json::array()}};
  for (const v1::Sweep& sweep : sweeps) json["sweeps"].push_back(SweepToJson(sweep));
  PrintJson(json, context.out);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TrialView>> ReadTrials(v1::Sweeps::Stub& stub,
                                                  const std::string& sweep) {
  std::vector<TrialView> trials;
  v1::ListTrialsRequest request;
  request.set_parent(sweep);
  request.set_page_size(kPageSize);
  request.set_order_by("mfu desc");
  do {
    grpc::ClientContext call;
    SetDeadline(call);
    v1::ListTrialsResponse page;
    RETURN_IF_ERROR(CallStatus(stub.ListTrials(&call, request, &page)));
    for (const v1::Trial& trial : page.trials()) {
      ASSIGN_OR_RETURN(trials.emplace_back(), ViewOf(trial));
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return trials;
}

absl::Status Show(const SweepFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const std::string id, SweepId(flags.name));
  ASSIGN_OR_RETURN(const Stub stub, Dial(flags));
  grpc::ClientContext call;
  SetDeadline(call);
  v1::GetSweepRequest request;
  request.set_name(FormatSweepName(id));
  v1::Sweep sweep;
  RETURN_IF_ERROR(CallStatus(stub->GetSweep(&call, request, &sweep)));
  ASSIGN_OR_RETURN(const std::vector<TrialView> trials, ReadTrials(*stub, sweep.name()));
  if (flags.output.format == OutputFormat::kText) {
    PrintSweep(sweep, trials, context.out);
    return absl::OkStatus();
  }
  ordered_json json = {{"sweep", SweepToJson(sweep)}, {"trials", ordered_json::array()}};
  for (const TrialView& view : trials) json["trials"].push_back(TrialToJson(view));
  PrintJson(json, context.out);
  return absl::OkStatus();
}

absl::Status Watch(const SweepFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const std::string id, SweepId(flags.name));
  return FollowSweep(flags.output.server, id, flags.after, flags.output.format, context);
}

absl::Status Cancel(const SweepFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const std::string id, SweepId(flags.name));
  ASSIGN_OR_RETURN(const Stub stub, Dial(flags));
  grpc::ClientContext call;
  SetDeadline(call);
  v1::CancelSweepRequest request;
  request.set_name(FormatSweepName(id));
  v1::Sweep sweep;
  RETURN_IF_ERROR(CallStatus(stub->CancelSweep(&call, request, &sweep)));
  if (flags.output.format == OutputFormat::kJson) {
    PrintJson(SweepToJson(sweep), context.out);
  } else {
    context.out << "sweep " << id << " is cancelled; " << sweep.trials_ended() << " of "
                << sweep.trials() << " trials have ended\n";
  }
  return absl::OkStatus();
}

using Action = absl::Status (*)(const SweepFlags&, CommandContext&);

// A subcommand with --server and --format that runs `action`.
CLI::App* AddAction(CLI::App& group, CommandContext& context, const std::string& name,
                    const std::string& description, const std::shared_ptr<SweepFlags>& flags,
                    Action action) {
  CLI::App* command = group.add_subcommand(name, description);
  flags->output.server = kDefaultServer;
  command->add_option("--server", flags->output.server, "Server that runs the sweeps")
      ->capture_default_str()
      ->option_text("HOST:PORT");
  flags->output.AddFormat(*command);
  command->callback([flags, &context, action] {
    const absl::Status status = action(*flags, context);
    if (!status.ok()) context.exit_code = ReportError(context, flags->output.format, status);
  });
  return command;
}

void AddStart(CLI::App& group, CommandContext& context) {
  auto flags = std::make_shared<SweepFlags>();
  flags->query.framework = "meshwright";
  CLI::App* start = AddAction(group, context, "start", "Run the best layouts of a search as trials",
                              flags, Start);
  flags->query.AddModel(*start);
  flags->query.AddCluster(*start);
  flags->query.AddTraining(*start);
  flags->query.AddFramework(*start);
  start->add_option("--trials", flags->trials, "How many layouts to run")
      ->required()
      ->option_text("K");
  start
      ->add_option("--steps", flags->steps,
                   "Optimizer steps of each trial; without it as many as its median takes to be "
                   "known, or to be known as beaten, at most 50")
      ->option_text("N");
  start->add_option("--seed", flags->seed, "Of weights and tokens")
      ->capture_default_str()
      ->option_text("N");
  start
      ->add_option("--memory-limit-gib", flags->memory_limit_gib,
                   "What each rank may hold, in the prediction and in the trial")
      ->option_text("X");
  start->add_option("--name", flags->name, "Default: the model's name and a number")
      ->option_text("NAME");
  start->add_flag("--watch", flags->watch, "Follow the sweep until it has ended");
}

CLI::App* AddNamed(CLI::App& group, CommandContext& context, const std::string& name,
                   const std::string& description, const std::shared_ptr<SweepFlags>& flags,
                   Action action) {
  CLI::App* command = AddAction(group, context, name, description, flags, action);
  command->add_option("name", flags->name, "Name of the sweep")->required()->option_text("NAME");
  return command;
}

}  // namespace

void AddSweepCommand(CLI::App& app, CommandContext& context) {
  CLI::App* group = app.add_subcommand("sweep", "Measure layouts on a server's agents");
  group->require_subcommand(1);
  AddStart(*group, context);
  AddAction(*group, context, "list", "Sweeps of a server, newest first",
            std::make_shared<SweepFlags>(), List);
  AddNamed(*group, context, "show", "Predicted beside measured, ranked by measured MFU",
           std::make_shared<SweepFlags>(), Show);
  auto watch = std::make_shared<SweepFlags>();
  AddNamed(*group, context, "watch", "Follow a sweep; Ctrl-C detaches", watch, Watch)
      ->add_option("--after", watch->after, "Only events with a larger sequence number")
      ->option_text("SEQUENCE");
  AddNamed(*group, context, "cancel", "End a sweep; finished trials stay",
           std::make_shared<SweepFlags>(), Cancel);
}

}  // namespace meshwright
