// docs/schema is what the fields of the commands' answers make of it.
#include "tests/tools/schema/schema_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/golden.h"
#include "tests/tools/json_schema.h"

namespace meshwright::cli {
namespace {

TEST(SchemaFilesTest, AreWhatTheFieldsSay) {
  for (const auto& [name, schema] : WriteSchemaFiles().by_name) {
    ExpectFile("docs/schema/" + name + ".json", schema.dump(2) + "\n");
  }
}

TEST(SchemaFilesTest, DescribeEveryFieldInOnePlace) {
  EXPECT_THAT(WriteSchemaFiles().problems, testing::IsEmpty());
}

}  // namespace
}  // namespace meshwright::cli
