#include "executor/launcher/find_torch.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/executor/launcher/fake_machine.h"

namespace meshwright::launcher {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr char kRoot[] = "/opt/meshwright-1";
constexpr char kNeeded[] = "2.11.0+cu130";

TorchSearch Find(FakeMachine& fake) { return FindTorch(kRoot, kNeeded, fake.machine()); }

TEST(FindTorch, TheVariableComesFirst) {
  FakeMachine fake;
  fake.variables["MESHWRIGHT_TORCH_DIR"] = "/data/torch";
  fake.AddTorch("/data/torch", kNeeded);
  fake.AddTorch("/opt/torch", kNeeded);
  fake.AddTorch("/site/torch", kNeeded);
  fake.SetPython("/site/torch\n");
  EXPECT_EQ(Find(fake).folder, "/data/torch");
  EXPECT_TRUE(fake.commands.empty());
}

TEST(FindTorch, TheFolderBesideTheArchiveComesBeforePython) {
  FakeMachine fake;
  fake.AddTorch("/opt/torch", kNeeded);
  fake.AddTorch("/site/torch", kNeeded);
  fake.SetPython("/site/torch\n");
  EXPECT_EQ(Find(fake).folder, "/opt/torch");
  EXPECT_TRUE(fake.commands.empty());
}

TEST(FindTorch, AsksPythonLast) {
  FakeMachine fake;
  fake.AddTorch("/site/torch", kNeeded);
  fake.SetPython("/site/torch\n");
  EXPECT_EQ(Find(fake).folder, "/site/torch");
  ASSERT_EQ(fake.commands.size(), 1u);
  EXPECT_EQ(fake.commands[0][0], "python3");
  EXPECT_THAT(fake.commands[0][2], testing::Not(HasSubstr("import torch")));
}

TEST(FindTorch, FollowsALinkToThePlaceWhereTheCudaLibrariesLieBeside) {
  FakeMachine fake;
  fake.AddTorch("/site/torch", kNeeded);
  fake.links["/opt/torch"] = "/site/torch";
  EXPECT_EQ(Find(fake).folder, "/site/torch");
}

TEST(FindTorch, RefusesAnotherVersionAndNamesBothAndThePlace) {
  FakeMachine fake;
  fake.variables["MESHWRIGHT_TORCH_DIR"] = "/data/torch";
  fake.AddTorch("/data/torch", "2.10.0+cu128");
  // A fitting one further down is not taken: the operator named this one.
  fake.AddTorch("/opt/torch", kNeeded);
  const TorchSearch search = Find(fake);
  EXPECT_EQ(search.folder, std::nullopt);
  EXPECT_THAT(search.problem, AllOf(HasSubstr("2.10.0+cu128"), HasSubstr("2.11.0+cu130"),
                                    HasSubstr("/data/torch (MESHWRIGHT_TORCH_DIR)")));
}

TEST(FindTorch, RefusesTheSameReleaseForAnotherCuda) {
  FakeMachine fake;
  fake.AddTorch("/site/torch", "2.11.0+cpu");
  fake.SetPython("/site/torch\n");
  EXPECT_THAT(Find(fake).problem, AllOf(HasSubstr("2.11.0+cpu"), HasSubstr("2.11.0+cu130"),
                                        HasSubstr("the torch package of python3")));
}

TEST(FindTorch, RefusesAFolderThatHoldsNoTorch) {
  FakeMachine fake;
  fake.variables["MESHWRIGHT_TORCH_DIR"] = "/data/torch";
  EXPECT_THAT(Find(fake).problem, HasSubstr("it has no version.py"));
  fake.files["/data/torch/version.py"] = "nothing\n";
  EXPECT_THAT(Find(fake).problem, HasSubstr("names no version"));
  fake.files["/data/torch/version.py"] = "__version__ = '2.11.0+cu130'\n";
  EXPECT_THAT(Find(fake).problem, HasSubstr("it has no folder lib"));
}

TEST(FindTorch, NamesAllPlacesAndWhatToDoWhereThereIsNone) {
  FakeMachine fake;
  const std::string problem = Find(fake).problem;
  EXPECT_THAT(problem, HasSubstr("torch 2.11.0+cu130 was not found"));
  EXPECT_THAT(problem, HasSubstr("MESHWRIGHT_TORCH_DIR is not set"));
  EXPECT_THAT(problem, HasSubstr("there is no folder /opt/torch"));
  EXPECT_THAT(problem, HasSubstr("there is no python3 on PATH"));
  EXPECT_THAT(problem, HasSubstr("install torch==2.11.0 for python3"));
}

TEST(FindTorch, SaysWhatPythonAnsweredWhereThereIsNone) {
  FakeMachine fake;
  fake.SetPython("");
  EXPECT_THAT(Find(fake).problem, HasSubstr("this python3 has none"));
  fake.SetPython("/site/torch\n", 1);
  EXPECT_THAT(Find(fake).problem, HasSubstr("this python3 has none"));
  fake.python.kind = CommandEnd::Reason::kTimedOut;
  EXPECT_THAT(Find(fake).problem, HasSubstr("did not answer in time"));
}

}  // namespace
}  // namespace meshwright::launcher
