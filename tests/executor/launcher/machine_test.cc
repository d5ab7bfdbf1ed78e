#include "executor/launcher/machine.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace meshwright::launcher {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(RunCommand, ReturnsWhatTheProgramPrintsAndItsExitCode) {
  const CommandEnd end = RunCommand({"sh", "-c", "echo one; echo two; exit 3"}, seconds(60));
  EXPECT_EQ(end.kind, CommandEnd::Reason::kEnded);
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_EQ(end.out, "one\ntwo\n");
  EXPECT_EQ(RunCommand({"sh", "-c", "kill -TERM $$"}, seconds(60)).exit_code, 128 + 15);
}

TEST(RunCommand, SaysThatAProgramIsNotThere) {
  EXPECT_EQ(RunCommand({"meshwright-no-such-program"}, seconds(60)).kind,
            CommandEnd::Reason::kNotStarted);
}

TEST(RunCommand, KillsAProgramThatTakesTooLong) {
  EXPECT_EQ(RunCommand({"sleep", "600"}, milliseconds(50)).kind, CommandEnd::Reason::kTimedOut);
  EXPECT_EQ(RunCommand({"sh", "-c", "exec >&-; exec sleep 600"}, milliseconds(50)).kind,
            CommandEnd::Reason::kTimedOut);
}

// The worker's plan, events and listener stay the worker's.
TEST(RunCommand, GivesTheProgramNoneOfItsOwnDescriptors) {
  const int file = open("/dev/null", O_RDONLY);
  ASSERT_GE(file, 3);
  const CommandEnd end = RunCommand({"sh", "-c", "cat; ls /proc/self/fd | wc -l"}, seconds(60));
  close(file);
  // Standard input, output and error, and the folder that ls reads.
  EXPECT_EQ(std::atoi(end.out.c_str()), 4) << end.out;
}

TEST(ThisMachine, ReadsVariablesFilesAndFolders) {
  const std::string folder = testing::TempDir() + "/machine-" + std::to_string(getpid());
  std::filesystem::create_directories(folder + "/b/inside");
  std::filesystem::create_directories(folder + "/a");
  std::filesystem::create_directory_symlink(folder + "/a", folder + "/c");
  std::ofstream(folder + "/file") << "text";
  const Machine machine = ThisMachine();
  setenv("MESHWRIGHT_MACHINE_TEST", "", 1);
  EXPECT_EQ(machine.variable("MESHWRIGHT_MACHINE_TEST"), std::nullopt);
  setenv("MESHWRIGHT_MACHINE_TEST", "value", 1);
  EXPECT_EQ(machine.variable("MESHWRIGHT_MACHINE_TEST"), "value");
  EXPECT_EQ(machine.read_file(folder + "/file"), "text");
  EXPECT_EQ(machine.read_file(folder + "/none"), std::nullopt);
  EXPECT_THAT(machine.folders(folder), testing::ElementsAre("a", "b", "c"));
  EXPECT_TRUE(machine.folders(folder + "/none").empty());
  EXPECT_TRUE(machine.is_folder(folder + "/c"));
  EXPECT_FALSE(machine.is_folder(folder + "/file"));
  EXPECT_EQ(machine.real_path(folder + "/c/"), machine.real_path(folder) + "/a");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace meshwright::launcher
