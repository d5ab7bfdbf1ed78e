// Groups of workers that are shell scripts: they write events and end as the test wants.
#include "executor/trial/worker_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/trial/worker_process.h"

namespace meshwright::trial {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kDone[] =
    R"(echo '{"event":"done","stop_reason":"steps","peak_bytes":7,"peak_in_flight":1,)"
    R"("measured_peak_flops":1e9}' >&3)";

class WorkerGroupTest : public testing::Test {
 protected:
  WorkerGroupTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "meshwright-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~WorkerGroupTest() override { std::filesystem::remove_all(folder_); }

  // Workers that run `script`, which knows $RANK and writes events to descriptor 3.
  WorkersEnd Run(const std::string& script, int32_t ranks, double timeout_s) {
    const std::filesystem::path worker = folder_ / "worker";
    std::ofstream(worker) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(worker, std::filesystem::perms::owner_all);
    EXPECT_EQ(group_.Start(worker, "{}", ranks), absl::OkStatus());
    return group_.Watch({.timeout_s = timeout_s, .cancelled = {}, .heard = {}});
  }

  std::filesystem::path folder_;
  WorkerGroup group_{ApplyEvent};
};

TEST_F(WorkerGroupTest, AWorkerThatCrashesAfterItIsDoneHasNotFailed) {
  const std::string script = absl::StrCat(kDone, "\necho bad driver >&2\nkill -ABRT $$");
  EXPECT_EQ(Run(script, 1, 60.0), WorkersEnd::kEnded);
  const RankRecord& record = group_.records().front();
  EXPECT_TRUE(record.done);
  EXPECT_FALSE(record.failure.has_value());
  EXPECT_THAT(record.after_done, ElementsAre(HasSubstr("was killed by signal 6")));
  EXPECT_THAT(record.output_tail, HasSubstr("bad driver"));
}

TEST_F(WorkerGroupTest, WhatAWorkerPrintsIsKeptAsText) {
  Run(R"(printf '\202 too little \342\202\254 \377' >&2; exit 1)", 1, 60.0);
  EXPECT_EQ(group_.records().front().output_tail,
            "\xEF\xBF\xBD too little \xE2\x82\xAC \xEF\xBF\xBD");
}

TEST_F(WorkerGroupTest, AWorkerThatCrashesBeforeItIsDoneHasFailed) {
  EXPECT_EQ(Run("kill -ABRT $$", 1, 60.0), WorkersEnd::kEnded);
  const RankRecord& record = group_.records().front();
  ASSERT_TRUE(record.failure.has_value());
  EXPECT_THAT(record.failure->message, HasSubstr("was killed by signal 6"));
  EXPECT_THAT(record.after_done, IsEmpty());
}

TEST_F(WorkerGroupTest, WorkersThatHangAfterAllAreDoneAreEndedAndTold) {
  EXPECT_EQ(Run(absl::StrCat(kDone, "\nexec sleep 600"), 2, 0.3), WorkersEnd::kEnded);
  for (const RankRecord& record : group_.records()) {
    EXPECT_FALSE(record.failure.has_value());
    EXPECT_THAT(record.after_done, ElementsAre("did not end and was killed"));
    EXPECT_FALSE(record.left_pid.has_value());
  }
}

// It may have to wait for the others to end the groups together.
TEST_F(WorkerGroupTest, AWorkerThatIsDoneMayBeSilentWhileAnotherWorks) {
  const std::string script = absl::StrCat("if [ $RANK = 0 ]; then ", kDone,
                                          "; exec sleep 600; fi\n"
                                          "for step in 0 1 2 3 4 5 6 7 8 9; do\n"
                                          R"(echo "{\"event\":\"begin\",\"step\":$step}" >&3)"
                                          "\nsleep 0.4\ndone\nkill -SEGV $$");
  EXPECT_EQ(Run(script, 2, 3.0), WorkersEnd::kEnded);
  EXPECT_FALSE(group_.records()[0].failure.has_value());
  EXPECT_EQ(group_.records()[1].begun_steps, 10);
  EXPECT_TRUE(group_.records()[1].failure.has_value());
}

// Two of four ranks are on this host.
TEST_F(WorkerGroupTest, WorkersKnowWhichRanksShareTheirHost) {
  const std::filesystem::path worker = folder_ / "worker";
  std::ofstream(worker) << "#!/bin/sh\necho $RANK $LOCAL_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE"
                        << " $MESHWRIGHT_ADDRESS $MASTER_ADDR:$MASTER_PORT\nexit 1\n";
  std::filesystem::permissions(worker, std::filesystem::perms::owner_all);
  auto workers = SpawnWorkers(
      {.path = worker, .plan = "{}", .world_size = 4, .address = "127.0.0.2", .master_port = 77},
      {2, 3});
  ASSERT_TRUE(workers.ok()) << workers.status();
  for (size_t i = 0; i < workers->size(); ++i) {
    group_.Add({.rank = 2 + static_cast<int32_t>(i),
                .process = std::make_unique<WorkerProcess>(std::move((*workers)[i]))});
  }
  EXPECT_EQ(group_.Watch({.timeout_s = 60.0, .cancelled = {}, .heard = {}}), WorkersEnd::kEnded);
  EXPECT_EQ(group_.records()[0].rank, 2);
  EXPECT_EQ(group_.records()[0].output_tail, "2 0 4 2 127.0.0.2 127.0.0.1:77\n");
  EXPECT_EQ(group_.records()[1].output_tail, "3 1 4 2 127.0.0.2 127.0.0.1:77\n");
}

TEST_F(WorkerGroupTest, AWorkerThatIsNotDoneMustNotBeSilent) {
  const std::string script = absl::StrCat("if [ $RANK = 0 ]; then ", kDone, "; fi\nexec sleep 600");
  EXPECT_EQ(Run(script, 2, 0.3), WorkersEnd::kSilent);
}

}  // namespace
}  // namespace meshwright::trial
