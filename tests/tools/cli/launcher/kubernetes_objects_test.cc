#include "tools/cli/launcher/kubernetes_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/tools/cli/launcher/scripted_transport.h"

namespace meshwright::cli {
namespace {

constexpr char kList[] = "GET /api/v1/namespaces/lab/pods?labelSelector=";
constexpr char kWatch[] = "GET /api/v1/namespaces/lab/pods?watch=true";

std::string Pod(const std::string& name, int version) {
  return absl::StrCat(R"({"metadata": {"name": ")", name, R"(", "resourceVersion": ")", version,
                      R"("}})");
}

HttpAnswer List(const std::string& name, int version) {
  return {200, absl::StrCat(R"({"metadata": {"resourceVersion": ")", version, R"("}, "items": [)",
                            Pod(name, version), "]}")};
}

class KubernetesObjectsTest : public testing::Test {
 protected:
  // Waits until the objects have these names.
  void Await(const KubernetesObjects& objects, const std::vector<std::string>& names) {
    const absl::Time end = absl::Now() + absl::Seconds(20);
    std::vector<std::string> seen;
    while (seen != names && absl::Now() < end) {
      seen.clear();
      const absl::StatusOr<std::vector<nlohmann::json>> read = objects.Read();
      if (!read.ok()) continue;
      for (const nlohmann::json& object : *read) seen.push_back(object["metadata"]["name"]);
      absl::SleepFor(absl::Milliseconds(5));
    }
    EXPECT_EQ(seen, names);
  }

  std::vector<std::string> VersionsOfWatches() const {
    std::vector<std::string> versions;
    for (const HttpRequest& request : http_->requests()) {
      const size_t at = request.path.find("resourceVersion=");
      if (at != std::string::npos) versions.push_back(request.path.substr(at, 18));
    }
    return versions;
  }

  std::shared_ptr<ScriptedTransport> http_ = std::make_shared<ScriptedTransport>();
  std::shared_ptr<const KubernetesApi> api_ =
      std::make_shared<const KubernetesApi>(http_, "lab", [] { return std::string(); });
};

TEST_F(KubernetesObjectsTest, AWatchGoesOnWhereTheLastOneEnded) {
  http_->Answer(kList, List("a", 14));
  http_->Answer(kWatch, HttpAnswer{200, absl::StrCat(R"({"type": "ADDED", "object": )",
                                                     Pod("b", 15), "}\n")});
  http_->Answer(kWatch, HttpAnswer{200, absl::StrCat(R"({"type": "DELETED", "object": )",
                                                     Pod("a", 16), "}\n")});
  http_->AnswerAll(kList, List("b", 17));
  const KubernetesObjects objects(api_, kPods, "a=b");
  Await(objects, {"b"});
  const std::vector<std::string> versions = VersionsOfWatches();
  ASSERT_GE(versions.size(), 2U);
  EXPECT_EQ(versions[0], "resourceVersion=14");
  EXPECT_EQ(versions[1], "resourceVersion=15");
}

TEST_F(KubernetesObjectsTest, AVersionThatTheServerForgotLeadsToANewList) {
  http_->Answer(kList, List("a", 14));
  http_->Answer(kWatch, HttpAnswer{410, R"({"code": 410})"});
  http_->Answer(kList, List("b", 25));
  http_->Answer(kWatch, HttpAnswer{200, "{\"type\": \"ERROR\", \"object\": {\"code\": 410}}\n"});
  http_->AnswerAll(kList, List("c", 36));
  const KubernetesObjects objects(api_, kPods, "a=b");
  Await(objects, {"c"});
}

TEST_F(KubernetesObjectsTest, WhatCanNotBeListedIsAnErrorUntilItIsListedAgain) {
  http_->Answer(kList, HttpAnswer{503, R"({"message": "etcd is away"})"});
  http_->AnswerAll(kList, List("a", 14));
  const KubernetesObjects objects(api_, kPods, "a=b");
  EXPECT_TRUE(absl::IsUnavailable(objects.Read().status()));
  Await(objects, {"a"});
}

}  // namespace
}  // namespace meshwright::cli
