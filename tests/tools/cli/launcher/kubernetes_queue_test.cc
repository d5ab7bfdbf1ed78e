// JobOfJobSet() by objects as an API server shows them, and KubernetesQueue against scripted
// answers. What a launch makes of a whole API server is tests/faults/kubernetes_test.py's.
#include "tools/cli/launcher/kubernetes_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "tests/tools/cli/launcher/scripted_transport.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

json JobSetIn(const json& status, const json& spec = json::object()) {
  json object = {{"metadata",
                  {{"name", "a-1-x"},
                   {"resourceVersion", "5"},
                   {"labels", {{kJobLabel, "a-1"}, {kFleetLabel, "a"}}},
                   {"annotations", {{kOwnerAnnotation, "me"}}}}},
                 {"spec", {{"replicatedJobs", {{{"name", "agent0"}}}}}},
                 {"status", status}};
  object["spec"].update(spec);
  return object;
}

json Pod(const std::string& phase, const json& status = json::object(), const char* node = "n1") {
  json pod = {
      {"metadata", {{"name", "p"}, {"labels", {{"jobset.sigs.k8s.io/jobset-name", "a-1-x"}}}}},
      {"spec", {{"nodeName", node}}},
      {"status", {{"phase", phase}}}};
  pod["status"].update(status);
  return pod;
}

json Condition(const char* type, const char* message, const char* status = "True") {
  return {{"type", type}, {"status", status}, {"message", message}};
}

void ExpectJob(const json& job_set, const std::vector<json>& pods, JobPhase phase,
               const std::string& state, const std::string& reason) {
  const QueuedJob job = JobOfJobSet(job_set, pods);
  EXPECT_EQ(job.id, "a-1-x");
  EXPECT_EQ(job.name, "a-1");
  EXPECT_EQ(job.owner, "me");
  EXPECT_EQ(job.phase, phase) << state;
  EXPECT_EQ(job.state, state);
  EXPECT_EQ(job.reason, reason);
}

TEST(JobOfJobSetTest, RunsOnceAllOfItsPodsRun) {
  const json none = json::object();
  ExpectJob(JobSetIn(none), {}, JobPhase::kWaiting, "Pending", "");
  ExpectJob(JobSetIn(none), {Pod("Running")}, JobPhase::kRunning, "Running", "");
  EXPECT_EQ(JobOfJobSet(JobSetIn(none), {Pod("Running")}).node, "n1");
  const json two = {{"replicatedJobs", {{{"name", "agent0"}}, {{"name", "agent1"}}}}};
  ExpectJob(JobSetIn(none, two), {Pod("Running")}, JobPhase::kWaiting, "Pending", "");
  ExpectJob(JobSetIn(none, two), {Pod("Running"), Pod("Running", none, "n2")}, JobPhase::kRunning,
            "Running", "");
  json other = Pod("Running");
  other["metadata"]["labels"]["jobset.sigs.k8s.io/jobset-name"] = "a-10-x";
  ExpectJob(JobSetIn(none), {other}, JobPhase::kWaiting, "Pending", "");
  json ending = Pod("Running");
  ending["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  ExpectJob(JobSetIn(none), {ending}, JobPhase::kWaiting, "Pending", "");
}

TEST(JobOfJobSetTest, SaysWhatAJobWaitsFor) {
  const json none = json::object();
  const json unscheduled = {
      {"conditions", {Condition("PodScheduled", "0/2 nodes are available", "False")}}};
  ExpectJob(JobSetIn(none), {Pod("Pending", unscheduled, "")}, JobPhase::kWaiting, "Pending",
            "0/2 nodes are available");
  const json pull = {
      {"containerStatuses",
       {{{"state", {{"waiting", {{"reason", "ImagePullBackOff"}, {"message", "no x:1"}}}}}}}}};
  ExpectJob(JobSetIn(none), {Pod("Pending", pull)}, JobPhase::kWaiting, "Pending",
            "ImagePullBackOff: no x:1");
  const json suspended = {{"conditions", {Condition("Suspended", "jobset is suspended")}}};
  ExpectJob(JobSetIn(suspended, {{"suspend", true}}), {}, JobPhase::kWaiting, "Suspended",
            "jobset is suspended");
}

TEST(JobOfJobSetTest, SaysHowAJobEnded) {
  const json failed = {{"conditions", {Condition("Failed", "jobset failed")}}};
  ExpectJob(JobSetIn(failed), {}, JobPhase::kEnded, "Failed", "jobset failed");
  const json code = {{"containerStatuses",
                      {{{"state", {{"terminated", {{"reason", "Error"}, {"exitCode", 3}}}}}}}}};
  ExpectJob(JobSetIn(failed), {Pod("Failed", code)}, JobPhase::kEnded, "Failed",
            "Error with exit code 3");
  const json evicted = {{"reason", "Evicted"}, {"message", "node was low on memory"}};
  ExpectJob(JobSetIn(failed), {Pod("Failed", evicted)}, JobPhase::kEnded, "Failed",
            "Evicted: node was low on memory");
  const json completed = {{"conditions", {Condition("Completed", "done")}}};
  ExpectJob(JobSetIn(completed), {}, JobPhase::kEnded, "Completed", "");
  json ending = JobSetIn(json::object());
  ending["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  ExpectJob(ending, {Pod("Running")}, JobPhase::kEnding, "Terminating", "");
}

class KubernetesQueueTest : public testing::Test {
 protected:
  KubernetesQueueTest() {
    fleet_.name = "a";
    fleet_.nodes = 1;
    fleet_.devices = {.kind = planner::DeviceKind::kCpu, .count = 2};
  }

  std::unique_ptr<KubernetesQueue> Queue() {
    auto api = std::make_shared<const KubernetesApi>(http_, "lab", [] { return std::string(); });
    return std::make_unique<KubernetesQueue>(std::move(api), KubernetesFlags{.image = "i"}, "a",
                                             [] { return std::string("x"); });
  }
  AgentJobSpec Spec() const { return {fleet_, "meshwright", "me", "a-1"}; }

  AgentFleet fleet_;
  std::shared_ptr<ScriptedTransport> http_ = std::make_shared<ScriptedTransport>();
};

TEST_F(KubernetesQueueTest, AJobIsInTheListAsSoonAsItIsSubmitted) {
  const HttpAnswer empty = {200, R"({"metadata": {"resourceVersion": "4"}, "items": []})"};
  http_->Answer("GET /apis/jobset.x-k8s.io", empty);
  http_->Answer("GET /api/v1", empty);
  const std::unique_ptr<KubernetesQueue> queue = Queue();
  ASSERT_TRUE(queue->List({"a-1"}).ok());
  http_->Answer("PATCH", HttpAnswer{201, JobSetIn(json::object()).dump()});
  EXPECT_EQ(queue->Submit(Spec()).value(), "a-1-x");
  json applied;
  for (const HttpRequest& request : http_->requests()) {
    if (request.method == "PATCH") applied = json::parse(request.body);
  }
  EXPECT_EQ(applied["metadata"]["name"], "a-1-x");
  EXPECT_EQ(applied["metadata"]["annotations"][kOwnerAnnotation], "me");
  const json& job = applied["spec"]["replicatedJobs"][0]["template"]["spec"];
  EXPECT_EQ(job["backoffLimit"], 0);
  EXPECT_EQ(job["template"]["spec"]["restartPolicy"], "Never");
}

TEST_F(KubernetesQueueTest, WhatTheAccountMayNotDoIsSaidBeforeAnythingIsSubmitted) {
  const std::unique_ptr<KubernetesQueue> queue = Queue();
  http_->Answer("PATCH", HttpAnswer{403, R"({"message": "jobsets is forbidden"})"});
  EXPECT_THAT(queue->Check(Spec()).ToString(),
              AllOf(HasSubstr("PERMISSION_DENIED"), HasSubstr("jobsets is forbidden")));
  http_->Answer("PATCH", HttpAnswer{404, R"({"message": "could not find the resource"})"});
  EXPECT_THAT(queue->Check(Spec()).ToString(),
              AllOf(HasSubstr("FAILED_PRECONDITION"), HasSubstr("controller of JobSets")));
  for (const HttpRequest& request : http_->requests()) {
    if (request.method != "PATCH") continue;
    EXPECT_THAT(request.path, HasSubstr("&dryRun=All"));
  }
}

TEST_F(KubernetesQueueTest, AListThatFailsIsAnErrorAndNotAnEmptyQueue) {
  http_->Answer("GET /apis/jobset.x-k8s.io", HttpAnswer{403, R"({"message": "forbidden"})"});
  const std::unique_ptr<KubernetesQueue> queue = Queue();
  EXPECT_TRUE(absl::IsPermissionDenied(queue->List({"a-1"}).status()));
}

TEST(JobSetTest, AJobOfSeveralNodesHasThemTogetherAndItsAmountsForEachPod) {
  AgentFleet fleet;
  fleet.name = "a";
  fleet.nodes = 4;
  fleet.nodes_per_job = 2;
  fleet.devices = {.kind = planner::DeviceKind::kCuda};
  fleet.gpus_per_node = 8;
  const KubernetesFlags flags = {.image = "i",
                                 .kueue_queue = "q",
                                 .cpu = "96",
                                 .memory = "1Ti",
                                 .rdma_resource = "rdma/hca=4",
                                 .topology_key = "topology.kubernetes.io/zone"};
  ASSERT_TRUE(Check(fleet, flags).ok()) << Check(fleet, flags);
  const json made =
      json(JobSet(fleet, flags, {.job = "a-3", .name = "a-3-x", .is_launched = true}));
  EXPECT_EQ(made["metadata"]["labels"]["kueue.x-k8s.io/queue-name"], "q");
  EXPECT_EQ(made["spec"]["suspend"], true);
  const json& jobs = made["spec"]["replicatedJobs"];
  ASSERT_THAT(jobs, SizeIs(2));
  const json& pod = jobs[1]["template"]["spec"]["template"]["spec"];
  const json amounts = {{"nvidia.com/gpu", 8}, {"cpu", "96"}, {"memory", "1Ti"}, {"rdma/hca", 4}};
  EXPECT_EQ(pod["containers"][0]["resources"], json({{"limits", amounts}, {"requests", amounts}}));
  EXPECT_EQ(pod["containers"][0]["securityContext"]["capabilities"]["add"], json({"IPC_LOCK"}));
  const json& term =
      pod["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0];
  EXPECT_EQ(term["topologyKey"], "topology.kubernetes.io/zone");
  EXPECT_EQ(term["labelSelector"]["matchLabels"][kJobLabel], "a-3");
  EXPECT_THAT(pod["containers"][0]["args"].dump(), HasSubstr(R"("--name","a-4")"));
}

}  // namespace
}  // namespace meshwright::cli
