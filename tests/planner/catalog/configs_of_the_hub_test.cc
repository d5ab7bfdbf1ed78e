// Reads the config.json files of many models, and compares the counts of their parameters with
// those of the models that transformers builds from the same files.
//
// The files are beside the published measurements and not part of the repository, so the test skips
// where their folder is absent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "planner/block/megatron_flops.h"
#include "planner/block/parameters.h"
#include "planner/block/tower_parameters.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/model_config.h"
#include "planner/catalog/model_names.h"
#include "tests/planner/measurements_folder.h"

namespace meshwright::planner {
namespace {

constexpr int64_t kTokens = 4096;
// A refusal fits into five lines of 80 columns, with the program's name before it.
constexpr size_t kMostRefusalBytes = 5 * 80 - 12;

struct Counted {
  int64_t parameters = 0;  // without those of towers
  int64_t active = 0;      // likewise
  int64_t vision = 0;      // of towers
};

std::filesystem::path ConfigsFolder() { return MeasurementsFolder() / "../configs"; }

std::string TextOf(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Returns the counts of the language models alone.
std::map<std::string, Counted> CountsOf(const std::filesystem::path& table) {
  std::map<std::string, Counted> counts;
  std::ifstream file(table);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const std::vector<std::string> columns = absl::StrSplit(line, '\t');
    if (columns.size() < 7 || columns[4].empty()) continue;
    const int64_t vision = columns[6].empty() ? 0 : std::stoll(columns[6]);
    // The experts of images are among the vision parameters, and their projector is not.
    if (vision > std::stoll(columns[5])) continue;
    counts[columns[0]] = {.parameters = std::stoll(columns[4]) - vision,
                          .active = std::stoll(columns[5]) - vision,
                          .vision = vision};
  }
  return counts;
}

double RelativeError(int64_t found, int64_t counted) {
  return std::abs(static_cast<double>(found - counted)) / static_cast<double>(counted);
}

class ConfigsOfTheHub : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(ConfigsFolder())) {
      GTEST_SKIP() << "no config.json files in " << ConfigsFolder();
    }
    for (const auto& entry : std::filesystem::directory_iterator(ConfigsFolder())) {
      if (entry.path().extension() == ".json") names_.insert(entry.path().stem().string());
    }
  }

  absl::StatusOr<ModelConfig> Read(const std::string& name) const {
    return ReadModelConfig(name, TextOf(ConfigsFolder() / (name + ".json")), kTokens);
  }

  std::set<std::string> names_;
};

TEST_F(ConfigsOfTheHub, AreReadWhereTheirBlockIsPlanned) {
  size_t read = 0;
  for (const std::string& name : names_) {
    const auto config = Read(name);
    read += config.ok() ? 1 : 0;
    if (config.ok()) {
      EXPECT_THAT(config->unknown_keys, testing::IsEmpty()) << name;
      continue;
    }
    EXPECT_LE(config.status().message().size(), kMostRefusalBytes) << name;
    std::cout << "refused " << name << ": " << config.status().message() << "\n";
  }
  std::cout << "read " << read << " of " << names_.size() << "\n";
  EXPECT_GE(read, 101u);
}

TEST_F(ConfigsOfTheHub, HaveTheParametersOfTheirModel) {
  const std::map<std::string, Counted> counts = CountsOf(ConfigsFolder() / "PARAMETERS.tsv");
  ASSERT_FALSE(counts.empty());
  size_t compared = 0;
  size_t towers = 0;
  for (const std::string& name : names_) {
    const auto config = Read(name);
    const auto counted = counts.find(name);
    if (!config.ok() || counted == counts.end()) continue;
    ++compared;
    const int64_t tower = TowerParameters(config->model);
    const int64_t parameters = Parameters(config->model) - tower;
    const int64_t active = ActiveParameters(config->model) - tower;
    EXPECT_LE(RelativeError(parameters, counted->second.parameters), 1e-4)
        << name << ": " << parameters << ", not " << counted->second.parameters;
    EXPECT_LE(RelativeError(active, counted->second.active), 0.01)
        << name << ": " << active << ", not " << counted->second.active;
    if (tower == 0 || counted->second.vision == 0) continue;  // some classes count the text alone
    if (!config->towers.empty()) continue;                    // one more is not read
    ++towers;
    EXPECT_EQ(tower, counted->second.vision) << name;
  }
  std::cout << "counted " << compared << ", " << towers << " with a tower\n";
  EXPECT_GE(towers, 12u);
}

// A preset without the keys that change nothing is the model of its file.
TEST_F(ConfigsOfTheHub, CountAsMuchAsThePresetsOfTheirNames) {
  size_t compared = 0;
  for (const auto& [name, counted] : CountsOf(ConfigsFolder() / "PARAMETERS.tsv")) {
    const auto named = ModelNamed(name.starts_with("v5.") ? name.substr(3) : name);
    if (!named) continue;
    ++compared;
    const ModelSpec model = FindModel(named->preset).value();
    const int64_t tower = TowerParameters(model);
    EXPECT_LE(RelativeError(Parameters(model) - tower, counted.parameters), 1e-4) << name;
    EXPECT_LE(RelativeError(ActiveParameters(model) - tower, counted.active), 0.01) << name;
  }
  EXPECT_GE(compared, 20u);
}

struct TokenFlops {
  const char* name;
  int64_t seq_len;
  int64_t mtp_layers;
  double flops;
};

// FLOPs of a token, forward and backward, as Megatron-Bridge counts them: of NVIDIA's table for
// Nemotron 3 Nano (TFLOP/s over tokens/s) and worked out by its counter for the others.
TEST_F(ConfigsOfTheHub, CountTheFlopsThatMegatronCounts) {
  constexpr TokenFlops kFlops[] = {
      {"qwen3.5-35b-a3b", 4096, 0, 1.906e10},
      {"qwen3.5-35b-a3b", 8192, 0, 2.007e10},
      {"qwen3.5-9b", 4096, 0, 4.873e10},
      {"qwen3.5-9b", 8192, 0, 4.953e10},
      {"class-default.kimi_linear", 4096, 0, 1.972e10},
      {"class-default.kimi_linear", 8192, 0, 2.048e10},
      {"class-default.bailing_hybrid", 4096, 0, 3.194e10},
      {"class-default.minimax", 8192, 0, 8.394e10},
      {"glm-5", 4096, 0, 3.057e11},
      {"glm-5", 131072, 0, 3.663e11},
      {"gemma-3-12b", 8192, 0, 7.409e10},
      {"gemma-3-12b", 32768, 0, 7.901e10},
      {"nemotron-3-nano-30b-a3b", 8192, 0, 2.228e10},
      {"nemotron-3-super-120b-a12b-fp8", 8192, 0, 7.537e10},
      {"nemotron-3-super-120b-a12b-fp8", 8192, 1, 8.025e10},
      {"nemotron-3-super-120b-a12b-fp8", 8192, 2, 8.513e10},
  };
  for (const TokenFlops& expected : kFlops) {
    auto config = ReadModelConfig(expected.name,
                                  TextOf(ConfigsFolder() / (std::string(expected.name) + ".json")),
                                  expected.seq_len);
    ASSERT_TRUE(config.ok()) << expected.name << ": " << config.status();
    config->model.mtp_layers = expected.mtp_layers;
    const TrainingSpec training = {.seq_len = expected.seq_len, .global_batch = 1};
    const double flops =
        MegatronStepFlops(config->model, training) / static_cast<double>(expected.seq_len);
    EXPECT_NEAR(flops, expected.flops, 0.01 * expected.flops)
        << expected.name << " at " << expected.seq_len;
  }
}

// A file that transformers 5 saved says the same as the one that it read.
TEST_F(ConfigsOfTheHub, AnswerAsTheirOriginalWhereTheyWereSavedAgain) {
  size_t pairs = 0;
  for (const std::string& name : names_) {
    const std::string original = name.starts_with("v5.") ? name.substr(3) : "";
    if (!names_.contains(original)) continue;
    const auto saved = Read(name);
    const auto first = Read(original);
    ASSERT_EQ(saved.ok(), first.ok()) << name;
    if (!saved.ok()) continue;
    ++pairs;
    EXPECT_EQ(saved->model.groups, first->model.groups) << name;
    EXPECT_EQ(saved->model.rope_theta, first->model.rope_theta) << name;
    EXPECT_EQ(saved->model.rope_scaling, first->model.rope_scaling) << name;
    EXPECT_EQ(Parameters(saved->model), Parameters(first->model)) << name;
  }
  EXPECT_GT(pairs, 0u);
}

}  // namespace
}  // namespace meshwright::planner
