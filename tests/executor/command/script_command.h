// What tests need that run shell scripts as a runner's command: a folder, a host and a plan.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "executor/command/command_host.h"
#include "executor/trial/trial.h"
#include "planner/catalog/catalog.h"
#include "planner/layout/layout.h"

namespace meshwright::command {

class ScriptCommandTest : public ::testing::Test {
 protected:
  // The plan has two steps of eight sequences.
  explicit ScriptCommandTest(const std::string& layout) {
    char name[] = "/tmp/script-command-XXXXXX";
    folder_ = ::mkdtemp(name);
    const char* const bin = std::getenv("MESHWRIGHT_BIN_DIR");
    host_ = {.guard = absl::StrCat(bin == nullptr ? "." : bin, "/../tests/meshwright-test-guard"),
             .work_folder = folder_,
             .environment = [](const std::string& variable) -> std::optional<std::string> {
               if (variable == "PATH") return "/usr/bin:/bin";
               if (variable == "SECRET") return "not listed";
               return std::nullopt;
             }};
    plan_.model = planner::FindModel("tinystories-15m").value();
    plan_.layout = planner::ParseLayout(layout).value();
    plan_.training.seq_len = 128;
    plan_.training.global_batch = 8;
    plan_.steps = 2;
    plan_.timeout_s = 30.0;
    plan_.runner = trial::RunnerChoice{.name = "r", .hash = "h", .fields = {}};
  }
  ~ScriptCommandTest() override { std::filesystem::remove_all(folder_); }

  std::string folder_;  // removed after the test; runs have theirs in it
  CommandHost host_;
  trial::TrialPlan plan_;
};

}  // namespace meshwright::command
