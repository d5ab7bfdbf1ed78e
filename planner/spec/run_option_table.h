// kRunOptions is the table of a run's options. The code that handles flags, requests, protobuf
// messages and answers loops over this table.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "planner/spec/run_options.h"

namespace meshwright::planner {

struct RunOption {
  std::string_view name;    // the flag, the request's key and the message's field
  std::string_view values;  // the accepted values, as --help shows them
  std::string_view help;
  // Returns the value in the syntax that read() accepts.
  std::string (*text)(const RunOptions& options);
  // Sets the option. Returns an InvalidArgument that names the option and its accepted values, if
  // the value is wrong.
  absl::Status (*read)(std::string_view value, RunOptions& options);
  // If true, each value except the default selects another profile of the framework.
  bool chooses_profile = false;
  // The values that --search tries if the user lists none, in the grammar of --search
  // (planner/spec/option_choice.h). Empty: a search can't vary the option.
  std::string_view search_values = {};
  // Values that take less memory than the default, in the same grammar. The value that changes the
  // training least comes first. These values are tried if a layout does not fit
  // (planner/search/neighbours.h).
  std::string_view saving_values = {};
  // The effect of `saving_values` on the training's result, as the predicate of a sentence. Empty:
  // the result is the same except for rounding.
  std::string_view saving_effect = {};
};

// The functions that rows refer to.
namespace run_option {

std::string StatesText(const RunOptions& options);
absl::Status ReadStates(std::string_view value, RunOptions& options);
std::string LossText(const RunOptions& options);
absl::Status ReadLoss(std::string_view value, RunOptions& options);
std::string DocumentsText(const RunOptions& options);
absl::Status ReadDocuments(std::string_view value, RunOptions& options);
std::string CompileText(const RunOptions& options);
absl::Status ReadCompile(std::string_view value, RunOptions& options);
std::string CudaGraphsText(const RunOptions& options);
absl::Status ReadCudaGraphs(std::string_view value, RunOptions& options);
std::string DispatcherText(const RunOptions& options);
absl::Status ReadDispatcher(std::string_view value, RunOptions& options);
std::string ExpertsText(const RunOptions& options);
absl::Status ReadExperts(std::string_view value, RunOptions& options);
std::string TrainText(const RunOptions& options);
absl::Status ReadTrain(std::string_view value, RunOptions& options);

}  // namespace run_option

inline constexpr std::array<RunOption, 8> kRunOptions = {{
    {.name = "states",
     .values = "STATES",
     .help = "Formats of what is held for each parameter: fp32, bf16, adam8bit, precision-aware, "
             "bf16-grads, or master=F,grad=F,m=F,v=F, each fp32, bf16, fp16, fp8 or int8, master "
             "also none; default: the framework's",
     .text = run_option::StatesText,
     .read = run_option::ReadStates,
     .search_values = "default,bf16-grads,precision-aware,bf16,adam8bit",
     .saving_values = "bf16-grads,precision-aware,adam8bit",
     .saving_effect = "rounds what the optimizer sums up, which may change how the training "
                      "converges"},
    {.name = "loss",
     .values = "plain|fused|chunked:N",
     .help =
         "How the loss is computed: over all tokens at once, by a fused linear cross entropy, or "
         "in N parts one after another",
     .text = run_option::LossText,
     .read = run_option::ReadLoss,
     .search_values = "plain,chunked:8",
     .saving_values = "chunked:8"},
    {.name = "documents",
     .values = "N|padded[:N]|none",
     .help = "N: mean length in tokens of the documents that a sequence is packed from; a token "
             "attends to its own document alone. padded: a sequence is one document (of N tokens "
             "on average) and padding",
     .text = run_option::DocumentsText,
     .read = run_option::ReadDocuments},
    {.name = "compile",
     .values = "on|off",
     .help = "Whether PyTorch compiles the layers (torch.compile); default: the framework's",
     .text = run_option::CompileText,
     .read = run_option::ReadCompile,
     .chooses_profile = true,
     .search_values = "off,on"},
    {.name = "cuda_graphs",
     .values = "none|attention|layer|iteration",
     .help = "What CUDA graphs capture; default: the framework's",
     .text = run_option::CudaGraphsText,
     .read = run_option::ReadCudaGraphs,
     .chooses_profile = true,
     .search_values = "none,attention,layer,iteration"},
    {.name = "dispatcher",
     .values = "alltoall|allgather|deepep|hybridep",
     .help = "What sends tokens to their experts; default: the framework's",
     .text = run_option::DispatcherText,
     .read = run_option::ReadDispatcher,
     .chooses_profile = true,
     .search_values = "alltoall,allgather,deepep,hybridep"},
    {.name = "experts",
     .values = "sharded|replicated",
     .help = "Whether ZeRO divides the states of experts over the ranks that hold the same "
             "experts, or these ranks hold whole copies",
     .text = run_option::ExpertsText,
     .read = run_option::ReadExperts},
    {.name = "train",
     .values = "full|lora:RANK[:TARGETS]|qlora:RANK|dora:RANK|frozen:PARTS",
     .help = "Which weights train: all; adapters on the products that TARGETS names as PEFT does "
             "(q_proj,v_proj; all-linear, the default; experts), on a base of 4 bits with qlora; "
             "or all but PARTS, of tower, embedding and layers=A..B",
     .text = run_option::TrainText,
     .read = run_option::ReadTrain},
}};

inline bool HasDefault(const RunOption& option, const RunOptions& options) {
  return option.text(options) == option.text(RunOptions());
}

}  // namespace meshwright::planner
