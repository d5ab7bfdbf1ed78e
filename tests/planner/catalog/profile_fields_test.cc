#include "planner/catalog/profile_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <concepts>
#include <cstdlib>
#include <fstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"

namespace meshwright::planner {
namespace {

// A field's name and its default; lists and texts are empty.
using FieldAndDefault = std::pair<std::string, std::string>;

// Collects the fields of a profile's file, with the values of the visited profile.
class FieldCollector {
 public:
  template <typename Value>
  void operator()(const Field& field, const Value& value) {
    if constexpr (HasFields<Value>) {
      if (field.inside) return VisitFields(value, *this);
    }
    if constexpr (std::is_arithmetic_v<Value>) {
      Add(field, nlohmann::json(value).dump());
    } else {
      Add(field, "");
    }
  }
  template <typename Value, typename Names>
  void operator()(const Field& field, const Value& value, const Names& names) {
    if constexpr (std::is_enum_v<Value> || std::same_as<Value, MeshOrder>) {
      Add(field, TextBy(names, value));
    } else {
      Add(field, "");
    }
  }
  template <typename Value>
  void Derived(const Field& /*field*/, const Value& /*value*/) {}

  const std::vector<FieldAndDefault>& fields() const { return fields_; }

 private:
  void Add(const Field& field, std::string value) {
    fields_.emplace_back(std::string(field.name), std::move(value));
  }

  std::vector<FieldAndDefault> fields_;
};

// Returns the first two cells of the rows "| `field` | default | …" below the heading.
std::vector<FieldAndDefault> RowsBelow(const std::string& path, const std::string& heading) {
  std::vector<FieldAndDefault> rows;
  std::ifstream file(path);
  bool below = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) below = line == heading;
    if (!below || !line.starts_with("| `")) continue;
    const size_t name_end = line.find("` | ", 3);
    if (name_end == std::string::npos) continue;
    const size_t value = name_end + 4;
    const size_t value_end = line.find(" |", value - 1);
    rows.emplace_back(line.substr(3, name_end - 3),
                      value_end < value ? "" : line.substr(value, value_end - value));
  }
  return rows;
}

TEST(ProfileFields, AreThoseThatTheDocumentationDescribes) {
  const char* source = std::getenv("MESHWRIGHT_SOURCE_DIR");
  ASSERT_NE(source, nullptr) << "run through ctest, which sets MESHWRIGHT_SOURCE_DIR";
  FieldCollector collector;
  const FrameworkProfile profile;
  VisitFields(profile, collector);
  EXPECT_THAT(RowsBelow(std::string(source) + "/docs/profiles.md", "## What the fields mean"),
              testing::ElementsAreArray(collector.fields()));
}

}  // namespace
}  // namespace meshwright::planner
