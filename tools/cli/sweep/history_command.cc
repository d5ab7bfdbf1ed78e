#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/codec/json_codec.h"
#include "tools/cli/commands.h"
#include "tools/cli/common/flags.h"
#include "tools/cli/common/wire_text.h"
#include "tools/cli/io/input_error.h"
#include "tools/cli/io/json_output.h"
#include "tools/cli/io/table.h"
#include "tools/cli/io/text.h"
#include "tools/cli/sweep/history_csv.h"
#include "tools/cli/sweep/history_fields.h"
#include "tools/cli/sweep/sweep_calls.h"
#include "tools/cli/sweep/sweep_text.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

constexpr int32_t kMostOfAPage = 1000;
constexpr int64_t kShownByDefault = 10;
constexpr int64_t kMostTrials = 1'000'000;
// Trials that are not shown are counted up to this number in all.
constexpr int64_t kMostCounted = 2'000;

enum class HistoryFormat { kText, kJson, kCsv };

struct HistoryFlags {
  OutputFlags output;  // its format is that of errors
  HistoryFormat format = HistoryFormat::kText;
  std::string where;
  std::string order_by = "mfu";
  std::optional<int64_t> limit;  // 0: all. Default: kShownByDefault, and all as CSV
};

// The trials that are shown, and whether there are more.
struct Found {
  std::vector<v1::Trial> trials;
  bool more = false;
  int64_t counted = 0;     // trials that meet the condition
  bool is_counted = true;  // otherwise there are more than `counted`
};

// Calls take(page) for pages of trials: the first of at most `first`, and the next of at most as
// many as take() returns, until that is 0 or less.
template <typename Take>
absl::Status ForEachPage(const HistoryFlags& flags, int64_t first, const Take& take) {
  ASSIGN_OR_RETURN(const SweepsStub stub, DialSweeps(flags.output.server.OrDefault()));
  v1::ListTrialsRequest request;
  request.set_parent("sweeps/-");
  request.set_filter(flags.where);
  request.set_order_by(flags.order_by == "mfu" ? "mfu desc" : flags.order_by);
  request.set_view(v1::TRIAL_VIEW_BASIC);
  int64_t wanted = first;
  do {
    request.set_page_size(static_cast<int32_t>(std::min<int64_t>(wanted, kMostOfAPage)));
    const absl::StatusOr<v1::ListTrialsResponse> page =
        Call(*stub, &v1::Sweeps::Stub::ListTrials, request);
    if (!page.ok()) return RenameField(page.status(), "filter", "where");
    request.set_page_token(page->next_page_token());
    wanted = take(*page);
  } while (!request.page_token().empty() && wanted > 0);
  return absl::OkStatus();
}

absl::StatusOr<Found> Ask(const HistoryFlags& flags) {
  const bool is_csv = flags.format == HistoryFormat::kCsv;
  const int64_t asked = flags.limit.value_or(is_csv ? 0 : kShownByDefault);
  RETURN_IF_ERROR(CheckRange("limit", asked, 0, kMostTrials));
  const int64_t limit = asked == 0 ? kMostTrials : asked;
  const bool counts = flags.format == HistoryFormat::kText;
  Found found;
  RETURN_IF_ERROR(ForEachPage(flags, limit, [&](const v1::ListTrialsResponse& page) -> int64_t {
    const auto shown = static_cast<int64_t>(found.trials.size());
    found.counted += page.trials_size();
    if (shown < limit) {
      found.trials.insert(found.trials.end(), page.trials().begin(), page.trials().end());
      found.more = !page.next_page_token().empty();
    }
    found.is_counted = page.next_page_token().empty();
    const int64_t missing = limit - static_cast<int64_t>(found.trials.size());
    if (missing > 0) return missing;
    return counts ? kMostCounted - found.counted : 0;
  }));
  return found;
}

// Returns which trial of which sweep it is, here or where it was measured.
std::string OriginText(const v1::Trial& trial) {
  if (!trial.has_imported()) return ShortName(trial.name());
  const v1::ImportedRun& run = trial.imported();
  std::vector<std::string> known;
  for (const std::string* text : {&run.origin(), &run.sweep()}) {
    if (!text->empty()) known.push_back(*text);
  }
  return known.empty() ? "imported" : absl::StrCat("imported: ", absl::StrJoin(known, ", "));
}

void PrintText(const std::vector<v1::Trial>& trials, const TextStyle& style, std::ostream& out) {
  if (trials.empty()) {
    out << "No trial with a result was found.\n";
    return;
  }
  const bool any_imported = std::any_of(trials.begin(), trials.end(),
                                        [](const v1::Trial& one) { return one.has_imported(); });
  std::vector<std::string> header = {"trial",   "layout",   "model",     "cluster",
                                     "devices", "sequence", "batch",     "outcome",
                                     "MFU",     "step",     "GiB/device"};
  if (any_imported) header.emplace_back("framework");
  Table table(header);
  for (const v1::Trial& trial : trials) {
    const v1::TrialFigures& figures = trial.figures();
    std::vector<std::string> row = {
        OriginText(trial),
        LayoutText(trial.layout(), style),
        trial.model(),
        trial.cluster(),
        FormatCount(trial.gpus()),
        FormatCount(trial.seq_len()),
        FormatCount(trial.global_batch()),
        StateName(trial.state()),
        figures.has_mfu() ? FormatPercent(figures.mfu()) : "-",
        figures.has_step_s() ? FormatSeconds(figures.step_s()) : "-",
        figures.has_peak_bytes() ? FormatGib(figures.peak_bytes()) : "-"};
    if (any_imported) {
      row.push_back(trial.has_imported() ? trial.imported().framework() : kOwnFramework);
    }
    table.Add(std::move(row));
  }
  table.Print(out);
}

// Says how many of how many are shown, if not all are.
void PrintShown(const Found& found, std::ostream& out) {
  if (!found.more) return;
  out << FormatCount(static_cast<int64_t>(found.trials.size())) << " of "
      << (found.is_counted ? "" : "more than ") << FormatCount(found.counted)
      << "; --limit 0 for all\n";
}

absl::Status RunHistory(const HistoryFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const Found found, Ask(flags));
  if (flags.format == HistoryFormat::kText) {
    PrintText(found.trials, flags.output.style, context.out);
    PrintShown(found, context.out);
    return absl::OkStatus();
  }
  if (flags.format == HistoryFormat::kCsv) {
    context.out << HistoryCsv(found.trials);
    return absl::OkStatus();
  }
  HistoryText history{.trials = {}, .more = found.more};
  for (const v1::Trial& trial : found.trials) history.trials.push_back({trial});
  PrintJson(planner::WriteOrderedJson(history), context.out);
  return absl::OkStatus();
}

}  // namespace

void AddHistoryCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<HistoryFlags>();
  CLI::App* command =
      app.add_subcommand("history", "List measured trials of all sweeps of a server, best first");
  command
      ->add_option(
          "--where", flags->where,
          "List only trials that meet this condition, such as 'tp >= 2 and outcome = ok and model "
          "= llama-3-8b'; default: all with a result")
      ->option_text("CONDITION");
  command
      ->add_option("--order-by", flags->order_by, "Highest MFU or shortest step first; default mfu")
      ->check(CLI::IsMember({"mfu", "step_s"}, CLI::ignore_case).description(""))
      ->option_text("mfu|step_s");
  command
      ->add_option("--limit", flags->limit,
                   "Most trials to list; 0 lists all; default 10, or all as csv")
      ->option_text("N");
  command_line::AddEnumOption<HistoryFormat>(*command, "--format", flags->format,
                                             "How the answer is printed",
                                             {{"text", HistoryFormat::kText},
                                              {"json", HistoryFormat::kJson},
                                              {"csv", HistoryFormat::kCsv}})
      ->group(command_line::kCommonFlags);
  flags->output.AddLong(*command);
  flags->output.AddServer(*command, context);
  // Added before the example, which subcommands added later would take over.
  AddHistoryImportCommand(*command, context);
  command_line::AddExample(*command, "meshwright history --where outcome=ok --order-by step_s");
  command->require_subcommand(0, 1);
  command->callback([flags, command, &context] {
    if (!command->get_subcommands().empty()) return;
    if (flags->format == HistoryFormat::kJson) flags->output.format = OutputFormat::kJson;
    const absl::Status status = RunHistory(*flags, context);
    if (!status.ok()) context.exit_code = ReportError(context, flags->output.format, status);
  });
}

}  // namespace meshwright::cli
