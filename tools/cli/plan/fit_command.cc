#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text/message_text.h"
#include "base/text/status_macros.h"
#include "planner/drawing/answers_svg.h"
#include "planner/report/question_text.h"
#include "tools/cli/commands.h"
#include "tools/cli/common/flags.h"
#include "tools/cli/common/plot_flag.h"
#include "tools/cli/common/stop_request.h"
#include "tools/cli/io/folded_text.h"
#include "tools/cli/io/json_output.h"
#include "tools/cli/io/prose.h"
#include "tools/cli/io/table.h"
#include "tools/cli/io/text.h"
#include "tools/cli/plan/planner_api.h"
#include "tools/cli/plan/planner_json.h"
#include "tools/cli/plan/planner_text.h"
#include "tools/cli/plan/where_flags.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

struct FitFlags {
  QueryFlags query;
  OutputFlags output;
  WhereFlags where;
  std::string layout;
  std::string offload;
  std::optional<double> max_oom_probability;
  std::string plot;
  bool exit_zero = false;
};

std::string OrDash(const std::optional<int64_t>& value) {
  return value ? FormatCount(*value) : "-";
}

std::string KindText(planner::LimitKind kind) {
  return std::string(meshwright::NameOf(planner::kLimitKindNames, kind));
}

// Prints the limits in a table; with --details, also what was asked, and what is too large.
void PrintLimits(const planner::FitAnswer& answer, const TextStyle& style, std::ostream& out) {
  std::vector<std::string> header = {"", "largest", "best layout", "GiB", "step"};
  if (style.details) {
    header.insert(header.end(), {"of device", "MFU", "asked", "does not fit", "over by"});
  }
  Table table(header);
  for (const planner::Limit& limit : answer.limits) {
    std::vector<std::string> row = {KindText(limit.kind), OrDash(limit.largest)};
    if (limit.best) {
      const planner::Estimate& estimate = limit.best->estimate;
      row.insert(row.end(),
                 {LayoutText(limit.best->layout, style), FormatGib(estimate.memory.total_bytes()),
                  FormatSeconds(estimate.time.step_s()), FormatPercent(estimate.fraction_of_device),
                  FormatPercent(estimate.mfu)});
    } else {
      row.insert(row.end(), {"nothing fits", "-", "-", "-", "-"});
    }
    row.insert(row.end(), {OrDash(limit.asked), OrDash(limit.next),
                           limit.over_bytes ? FormatBytes(*limit.over_bytes) : "-"});
    row.resize(header.size());
    table.Add(std::move(row));
  }
  table.Print(out);
}

// Returns "Up to micro-batches of 64 sequences, … or 1,032 layers fit llama-3-8b on 64 x h100 …".
std::string LargestSentence(const planner::PlanQuery& query, const planner::FitAnswer& answer) {
  std::vector<std::string> amounts;
  for (const planner::Limit& limit : answer.limits) {
    if (limit.largest) amounts.push_back(planner::AmountText(limit.kind, *limit.largest));
  }
  const std::string where =
      absl::StrCat(query.model.name, " on ", FormatCount(query.devices), " x ", query.cluster.name);
  const std::string limit = absl::StrCat(planner::MemoryCriterion(query), " (",
                                         FormatBytes(answer.allowed_bytes), " a device)");
  if (amounts.empty()) return absl::StrCat("Nothing fits under ", limit, ": ", where, ".");
  return absl::StrCat("Up to ", ListInWords(amounts, "or"), " fit: ", where, " under ", limit,
                      amounts.size() > 1 ? ", each with everything else as asked." : ".");
}

void PrintFitAnswer(const planner::PlanQuery& query, const planner::FitAnswer& answer,
                    const TextStyle& style, std::ostream& to) {
  FoldedText text(to);
  std::ostream& out = text.stream();
  PrintProse(LargestSentence(query, answer), out);
  out << "\n";
  PrintLimits(answer, style, out);
  out << "\n";
  for (const std::string& sentence : answer.sentences) {
    PrintProse(SentenceText(sentence, style), out);
  }
  PrintQuestion(query, answer, style, "MFU, what was asked, what does not fit, evidence", out);
}

absl::StatusOr<planner::PlanQuery> QueryOf(const FitFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(planner::PlanQuery query, flags.query.ToQuery(context, flags.output.server));
  ASSIGN_OR_RETURN(query.where, flags.where.ToWhere());
  query.offload = flags.offload;
  query.max_oom_probability = flags.max_oom_probability;
  return query;
}

absl::Status Run(const FitFlags& flags, CommandContext& context) {
  const StopRequest stop(context);
  const double start_s = context.now_s();
  ASSIGN_OR_RETURN(const OutputFile plot, ClaimPlot(context.files, flags.plot));
  ASSIGN_OR_RETURN(const planner::PlanQuery query, QueryOf(flags, context));
  ASSIGN_OR_RETURN(const planner::FitAnswer answer,
                   PlannerAt(flags.output.server, context)->Fit(query, flags.layout));
  if (plot.wanted())
    RETURN_IF_ERROR(
        plot.Write(planner::FitSvg(answer, OriginOf(planner::QuestionText(query), context))));
  if (flags.output.format == OutputFormat::kJson) {
    PrintJson(ToJson(query, flags.layout, answer, context.now_s() - start_s), context.out);
  } else {
    PrintFitAnswer(query, answer, flags.output.style, context.out);
  }
  context.exit_code = answer.any_fits() || flags.exit_zero ? kExitOk : kExitNothingFits;
  return absl::OkStatus();
}

}  // namespace

void AddFitCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<FitFlags>();
  CLI::App* command = app.add_subcommand(
      "fit", "The largest micro-batch, the longest sequence and the deepest model that fit");
  flags->query.AddModel(*command);
  flags->query.AddCluster(*command);
  flags->query.AddTraining(*command);
  flags->query.AddFramework(*command);
  flags->query.AddMeasured(*command);
  command
      ->add_option("--layout", flags->layout,
                   "Answer for this layout alone; by default, for every layout")
      ->option_text("LAYOUT");
  command
      ->add_option("--max-oom-probability", flags->max_oom_probability,
                   "Accept layouts up to this probability of running out of memory, in place of "
                   "the 80 % rule")
      ->option_text("P");
  command
      ->add_option("--offload", flags->offload,
                   "Also search layouts with these offloads to the hosts' memory, such as "
                   "act:8,opt,act:8+opt")
      ->option_text("LIST");
  flags->where.Add(*command);
  AddPlot(*command, flags->plot,
          "Draw the sizes that fit and the sizes that do not into this SVG "
          "file");
  command->add_flag("--exit-zero", flags->exit_zero, "Exit with 0, not with 3, if nothing fits");
  flags->output.AddFormat(*command);
  flags->output.AddStyle(*command);
  flags->output.AddServer(*command, context);
  command_line::AddExample(
      *command,
      "meshwright fit --model llama-3-70b --cluster h100 --gpus 64 --seq-len 4096 --global-batch "
      "128");
  command->callback(
      [flags, &context] { Finish(context, flags->output.format, Run(*flags, context)); });
}

}  // namespace meshwright::cli
