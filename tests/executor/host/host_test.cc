#include "executor/host/host.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace meshwright::host {
namespace {

TEST(NvidiaDriverVersion, IsThatOfTheKernelsModule) {
  const std::string root = testing::TempDir() + "/driver-" + std::to_string(getpid()) + "/";
  std::filesystem::create_directories(root + "proc/driver/nvidia");
  EXPECT_EQ(NvidiaDriverVersion(root), "");
  std::ofstream(root + "proc/driver/nvidia/version")
      << "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.82.07  Release Build\n"
         "GCC version:  gcc version 12.3.0\n";
  EXPECT_EQ(NvidiaDriverVersion(root), "580.82.07");
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace meshwright::host
