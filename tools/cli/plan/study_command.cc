#include <memory>
#include <string>
#include <vector>

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
#include "tools/cli/plan/where_flags.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

struct StudyFlags {
  QueryFlags query;
  OutputFlags output;
  WhereFlags where;
  std::string plot;
  bool exit_zero = false;
};

void PrintArms(const planner::Ablation& ablation, const TextStyle& style, std::ostream& out) {
  std::vector<std::string> header = {"  ", "fastest layout", "MFU"};
  if (style.details) header.insert(header.end(), {"GiB/device", "step", "tokens/s/GPU"});
  Table table(header);
  for (const planner::Arm& arm : ablation.arms) {
    std::vector<std::string> row = {(arm.recommended ? "* " : "  ") + arm.name};
    if (arm.best) {
      const planner::Estimate& estimate = arm.best->estimate;
      row.insert(row.end(),
                 {LayoutText(arm.best->layout, style), FormatPercent(estimate.mfu),
                  FormatGib(estimate.memory.total_bytes()), FormatSeconds(estimate.time.step_s()),
                  FormatCount(static_cast<int64_t>(estimate.tokens_per_s_per_gpu))});
    } else {
      row.push_back(SentenceText(arm.problem, style));
    }
    row.resize(header.size(), "-");
    table.Add(std::move(row));
  }
  table.Print(out);
}

void PrintStudy(const planner::PlanQuery& query, const planner::StudyAnswer& answer,
                const TextStyle& style, std::ostream& to) {
  FoldedText text(to);
  std::ostream& out = text.stream();
  PrintProse(answer.sentence, out);
  out << "\nRecommendations of arXiv 2311.05610, and the fastest layout that fits with each\n"
         "choice (* recommended):\n";
  for (const planner::Ablation& ablation : answer.ablations) {
    out << "\n";
    PrintProse(ablation.recommendation + ".", out);
    PrintProse(SentenceText(ablation.sentence, style), out);
    PrintArms(ablation, style, out);
  }
  PrintQuestion(query, answer, style, "memory, steps and rates, evidence", out);
}

absl::Status Run(const StudyFlags& flags, CommandContext& context) {
  const StopRequest stop(context);
  const double start_s = context.now_s();
  ASSIGN_OR_RETURN(const OutputFile plot, ClaimPlot(context.files, flags.plot));
  ASSIGN_OR_RETURN(planner::PlanQuery query, flags.query.ToQuery(context, flags.output.server));
  ASSIGN_OR_RETURN(query.where, flags.where.ToWhere());
  ProgressLine line(context.err);
  const bool shows = TerminalOf(context.err).shows_progress();
  const auto progress = [&](int64_t done, int64_t of) {
    if (shows) line.Update(done, of, "searching");
  };
  ASSIGN_OR_RETURN(const planner::StudyAnswer answer,
                   PlannerAt(flags.output.server, context)->Study(query, progress));
  line.Finish();
  if (plot.wanted())
    RETURN_IF_ERROR(
        plot.Write(planner::StudySvg(answer, OriginOf(planner::QuestionText(query), context))));
  if (flags.output.format == OutputFormat::kJson) {
    PrintJson(ToJson(query, answer, context.now_s() - start_s), context.out);
  } else {
    PrintStudy(query, answer, flags.output.style, context.out);
  }
  context.exit_code = answer.any_fits() || flags.exit_zero ? kExitOk : kExitNothingFits;
  return absl::OkStatus();
}

}  // namespace

void AddStudyCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<StudyFlags>();
  CLI::App* command = app.add_subcommand(
      "study",
      "Check whether published recommendations about layouts hold for this model and "
      "cluster");
  flags->query.AddModel(*command);
  flags->query.AddCluster(*command);
  flags->query.AddTraining(*command);
  flags->query.AddFramework(*command);
  flags->where.Add(*command);
  AddPlot(*command, flags->plot, "Draw the MFU of each choice into this SVG file");
  command->add_flag("--exit-zero", flags->exit_zero, "Exit with 0, not with 3, if nothing fits");
  flags->output.AddFormat(*command);
  flags->output.AddStyle(*command);
  flags->output.AddServer(*command, context);
  command_line::AddExample(
      *command,
      "meshwright study --model hagemann-13b --cluster a100-80 --gpus 64 --seq-len 2048 "
      "--global-batch 2048 --framework aleph-alpha-scaling");
  command->callback(
      [flags, &context] { Finish(context, flags->output.format, Run(*flags, context)); });
}

}  // namespace meshwright::cli
