// Imports texts, and says what came of their entries.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "planner/interchange/import.h"

namespace meshwright::planner {

inline Imported From(const char* framework, const std::string& text, ImportQuestion question = {}) {
  question.files.insert(question.files.begin(), {"file", text});
  const auto imported = Import(**FindFramework("from", framework), question);
  EXPECT_TRUE(imported.ok()) << imported.status();
  return imported.ok() ? *imported : Imported();
}

inline std::string LayoutOf(const Imported& imported) {
  return imported.layout ? FormatLayout(*imported.layout)
                         : "none: " + (imported.missing.empty() ? "" : imported.missing.front());
}

inline std::vector<std::string> Named(const Imported& imported, EntryStatus status) {
  std::vector<std::string> names;
  for (const ImportedEntry& entry : imported.entries) {
    if (entry.status == status) names.push_back(entry.name);
  }
  return names;
}

inline std::vector<std::string> Rejected(const Imported& imported) {
  return Named(imported, EntryStatus::kRejected);
}

inline std::string HintOf(const Imported& imported, const std::string& name) {
  for (const ImportedEntry& entry : imported.entries) {
    if (entry.name == name) return entry.hint;
  }
  return "no such entry";
}

// A launch line of Megatron-LM on 16 devices, with further flags.
inline std::string MegatronLine(const std::string& flags) {
  return "torchrun --nnodes 2 --nproc-per-node 8 pretrain_gpt.py --micro-batch-size 1 "
         "--global-batch-size 64 --seq-length 4096 --bf16 " +
         flags;
}

}  // namespace meshwright::planner
