#include "tools/cli/io/command_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/text/field_error.h"

namespace meshwright::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class CommandFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_ / "inside");
    std::ofstream(file_) << "old";
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string At(const std::string& name) const { return folder_ / name; }
  static std::string TextOf(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  std::string ClaimError(const std::string& flag, const std::string& path) {
    return std::string(files_.Claim(flag, path).status().message());
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "command_files_test";
  const std::string file_ = folder_ / "file";
  CommandFiles files_;
};

TEST_F(CommandFilesTest, WhatIsReadIsNotWrittenOverByAnyOfItsNames) {
  fs::create_hard_link(file_, At("hard"));
  fs::create_symlink("file", At("link"));
  fs::create_directory_symlink(folder_, At("folder"));
  ASSERT_TRUE(files_.Read("model", file_).ok());
  for (const std::string& name : {file_, At("./file"), At("inside/../file"), At("hard"), At("link"),
                                  At("folder/file"), At("folder/link")}) {
    const absl::Status status = files_.Claim("rows", name).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(FieldOf(status), "rows");
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("rows = " + name + ": is the file of model = " + file_ +
                          ", which must not be written over"));
  }
  EXPECT_TRUE(files_.Claim("rows", At("other")).ok());
}

TEST_F(CommandFilesTest, WhatWillBeWrittenIsNotReadAfterwards) {
  ASSERT_TRUE(files_.Claim("rows", file_).ok());
  const absl::Status status = files_.Read("model", At("./file")).status();
  EXPECT_EQ(FieldOf(status), "rows");
  EXPECT_THAT(std::string(status.message()), HasSubstr("must not be written over"));
}

TEST_F(CommandFilesTest, TwoFlagsDoNotWriteOneFileThatIsNotThereYet) {
  fs::create_symlink("new", At("dangling"));
  ASSERT_TRUE(files_.Claim("output", At("new")).ok());
  for (const std::string& name : {At("new"), At("./new"), At("inside/../new"), At("dangling")}) {
    EXPECT_THAT(ClaimError("plot", name),
                HasSubstr("is the file of output = " + At("new") + " too; must be another file"));
  }
  EXPECT_TRUE(files_.Claim("plot", At("newer")).ok());
  EXPECT_FALSE(fs::exists(At("new")));  // a claim leaves nothing behind
}

TEST_F(CommandFilesTest, OneFileMayBeReadTwice) {
  EXPECT_TRUE(files_.Read("measurements", file_).ok());
  EXPECT_TRUE(files_.Read("measurements", At("./file")).ok());
}

TEST_F(CommandFilesTest, TheNullDeviceTakesEverything) {
  fs::create_symlink("/dev/null", At("null"));
  for (const std::string& name : {std::string("/dev/null"), At("null")}) {
    const auto output = files_.Claim("output", name);
    ASSERT_TRUE(output.ok()) << output.status();
    EXPECT_TRUE(output->Write("text").ok());
    EXPECT_TRUE(files_.Read("model", name).ok());
  }
}

// A terminal or a pipe holds nothing that could be lost; two outputs would be mixed in it.
TEST_F(CommandFilesTest, APipeIsRefusedToASecondOutputOnly) {
  ASSERT_EQ(::mkfifo(At("pipe").c_str(), 0600), 0);
  const int writer = ::open(At("pipe").c_str(), O_RDWR);
  ASSERT_GE(writer, 0);
  ASSERT_EQ(::write(writer, "x", 1), 1);
  EXPECT_TRUE(files_.Claim("output", At("pipe")).ok());
  EXPECT_THAT(ClaimError("plot", At("pipe")), HasSubstr("must be another file"));
  ::close(writer);
}

TEST_F(CommandFilesTest, WhatIsPrintedToAFileIsKept) {
  const int descriptor = ::open(file_.c_str(), O_WRONLY | O_APPEND);
  ASSERT_GE(descriptor, 0);
  files_.AddStream("standard output", descriptor);
  files_.AddStream("standard error", descriptor);
  EXPECT_THAT(ClaimError("rows", At("./file")),
              HasSubstr("is the file that standard output goes to; must be another file"));
  EXPECT_THAT(std::string(files_.Read("model", file_).status().message()),
              HasSubstr("model = " + file_ + ": is the file that standard output goes to"));
  ::close(descriptor);
}

TEST_F(CommandFilesTest, WritingToALinkChangesTheFileBehindIt) {
  fs::create_symlink("file", At("link"));
  ASSERT_TRUE(files_.Claim("output", At("link"))->Write("new").ok());
  EXPECT_EQ(TextOf(file_), "new");
  EXPECT_TRUE(fs::is_symlink(At("link")));
}

TEST_F(CommandFilesTest, NoFileIsWantedWithoutAName) {
  const OutputFile none = files_.Claim("output", "").value();
  EXPECT_FALSE(none.wanted());
  EXPECT_TRUE(none.Write("text").ok());
}

TEST_F(CommandFilesTest, WhatCannotBeWrittenIsKnownBefore) {
  EXPECT_THAT(ClaimError("output", "/no/such/file"), HasSubstr("cannot be written"));
  EXPECT_THAT(ClaimError("output", folder_), HasSubstr("is a folder"));
}

TEST_F(CommandFilesTest, AFullDiskIsAFailureNotBadInput) {
  const auto output = files_.Claim("output", "/dev/full");
  ASSERT_TRUE(output.ok()) << output.status();
  const absl::Status status = output->Write("text");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("output = /dev/full: cannot be written"));
}

}  // namespace
}  // namespace meshwright::cli
