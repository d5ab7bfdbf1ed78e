// Holds docs/clusters.md to the keys of a cluster's file.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "planner/catalog/cluster_fields.h"
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

TEST(ClustersDoc, HasEveryKeyOfAClustersFile) {
  const std::string folder = std::getenv("MESHWRIGHT_SOURCE_DIR");
  std::ifstream file(absl::StrCat(folder, "/", kPage));
  std::string page;
  for (std::string line; !absl::EndsWith(page, kTable) && std::getline(file, line);) {
    absl::StrAppend(&page, line, "\n");
  }
  ExpectFile(kPage, page + KeyTable());
}

}  // namespace
}  // namespace meshwright::cli
