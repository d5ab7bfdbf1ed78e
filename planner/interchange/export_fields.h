// Declares the fields of an export (planner/codec/fields.h).
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/enum_names.h"
#include "planner/codec/fields.h"
#include "planner/interchange/export_answer.h"

namespace meshwright::planner {

inline constexpr std::array<std::string_view, 3> kLaunchForms = {"torchrun", "srun", "sbatch"};
inline constexpr std::array<std::string_view, 11> kExportTargets = {
    "megatron", "megatron-bridge", "torchtitan", "accelerate", "deepspeed", "llamafactory",
    "axolotl",  "ms-swift",        "verl",       "automodel",  "nanotron"};

template <typename Visitor>
void VisitFields(const ExportedFile& file, Visitor& visit) {
  visit("name", file.name);
  visit("text", file.text);
}

template <typename Visitor>
void VisitFields(const ExportAnswer& answer, Visitor& visit) {
  const ExportJob& job = answer.job;
  visit(Among(kExportTargets, "to"), answer.to);
  visit("model", job.model.name);
  visit("layout", FormatLayout(job.layout));
  visit("seq_len", job.training.seq_len);
  visit("global_batch", job.training.global_batch);
  visit("gpus_per_node", job.devices_per_node);
  std::vector<std::string> notes = answer.taken;
  notes.insert(notes.end(), job.notes.begin(), job.notes.end());
  visit("notes", notes);
  visit("text", answer.text);
  visit("file_name", answer.file_name);
  visit(Among(kLaunchForms, "launch"), std::string(NameOf(kLaunchFormNames, answer.launch)));
  visit("script", answer.script);
  visit("program", answer.exported.program);
  visit("arguments", answer.exported.Arguments());
  visit("files", answer.exported.files);
}

}  // namespace meshwright::planner
