#include "tools/cli/plan/scale_command.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/amounts.h"
#include "base/text/status_macros.h"
#include "planner/drawing/answers_svg.h"
#include "planner/report/question_text.h"
#include "tools/cli/commands.h"
#include "tools/cli/common/flags.h"
#include "tools/cli/common/plot_flag.h"
#include "tools/cli/common/stop_request.h"
#include "tools/cli/io/folded_text.h"
#include "tools/cli/io/json_output.h"
#include "tools/cli/io/progress.h"
#include "tools/cli/io/prose.h"
#include "tools/cli/io/table.h"
#include "tools/cli/io/terminal.h"
#include "tools/cli/io/text.h"
#include "tools/cli/plan/planner_api.h"
#include "tools/cli/plan/planner_json.h"
#include "tools/cli/plan/planner_text.h"
#include "tools/cli/plan/search_flags.h"
#include "tools/cli/plan/where_flags.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

struct ScaleFlags {
  QueryFlags query;
  OutputFlags output;
  BudgetFlags budget;
  WhereFlags where;
  SearchFlags search;
  bool weak = false;
  bool strong = false;
  std::string plot;
  bool exit_zero = false;
};

bool SaysPower(const planner::ScaleAnswer& answer) {
  return std::any_of(answer.points.begin(), answer.points.end(),
                     [](const planner::ScalePoint& point) { return point.energy.all_w > 0.0; });
}

std::vector<planner::TimePart> ExposedParts() {
  std::vector<planner::TimePart> parts;
  for (const planner::TimePart part : planner::kTimeParts) {
    if (planner::StateOf(part) == planner::DeviceState::kExposed) parts.push_back(part);
  }
  return parts;
}

std::vector<std::string> PointHeader(bool power, const TextStyle& style) {
  std::vector<std::string> header = {"GPUs", "best layout", "step", "MFU", "return"};
  if (!style.details) return header;
  header.insert(header.end(), {"GiB", "batch", "tokens/s/GPU", "exposed"});
  for (const planner::TimePart part : ExposedParts()) header.emplace_back(planner::PartName(part));
  if (power) header.insert(header.end(), {"W/GPU", "tokens/J"});
  return header;
}

std::vector<std::string> PointRow(const planner::ScalePoint& point, const TextStyle& style) {
  std::vector<std::string> row = {FormatCount(point.devices)};
  if (!point.best) {
    row.emplace_back("none");
    return row;
  }
  const planner::Estimate& estimate = point.best->estimate;
  const double step_s = estimate.time.step_s();
  row.insert(row.end(),
             {LayoutText(*point.best, style), FormatSeconds(step_s), FormatPercent(estimate.mfu),
              point.marginal_return ? FormatPercent(*point.marginal_return) : "-",
              FormatGib(estimate.memory.total_bytes()), FormatCount(point.global_batch),
              FormatCount(static_cast<int64_t>(estimate.tokens_per_s_per_gpu)),
              FormatPercent(point.exposed)});
  for (const planner::TimePart part : ExposedParts()) {
    row.push_back(FormatPercent(estimate.time[part] / step_s));
  }
  row.push_back(absl::StrFormat("%.0f", point.energy.device_w));
  row.push_back(absl::StrFormat("%.4g", point.energy.tokens_per_joule));
  return row;
}

// Prints a line for each size; with --details, all that is known of it.
void PrintPoints(const planner::ScaleAnswer& answer, const TextStyle& style, std::ostream& out) {
  const std::vector<std::string> header = PointHeader(SaysPower(answer), style);
  Table table(header);
  for (const planner::ScalePoint& point : answer.points) {
    std::vector<std::string> row = PointRow(point, style);
    row.resize(header.size(), "-");
    table.Add(std::move(row));
  }
  table.Print(out);
  out << "return: relative gain in throughput over relative gain in devices, since the\n"
         "last size that fits\n";
  if (style.details) {
    out << "exposed: communication that compute does not hide, bubble and waiting, by part as\n"
           "shares of the step\n";
  }
}

// Returns what the devices gain: "8 to 64 x h100 train llama-3-8b at …".
std::string GainSentence(const planner::ScaleQuery& query, const planner::ScaleAnswer& answer) {
  const auto fits = [](const planner::ScalePoint& point) { return point.best.has_value(); };
  const auto first = std::find_if(answer.points.begin(), answer.points.end(), fits);
  const auto last = std::find_if(answer.points.rbegin(), answer.points.rend(), fits);
  const auto speed = [](const planner::ScalePoint& point) {
    return FormatCount(static_cast<int64_t>(point.best->estimate.tokens_per_s));
  };
  if (first->devices == last->devices) {
    return absl::StrCat(FormatCount(first->devices), " x ", query.plan.cluster.name, " train ",
                        query.plan.model.name, " at ", speed(*first), " tokens/s.");
  }
  const double devices = static_cast<double>(last->devices) / static_cast<double>(first->devices);
  const double throughput = last->best->estimate.tokens_per_s / first->best->estimate.tokens_per_s;
  return absl::StrFormat(
      "%s to %s x %s train %s at %s to %s tokens/s: %.4g times the devices give %.3g times the "
      "throughput.",
      FormatCount(first->devices), FormatCount(last->devices), query.plan.cluster.name,
      query.plan.model.name, speed(*first), speed(*last), devices, throughput);
}

// Returns the answer in one sentence: the size to take if there is a budget, else the gain.
std::string SizeSentence(const planner::ScaleQuery& query, const planner::ScaleAnswer& answer,
                         const TextStyle& style) {
  const planner::Budget& budget = query.budget;
  if (!answer.any_fits()) {
    return absl::StrCat(query.plan.model.name, " fits on no size from ",
                        FormatCount(query.devices.low), " to ", FormatCount(query.devices.high),
                        " x ", query.plan.cluster.name, ".");
  }
  if (!budget.tokens) return GainSentence(query, answer);
  const std::optional<int64_t>& in_time =
      budget.within_s ? answer.answer.fewest_in_time : answer.answer.cheapest;
  if (!in_time) return absl::StrCat("No size finishes within ", Duration(*budget.within_s), ".");
  const planner::ScalePoint& point = answer.points[static_cast<size_t>(*in_time)];
  const planner::RunCost& cost = answer.costs[static_cast<size_t>(*in_time)];
  return absl::StrCat(FormatCount(point.devices), " x ", query.plan.cluster.name,
                      budget.within_s
                          ? " are the fewest that finish within " + Duration(*budget.within_s)
                          : std::string(" are the cheapest"),
                      ": ", LayoutText(*point.best, style), " trains ", query.plan.model.name,
                      " in ", Duration(cost.seconds), ".");
}

void PrintScale(const planner::ScaleQuery& query, const planner::ScaleAnswer& answer,
                const TextStyle& style, std::ostream& to) {
  FoldedText text(to);
  std::ostream& out = text.stream();
  PrintProse(SizeSentence(query, answer, style), out);
  out << "\nThe best layout that fits at each size:\n";
  PrintPoints(answer, style, out);
  for (const planner::ScalePoint& point : answer.points) {
    if (point.best) continue;
    PrintProse(
        absl::StrCat(FormatCount(point.devices), " GPUs: ", SentenceText(point.problem, style)),
        out);
  }
  out << "\n";
  for (const std::string& sentence : answer.sentences) {
    PrintProse(SentenceText(sentence, style), out);
  }
  out << "\n";
  PrintScaleHeadline(query.plan, query.devices, answer.parameters, planner::BatchText(query), out);
  PrintNotes(answer.rests_on, answer.notes, style, out);
  if (!style.details) out << "--details: memory, batches, exposed time by part, power, evidence\n";
}

absl::Status Run(const ScaleFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const OutputFile plot, ClaimPlot(context.files, flags.plot));
  planner::ScaleQuery query;
  query.weak = !flags.strong;
  ASSIGN_OR_RETURN(query.budget, flags.budget.ToBudget());
  ASSIGN_OR_RETURN(query.plan, flags.query.ToQuery(context, flags.output.server));
  ASSIGN_OR_RETURN(query.devices, flags.query.Range(query.plan));
  ASSIGN_OR_RETURN(query.plan.where, flags.where.ToWhere());
  query.plan.search = flags.search.options;
  return RunScale(query, flags.output, plot, flags.exit_zero, context);
}

}  // namespace

void BudgetFlags::Add(CLI::App& app) {
  app.add_option("--tokens", tokens, "Tokens of the whole run, such as 300B or 1T")
      ->option_text("T");
  app.add_option("--within", within, "Deadline of the whole run, such as 36h or 10d")
      ->option_text("TIME");
  app.add_option("--price", price, "Price of a device-hour, such as 2.5/h")->option_text("P/h");
}

absl::StatusOr<planner::Budget> BudgetFlags::ToBudget() const {
  planner::Budget budget;
  if (!tokens.empty()) {
    ASSIGN_OR_RETURN(budget.tokens, planner::ParseTokens(tokens));
  }
  if (!within.empty()) {
    ASSIGN_OR_RETURN(budget.within_s, planner::ParseDuration(within));
  }
  if (!price.empty()) {
    ASSIGN_OR_RETURN(budget.price_per_h, planner::ParsePrice(price));
  }
  RETURN_IF_ERROR(planner::Validate(budget));
  return budget;
}

absl::Status RunScale(const planner::ScaleQuery& query, const OutputFlags& output,
                      const OutputFile& plot, bool exit_zero, CommandContext& context) {
  const StopRequest stop(context);
  const double start_s = context.now_s();
  ProgressLine line(context.err);
  const bool shows = TerminalOf(context.err).shows_progress();
  const auto progress = [&](int64_t done, int64_t of, int64_t devices) {
    if (shows) line.Update(done, of, absl::StrCat("searching ", FormatCount(devices), " GPUs"));
  };
  ASSIGN_OR_RETURN(const planner::ScaleAnswer answer,
                   PlannerAt(output.server, context)->Scale(query, progress));
  line.Finish();
  if (plot.wanted())
    RETURN_IF_ERROR(
        plot.Write(planner::ScaleSvg(answer, OriginOf(planner::QuestionText(query), context))));
  if (output.format == OutputFormat::kJson) {
    PrintJson(ToJson(query, answer, context.now_s() - start_s), context.out);
  } else {
    PrintScale(query, answer, output.style, context.out);
  }
  context.exit_code = answer.any_fits() || exit_zero ? kExitOk : kExitNothingFits;
  return absl::OkStatus();
}

void AddScaleCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<ScaleFlags>();
  CLI::App* command = app.add_subcommand(
      "scale",
      "The best layout at each number of devices, and how much throughput more devices gain");
  flags->query.AddModel(*command);
  flags->query.AddClusterOfSizes(*command);
  flags->query.AddTraining(*command);
  flags->query.AddFramework(*command);
  flags->query.AddMeasured(*command);
  CLI::Option* weak =
      command->add_flag("--weak", flags->weak,
                        "The batch grows with the devices; B is the batch of the fewest devices "
                        "(the default)");
  command->add_flag("--strong", flags->strong, "The batch is the same for every number of devices")
      ->excludes(weak);
  flags->where.Add(*command);
  flags->search.Add(*command);
  flags->budget.Add(*command);
  AddPlot(
      *command, flags->plot,
      "Draw throughput, exposed time and energy over the numbers of devices into this SVG file");
  command->add_flag("--exit-zero", flags->exit_zero, "Exit with 0, not with 3, if nothing fits");
  flags->output.AddFormat(*command);
  flags->output.AddStyle(*command);
  flags->output.AddServer(*command, context);
  command_line::AddExample(
      *command,
      "meshwright scale --model llama-2-7b --cluster h100 --gpus 8..2048 --seq-len 4096 "
      "--global-batch 16");
  command->callback(
      [flags, &context] { Finish(context, flags->output.format, Run(*flags, context)); });
}

}  // namespace meshwright::cli
