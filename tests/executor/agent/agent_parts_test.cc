// The agent's back-off, its kept results, and its devices.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "executor/agent/result_box.h"
#include "executor/agent/server_stream.h"
#include "gtest/gtest.h"

namespace meshwright::agent {
namespace {

TEST(BackoffTest, GrowsToACap) {
  EXPECT_EQ(BackoffDelay(1, 1.0), absl::Milliseconds(200));
  EXPECT_EQ(BackoffDelay(3, 1.0), absl::Milliseconds(800));
  EXPECT_EQ(BackoffDelay(1000, 1.0), absl::Seconds(5));
  EXPECT_EQ(BackoffDelay(1000, 0.0), absl::Milliseconds(2500));
}

constexpr char kStore[] = "00112233445566778899aabbccddeeff";

KeptResult Kept(int32_t trial) {
  KeptResult kept;
  kept.store_id = kStore;
  kept.key = {"s", trial, 1};
  kept.result.outcome = trial::TrialOutcome::kOk;
  kept.result.mfu = 0.5;
  return kept;
}

class ResultBoxTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/box-" + std::to_string(getpid());
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(ResultBoxTest, OutlivesTheProcess) {
  ResultBox box = *ResultBox::Open(folder_);
  ASSERT_TRUE(box.Add(Kept(1)).ok());
  ASSERT_TRUE(box.Add(Kept(2)).ok());
  box.Remove(kStore, {"s", 1, 1});
  const ResultBox next = *ResultBox::Open(folder_);
  ASSERT_EQ(next.kept().size(), 1u);
  EXPECT_EQ(next.kept()[0].key, (wire::AttemptKey{"s", 2, 1}));
  EXPECT_EQ(next.kept()[0].result, Kept(2).result);
}

TEST_F(ResultBoxTest, RemovesWhatAKilledAgentLeftHalfWritten) {
  ASSERT_TRUE(ResultBox::Open(folder_).ok());
  const std::string half = folder_ + "/s.1.1.json.77.tmp";
  std::ofstream(half) << "{";
  ASSERT_TRUE(ResultBox::Open(folder_).ok());
  EXPECT_FALSE(std::filesystem::exists(half));
}

TEST_F(ResultBoxTest, WritesLaterWhatItCouldNotWriteAtFirst) {
  ResultBox box = *ResultBox::Open(folder_);
  ASSERT_TRUE(box.Add(Kept(1)).ok());
  EXPECT_FALSE(box.has_unwritten());
  std::filesystem::remove_all(folder_);
  const absl::Status failed = box.Add(Kept(2));
  EXPECT_TRUE(absl::IsUnavailable(failed));
  EXPECT_NE(failed.message().find("No such file or directory"), std::string::npos) << failed;
  EXPECT_FALSE(box.Add(Kept(3)).ok());
  EXPECT_TRUE(box.has_unwritten());
  EXPECT_FALSE(box.WriteUnwritten().ok());
  box.Remove(kStore, {"s", 3, 1});
  std::filesystem::create_directories(folder_);
  EXPECT_TRUE(box.WriteUnwritten().ok());
  EXPECT_FALSE(box.has_unwritten());
  const ResultBox next = *ResultBox::Open(folder_);
  ASSERT_EQ(next.kept().size(), 1u);
  EXPECT_EQ(next.kept()[0].key, (wire::AttemptKey{"s", 2, 1}));
}

// Of a disk that took a part of the text before it was full, too.
TEST_F(ResultBoxTest, SaysThatTheDiskIsFull) {
  ResultBox box = *ResultBox::Open(folder_);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {.rlim_cur = 100, .rlim_max = 100};
    setrlimit(RLIMIT_FSIZE, &limit);
    const absl::Status status = box.Add(Kept(1));
    const bool says = status.message().find(std::strerror(EFBIG)) != absl::string_view::npos;
    _exit(says && box.has_unwritten() && std::filesystem::is_empty(folder_) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(ResultBoxTest, LeavesForeignFilesAlone) {
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ + "/notes.json") << "{ not json";
  std::ofstream(folder_ + "/half.json.1.tmp") << "{";
  EXPECT_TRUE(ResultBox::Open(folder_)->kept().empty());
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/notes.json"));
}

TEST_F(ResultBoxTest, ReadsWhatAnEarlierReleaseKept) {
  std::filesystem::create_directories(folder_);
  const std::string path = folder_ + "/" + kStore + ".s-1.2.3.json";
  std::ofstream(path) << R"({"store_id": ")" << kStore << R"(", "sweep": "s-1", "trial": 2,
      "attempt": 3, "result": )"
                      << ToJson(Kept(1).result) << "}";
  ResultBox box = *ResultBox::Open(folder_);
  ASSERT_EQ(box.kept().size(), 1u);
  EXPECT_EQ(box.kept()[0].store_id, kStore);
  EXPECT_EQ(box.kept()[0].key, (wire::AttemptKey{"s-1", 2, 3}));
  box.Remove(kStore, {"s-1", 2, 3});
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(ResultBoxTest, LeavesResultsOfNoStoreOrTrialAlone) {
  std::filesystem::create_directories(folder_);
  const auto write = [&](const std::string& name, const std::string& store,
                         const std::string& rest) {
    std::ofstream(folder_ + "/" + name + ".json")
        << R"({"store_id": )" << store << ", " << rest << R"(, "result": )"
        << ToJson(Kept(1).result) << "}";
  };
  const std::string good = R"("00aa")";
  write("path", R"("../up")", R"("sweep": "s", "trial": 1, "attempt": 1)");
  write("number", "7", R"("sweep": "s", "trial": 1, "attempt": 1)");
  write("trial", good, R"("sweep": "s", "trial": 0, "attempt": 1)");
  write("attempt", good, R"("sweep": "s", "trial": 1, "attempt": "1")");
  write("sweep", good, R"("trial": 1, "attempt": 1)");
  EXPECT_TRUE(ResultBox::Open(folder_)->kept().empty());
}

TEST_F(ResultBoxTest, NamesFromAServerStayInsideTheFolder) {
  ResultBox box = *ResultBox::Open(folder_);
  KeptResult kept = Kept(1);
  kept.key.sweep = "../../up/and away";
  ASSERT_TRUE(box.Add(kept).ok());
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    EXPECT_TRUE(entry.is_regular_file());
    ++files;
  }
  EXPECT_EQ(files, 1u);
  const ResultBox next = *ResultBox::Open(folder_);
  ASSERT_EQ(next.kept().size(), 1u);
  EXPECT_EQ(next.kept()[0].key, kept.key);
  box.Remove(kStore, kept.key);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(ResultBoxTest, KeepsInMemoryWhatItCantWrite) {
  ResultBox box = *ResultBox::Open(folder_);
  std::filesystem::remove_all(folder_);
  EXPECT_TRUE(absl::IsUnavailable(box.Add(Kept(1))));
  EXPECT_EQ(box.kept().size(), 1u);
}

TEST(ResultBoxMemoryTest, NeedsNoFolder) {
  ResultBox box = *ResultBox::Open("");
  EXPECT_TRUE(box.Add(Kept(1)).ok());
  box.Remove(kStore, {"s", 1, 1});
  EXPECT_TRUE(box.kept().empty());
}

}  // namespace
}  // namespace meshwright::agent
