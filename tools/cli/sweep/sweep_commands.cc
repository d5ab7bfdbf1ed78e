#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "executor/wire/wire.h"
#include "planner/codec/json_codec.h"
#include "planner/drawing/sweep_drawing.h"
#include "proto/meshwright/v1/resource_names.h"
#include "tools/cli/commands.h"
#include "tools/cli/common/flags.h"
#include "tools/cli/common/plot_flag.h"
#include "tools/cli/io/json_output.h"
#include "tools/cli/sweep/sweep_calls.h"
#include "tools/cli/sweep/sweep_fields.h"
#include "tools/cli/sweep/sweep_follow.h"
#include "tools/cli/sweep/sweep_json.h"
#include "tools/cli/sweep/sweep_text.h"
#include "tools/cli/sweep/sweep_why.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

constexpr int32_t kSweepPageSize = 1000;

struct SweepFlags {
  OutputFlags output;
  std::string name;
  int64_t after = 0;
  bool force = false;
  bool yes = false;
  std::optional<int32_t> why;  // number of a trial or candidate
  std::string plot;
};

absl::Status ListSweeps(const SweepFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const SweepsStub stub, DialSweeps(flags.output.server));
  std::vector<v1::Sweep> sweeps;
  v1::ListSweepsRequest request;
  request.set_page_size(kSweepPageSize);
  do {
    ASSIGN_OR_RETURN(const v1::ListSweepsResponse page,
                     Call(*stub, &v1::Sweeps::Stub::ListSweeps, request));
    sweeps.insert(sweeps.end(), page.sweeps().begin(), page.sweeps().end());
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  if (flags.output.format == OutputFormat::kText) {
    PrintSweeps(sweeps, context.out);
    return absl::OkStatus();
  }
  SweepListText list;
  for (const v1::Sweep& sweep : sweeps) list.sweeps.push_back({sweep});
  PrintJson(planner::WriteOrderedJson(list), context.out);
  return absl::OkStatus();
}

// Returns the trials that have ended, in the order of their ends, after those with reused results.
std::vector<planner::DrawnTrial> DrawnTrials(const ShownSweep& shown) {
  std::vector<const TrialView*> ended;
  for (const TrialView& view : shown.trials) {
    // This state and all after it are final.
    if (view.trial.state() >= v1::TRIAL_STATE_OK) ended.push_back(&view);
  }
  std::stable_sort(ended.begin(), ended.end(), [](const TrialView* a, const TrialView* b) {
    return wire::FromWire(a->trial.end_time()) < wire::FromWire(b->trial.end_time());
  });
  std::vector<planner::DrawnTrial> drawn;
  for (const TrialView* view : ended) {
    planner::DrawnTrial& trial = drawn.emplace_back();
    trial.number = std::stoi(NumberOf(view->trial.name()));
    trial.state = StateName(view->trial.state());
    if (view->predicted) {
      const planner::Estimate& estimate = view->predicted->estimate;
      trial.predicted_s = estimate.time.step_s();
      trial.predicted_spread = {estimate.step_low_s, estimate.step_high_s};
    }
    if (view->compared) {
      const StepSpread& step = view->compared->step;
      trial.step_s = step.step_s;
      if (step.interval) trial.step_spread = {step.interval->low_s, step.interval->high_s};
    }
  }
  return drawn;
}

// Prints how the sweep converged, one line per trial; nothing if fewer than two were measured.
void PrintDrawing(const ShownSweep& shown, std::ostream& out) {
  const std::vector<std::string> lines = planner::SweepLines(DrawnTrials(shown));
  if (lines.empty()) return;
  out << "\nStep of each trial, in the order in which they ended; further left is faster.\n"
         "* measured, o estimated; last columns: the measured step, the best so far\n";
  for (const std::string& line : lines) out << line << "\n";
}

absl::Status Show(const SweepFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const std::string id, SweepId(flags.name));
  ASSIGN_OR_RETURN(const SweepsStub stub, DialSweeps(flags.output.server));
  ASSIGN_OR_RETURN(const OutputFile plot, ClaimPlot(context.files, flags.plot));
  if (flags.why) return ExplainTrial(*stub, id, *flags.why, flags.output.format, context);
  ASSIGN_OR_RETURN(const v1::Sweep sweep, ReadSweep(*stub, id));
  ASSIGN_OR_RETURN(std::vector<TrialView> trials, ReadTrials(*stub, id));
  ASSIGN_OR_RETURN(const ShownSweep view, ViewOf(sweep, std::move(trials)));
  if (plot.wanted()) {
    RETURN_IF_ERROR(plot.Write(planner::SweepSvg("Sweep " + id, DrawnTrials(view),
                                                 OriginOf(SweepQuestion(sweep), context))));
  }
  if (flags.output.format == OutputFormat::kText) {
    PrintSweep(view, flags.output.style, context.out);
    PrintDrawing(view, context.out);
  } else {
    PrintJson(ShownSweepToJson(view), context.out);
  }
  return absl::OkStatus();
}

absl::Status Watch(const SweepFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const std::string id, SweepId(flags.name));
  return FollowSweep(flags.output.server, id, flags.after, flags.output.format, context);
}

absl::Status Cancel(const SweepFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const std::string id, SweepId(flags.name));
  ASSIGN_OR_RETURN(const SweepsStub stub, DialSweeps(flags.output.server));
  v1::CancelSweepRequest request;
  request.set_name(FormatSweepName(id));
  ASSIGN_OR_RETURN(const v1::Sweep sweep, Call(*stub, &v1::Sweeps::Stub::CancelSweep, request));
  if (flags.output.format == OutputFormat::kJson) {
    PrintJson(SweepToJson(sweep), context.out);
  } else {
    context.out << "sweep " << id << " is " << sweep.reason() << "\n";
  }
  return absl::OkStatus();
}

absl::Status Delete(const SweepFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const std::string id, SweepId(flags.name));
  ASSIGN_OR_RETURN(const SweepsStub stub, DialSweeps(flags.output.server));
  if (!flags.yes) {
    ASSIGN_OR_RETURN(const v1::Sweep sweep, ReadSweep(*stub, id));
    const bool agreed = context.confirm(
        absl::StrCat("Delete sweep ", id, " with its ", sweep.trials(),
                     sweep.trials() == 1 ? " trial" : " trials", " and what they measured?"));
    if (!agreed) return absl::CancelledError(absl::StrCat("sweep ", id, " is not deleted"));
  }
  v1::DeleteSweepRequest request;
  request.set_name(FormatSweepName(id));
  request.set_force(flags.force);
  RETURN_IF_ERROR(Call(*stub, &v1::Sweeps::Stub::DeleteSweep, request).status());
  if (flags.output.format == OutputFormat::kJson) {
    PrintJson(planner::WriteOrderedJson(DeletedText{id}), context.out);
  } else {
    context.out << "sweep " << id << " is deleted\n";
  }
  return absl::OkStatus();
}

CLI::App* AddNamed(CLI::App& group, CommandContext& context, const std::string& name,
                   const std::string& description, const std::shared_ptr<SweepFlags>& flags,
                   absl::Status (*action)(const SweepFlags&, CommandContext&)) {
  CLI::App* command = AddSweepAction(group, context, name, description, flags, action);
  flags->output.AddFormat(*command);
  command->add_option("name", flags->name, "Name of the sweep")->required()->option_text("NAME");
  command_line::AddExample(*command, "meshwright sweep " + name + " tinystories-15m-1");
  return command;
}

}  // namespace

void AddSweepCommand(CLI::App& app, CommandContext& context) {
  CLI::App* group = app.add_subcommand("sweep", "Measure layouts on a server's agents");
  group->require_subcommand(1);
  AddSweepStartCommand(*group, context);
  auto list = std::make_shared<SweepFlags>();
  CLI::App* listing =
      AddSweepAction(*group, context, "list", "Sweeps of a server, newest first", list, ListSweeps);
  list->output.AddFormat(*listing);
  command_line::AddExample(*listing, "meshwright sweep list");
  auto show = std::make_shared<SweepFlags>();
  CLI::App* showing = AddNamed(*group, context, "show",
                               "Show a sweep's measured and predicted steps, shortest step "
                               "first",
                               show, Show);
  show->output.AddStyle(*showing);
  showing->add_option("--why", show->why, "Say why the layout with this number ran or did not run")
      ->option_text("NUMBER");
  AddPlot(*showing, show->plot,
          "Draw how it converged, and predicted against measured, into this SVG file");
  showing->get_option("--plot")->excludes("--why");
  AddSweepPlanCommand(*group, context);
  AddSweepAskCommand(*group, context);
  AddSweepTellCommand(*group, context);
  auto watch = std::make_shared<SweepFlags>();
  AddNamed(*group, context, "watch", "Follow a sweep; Ctrl-C detaches", watch, Watch)
      ->add_option("--after", watch->after, "Only events with a larger sequence number")
      ->option_text("SEQUENCE");
  AddSweepExportCommand(*group, context);
  AddSweepCompareCommand(*group, context);
  AddSweepRerunCommand(*group, context);
  AddNamed(*group, context, "cancel", "End a sweep; finished trials stay",
           std::make_shared<SweepFlags>(), Cancel);
  auto remove = std::make_shared<SweepFlags>();
  CLI::App* const removing = AddNamed(
      *group, context, "delete", "Forget a sweep that has ended, with its trials", remove, Delete);
  removing->add_flag("--force", remove->force, "If the sweep has not ended, cancel it first");
  removing->add_flag("--yes", remove->yes, "Don't ask first; without a terminal nobody is asked");
}

}  // namespace meshwright::cli
