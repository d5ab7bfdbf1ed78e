#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/text/status_macros.h"
#include "planner/drawing/answers_svg.h"
#include "planner/report/explain.h"
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
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

struct CompareFlags {
  QueryFlags query;
  OutputFlags output;
  std::vector<std::string> layouts;
  std::string plot;
  bool exit_zero = false;
};

// Returns A, B, C: tables name layouts by letters, since their texts are too long for a column.
std::string LetterOf(size_t i) { return std::string(1, static_cast<char>('A' + i)); }

// A table with one row per part and one column per layout.
class PartsTable {
 public:
  PartsTable(const planner::CompareAnswer& answer, const std::string& what)
      : answer_(answer), table_(Header(answer, what)) {}

  // Adds a row with `cell(estimate)` of each layout that can run.
  template <typename CellOf>
  void Add(const std::string& name, const CellOf& cell) {
    std::vector<std::string> row = {"  " + name};
    for (const planner::ComparedLayout& layout : answer_.layouts) {
      row.push_back(layout.estimate ? cell(layout.estimate->estimate) : "-");
    }
    table_.Add(std::move(row));
  }
  // Does the same, but adds a part that `is_there(estimate)` of no layout only with --details.
  template <typename IsThere, typename CellOf>
  void AddPart(const std::string& name, const TextStyle& style, const IsThere& is_there,
               const CellOf& cell) {
    const bool any = std::any_of(answer_.layouts.begin(), answer_.layouts.end(),
                                 [&](const planner::ComparedLayout& layout) {
                                   return layout.estimate && is_there(layout.estimate->estimate);
                                 });
    if (any || style.details) Add(name, cell);
  }
  void Print(std::ostream& out) const { table_.Print(out); }

 private:
  static std::vector<std::string> Header(const planner::CompareAnswer& answer,
                                         const std::string& what) {
    std::vector<std::string> header = {"  " + what};
    for (size_t i = 0; i < answer.layouts.size(); ++i) header.push_back(LetterOf(i));
    return header;
  }

  const planner::CompareAnswer& answer_;
  Table table_;
};

void PrintTimes(const planner::CompareAnswer& answer, const TextStyle& style, std::ostream& out) {
  PartsTable table(answer, "time of one step, s");
  for (const planner::TimePart part : planner::kTimeParts) {
    table.AddPart(
        std::string(planner::PartName(part)), style,
        [part](const planner::Estimate& estimate) { return estimate.time[part] != 0.0; },
        [part](const planner::Estimate& estimate) {
          return absl::StrFormat("%.4f", estimate.time[part]);
        });
  }
  table.Add("step", [](const planner::Estimate& estimate) {
    return absl::StrFormat("%.4f", estimate.time.step_s());
  });
  table.Add("MFU", [](const planner::Estimate& estimate) { return FormatPercent(estimate.mfu); });
  table.Add("tokens/s/GPU", [](const planner::Estimate& estimate) {
    return FormatCount(static_cast<int64_t>(estimate.tokens_per_s_per_gpu));
  });
  table.Print(out);
}

void PrintMemory(const planner::CompareAnswer& answer, const TextStyle& style, std::ostream& out) {
  PartsTable table(answer, "fullest device, GiB");
  const bool is_corrected = !answer.rests_on.measured.empty();
  for (const planner::MemoryPart part : planner::kMemoryParts) {
    if (part == planner::MemoryPart::kCorrection && !is_corrected) continue;
    table.AddPart(
        std::string(planner::PartName(part)), style,
        [part](const planner::Estimate& e) { return planner::PartBytes(e.memory, part) != 0; },
        [part](const planner::Estimate& e) {
          return FormatGib(planner::PartBytes(e.memory, part));
        });
  }
  table.Add("total", [](const planner::Estimate& estimate) {
    return FormatGib(estimate.memory.total_bytes());
  });
  table.Add("of device", [](const planner::Estimate& estimate) {
    return FormatPercent(estimate.fraction_of_device);
  });
  table.Add("P(OOM)", [](const planner::Estimate& estimate) {
    return FormatPercent(estimate.oom_probability);
  });
  table.Print(out);
}

void PrintComparison(const planner::PlanQuery& query, const planner::CompareAnswer& answer,
                     const TextStyle& style, std::ostream& to) {
  FoldedText text(to);
  std::ostream& out = text.stream();
  PrintProse(SentenceText(answer.sentence, style), out);
  out << "\n";
  for (size_t i = 0; i < answer.layouts.size(); ++i) {
    const planner::ComparedLayout& layout = answer.layouts[i];
    out << LetterOf(i) << "  " << LayoutText(layout.layout, style) << "\n";
    PrintProse("   " + layout.sentence, out, /*indent=*/3);
  }
  out << "\n";
  PrintTimes(answer, style, out);
  out << "\n";
  PrintMemory(answer, style, out);
  PrintQuestion(query, answer, style, "parts that take nothing, evidence", out);
}

absl::Status Run(const CompareFlags& flags, CommandContext& context) {
  const StopRequest stop(context);
  const double start_s = context.now_s();
  ASSIGN_OR_RETURN(const OutputFile plot, ClaimPlot(context.files, flags.plot));
  ASSIGN_OR_RETURN(const planner::PlanQuery query,
                   flags.query.ToQuery(context, flags.output.server));
  ASSIGN_OR_RETURN(const planner::CompareAnswer answer,
                   PlannerAt(flags.output.server, context)->Compare(query, flags.layouts));
  if (plot.wanted())
    RETURN_IF_ERROR(plot.Write(
        planner::ComparisonSvg(answer, OriginOf(planner::QuestionText(query), context))));
  if (flags.output.format == OutputFormat::kJson) {
    PrintJson(ToJson(query, answer, context.now_s() - start_s), context.out);
  } else {
    PrintComparison(query, answer, flags.output.style, context.out);
  }
  context.exit_code = answer.any_fits() || flags.exit_zero ? kExitOk : kExitNothingFits;
  return absl::OkStatus();
}

}  // namespace

void AddCompareCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<CompareFlags>();
  CLI::App* command = app.add_subcommand("compare",
                                         "Compare layouts part by part, and say why one of them is "
                                         "fastest");
  command
      ->add_option("layouts", flags->layouts,
                   "Layouts in the form that estimate --layout "
                   "accepts")
      ->required()
      ->option_text("LAYOUT...");
  flags->query.AddModel(*command);
  flags->query.AddCluster(*command);
  flags->query.AddTraining(*command);
  flags->query.AddFramework(*command);
  flags->query.AddMeasured(*command);
  AddPlot(*command, flags->plot,
          "Draw the parts of each layout's step and memory into this SVG file");
  command->add_flag("--exit-zero", flags->exit_zero, "Exit with 0, not with 3, if nothing fits");
  flags->output.AddFormat(*command);
  flags->output.AddStyle(*command);
  flags->output.AddServer(*command, context);
  command_line::AddExample(
      *command,
      "meshwright compare tp4.pp4.dp4.mb1.zero1.sp1 tp8.pp2.dp4.mb1.zero1.sp1 --model llama-3-70b "
      "--cluster h100 --gpus 64 --seq-len 4096 --global-batch 512");
  command->callback(
      [flags, &context] { Finish(context, flags->output.format, Run(*flags, context)); });
}

}  // namespace meshwright::cli
