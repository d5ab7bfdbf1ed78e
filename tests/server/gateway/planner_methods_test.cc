// What the page asks of the planner beside its answers: exports, imports, pictures and conditions.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/server/gateway/http_client.h"
#include "tests/server/server_fixture.h"

namespace meshwright::server {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kQuestion[] =
    R"("plan":{"model":{"preset":"llama-3-8b"},"cluster":{"preset":"h100"},"gpus":16,)"
    R"("seq_len":4096,"global_batch":64})";
constexpr char kPipeline[] = R"("layout":"tp2.pp2.dp4.mb1.zero1.sp1")";

class PlannerMethodsTest : public ServerFixture {
 protected:
  PlannerMethodsTest() { http_ = HttpOptions{.listen = "127.0.0.1:0"}; }

  HttpAnswer Call(const std::string& method, const std::string& body) const {
    return Post({.server = *ParseHostPort(server_->http_address())},
                absl::StrCat("/meshwright.v1.Planner/", method), body);
  }
};

TEST_F(PlannerMethodsTest, AnExportIsImportedAsTheSameLayout) {
  const HttpAnswer exported =
      Call("Export", absl::StrCat("{", kQuestion, ",", kPipeline, R"(,"to":"megatron"})"));
  ASSERT_EQ(exported.status, 200) << exported.body;
  const nlohmann::json job = exported.Json();
  EXPECT_THAT(job["script"].get<std::string>(), HasSubstr("--tensor-model-parallel-size 2"));
  EXPECT_EQ(job["text"], job["script"]);
  EXPECT_EQ(job["file_name"], "run.sh");
  EXPECT_EQ(job["gpus_per_node"], 8);
  nlohmann::json question = {{"files", {{{"name", "run.sh"}, {"text", job["script"]}}}},
                             {"gpus", 16},
                             {"model", "llama-3-8b"}};
  const HttpAnswer imported = Call("Import", question.dump());
  ASSERT_EQ(imported.status, 200) << imported.body;
  const nlohmann::json read = imported.Json();
  EXPECT_EQ(read["from"], "megatron");
  EXPECT_EQ(read["layout"], job["layout"]);
  EXPECT_EQ(read["request"]["seq_len"], "4096");
  EXPECT_EQ(read["complete"], true) << imported.body;
}

TEST_F(PlannerMethodsTest, AFileOfTheFrameworkHasItsName) {
  const HttpAnswer exported = Call(
      "Export",
      absl::StrCat("{", kQuestion, R"(,"layout":"tp1.pp1.dp16.mb1.zero3","to":"torchtitan"})"));
  ASSERT_EQ(exported.status, 200) << exported.body;
  EXPECT_THAT(exported.Json()["file_name"].get<std::string>(), testing::EndsWith(".py"));
  EXPECT_NE(exported.Json()["text"], exported.Json()["script"]);
}

TEST_F(PlannerMethodsTest, SayWhatTheyDoNotTake) {
  const auto field_of = [&](const std::string& method, const std::string& body) {
    const HttpAnswer answer = Call(method, body);
    EXPECT_EQ(answer.status, 400) << answer.body;
    const nlohmann::json violations = answer.Json()["violations"];
    return violations.empty() ? "" : violations[0]["field"].get<std::string>();
  };
  EXPECT_EQ(field_of("Export", absl::StrCat("{", kQuestion, ",", kPipeline, R"(,"to":"none"})")),
            "to");
  EXPECT_EQ(field_of("Export", absl::StrCat("{", kQuestion, ",", kPipeline,
                                            R"(,"to":"megatron","launch":"ssh"})")),
            "launch");
  EXPECT_EQ(field_of("Import", R"({"files":[{"name":"a","text":"hello"}]})"), "from");
  EXPECT_EQ(field_of("Import", R"({"from":"megatron","gpus":0})"), "gpus");
  EXPECT_EQ(field_of("Draw", "{}"), "question");
  EXPECT_EQ(Call("Schedule", absl::StrCat("{", kQuestion, R"(,"layout":"tp3.pp2.dp4"})")).status,
            400);
}

TEST_F(PlannerMethodsTest, AScheduleIsAPictureToo) {
  const HttpAnswer answer = Call("Schedule", absl::StrCat("{", kQuestion, ",", kPipeline, "}"));
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.Json()["micro_batches"], 16);
  EXPECT_EQ(answer.Json()["ranks"].size(), 2u);
  EXPECT_THAT(answer.Json()["svg"].get<std::string>(), StartsWith("<svg"));
  const HttpAnswer large =
      Call("Schedule",
           absl::StrCat(R"({"plan":{"model":{"preset":"llama-3-8b"},"cluster":{"preset":"h100"},)",
                        R"("seq_len":4096,"global_batch":16384},"layout":"tp2.pp2.dp1.mb1"})"));
  ASSERT_EQ(large.status, 200) << large.body;
  EXPECT_EQ(large.Json()["micro_batches"], 16384);
  EXPECT_EQ(large.Json()["svg"], "");
}

TEST_F(PlannerMethodsTest, AnswersAreDrawn) {
  const std::string compare =
      absl::StrCat(R"({"compare":{)", kQuestion,
                   R"(,"layouts":["tp2.pp2.dp4.mb1.zero1.sp1","tp4.pp1.dp4.mb1.zero1.sp1"]}})");
  const HttpAnswer drawn = Call("Draw", compare);
  ASSERT_EQ(drawn.status, 200) << drawn.body;
  EXPECT_THAT(drawn.Json()["svg"].get<std::string>(), StartsWith("<svg"));
  const HttpAnswer fit = Call("Draw", absl::StrCat(R"({"fit":{)", kQuestion, "}}"));
  EXPECT_THAT(fit.Json()["svg"].get<std::string>(), StartsWith("<svg")) << fit.body;
}

TEST_F(PlannerMethodsTest, ConditionsAreDescribed) {
  const nlohmann::json fields = Call("DescribeConditions", "{}").Json();
  const auto named = [](const nlohmann::json& list, const std::string& name) -> nlohmann::json {
    for (const nlohmann::json& field : list) {
      if (field["name"] == name) return field;
    }
    return {};
  };
  const nlohmann::json tp = named(fields["layout"], "tp");
  EXPECT_EQ(tp["kind"], "whole");
  EXPECT_NE(tp["help"], "");
  const nlohmann::json sched = named(fields["layout"], "sched");
  EXPECT_EQ(sched["kind"], "word");
  EXPECT_THAT(sched["words"], testing::Contains("1f1b"));
  EXPECT_EQ(named(fields["measurements"], "outcome")["kind"], "word");
  EXPECT_EQ(named(fields["measurements"], "mfu")["kind"], "real");
}

}  // namespace
}  // namespace meshwright::server
