#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/amounts.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/codec/json_codec.h"
#include "planner/drawing/timeline_svg.h"
#include "planner/report/question_text.h"
#include "planner/report/schedule_answer.h"
#include "planner/report/schedule_fields.h"
#include "planner/report/timeline.h"
#include "planner/schedule/placement.h"
#include "planner/schedule/simulator.h"
#include "tools/cli/commands.h"
#include "tools/cli/common/flags.h"
#include "tools/cli/common/plot_flag.h"
#include "tools/cli/io/json_output.h"
#include "tools/cli/io/table.h"
#include "tools/cli/io/text.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

constexpr int64_t kMaxDrawnActions = 500'000;  // written to a file
constexpr int32_t kTextColumns = 120;
constexpr double kMaxMilliseconds = 1e9;

// Milliseconds of one micro-batch on one pipeline rank, for all of its chunks together.
struct RankMilliseconds {
  double forward_ms = 1.0;
  double backward_ms = 1.0;  // input gradient
  double weight_ms = 1.0;
  double hop_ms = 0.0;
};

struct ScheduleFlags {
  QueryFlags query;
  OutputFlags output;
  std::string layout;
  std::optional<int32_t> micro_batches;
  RankMilliseconds rank;
  bool blocking_hops = false;
  std::string file;

  bool HasModel() const { return !query.model.empty() || !query.cluster.empty(); }
};

absl::Status CheckSize(const ScheduleFlags& flags, const planner::ScheduledStep& step) {
  return flags.file.empty() ? CheckScheduledStep(step, planner::kMostScheduledActions, "simulated")
                            : CheckScheduledStep(step, kMaxDrawnActions, "drawn");
}

absl::Status CheckMilliseconds(const char* field, double value) {
  if (value >= 0.0 && value <= kMaxMilliseconds) return absl::OkStatus();
  return FieldError(field, absl::StrCat(value), "must be a number from 0 to 1e9");
}

planner::PipelineTimes EqualStages(const planner::Layout& layout,
                                   const planner::StageDurations& stage, double hop_s) {
  planner::PipelineTimes times;
  times.stages.assign(static_cast<size_t>(planner::StageCount(layout)), stage);
  times.hop_s = {hop_s};
  return times;
}

// Returns equal stages. InvalidArgument names the field that is negative or not a number.
absl::StatusOr<planner::PipelineTimes> TimesByHand(const planner::Layout& layout,
                                                   const RankMilliseconds& rank) {
  RETURN_IF_ERROR(CheckMilliseconds("forward_ms", rank.forward_ms));
  RETURN_IF_ERROR(CheckMilliseconds("backward_ms", rank.backward_ms));
  RETURN_IF_ERROR(CheckMilliseconds("weight_ms", rank.weight_ms));
  RETURN_IF_ERROR(CheckMilliseconds("hop_ms", rank.hop_ms));
  if (rank.forward_ms + rank.backward_ms + rank.weight_ms <= 0.0) {
    return FieldError("forward_ms", absl::StrCat(rank.forward_ms),
                      "forward, backward and weight must not all be 0");
  }
  const double chunk_s = 1e-3 / layout.vpp;
  return EqualStages(
      layout, {rank.forward_ms * chunk_s, rank.backward_ms * chunk_s, rank.weight_ms * chunk_s},
      rank.hop_ms * 1e-3);
}

// A step, and in words what it is a step of.
struct NamedStep {
  planner::ScheduledStep step;
  std::string question;
};

absl::StatusOr<NamedStep> StepByHand(const ScheduleFlags& flags) {
  planner::ScheduledStep step;
  ASSIGN_OR_RETURN(step.layout, planner::ParseLayout(flags.layout));
  if (!flags.micro_batches) {
    return WithField(absl::InvalidArgumentError("--micro-batches is required without a --model"),
                     "micro_batches");
  }
  step.micro_batches = *flags.micro_batches;
  RETURN_IF_ERROR(CheckSize(flags, step));
  ASSIGN_OR_RETURN(step.times, TimesByHand(step.layout, flags.rank));
  return NamedStep{std::move(step), "a pipeline whose times were given"};
}

absl::StatusOr<NamedStep> StepOfModel(const ScheduleFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const planner::PlanQuery query, flags.query.ToQuery(context));
  ASSIGN_OR_RETURN(planner::ScheduledStep step,
                   planner::ScheduledStepOf(query, flags.layout, context.host_cores));
  RETURN_IF_ERROR(CheckSize(flags, step));
  const int64_t devices = step.layout.devices();
  return NamedStep{std::move(step),
                   planner::QuestionText(query, Grouped(devices), planner::BatchText(query))};
}

std::string MicroBatchesHeld(const planner::Layout& layout, int32_t chunks) {
  return absl::StrFormat("%.4g", static_cast<double>(chunks) / layout.vpp);
}

void PrintText(const planner::ScheduleAnswer& step, std::ostream& out) {
  const planner::Timeline& timeline = step.timeline;
  out << planner::FormatLayout(step.layout) << ": " << FormatCount(step.micro_batches)
      << " micro-batches, step " << FormatSeconds(timeline.makespan_s) << ", bubble "
      << FormatPercent(timeline.BubbleShare()) << "\n";
  if (timeline.RepeatedStepTime() < timeline.makespan_s) {
    out << "step after step without a barrier: " << FormatSeconds(timeline.RepeatedStepTime())
        << "\n";
  }
  out << "\n";
  Table table({"pipeline rank", "starts", "ends", "busy", "bubble", "micro-batches in flight"});
  for (size_t i = 0; i < timeline.ranks.size(); ++i) {
    const planner::RankTimeline& rank = timeline.ranks[i];
    table.Add({std::to_string(i), FormatSeconds(rank.first_start_s), FormatSeconds(rank.end_s),
               FormatSeconds(rank.busy_s),
               FormatPercent(timeline.BubbleShare(static_cast<int32_t>(i))),
               MicroBatchesHeld(step.layout, rank.peak_in_flight)});
  }
  table.Print(out);
  const std::string lines = planner::TimelineText(timeline, kTextColumns);
  if (lines.empty()) {
    out << "\nThe timeline is too long for lines of text; -o FILE.svg or FILE.json draws it.\n";
    return;
  }
  out << "\nF forward, B backward, I and W its input and weight gradient; small letters: chunk 1, "
         "3, "
         "...; . idle\n"
      << lines;
}

std::string Drawing(const std::string& path, const planner::ScheduleAnswer& step,
                    const planner::PictureOrigin& origin) {
  const planner::TimelineSubject subject{step.layout, step.micro_batches};
  return path.ends_with(".svg") ? planner::TimelineSvg(subject, step.timeline, origin)
                                : planner::TimelineTrace(subject, step.timeline);
}

absl::Status RunSchedule(const ScheduleFlags& flags, CommandContext& context) {
  if (!flags.file.empty() && !flags.file.ends_with(".svg") && !flags.file.ends_with(".json")) {
    return FieldError("output", flags.file, "must end in .json (a trace) or .svg (a picture)");
  }
  ASSIGN_OR_RETURN(const OutputFile file, context.files.Claim("output", flags.file));
  ASSIGN_OR_RETURN(NamedStep named,
                   flags.HasModel() ? StepOfModel(flags, context) : StepByHand(flags));
  if (flags.blocking_hops) named.step.times.hop_mode = planner::HopMode::kBlocking;
  ASSIGN_OR_RETURN(const planner::ScheduleAnswer answer, planner::AnswerSchedule(named.step));
  const planner::Timeline& timeline = answer.timeline;
  if (file.wanted())
    RETURN_IF_ERROR(
        file.Write(Drawing(flags.file, answer, OriginOf(std::move(named.question), context))));
  if (flags.output.format == OutputFormat::kJson) {
    PrintJson(planner::WriteOrderedJson(answer), context.out);
  } else if (!file.wanted()) {
    PrintText(answer, context.out);
  } else {
    context.out << file.path() << ": " << FormatCount(static_cast<int64_t>(timeline.actions.size()))
                << " actions, step " << FormatSeconds(timeline.makespan_s) << ", bubble "
                << FormatPercent(timeline.BubbleShare()) << "\n";
  }
  return absl::OkStatus();
}

void AddTimes(CLI::App& command, ScheduleFlags& flags) {
  const auto add = [&](const char* name, double& value, const char* what) {
    command.add_option(name, value, what)
        ->excludes(command.get_option("--model"))
        ->option_text("MS");
  };
  add("--forward-ms", flags.rank.forward_ms,
      "Forward of a micro-batch on a pipeline rank, all its chunks together; default 1");
  add("--backward-ms", flags.rank.backward_ms, "Its input gradient; default 1");
  add("--weight-ms", flags.rank.weight_ms, "Its weight gradient; default 1");
  add("--hop-ms", flags.rank.hop_ms, "A message from rank to rank; default 0");
  command.add_flag("--blocking-hops", flags.blocking_hops,
                   "Messages stop the ranks that send and receive them");
}

}  // namespace

void AddScheduleCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<ScheduleFlags>();
  CLI::App* command =
      app.add_subcommand("schedule", "Simulate and draw one step of a layout's pipeline");
  command->add_option("--layout", flags->layout, "Such as tp1.pp4.dp1.vpp2.sched=interleaved")
      ->required()
      ->option_text("LAYOUT");
  flags->query.AddModel(*command);
  flags->query.AddCluster(*command);
  flags->query.needs_devices = false;  // the layout has them
  flags->query.AddTraining(*command);
  flags->query.AddFramework(*command);
  // Without a model, the times given by the flags below apply.
  for (const char* name : {"--model", "--cluster", "--gpus", "--seq-len", "--global-batch"}) {
    command->get_option(name)->required(false);
  }
  command
      ->add_option("--micro-batches", flags->micro_batches,
                   "Micro-batches of a step; with a model they follow from the global batch")
      ->excludes(command->get_option("--model"))
      ->option_text("M");
  AddTimes(*command, *flags);
  command
      ->add_option("-o,--output", flags->file,
                   "Write a trace for Perfetto (.json) or a picture (.svg)")
      ->option_text("FILE");
  flags->output.AddFormat(*command);
  command_line::AddExample(
      *command,
      "meshwright schedule --layout tp1.pp4.dp1.vpp2.sched=zb_v --micro-batches 12 -o "
      "timeline.svg");
  command_line::AddExample(
      *command,
      "meshwright schedule --layout tp8.pp4.dp1 --model llama-3-70b --cluster h100 --seq-len "
      "4096 --global-batch 16");
  command->callback([flags, &context] {
    const absl::Status status = RunSchedule(*flags, context);
    if (!status.ok()) context.exit_code = ReportError(context, flags->output.format, status);
  });
}

}  // namespace meshwright::cli
