// docs/schema is what the fields of the commands' answers make of it.
#include "tests/tools/schema/schema_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/tools/golden.h"

namespace meshwright::cli {
namespace {

TEST(SchemaFilesTest, AreWhatTheFieldsSay) {
  for (const auto& [name, schema] : WriteSchemaFiles().by_name) {
    ExpectFile("docs/schema/" + name + ".json", schema.dump(2) + "\n");
  }
}

TEST(SchemaFilesTest, AreAllThereAre) {
  const SchemaFiles files = WriteSchemaFiles();
  const std::filesystem::path source = std::getenv("MESHWRIGHT_SOURCE_DIR");
  for (const auto& file : std::filesystem::directory_iterator(source / "docs/schema")) {
    EXPECT_TRUE(files.by_name.contains(file.path().stem().string())) << file.path();
  }
}

TEST(SchemaFilesTest, DescribeEveryFieldInOnePlace) {
  EXPECT_THAT(WriteSchemaFiles().problems, testing::IsEmpty());
}

}  // namespace
}  // namespace meshwright::cli
