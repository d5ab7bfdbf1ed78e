// Runs every command of docs/clusters.md, and holds the page to what they print and to the keys of
// a cluster's file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "planner/catalog/cluster_fields.h"
#include "tests/tools/command_runner.h"
#include "tests/tools/documented_commands.h"
#include "tests/tools/golden.h"

namespace meshwright::cli {
namespace {

constexpr const char* kPage = "docs/clusters.md";
constexpr const char* kTable = "| key | what it says |\n|--|--|\n";

// Lists the fields of a struct, and of the structs in it, as rows of a table.
struct FieldRows {
  std::string prefix;
  std::vector<std::string>* rows;

  template <typename T>
  void operator()(const planner::Field& field, T& value) {
    if constexpr (planner::HasFields<T>) {
      if (field.inside) return VisitFields(value, *this);
    }
    const bool of_scale_up = field.name == "pair_bytes_per_s" || field.name == "mesh";
    if (of_scale_up && prefix == "scale_out.") return;
    const std::string name = absl::StrCat(prefix, std::string(field.name));
    rows->push_back(absl::StrCat("| `", name, "` | ", std::string(field.sentence),
                                 field.needed ? " (needed)" : "", " |"));
    if constexpr (planner::HasFields<T>) {
      if (field.name == "calibration") return;  // `calibrate` writes it
      FieldRows inside{name + ".", rows};
      VisitFields(value, inside);
    }
  }
  template <typename T, typename Names>
  void operator()(const planner::Field& field, T& value, const Names&) {
    (*this)(field, value);
  }
  template <typename T>
  void Derived(const planner::Field&, const T&) {}
};

std::string KeyTable() {
  planner::ClusterSpec cluster;
  std::vector<std::string> rows;
  FieldRows visit{"", &rows};
  VisitFields(cluster, visit);
  return absl::StrCat(absl::StrJoin(rows, "\n"), "\n");
}

// What the page shows of an answer: its headline, its evidence and its best layout.
std::string ShownOf(const std::string& answer) {
  std::vector<std::string> shown;
  const std::vector<std::string> lines = absl::StrSplit(answer, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool is_best = absl::StartsWith(lines[i], "#  layout") && shown.size() < 4;
    if (i < 2) shown.push_back(lines[i]);
    if (is_best) shown.insert(shown.end(), {lines[i], lines[i + 1]});
  }
  return absl::StrCat(absl::StrJoin(shown, "\n"), "\n");
}

TEST(ClustersDoc, ItsCommandsPrintWhatThePageShows) {
  const std::string folder = std::getenv("MESHWRIGHT_SOURCE_DIR");
  std::ifstream file(absl::StrCat(folder, "/", kPage));
  std::string page;
  std::string answer;
  bool skips = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("meshwright ")) {
      const CommandOutput run = RunCommand(WordsOfCommand(line));
      EXPECT_EQ(run.exit_code, 0) << line << "\n" << run.out << run.err;
      answer = ShownOf(run.out);
    }
    if (skips && line != "```") continue;
    skips = line == "```text";
    absl::StrAppend(&page, line, "\n", skips ? answer : "");
    if (absl::EndsWith(page, kTable)) break;
  }
  ExpectFile(kPage, page + KeyTable());
}

TEST(ClustersDoc, ItsFilesAreRead) {
  const std::string folder = std::getenv("MESHWRIGHT_SOURCE_DIR");
  std::ifstream file(absl::StrCat(folder, "/", kPage));
  std::string text;
  bool inside = false;
  int files = 0;
  for (std::string line; std::getline(file, line);) {
    if (inside && line == "```") {
      const std::string path = testing::TempDir() + "/documented_cluster.json";
      std::ofstream(path) << text;
      const CommandOutput run =
          RunCommand({"recommend", "--model", "llama-3.2-1b", "--cluster", path, "--gpus", "8",
                      "--seq-len", "2k", "--global-batch", "64"});
      EXPECT_EQ(run.exit_code, 0) << text << run.out << run.err;
      EXPECT_THAT(run.out, testing::HasSubstr("the interval is wider"));
      ++files;
      inside = false;
    }
    if (inside) absl::StrAppend(&text, line, "\n");
    if (line == "```json") {
      inside = true;
      text.clear();
    }
  }
  EXPECT_EQ(files, 2);
}

}  // namespace
}  // namespace meshwright::cli
