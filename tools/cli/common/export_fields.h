// ExportText declares the fields that `meshwright export` prints (planner/codec/fields.h).
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "planner/codec/fields.h"
#include "planner/interchange/export.h"

namespace meshwright::cli {

struct ExportText {
  std::string to;
  planner::ExportJob job;
  planner::ExportedJob exported;
  std::string launch;
  std::string text;
  std::string script;
};

inline constexpr std::array<std::string_view, 3> kLaunchForms = {"torchrun", "srun", "sbatch"};

// A file of the export.
struct ExportedFileText {
  std::string name;
  std::string text;
};

template <typename Visitor>
void VisitFields(const ExportedFileText& file, Visitor& visit) {
  visit({"name", "Name in the folder where the run starts"}, file.name);
  visit({"text", "Text of the file"}, file.text);
}

inline constexpr std::array<std::string_view, 11> kExportTargets = {
    "megatron", "megatron-bridge", "torchtitan", "accelerate", "deepspeed", "llamafactory",
    "axolotl",  "ms-swift",        "verl",       "automodel",  "nanotron"};

template <typename Visitor>
void VisitFields(const ExportText& text, Visitor& visit) {
  const planner::ExportJob& job = text.job;
  visit(planner::Among(kExportTargets, {"to", "Framework"}), text.to);
  visit({"model", "Name of the model"}, job.model.name);
  visit({"layout", "Text form of the layout"}, planner::FormatLayout(job.layout));
  visit({"seq_len", "Tokens per sequence"}, job.training.seq_len);
  visit({"global_batch", "Sequences per optimizer step"}, job.training.global_batch);
  visit({"gpus_per_node", "GPUs of a node, a count"}, job.devices_per_node);
  visit({"notes", "What the reader should know, one sentence each"}, job.notes);
  std::vector<ExportedFileText> files;
  for (const planner::ExportedFile& file : text.exported.files) {
    files.push_back({file.name, file.text});
  }
  visit({"text", "What the command prints: the launch script or the framework's file"}, text.text);
  visit(planner::Among(kLaunchForms, {"launch", "What starts the run in script"}), text.launch);
  visit({"script", "The launch script, which writes the files"}, text.script);
  visit({"program", "The program of a rank, in words"}, text.exported.program);
  visit({"arguments", "Arguments of the program, in words"}, text.exported.Arguments());
  visit({"files", "Files of the export, which the program reads"}, files);
}

}  // namespace meshwright::cli
