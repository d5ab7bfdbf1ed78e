#include "executor/trial/process_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <map>
#include <vector>

namespace meshwright::trial {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

// Children that end when the test says; time passes while it is waited for.
class FakeProcesses {
 public:
  // `pid` ends with `status` when `after` has passed.
  void EndAfter(pid_t pid, milliseconds after, int status) { ends_[pid] = {now_ + after, status}; }

  ProcessWait wait() {
    return {.waitpid = [this](pid_t pid, int* status,
                              int options) { return Waitpid(pid, status, options); },
            .now = [this] { return now_; },
            .pause = [this](milliseconds time) { now_ += time; }};
  }

  milliseconds passed() const { return std::chrono::duration_cast<milliseconds>(now_ - start_); }

 private:
  struct End {
    ProcessWait::Clock::time_point at;
    int status = 0;
  };

  pid_t Waitpid(pid_t pid, int* status, int options) {
    EXPECT_EQ(options, WNOHANG) << "the agent would hang";
    const auto end = ends_.find(pid);
    if (end == ends_.end()) return 0;
    if (end->second.status < 0) {
      errno = ECHILD;
      return -1;
    }
    if (now_ < end->second.at) return 0;
    *status = end->second.status;
    return pid;
  }

  const ProcessWait::Clock::time_point start_ = ProcessWait::Clock::time_point(milliseconds(1000));
  ProcessWait::Clock::time_point now_ = start_;
  std::map<pid_t, End> ends_;
};

constexpr pid_t kPid = 17;

TEST(WaitForEndTest, ReapsAProcessThatHasEndedWithoutWaiting) {
  FakeProcesses processes;
  processes.EndAfter(kPid, milliseconds(0), 9);
  int status = 0;
  EXPECT_TRUE(WaitForEnd(kPid, milliseconds(0), processes.wait(), status));
  EXPECT_EQ(status, 9);
  EXPECT_EQ(processes.passed(), milliseconds(0));
}

TEST(WaitForEndTest, WaitsForAProcessThatEndsInTime) {
  FakeProcesses processes;
  processes.EndAfter(kPid, milliseconds(120), 9);
  int status = 0;
  EXPECT_TRUE(WaitForEnd(kPid, milliseconds(5000), processes.wait(), status));
  EXPECT_EQ(status, 9);
  EXPECT_LT(processes.passed(), milliseconds(200));
}

TEST(WaitForEndTest, LeavesAProcessThatNeverEndsWhenTheTimeIsOver) {
  FakeProcesses processes;
  int status = 0;
  EXPECT_FALSE(WaitForEnd(kPid, milliseconds(5000), processes.wait(), status));
  EXPECT_EQ(processes.passed(), milliseconds(5000));
}

TEST(WaitForEndTest, DoesNotWaitForAProcessThatSomeoneElseReaped) {
  FakeProcesses processes;
  processes.EndAfter(kPid, milliseconds(0), -1);
  int status = 1;
  EXPECT_TRUE(WaitForEnd(kPid, milliseconds(5000), processes.wait(), status));
  EXPECT_EQ(status, 0);
  EXPECT_EQ(processes.passed(), milliseconds(0));
}

TEST(LeftProcessesTest, AreReapedOnceTheyHaveEnded) {
  FakeProcesses processes;
  LeftProcesses left;
  left.Add(kPid);
  left.Add(kPid + 1);
  left.Reap(processes.wait());
  EXPECT_THAT(left.pids(), ElementsAre(kPid, kPid + 1));
  processes.EndAfter(kPid, milliseconds(0), 9);
  left.Reap(processes.wait());
  EXPECT_THAT(left.pids(), ElementsAre(kPid + 1));
  processes.EndAfter(kPid + 1, milliseconds(0), 9);
  left.Reap(processes.wait());
  EXPECT_THAT(left.pids(), IsEmpty());
}

}  // namespace
}  // namespace meshwright::trial
