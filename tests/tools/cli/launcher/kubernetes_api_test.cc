#include "tools/cli/launcher/kubernetes_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nlohmann/json.hpp"
#include "tests/tools/cli/launcher/scripted_transport.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class KubernetesApiTest : public testing::Test {
 protected:
  absl::Status Watch() {
    seen_.clear();
    return api_.Watch(
        kPods, "a=b", "7",
        [this](const WatchEvent& event) {
          seen_.push_back(std::to_string(static_cast<int>(event.kind)) + " " +
                          event.object["metadata"].value("name", "-"));
        },
        [] { return false; });
  }

  std::shared_ptr<ScriptedTransport> http_ = std::make_shared<ScriptedTransport>();
  KubernetesApi api_{http_, "lab", [] { return std::string("secret"); }};
  std::vector<std::string> seen_;
};

TEST_F(KubernetesApiTest, AppliesOnTheServersSideUnderAManagersName) {
  http_->Answer("PATCH", HttpAnswer{201, R"({"metadata": {"name": "x", "resourceVersion": "3"}})"});
  const json object = {{"kind", "JobSet"}, {"metadata", {{"name", "x"}}}};
  const absl::StatusOr<json> stored =
      api_.Apply(kJobSets, object, {.manager = "me/2", .dry_run = true});
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ((*stored)["metadata"]["resourceVersion"], "3");
  const HttpRequest request = http_->requests().front();
  EXPECT_EQ(
      request.path,
      "/apis/jobset.x-k8s.io/v1alpha2/namespaces/lab/jobsets/x?fieldManager=me%2f2&dryRun=All");
  EXPECT_EQ(request.content_type, "application/apply-patch+yaml");
  EXPECT_EQ(json::parse(request.body), object);
  EXPECT_EQ(request.bearer_token, "secret");
}

TEST_F(KubernetesApiTest, ARefusalHasACodeAndTheServersSentence) {
  const std::pair<int, absl::StatusCode> codes[] = {
      {400, absl::StatusCode::kInvalidArgument},  {401, absl::StatusCode::kUnauthenticated},
      {403, absl::StatusCode::kPermissionDenied}, {404, absl::StatusCode::kNotFound},
      {409, absl::StatusCode::kAborted},          {410, absl::StatusCode::kOutOfRange},
      {422, absl::StatusCode::kInvalidArgument},  {429, absl::StatusCode::kUnavailable},
      {503, absl::StatusCode::kUnavailable}};
  for (const auto& [status, code] : codes) {
    http_->Answer("GET", HttpAnswer{status, R"({"kind": "Status", "message": "exceeded quota"})"});
    const absl::Status error = api_.List(kJobSets, "a=b").status();
    EXPECT_EQ(error.code(), code) << status;
    EXPECT_THAT(std::string(error.message()),
                AllOf(HasSubstr("the list of jobsets"), HasSubstr(std::to_string(status)),
                      HasSubstr("exceeded quota")));
  }
  http_->Answer("GET", HttpAnswer{502, "<html>bad gateway</html>"});
  EXPECT_THAT(std::string(api_.List(kPods, "").status().message()), HasSubstr("<html>bad gateway"));
}

TEST_F(KubernetesApiTest, AnAnswerThatIsNoListIsUnavailable) {
  for (const char* body : {"", "[]", "{}", R"({"metadata": {"resourceVersion": "1"}, "items": 3})",
                           R"({"metadata": 3, "items": []})", R"({"items": []})"}) {
    http_->Answer("GET", HttpAnswer{200, body});
    EXPECT_TRUE(absl::IsUnavailable(api_.List(kPods, "").status())) << body;
  }
  http_->Answer("GET", HttpAnswer{200, R"({"metadata": {"resourceVersion": "1"}, "items": null})"});
  EXPECT_TRUE(api_.List(kPods, "").ok());
}

TEST_F(KubernetesApiTest, WhatIsGoneAlreadyIsDeleted) {
  http_->Answer("DELETE", HttpAnswer{404, "{}"});
  EXPECT_TRUE(api_.Delete(kJobSets, "x").ok());
  EXPECT_THAT(http_->requests().front().path, HasSubstr("/jobsets/x?propagationPolicy=Foreground"));
  http_->Answer("DELETE", HttpAnswer{403, "{}"});
  EXPECT_TRUE(absl::IsPermissionDenied(api_.Delete(kJobSets, "x")));
}

TEST_F(KubernetesApiTest, EventsAreReadWhereverTheirBytesAreCut) {
  const std::string body =
      R"({"type": "ADDED", "object": {"metadata": {"name": "p"}}})"
      "\n\n"
      R"({"type": "MODIFIED", "object": {"metadata": {"name": "q"}}})"
      "\n"
      R"({"type": "LATER", "object": {"metadata": {"name": "r"}}})"
      "\n"
      R"({"type": "DELETED", "object": {"metadata": {"name": "p"}}})"
      "\n"
      R"({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "9"}}})"
      "\n"
      R"({"type": "ADDED", "object": {"metada)";  // cut by a timeout
  for (const size_t piece : {1UL, 7UL, 1000UL}) {
    http_->set_piece(piece);
    http_->Answer("GET", HttpAnswer{200, body});
    EXPECT_TRUE(Watch().ok());
    EXPECT_THAT(seen_, ElementsAre("0 p", "0 q", "1 p", "2 -"));
  }
  EXPECT_THAT(http_->requests().front().path,
              AllOf(HasSubstr("/api/v1/namespaces/lab/pods?watch=true"), HasSubstr("a%3db"),
                    HasSubstr("resourceVersion=7"), HasSubstr("timeoutSeconds=60")));
}

TEST_F(KubernetesApiTest, AVersionThatTheServerForgotIsOutOfRange) {
  http_->Answer("GET", HttpAnswer{410, R"({"kind": "Status", "message": "too old", "code": 410})"});
  EXPECT_TRUE(absl::IsOutOfRange(Watch()));
  http_->Answer(
      "GET", HttpAnswer{200, R"({"type": "ERROR", "object": {"code": 410, "message": "too old"}})"
                             "\n"});
  EXPECT_TRUE(absl::IsOutOfRange(Watch()));
  for (const char* line :
       {"no json\n", "[]\n", "{\"type\": \"ADDED\"}\n", "{\"type\": \"ERROR\", \"object\": 3}\n"}) {
    http_->Answer("GET", HttpAnswer{200, line});
    EXPECT_TRUE(absl::IsUnavailable(Watch())) << line;
  }
}

}  // namespace
}  // namespace meshwright::cli
