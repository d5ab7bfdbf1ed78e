#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/amounts.h"
#include "base/text/status_macros.h"
#include "planner/drawing/answers_svg.h"
#include "planner/report/question_text.h"
#include "planner/scaling/budget.h"
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

struct FastestFlags {
  QueryFlags query;
  OutputFlags output;
  WhereFlags where;
  SearchFlags search;
  std::string tokens;
  double critical_batch = 0.0;
  double overlap = 1.0;
  std::string plot;
  bool exit_zero = false;
};

std::string StrategyText(planner::Strategy strategy) {
  return std::string(meshwright::NameOf(planner::kStrategyNames, strategy));
}

std::string NetworkText(const planner::SizedRun& run) {
  if (run.network_bytes_per_s <= 0.0) return "hardly any";
  return absl::StrFormat("%.3g GB/s", run.network_bytes_per_s / 1e9);
}

// Prints the shortest run of each strategy, and below the table the layouts, whose texts are long.
void PrintShortest(const planner::FastestAnswer& answer, const TextStyle& style,
                   std::ostream& out) {
  Table table({"strategy", "time", "GPUs", "batch", "MFU", "GiB", "network", "on a slow one"});
  for (const planner::ShortestRun& shortest : answer.strategies) {
    const planner::SizedRun* run = shortest.Shortest();
    if (run == nullptr) {
      table.Add({StrategyText(shortest.strategy), "nothing fits", "-", "-", "-", "-", "-", "-"});
      continue;
    }
    const planner::Estimate& estimate = run->best->estimate;
    table.Add({StrategyText(shortest.strategy), Duration(run->seconds), FormatCount(run->devices),
               FormatCount(run->global_batch), FormatPercent(estimate.mfu),
               FormatGib(estimate.memory.total_bytes()), NetworkText(*run),
               absl::StrFormat("%.2f x", run->slow_network_factor)});
  }
  table.Print(out);
  for (const planner::ShortestRun& shortest : answer.strategies) {
    const planner::SizedRun* run = shortest.Shortest();
    if (run == nullptr) {
      PrintProse(absl::StrCat(StrategyText(shortest.strategy), ": ",
                              SentenceText(shortest.runs.back().problem, style)),
                 out);
    } else {
      out << StrategyText(shortest.strategy) << ": " << LayoutText(*run->best, style) << "\n";
    }
  }
}

// Prints the strategies side by side; with --details, also their batches and networks.
void PrintSizes(const planner::FastestAnswer& answer, const TextStyle& style, std::ostream& out) {
  std::vector<std::string> header = {"GPUs"};
  for (const planner::ShortestRun& shortest : answer.strategies) {
    header.insert(header.end(), {StrategyText(shortest.strategy), "MFU"});
    if (style.details) header.insert(header.end(), {"batch", "network"});
  }
  Table table(header);
  for (size_t size = 0; size < answer.strategies.front().runs.size(); ++size) {
    std::vector<std::string> row = {FormatCount(answer.strategies.front().runs[size].devices)};
    for (const planner::ShortestRun& shortest : answer.strategies) {
      const planner::SizedRun& run = shortest.runs[size];
      std::vector<std::string> cells(4, "-");
      if (run.best) {
        cells = {Duration(run.seconds), FormatPercent(run.best->estimate.mfu),
                 FormatCount(run.global_batch), NetworkText(run)};
      }
      row.insert(row.end(), cells.begin(), cells.begin() + (style.details ? 4 : 2));
    }
    table.Add(std::move(row));
  }
  table.Print(out);
}

// Returns "llama-3-405b trains in 44.3 days at the shortest, on 32,768 x h100 …".
std::string ShortestSentence(const planner::FastestQuery& query,
                             const planner::FastestAnswer& answer, const TextStyle& style) {
  const planner::ShortestRun* shortest = answer.Shortest();
  if (shortest == nullptr) {
    return absl::StrCat(query.plan.model.name, " fits on no size from ",
                        FormatCount(query.devices.low), " to ", FormatCount(query.devices.high),
                        " x ", query.plan.cluster.name, ".");
  }
  const planner::SizedRun& run = *shortest->Shortest();
  return absl::StrCat(
      query.plan.model.name, " trains in ", Duration(run.seconds), " at the shortest, on ",
      FormatCount(run.devices), " x ", query.plan.cluster.name, " in steps of ",
      FormatCount(run.global_batch), " sequences: ", LayoutText(*run.best, style), " (",
      StrategyText(shortest->strategy), "), ", FormatPercent(run.best->estimate.mfu), " MFU.");
}

void PrintFastest(const planner::FastestQuery& query, const planner::FastestAnswer& answer,
                  const TextStyle& style, std::ostream& to) {
  FoldedText text(to);
  std::ostream& out = text.stream();
  PrintProse(ShortestSentence(query, answer, style), out);
  out << "\n";
  PrintShortest(answer, style, out);
  out << "\n";
  PrintProse(
      absl::StrFormat(
          "A run has %.4g B tokens in small batches, and twice as many in batches of %.0f "
          "sequences (the critical batch); compute hides up to %.0f %% of data-parallel "
          "communication. Network: of a device between nodes, with which it takes at most %.0f %% "
          "longer; slow: with a quarter of the cluster's %.3g GB/s.",
          query.critical.tokens / 1e9, query.critical.batch, 100.0 * query.overlap,
          100.0 * planner::kNearShortest, answer.network_bytes_per_s / 1e9),
      out);
  out << "\nBy number of devices:\n";
  PrintSizes(answer, style, out);
  out << "\nWhat arXiv 2106.02679 says of layered accumulation:\n";
  for (const planner::Claim& claim : answer.claims) {
    PrintProse(claim.text + ".", out);
    PrintProse("  " + claim.sentence, out, /*indent=*/2);
  }
  out << "\n";
  PrintScaleHeadline(query.plan, query.devices, answer.parameters, "any batch", out);
  PrintNotes(answer.rests_on, answer.notes, style, out);
  if (!style.details) out << "--details: batches and networks of each size, evidence\n";
}

absl::StatusOr<planner::FastestQuery> QueryOf(const FastestFlags& flags, CommandContext& context) {
  planner::FastestQuery query;
  ASSIGN_OR_RETURN(query.critical.tokens, planner::ParseTokens(flags.tokens));
  query.critical.batch = flags.critical_batch;
  query.overlap = flags.overlap;
  ASSIGN_OR_RETURN(query.plan, flags.query.ToQuery(context, flags.output.server));
  ASSIGN_OR_RETURN(query.devices, flags.query.Range(query.plan));
  ASSIGN_OR_RETURN(query.plan.where, flags.where.ToWhere());
  query.plan.search = flags.search.options;
  return query;
}

absl::Status Run(const FastestFlags& flags, CommandContext& context) {
  const StopRequest stop(context);
  const double start_s = context.now_s();
  ASSIGN_OR_RETURN(const OutputFile plot, ClaimPlot(context.files, flags.plot));
  ASSIGN_OR_RETURN(const planner::FastestQuery query, QueryOf(flags, context));
  ProgressLine line(context.err);
  const bool shows = TerminalOf(context.err).shows_progress();
  const auto progress = [&](int64_t done, int64_t of, int64_t devices) {
    if (shows) line.Update(done, of, absl::StrCat("searching ", FormatCount(devices), " GPUs"));
  };
  ASSIGN_OR_RETURN(const planner::FastestAnswer answer,
                   PlannerAt(flags.output.server, context)->Fastest(query, progress));
  line.Finish();
  if (plot.wanted())
    RETURN_IF_ERROR(
        plot.Write(planner::FastestSvg(answer, OriginOf(planner::QuestionText(query), context))));
  if (flags.output.format == OutputFormat::kJson) {
    PrintJson(ToJson(query, answer, context.now_s() - start_s), context.out);
  } else {
    PrintFastest(query, answer, flags.output.style, context.out);
  }
  context.exit_code = answer.any_fits() || flags.exit_zero ? kExitOk : kExitNothingFits;
  return absl::OkStatus();
}

}  // namespace

void AddFastestCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<FastestFlags>();
  CLI::App* command = app.add_subcommand(
      "fastest",
      "The shortest time in which a model can be trained, over numbers of devices and batch sizes");
  flags->query.AddModel(*command);
  flags->query.AddClusterOfSizes(*command);
  flags->query.AddTrainingWithoutBatch(*command);
  flags->query.AddFramework(*command);
  command
      ->add_option("--tokens", flags->tokens,
                   "Tokens of a run with the smallest batches, such as 300B or 1T")
      ->required()
      ->option_text("T");
  command
      ->add_option("--critical-batch", flags->critical_batch,
                   "Sequences per step at which a run needs twice as many tokens for the same loss")
      ->required()
      ->option_text("B");
  command
      ->add_option("--overlap", flags->overlap,
                   "The largest share of data-parallel communication that compute hides; measured "
                   "frameworks hide less")
      ->capture_default_str()
      ->option_text("R");
  flags->where.Add(*command);
  flags->search.Add(*command);
  AddPlot(*command, flags->plot,
          "Draw the time of each strategy over the numbers of devices into this SVG file");
  command->add_flag("--exit-zero", flags->exit_zero, "Exit with 0, not with 3, if nothing fits");
  flags->output.AddFormat(*command);
  flags->output.AddStyle(*command);
  flags->output.AddServer(*command, context);
  command_line::AddExample(*command,
                           "meshwright fastest --model llama-3-405b --cluster h100 --gpus "
                           "2048..32768 --seq-len 8192 --tokens 15T --critical-batch 4096");
  command->callback(
      [flags, &context] { Finish(context, flags->output.format, Run(*flags, context)); });
}

}  // namespace meshwright::cli
