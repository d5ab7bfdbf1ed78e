#include "executor/trial/worker_version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/system/run_program.h"

namespace meshwright::trial {
namespace {

using testing::HasSubstr;

absl::Status CheckWhere(const absl::StatusOr<std::string>& printed) {
  return CheckWorkerVersion("/opt/worker", [&](const std::vector<std::string>& arguments, double) {
    EXPECT_EQ(arguments, (std::vector<std::string>{"/opt/worker", "--version"}));
    return printed;
  });
}

TEST(WorkerVersionTest, TheWorkerOfThisBuildIsTaken) {
  EXPECT_TRUE(CheckWhere(std::string(WorkerVersion()) + "\n").ok());
}

TEST(WorkerVersionTest, AnotherBuildsIsRefusedWithBothVersions) {
  const absl::Status status = CheckWhere("0.0.9\n");
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_EQ(status.message(),
            "worker = /opt/worker: is a worker of version 0.0.9, and this program "
            "is of version " +
                std::string(WorkerVersion()) + ": use the one that came with it");
}

TEST(WorkerVersionTest, AProgramThatIsNoWorkerIsShownByWhatItPrints) {
  const absl::Status status = CheckWhere("ls (GNU coreutils) 9.1\nCopyright \x1b[2J");
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("is no meshwright-worker of version 0."));
  EXPECT_THAT(std::string(status.message()), HasSubstr("\"ls (GNU coreutils) 9.1\\nCopyright"));
  EXPECT_THAT(std::string(status.message()), testing::Not(HasSubstr("\x1b")));
  EXPECT_TRUE(absl::IsInvalidArgument(CheckWhere("")));
}

TEST(WorkerVersionTest, AProgramThatFailsIsRefusedWithItsError) {
  const absl::Status status = CheckWorkerVersion("/bin/false", RunProgram);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("/bin/false ended with exit code 1"));
}

}  // namespace
}  // namespace meshwright::trial
