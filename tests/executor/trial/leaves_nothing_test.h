// LeavesNothingTest is a fixture that checks after each test that no child process, zombie or
// descriptor is left.
#pragma once

#include <dirent.h>
#include <sys/wait.h>

#include <cerrno>

#include "gtest/gtest.h"

namespace meshwright::trial {

class LeavesNothingTest : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
    EXPECT_EQ(OpenDescriptors(), descriptors_before_);
  }

 private:
  static int OpenDescriptors() {
    int count = 0;
    DIR* folder = ::opendir("/proc/self/fd");
    while (::readdir(folder) != nullptr) ++count;
    ::closedir(folder);
    return count;
  }

  const int descriptors_before_ = OpenDescriptors();
};

}  // namespace meshwright::trial
