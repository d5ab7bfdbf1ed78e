// What an agent remembers of the epochs of its servers.
#include "executor/agent/known_epochs.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"

namespace meshwright::agent {
namespace {

class KnownEpochsTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "/epochs-" + std::to_string(getpid());
    std::filesystem::remove(path_);
  }
  void TearDown() override { std::filesystem::remove(path_); }
  std::string path_;
};

TEST_F(KnownEpochsTest, RemembersTheHighestOfEachStoreInALaterProcessToo) {
  KnownEpochs epochs(path_);
  EXPECT_EQ(epochs.Of("aa").epoch, 0);
  ASSERT_TRUE(epochs.Note({"aa", 2, "one:1"}).ok());
  ASSERT_TRUE(epochs.Note({"bb", 1, "three:3"}).ok());
  ASSERT_TRUE(epochs.Note({"aa", 1, "two:2"}).ok());
  const KnownEpochs later(path_);
  EXPECT_EQ(later.Of("aa").epoch, 2);
  EXPECT_EQ(later.Of("aa").address, "one:1");
  EXPECT_EQ(later.all().size(), 2u);
}

TEST_F(KnownEpochsTest, IgnoresLinesThatAreNone) {
  std::ofstream(path_) << "aa 0 one:1\n../x 3 one:1\naa\n\nbb 4 two:2\n";
  const KnownEpochs epochs(path_);
  ASSERT_EQ(epochs.all().size(), 1u);
  EXPECT_EQ(epochs.Of("bb").epoch, 4);
}

TEST_F(KnownEpochsTest, ForgetsTheStoreThatWasMetLongestAgo) {
  KnownEpochs epochs;
  for (int i = 0; i < 65; ++i) ASSERT_TRUE(epochs.Note({"a" + std::to_string(i), 1, "h:1"}).ok());
  EXPECT_EQ(epochs.all().size(), 64u);
  EXPECT_EQ(epochs.Of("a0").epoch, 0);
  EXPECT_EQ(epochs.Of("a64").epoch, 1);
}

TEST_F(KnownEpochsTest, RemembersInMemoryWhatItCantWrite) {
  KnownEpochs epochs("/dev/null/epochs");
  EXPECT_TRUE(absl::IsUnavailable(epochs.Note({"aa", 2, "one:1"})));
  EXPECT_EQ(epochs.Of("aa").epoch, 2);
}

}  // namespace
}  // namespace meshwright::agent
