// ExportText declares the fields that `meshwright export` prints (planner/codec/fields.h).
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "planner/codec/fields.h"
#include "planner/interchange/export.h"

namespace meshwright::cli {

struct ExportText {
  std::string to;
  planner::ExportJob job;
  std::string text;
};

inline constexpr std::array<std::string_view, 10> kExportTargets = {
    "megatron",     "megatron-bridge", "torchtitan", "accelerate", "deepspeed",
    "llamafactory", "axolotl",         "ms-swift",   "automodel",  "nanotron"};

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
  visit({"text", "The launch script or configuration"}, text.text);
}

}  // namespace meshwright::cli
