#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "executor/trial/result_check.h"
#include "executor/trial/trial.h"
#include "executor/wire/message_codec.h"
#include "google/protobuf/empty.pb.h"
#include "planner/catalog/catalog.h"
#include "planner/codec/json_codec.h"
#include "planner/interchange/export.h"
#include "planner/interchange/export_answer.h"
#include "planner/interchange/export_fields.h"
#include "planner/scaling/budget.h"
#include "proto/meshwright/v1/resource_names.h"
#include "tools/cli/commands.h"
#include "tools/cli/common/framework_flag.h"
#include "tools/cli/io/json_output.h"
#include "tools/cli/io/text.h"
#include "tools/cli/sweep/ask_fields.h"
#include "tools/cli/sweep/sweep_calls.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

constexpr char kDefaultLease[] = "24h";

struct AskFlags {
  OutputFlags output;
  std::string name;
  FrameworkFlag to;
  std::string launch;  // empty: the framework's file, or torchrun's script
  std::string lease = kDefaultLease;
};

struct TellFlags {
  OutputFlags output;
  std::string name;
  std::string trial;  // its number, or its name as sweep ask prints it
  std::string token;
  std::string outcome;
  std::optional<double> step_s;
  double peak_bytes = 0.0;  // so that 61e9 is a number
  std::string message;
  std::string renew;  // a duration; empty: not renewed
  bool give_back = false;
};

absl::StatusOr<int64_t> ReadSeconds(const char* field, const std::string& text) {
  const absl::StatusOr<double> seconds = planner::ParseDuration(text);
  if (seconds.ok()) return static_cast<int64_t>(*seconds);
  return FieldError(field, text, "must be a time such as 90min, 24h or 2d");
}

// Returns the trial's layout as the framework reads it.
absl::StatusOr<planner::ExportAnswer> ExportTrial(const AskFlags& flags, const v1::Trial& trial,
                                                  const v1::Sweep& sweep) {
  ASSIGN_OR_RETURN(const nlohmann::json json, ParseJson("plan", trial.plan_json()));
  ASSIGN_OR_RETURN(const trial::TrialPlan plan, trial::TrialPlanFromJson(json));
  planner::LaunchRequest launch;
  if (!flags.launch.empty()) {
    ASSIGN_OR_RETURN(launch.form, KindOf(planner::kLaunchFormNames, "launch", flags.launch));
  }
  planner::ExportJob job{.model = plan.model, .training = plan.training, .layout = plan.layout};
  constexpr int32_t kAnyCores = 1;
  ASSIGN_OR_RETURN(const planner::ClusterSpec cluster,
                   planner::ClusterFromJson(sweep.cluster_json(), kAnyCores));
  job.devices_per_node = cluster.devices_per_node;
  return planner::ExportAs(flags.to.name, job, launch, !flags.launch.empty());
}

void PrintAsked(const AskFlags& flags, const AskText& text, CommandContext& context) {
  const v1::Trial& trial = text.asked.trial();
  const std::string number = NumberOf(trial.name());
  context.out << "trial " << number << " of " << flags.name << ", yours until "
              << TimeText(text.asked.lease_end_time()) << ": " << trial.layout() << "\n"
              << "predicted: " << absl::StrFormat("%.4g", trial.predicted().time().step_s())
              << " s per step; " << trial.reason() << "\n";
  if (text.exported) context.out << "\n" << text.exported->text << "\n";
  context.out << "once it ran: meshwright sweep tell " << flags.name << " --trial " << number
              << " --token " << text.asked.token() << ' ' << flags.output.server.ToText()
              << " --outcome ok --step-s SECONDS\n";
}

absl::Status Ask(const AskFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const std::string id, SweepId(flags.name));
  v1::AskTrialRequest request;
  request.set_name(FormatSweepName(id));
  ASSIGN_OR_RETURN(const int64_t lease_s, ReadSeconds("lease", flags.lease));
  RETURN_IF_ERROR(CheckRange("lease", lease_s, 1, INT64_MAX));
  request.set_lease_s(lease_s);
  ASSIGN_OR_RETURN(const SweepsStub stub, DialSweeps(flags.output.server));
  ASSIGN_OR_RETURN(const v1::Sweep sweep, ReadSweep(*stub, id));
  AskText text;
  ASSIGN_OR_RETURN(text.asked, Call(*stub, &v1::Sweeps::Stub::AskTrial, request));
  if (!flags.to.name.empty()) {
    SayFramework(flags.to, "--to", context.err);
    absl::StatusOr<planner::ExportAnswer> exported = ExportTrial(flags, text.asked.trial(), sweep);
    if (exported.ok()) {
      text.exported = *std::move(exported);
    } else {
      // The trial is the caller's by now, and its token must not be lost.
      ReportError(context, flags.output.format, exported.status());
      context.exit_code = kExitFailed;
    }
  }
  if (flags.output.format == OutputFormat::kJson) {
    PrintJson(planner::WriteOrderedJson(text), context.out);
  } else {
    PrintAsked(flags, text, context);
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::ToldResult> ReadResult(const TellFlags& flags) {
  v1::ToldResult result;
  result.set_outcome(wire::EnumOf<v1::Outcome>(flags.outcome));
  const bool is_ok = result.outcome() == v1::OUTCOME_OK;
  if (is_ok != flags.step_s.has_value()) {
    return FieldError("step_s", flags.step_s ? absl::StrCat(*flags.step_s) : "(absent)",
                      is_ok ? "must be the median step time in seconds if the outcome is ok"
                            : "must be absent unless the outcome is ok");
  }
  result.set_step_s(flags.step_s.value_or(0.0));
  if (!(flags.peak_bytes >= 0.0 && flags.peak_bytes <= static_cast<double>(trial::kMostBytes))) {
    return FieldError("peak_bytes", absl::StrCat(flags.peak_bytes),
                      absl::StrCat("must be at least 0 and at most ", trial::kMostBytes));
  }
  result.set_peak_bytes(static_cast<int64_t>(flags.peak_bytes));
  result.set_message(flags.message);
  return result;
}

// Returns the number of a trial of the sweep `id` from its number, or from its name as `sweep ask`
// prints it.
absl::StatusOr<int32_t> ReadTrialNumber(const std::string& text, const std::string& id) {
  const std::string parent = absl::StrCat(id, "/trials/");
  int32_t number = 0;
  if (absl::SimpleAtoi(absl::StripPrefix(text, parent), &number)) return number;
  return FieldError("trial", text,
                    absl::StrCat("must be a trial's number, or its name such as ", parent, "3"));
}

absl::StatusOr<v1::TellTrialRequest> ReadTell(const TellFlags& flags, const std::string& id) {
  v1::TellTrialRequest request;
  ASSIGN_OR_RETURN(const int32_t number, ReadTrialNumber(flags.trial, id));
  request.set_name(FormatTrialName(id, number));
  request.set_token(flags.token);
  if (flags.give_back) {
    *request.mutable_give_back() = google::protobuf::Empty();
  } else if (!flags.renew.empty()) {
    ASSIGN_OR_RETURN(const int64_t renew_s, ReadSeconds("renew", flags.renew));
    request.set_renew_s(renew_s);
  } else if (!flags.outcome.empty()) {
    ASSIGN_OR_RETURN(*request.mutable_result(), ReadResult(flags));
  } else {
    return FieldError("outcome", "(absent)",
                      "must be ok, oom or failed, unless --renew or --give-back is given");
  }
  return request;
}

absl::Status Tell(const TellFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const std::string id, SweepId(flags.name));
  ASSIGN_OR_RETURN(const v1::TellTrialRequest request, ReadTell(flags, id));
  ASSIGN_OR_RETURN(const SweepsStub stub, DialSweeps(flags.output.server));
  TellText text;
  ASSIGN_OR_RETURN(text.told, Call(*stub, &v1::Sweeps::Stub::TellTrial, request));
  if (flags.output.format == OutputFormat::kJson) {
    PrintJson(planner::WriteOrderedJson(text), context.out);
    return absl::OkStatus();
  }
  const v1::Trial& trial = text.told.trial();
  context.out << "trial " << NumberOf(trial.name()) << " of " << id << " is "
              << StateName(trial.state()) << ": " << trial.reason() << "\n";
  if (text.told.has_lease_end_time()) {
    context.out << "it is yours until " << TimeText(text.told.lease_end_time()) << "\n";
  }
  return absl::OkStatus();
}

void AddTellWays(CLI::App& tell, TellFlags& flags) {
  CLI::Option* const outcome = command_line::TakeWords(
      tell.add_option("--outcome", flags.outcome, "What came of the run"), {"ok", "oom", "failed"});
  tell.add_option("--step-s", flags.step_s, "Median step time in seconds; with the outcome ok")
      ->needs(outcome)
      ->option_text("S");
  tell.add_option("--peak-bytes", flags.peak_bytes,
                  "Largest peak of a device's memory in bytes, if it is known")
      ->needs(outcome)
      ->option_text("B");
  tell.add_option("--message", flags.message, "What went wrong, one sentence")
      ->needs(outcome)
      ->option_text("TEXT");
  CLI::Option* const renew =
      tell.add_option("--renew", flags.renew, "Keep the trial for this long from now on")
          ->option_text("TIME");
  tell.add_flag("--give-back", flags.give_back, "Hand the trial out again, to anyone who asks")
      ->excludes(renew)
      ->excludes(outcome);
  renew->excludes(outcome);
}

}  // namespace

void AddSweepAskCommand(CLI::App& group, CommandContext& context) {
  auto flags = std::make_shared<AskFlags>();
  CLI::App* ask = AddSweepAction(
      group, context, "ask", "Get the next layout to run with a launcher of your own", flags, Ask);
  flags->output.AddFormat(*ask);
  ask->add_option("name", flags->name, "Name of a sweep that was started with --ask")
      ->required()
      ->option_text("NAME");
  flags->to.Add(*ask, "--to", "Also print the layout as this framework reads it");
  command_line::TakeWords(
      ask->add_option("--launch", flags->launch, "As in export: what starts the run"),
      {planner::kLaunchForms.begin(), planner::kLaunchForms.end()});
  ask->add_option("--lease", flags->lease,
                  "How long the trial is yours, 1min to 30d; then it is handed out again")
      ->capture_default_str()
      ->option_text("TIME");
  command_line::AddExample(*ask, "meshwright sweep ask tinystories-15m-1 --to torchtitan");
}

void AddSweepTellCommand(CLI::App& group, CommandContext& context) {
  auto flags = std::make_shared<TellFlags>();
  CLI::App* tell = AddSweepAction(group, context, "tell",
                                  "Tell what came of a layout that you asked for", flags, Tell);
  flags->output.AddFormat(*tell);
  tell->add_option("name", flags->name, "Name of the sweep")->required()->option_text("NAME");
  tell->add_option("--trial", flags->trial, "Number or name of the trial")
      ->required()
      ->option_text("N|NAME");
  tell->add_option("--token", flags->token, "Token that sweep ask printed")
      ->required()
      ->option_text("TOKEN");
  AddTellWays(*tell, *flags);
  command_line::AddExample(
      *tell,
      "meshwright sweep tell tinystories-15m-1 --trial 3 --token TOKEN --outcome ok --step-s 0.81");
}

}  // namespace meshwright::cli
