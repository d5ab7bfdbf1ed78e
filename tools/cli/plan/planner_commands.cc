#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/spec_kind.h"
#include "tools/cli/commands.h"
#include "tools/cli/common/agent_clusters.h"
#include "tools/cli/common/flags.h"
#include "tools/cli/common/server_client.h"
#include "tools/cli/common/stop_request.h"
#include "tools/cli/io/json_output.h"
#include "tools/cli/plan/estimate_text.h"
#include "tools/cli/plan/mine_source.h"
#include "tools/cli/plan/planner_api.h"
#include "tools/cli/plan/planner_json.h"
#include "tools/cli/plan/preset_tables.h"
#include "tools/cli/plan/recommend_text.h"
#include "tools/cli/plan/scale_command.h"
#include "tools/cli/plan/search_flags.h"
#include "tools/cli/plan/where_flags.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

struct PlanFlags {
  QueryFlags query;
  OutputFlags output;
  BudgetFlags budget;
  std::string layout;
  std::string offload;
  std::string mine;
  WhereFlags where;
  SearchFlags search;
  int32_t top = 10;
  std::optional<double> max_oom_probability;
  std::optional<double> time_limit_s;
  std::string objective;
  std::string pareto;
  std::string best_per;
  bool exit_zero = false;
};

// Scripts stop where nothing fits, unless they only want to look.
int ExitCode(const PlanFlags& flags, bool fits) {
  return fits || flags.exit_zero ? kExitOk : kExitNothingFits;
}

void AddExitZero(CLI::App& command, PlanFlags& flags) {
  command.add_flag("--exit-zero", flags.exit_zero, "Exit with 0, not with 3, if nothing fits");
}

// Refuses flags that do not apply to a range of sizes, which prints one layout per size.
absl::Status CheckOneSize(const PlanFlags& flags) {
  const std::string sizes = flags.query.sizes;
  if (!flags.mine.empty()) {
    return FieldError("mine", flags.mine,
                      "must be absent unless --gpus is one size, among whose layouts it is ranked; "
                      "--gpus is " +
                          sizes);
  }
  return absl::OkStatus();
}

absl::Status RunRecommend(const PlanFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const planner::Budget budget, flags.budget.ToBudget());
  QueryFlags asked = flags.query;
  RETURN_IF_ERROR(FillFromMine(context, flags.mine, asked));
  ASSIGN_OR_RETURN(planner::PlanQuery query, asked.ToQuery(context, flags.output.server));
  ASSIGN_OR_RETURN(const planner::DeviceRange range, asked.Range(query));
  query.max_oom_probability = flags.max_oom_probability;
  query.time_limit_s = flags.time_limit_s;
  ASSIGN_OR_RETURN(query.where, flags.where.ToWhere());
  query.offload = flags.offload;
  query.objective = flags.objective;
  query.pareto = flags.pareto;
  query.best_per = flags.best_per;
  query.search = flags.search.options;
  if (!range.is_one() || budget.tokens) {
    RETURN_IF_ERROR(CheckOneSize(flags));
    return RunScale({.plan = query, .devices = range, .refine = true, .budget = budget},
                    flags.output, OutputFile(), flags.exit_zero, context);
  }
  const StopRequest stop(context);
  const double start_s = context.now_s();
  query.devices = range.low;
  query.top = flags.top;
  ASSIGN_OR_RETURN(query.mine, ReadMine(context, flags.mine, query));
  ASSIGN_OR_RETURN(const planner::RecommendAnswer answer,
                   PlannerAt(flags.output.server, context)->Recommend(query));
  const double elapsed_s = context.now_s() - start_s;
  if (flags.output.format == OutputFormat::kJson) {
    PrintJson(ToJson(query, answer, elapsed_s), context.out);
  } else {
    PrintRecommendation(query, answer, elapsed_s, flags.output.style, context.out);
  }
  context.exit_code = ExitCode(flags, !answer.result.layouts.empty());
  return absl::OkStatus();
}

absl::Status RunEstimate(const PlanFlags& flags, CommandContext& context) {
  const StopRequest stop(context);
  const double start_s = context.now_s();
  ASSIGN_OR_RETURN(const planner::PlanQuery query,
                   flags.query.ToQuery(context, flags.output.server));
  ASSIGN_OR_RETURN(const planner::EstimateAnswer answer,
                   PlannerAt(flags.output.server, context)->Estimate(query, flags.layout));
  const double elapsed_s = context.now_s() - start_s;
  if (flags.output.format == OutputFormat::kJson) {
    PrintJson(ToJson(query, answer, elapsed_s), context.out);
  } else {
    PrintEstimate(query, answer, flags.output.style, context.out);
  }
  context.exit_code = ExitCode(flags, answer.fits());
  return absl::OkStatus();
}

// Prints the preset's own text, which is JSON whatever the format.
absl::Status PrintPreset(const std::string& kind, const std::string& name,
                         CommandContext& context) {
  if (kind == "agents") {
    return FieldError("name", name, "must be absent for agents: only presets are printed by name");
  }
  const std::string_view field = kind == "models"     ? "model"
                                 : kind == "clusters" ? "cluster"
                                                      : "framework";
  // ModelText() takes any of a model's names.
  const std::string known = planner::PresetNamed(field, name);
  const std::string& wanted = known.empty() ? name : known;
  ASSIGN_OR_RETURN(const std::string_view text, kind == "models" ? planner::ModelText(wanted)
                                                : kind == "clusters"
                                                    ? planner::ClusterText(wanted)
                                                    : planner::ProfileText(wanted));
  context.out << text;
  return absl::OkStatus();
}

absl::Status RunList(const std::string& kind, const OutputFlags& flags, CommandContext& context) {
  if (kind == "agents") {
    ASSIGN_OR_RETURN(const std::vector<v1::Agent> agents, ListAgents(flags.server.OrDefault()));
    PrintAgents(agents, flags.format, context.out);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const planner::AllPresets presets, PlannerAt(flags.server, context)->Presets());
  if (kind == "models") {
    PrintModelPresets(presets.models, flags.format, context.out);
  } else if (kind == "clusters") {
    PrintClusterPresets(presets.clusters, flags.format, context.out);
  } else {
    PrintProfilePresets(presets.profiles, flags.format, context.out);
  }
  return absl::OkStatus();
}

}  // namespace

void AddRecommendCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<PlanFlags>();
  CLI::App* command =
      app.add_subcommand("recommend", "Rank the layouts that train a model fastest on a cluster");
  flags->query.AddModel(*command);
  flags->query.AddClusterOfSizes(*command);
  flags->query.AddTraining(*command);
  flags->query.AddFramework(*command);
  flags->query.AddMeasured(*command);
  command->add_option("--top", flags->top, "Layouts to show")
      ->capture_default_str()
      ->option_text("K");
  command
      ->add_option("--max-oom-probability", flags->max_oom_probability,
                   "Keep layouts up to this probability of running out of memory, in place of the "
                   "80 % rule")
      ->option_text("P");
  command
      ->add_option("--offload", flags->offload,
                   "Also search layouts with these offloads to the hosts' memory, such as "
                   "act:8,opt,act:8+opt")
      ->option_text("LIST");
  command
      ->add_option("--mine", flags->mine,
                   "Say where this layout would rank, and why it is slower; options after the "
                   "layout replace the options above, as in 'tp8.pp1.dp8 loss=chunked:8'. A file "
                   "is read as import reads it, and gives the model, the sequence length, the "
                   "batch and the devices that no flag gives")
      ->each([command](const std::string& mine) {
        if (!IsMineFile(mine)) return;
        for (const char* flag : {"--model", "--seq-len"}) {
          command->get_option(flag)->required(false);
        }
      })
      ->option_text("LAYOUT|FILE");
  command_line::TakeWords(
      command->add_option("--objective", flags->objective,
                          "Objective by which layouts, and the sizes of a range, are ranked; the "
                          "default is mfu"),
      {"mfu", "tokens_per_s", "cost", "time_to_loss", "energy", "memory"});
  command
      ->add_option("--pareto", flags->pareto,
                   "Also show the layouts that no other layout beats in all of these: two or three "
                   "of mfu, energy and memory")
      ->option_text("LIST");
  command
      ->add_option("--best-per", flags->best_per,
                   "Also show the best layout for each value of these axes or searched options, "
                   "such as tp,pp or loss")
      ->option_text("LIST");
  flags->budget.Add(*command);
  flags->where.Add(*command);
  flags->search.Add(*command);
  command
      ->add_option("--time-limit", flags->time_limit_s,
                   "Seconds after which the search ends and answers with the best layouts so far")
      ->option_text("S");
  AddExitZero(*command, *flags);
  flags->output.AddFormat(*command);
  flags->output.AddStyle(*command);
  flags->output.AddServer(*command, context);
  command_line::AddExample(
      *command,
      "meshwright recommend --model llama-3-70b --cluster h100 --gpus 512 --seq-len 4096 "
      "--global-batch 1024 --top 3");
  command_line::AddExample(
      *command,
      "meshwright recommend --model llama-3-70b --cluster h100 --gpus 8..1024 --seq-len 4096 "
      "--global-batch 1024 --tokens 1T --within 30d --price 2.5/h");
  command->callback(
      [flags, &context] { Finish(context, flags->output.format, RunRecommend(*flags, context)); });
}

void AddEstimateCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<PlanFlags>();
  CLI::App* command = app.add_subcommand(
      "estimate",
      "Estimate one layout: memory, step time, MFU, the limiting resource, and what would make the "
      "layout fit");
  flags->query.AddModel(*command);
  flags->query.AddCluster(*command);
  flags->query.AddTraining(*command);
  flags->query.AddFramework(*command);
  flags->query.AddMeasured(*command);
  command
      ->add_option("--layout", flags->layout,
                   "Such as tp2.cp1.pp2.dp8.mb1.vpp1.zero1.sp1.rc=none.sched=1f1b")
      ->required()
      ->option_text("LAYOUT");
  AddExitZero(*command, *flags);
  flags->output.AddFormat(*command);
  flags->output.AddStyle(*command);
  flags->output.AddServer(*command, context);
  command_line::AddExample(
      *command,
      "meshwright estimate --model llama-3-70b --cluster h100 --gpus 64 --seq-len 4096 "
      "--global-batch 512 --layout tp4.pp4.dp4.mb2.zero1.sp1");
  command->callback(
      [flags, &context] { Finish(context, flags->output.format, RunEstimate(*flags, context)); });
}

void AddListCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<OutputFlags>();
  auto kind = std::make_shared<std::string>();
  auto name = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("list", "The presets, the file behind one, or the agents of a server");
  command_line::TakeWords(command->add_option("kind", *kind, "What to list"),
                          {"models", "clusters", "profiles", "agents"})
      ->required();
  command
      ->add_option("name", *name,
                   "A preset, whose JSON is printed: a start for a model or cluster file")
      ->option_text("PRESET");
  flags->AddFormat(*command);
  flags->AddServer(*command, context);
  command_line::AddExample(*command, "meshwright list clusters");
  command_line::AddExample(*command, "meshwright list clusters h100");
  command->callback([flags, kind, name, &context] {
    Finish(context, flags->format,
           name->empty() ? RunList(*kind, *flags, context) : PrintPreset(*kind, *name, context));
  });
}

}  // namespace meshwright::cli
