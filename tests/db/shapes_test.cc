#include "db/shapes.h"

#include "gtest/gtest.h"

namespace meshwright::db {
namespace {

TEST(ShapesTest, AShapeIsAnObjectWithoutItsName) {
  EXPECT_EQ(ShapeOf(R"({"name": "a", "b": 1e-05, "a": [1, 2]})"), R"({"b":1e-05,"a":[1,2]})");
  EXPECT_EQ(ShapeOf("no JSON"), "no JSON");
  EXPECT_EQ(ShapeOf("[1]"), "[1]");
}

TEST(ShapesTest, TheHashIsOfWhatItIsAndNotOfHowItIsWritten) {
  const std::string hash = ShapeHash(R"({"name":"a","x":1,"y":2})");
  EXPECT_EQ(hash.size(), 32u);
  EXPECT_EQ(ShapeHash(R"({ "y": 2, "x": 1, "name": "b" })"), hash);
  EXPECT_EQ(ShapeHash(R"({"y":2,"x":1})"), hash);
  EXPECT_NE(ShapeHash(R"({"y":2,"x":2})"), hash);
  EXPECT_EQ(ShapeHash(""), "");
  EXPECT_NE(ShapeHash("no JSON"), "");
}

TEST(ShapesTest, AShapeGetsItsNameBack) {
  const std::string cluster = "{\n  \"name\": \"a\",\n  \"nodes\": 2\n}";
  EXPECT_EQ(WithName(ShapeOf(cluster), "a"), cluster);
  EXPECT_EQ(WithName("no JSON", "a"), "no JSON");
}

TEST(ShapesTest, APlanComesApartAndTogetherAgain) {
  const std::string plan =
      R"({"a":1,"model":{"name":"m","v":0.1},"seed":18446744073709551615,"training":{"s":64}})";
  const PlanParts parts = SplitPlan(plan, "m");
  EXPECT_EQ(parts.own, R"({"a":1,"seed":18446744073709551615})");
  EXPECT_EQ(parts.model, R"({"name":"m","v":0.1})");
  EXPECT_EQ(parts.training, R"({"s":64})");
  EXPECT_EQ(JoinPlan(parts.own, ShapeOf(parts.model), "m", parts.training), plan);
}

TEST(ShapesTest, APlanThatWouldReadOtherwiseStaysWhole) {
  const std::string called_otherwise = R"({"model":{"name":"m","v":1}})";
  EXPECT_EQ(SplitPlan(called_otherwise, "n").own, called_otherwise);
  const std::string spaced = R"({ "model": {"name":"m","v":1} })";
  EXPECT_EQ(SplitPlan(spaced, "m").own, spaced);
  EXPECT_EQ(JoinPlan(spaced, R"({"v":2})", "n", ""), spaced);
  const std::string deep = std::string(80'000, '[') + std::string(80'000, ']');
  EXPECT_EQ(SplitPlan(deep, "m").own, deep);
  EXPECT_EQ(JoinPlan(deep, R"({"v":2})", "n", ""), deep);
}

}  // namespace
}  // namespace meshwright::db
