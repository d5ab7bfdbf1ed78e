#include "executor/launcher/launch.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/executor/launcher/fake_machine.h"

namespace meshwright::launcher {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr char kLaunchRoot[] = "/opt/meshwright-1";
constexpr char kNeededLibraries[] = "2.11.0+cu130";

FakeMachine WithTorchBeside() {
  FakeMachine fake;
  fake.AddTorch("/opt/torch", kNeededLibraries);
  return fake;
}

Launch Plan(FakeMachine& fake, const std::vector<std::string>& arguments,
            const std::vector<std::string>& environment = {}) {
  return PlanLaunch(kLaunchRoot, kNeededLibraries, arguments, environment, fake.machine());
}

TEST(Launch, BecomesTheWorkerWithItsArguments) {
  FakeMachine fake = WithTorchBeside();
  EXPECT_THAT(Plan(fake, {"meshwright-worker", "--listen-fd", "4"}).arguments,
              ElementsAre("/opt/meshwright-1/libexec/meshwright-worker", "--listen-fd", "4"));
  EXPECT_THAT(Plan(fake, {}).arguments, ElementsAre("/opt/meshwright-1/libexec/meshwright-worker"));
}

TEST(Launch, BecomesAnotherProgram) {
  FakeMachine fake = WithTorchBeside();
  EXPECT_THAT(Plan(fake, {"meshwright-worker", "--exec", "tests/a_test", "--exec"}).arguments,
              ElementsAre("tests/a_test", "--exec"));
  EXPECT_THAT(Plan(fake, {"meshwright-worker", "--exec"}).problem, HasSubstr("--exec"));
}

TEST(Launch, KeepsTheEnvironmentAndTellsWhereTorchIs) {
  FakeMachine fake = WithTorchBeside();
  fake.variables["LD_LIBRARY_PATH"] = "/mine";
  const Launch launch =
      Plan(fake, {"meshwright-worker"}, {"RANK=3", "LD_LIBRARY_PATH=/mine", "LD_LIBRARY=kept"});
  EXPECT_THAT(launch.environment, UnorderedElementsAre("RANK=3", "LD_LIBRARY=kept",
                                                       "LD_LIBRARY_PATH=/opt/torch/lib:/mine",
                                                       "MESHWRIGHT_TORCH_DIR=/opt/torch",
                                                       "MESHWRIGHT_BIN_DIR=/opt/meshwright-1/bin"));
}

TEST(Launch, LeavesABinFolderThatIsSet) {
  FakeMachine fake = WithTorchBeside();
  fake.variables["MESHWRIGHT_BIN_DIR"] = "/other";
  EXPECT_THAT(Plan(fake, {"meshwright-worker"}, {"MESHWRIGHT_BIN_DIR=/other"}).environment,
              Contains("MESHWRIGHT_BIN_DIR=/other"));
}

TEST(Launch, StartsNothingWithoutTorch) {
  FakeMachine fake;
  const Launch launch = Plan(fake, {"meshwright-worker"});
  EXPECT_THAT(launch.problem, HasSubstr("was not found"));
  EXPECT_TRUE(launch.arguments.empty());
}

TEST(LibraryPath, PutsTheLibrariesThatPipPutsBesideTorchBeforeTheMachinesOwn) {
  FakeMachine fake;
  fake.AddTorch("/site/torch", kNeededLibraries);
  for (const char* file :
       {"/site/nvidia/nccl/lib/libnccl.so.2", "/site/nvidia/cu13/lib/libcublas.so.13",
        "/site/nvidia/only_headers/include/a.h", "/usr/local/cuda/lib64/libcudart.so.13",
        "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13", "/usr/local/bin/cuda",
        "/usr/local/cuda-13.0/lib/libcudart.so.13", "/toolkit/lib64/libcudart.so.13"}) {
    fake.files[file] = "";
  }
  fake.variables["CUDA_HOME"] = "/toolkit";
  fake.variables["LD_LIBRARY_PATH"] = "/before::/site/nvidia/nccl/lib:/driver";
  EXPECT_EQ(LibraryPath("/site/torch", fake.machine()),
            "/site/torch/lib:/site/nvidia/cu13/lib:/site/nvidia/nccl/lib:/toolkit/lib64:"
            "/usr/local/cuda/lib64:/usr/local/cuda/extras/CUPTI/lib64:/usr/local/cuda-13.0/lib:"
            "/before:/driver");
}

// A trial's worker is started by a test that was started by the launcher.
TEST(LibraryPath, StaysAsItIsInALauncherBelow) {
  FakeMachine fake;
  fake.AddTorch("/site/torch", kNeededLibraries);
  fake.files["/site/nvidia/nccl/lib/libnccl.so.2"] = "";
  const std::string once = LibraryPath("/site/torch", fake.machine());
  fake.variables["LD_LIBRARY_PATH"] = once;
  EXPECT_EQ(LibraryPath("/site/torch", fake.machine()), once);
}

}  // namespace
}  // namespace meshwright::launcher
