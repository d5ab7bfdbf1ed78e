// Every input of the corpus, as it is and changed at random from a fixed seed, through its target.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/targets.h"

namespace meshwright::fuzz {
namespace {

constexpr int kChangesOfEach = 2000;

std::vector<std::string> CorpusOf(const Target& target) {
  const std::filesystem::path folder = std::filesystem::path(std::getenv("MESHWRIGHT_SOURCE_DIR")) /
                                       "tests/fuzz/corpus" / target.name;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> inputs;
  for (const std::filesystem::path& file : files) {
    std::ifstream stream(file, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return inputs;
}

// A byte set, a stretch taken out, doubled, or put in from another input.
std::string Changed(std::string input, const std::vector<std::string>& others, std::mt19937& draw) {
  const auto below = [&](size_t n) {
    return n == 0 ? size_t{0} : std::uniform_int_distribution<size_t>(0, n - 1)(draw);
  };
  const size_t at = below(input.size());
  switch (below(4)) {
    case 0:
      if (!input.empty()) input[at] = static_cast<char>(below(256));
      break;
    case 1:
      input.erase(at, 1 + below(16));
      break;
    case 2:
      input.insert(at, input.substr(at, 1 + below(32)));
      break;
    default: {
      const std::string& other = others[below(others.size())];
      input.insert(at, other.substr(below(other.size()), 1 + below(32)));
    }
  }
  return input;
}

class Corpus : public testing::TestWithParam<Target> {};

TEST_P(Corpus, NoInputBreaksItsReader) {
  const std::vector<std::string> inputs = CorpusOf(GetParam());
  ASSERT_GE(inputs.size(), 3) << "of " << GetParam().name;
  std::mt19937 draw(20261125);
  for (const std::string& input : inputs) {
    GetParam().run(input);
    std::string changed = input;
    for (int i = 0; i < kChangesOfEach; ++i) {
      // Changes pile up a little, so that some inputs are far from what anyone wrote.
      changed = Changed(i % 8 == 0 ? input : changed, inputs, draw);
      GetParam().run(changed);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Corpus, testing::ValuesIn(kTargets),
                         [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace meshwright::fuzz
