// ExportedJob is an export before it becomes one text: the files that must be in the folder where
// the run starts, the program that every rank runs with its arguments, and what starts the ranks.
//
// The text of `export`, the scripts for Slurm (planner/interchange/launch_script.h) and the command
// of a trial are all made from it. Arguments are not quoted for a shell.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/spec/node_placement.h"

namespace meshwright::planner {

struct ExportedFile {
  std::string name;  // without a folder, such as "accelerate.yaml"
  std::string text;
};

struct EnvironmentVariable {
  std::string name;
  std::optional<std::string> value;  // nullopt: the variable must not be set
};

// What starts the ranks of one node.
enum class RankLauncher : uint8_t {
  kTorchrun,
  kRay,         // ray symmetric-run … -- PROGRAM ARGUMENTS
  kAccelerate,  // accelerate launch, with the first file as its --config_file
  // The program calls torchrun itself, and reads NNODES, NPROC_PER_NODE, NODE_RANK, MASTER_ADDR and
  // MASTER_PORT.
  kProgram
};

// An argument whose value no export knows, such as the name of a recipe. A script takes it from a
// variable.
struct AskedArgument {
  std::string flag;
  std::string variable;
  std::string what;  // "names the recipe of the model"
};

struct ExportedJob {
  RankLauncher launcher = RankLauncher::kTorchrun;
  // The program, with the arguments that select it, such as {"pretrain_gpt.py"} or
  // {"-m", "torchtitan.train"}.
  std::vector<std::string> program;
  std::vector<AskedArgument> asked;  // between the program and its arguments
  // The arguments of the program, in groups that belong on one line of a script.
  std::vector<std::vector<std::string>> argument_lines;
  std::vector<ExportedFile> files;
  std::vector<EnvironmentVariable> environment;
  std::vector<std::string> comments;  // for the reader of a script, one line each
  NodePlacement placed;
  // True if the export is the first of `files`; program and arguments then only show its use.
  bool is_file = false;

  // Returns the arguments of the program in their order.
  std::vector<std::string> Arguments() const;
};

}  // namespace meshwright::planner
