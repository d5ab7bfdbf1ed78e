// What `meshwright fastest` says of the model that Lamy-Poirier's paper is about, arXiv 2106.02679.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/tools/command_runner.h"
#include "tests/tools/golden.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;

// A model of the size of Lamy-Poirier's largest, on A100s. Its tokens and its critical batch are
// chosen here: 300 billion, as for GPT-3, and 6 million tokens a batch.
std::vector<std::string> TrillionParameters(std::vector<std::string> more = {}) {
  const char* const source = std::getenv("MESHWRIGHT_SOURCE_DIR");
  const std::string folder = source == nullptr ? "" : source;
  std::vector<std::string> arguments = {
      "fastest",     "--model",   folder + "/tests/golden/gpt-1.3t.json",
      "--cluster",   "a100-80",   "--gpus",
      "8192..65536", "--seq-len", "2560",
      "--tokens",    "300B",      "--critical-batch",
      "2400"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// The paper's abstract: a trillion parameters in half the time that was thought to be the shortest.
TEST(LamyPoirierReport, MatchesTheGoldenFile) {
  const CommandOutput run = RunCommand(TrillionParameters());
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ExpectGolden("lamy_poirier_2106_02679.txt", run.out);
}

TEST(LamyPoirierReport, FindsAboutHalfTheShortestTime) {
  std::vector<std::string> arguments = TrillionParameters({"--format", "json"});
  arguments[6] = "65536";
  const CommandOutput run = RunCommand(arguments);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json answer = json::parse(run.out);
  std::map<std::string, json> claims;
  for (const json& claim : answer["claims"]) claims[claim["name"]] = claim;
  EXPECT_EQ(claims["half_the_time"]["verdict"], "holds");
  std::map<std::string, double> seconds;
  for (const json& strategy : answer["strategies"]) {
    const json& run_of = strategy["runs"][strategy["shortest"].get<size_t>()];
    seconds[strategy["strategy"]] = run_of["seconds"];
  }
  EXPECT_LT(seconds["layered"], seconds["standard"]);
  EXPECT_LT(seconds["standard"], seconds["contiguous"]);
}

}  // namespace
}  // namespace meshwright::cli
