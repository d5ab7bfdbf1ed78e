// `meshwright token`: makes, lists and revokes tokens of a database.
#include <unistd.h>

#include <filesystem>

#include "db/token_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tools/command_runner.h"

namespace meshwright::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class TokenCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/token-command-" + std::to_string(getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string db() const { return folder_ + "/sweeps.db"; }
  CommandOutput Token(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "token");
    arguments.insert(arguments.end(), {"--db", db()});
    return RunCommand(arguments);
  }
  std::optional<db::TokenRecord> Find(const std::string& printed) const {
    const std::string token = printed.substr(0, printed.find('\n'));
    return *(*db::TokenStore::Open(db()))->Find(db::HashOf(token));
  }

  std::string folder_;
};

TEST_F(TokenCommandTest, PrintsTheTokenAloneAndWhatItIsBeside) {
  const CommandOutput made = Token({"create", "--role", "agent", "--agent", "node-1"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_TRUE(db::LooksLikeToken(made.out.substr(0, made.out.size() - 1))) << made.out;
  EXPECT_THAT(made.err, HasSubstr("token node-1, role agent of node-1, never expires"));
  const std::optional<db::TokenRecord> found = Find(made.out);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->name, "node-1");
  EXPECT_EQ(found->role, db::Role::kAgent);
  EXPECT_EQ(found->agent, "node-1");
}

TEST_F(TokenCommandTest, NamesAreMadeWhereNoneIsGiven) {
  EXPECT_EQ(Find(Token({"create", "--role", "viewer"}).out)->name, "viewer");
  EXPECT_EQ(Find(Token({"create", "--role", "viewer"}).out)->name, "viewer-2");
  EXPECT_EQ(Find(Token({"create", "--role", "operator", "--name", "ann"}).out)->name, "ann");
  const CommandOutput again = Token({"create", "--role", "operator", "--name", "ann"});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("a token named ann exists"));
}

TEST_F(TokenCommandTest, ATimeEndsIt) {
  const db::TokenRecord made = *Find(Token({"create", "--role", "viewer", "--expires", "30d"}).out);
  EXPECT_EQ(*made.expire_time - made.create_time, absl::Hours(30 * 24));
  const CommandOutput wrong = Token({"create", "--role", "viewer", "--expires", "soon"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--expires soon: must be above 0 with a unit"));
}

TEST_F(TokenCommandTest, OnlyAnAgentsTokenNamesAnAgent) {
  const CommandOutput nobodys = Token({"create", "--role", "agent"});
  EXPECT_EQ(nobodys.exit_code, 2);
  EXPECT_THAT(nobodys.err, HasSubstr("must name the agent that the token is for"));
  const CommandOutput viewer = Token({"create", "--role", "viewer", "--agent", "a"});
  EXPECT_EQ(viewer.exit_code, 2);
  EXPECT_THAT(viewer.err, HasSubstr("goes with --role agent only"));
  EXPECT_EQ(Token({"create", "--role", "agent", "--agent", "a b"}).exit_code, 2);
  EXPECT_EQ(Token({"create", "--role", "root"}).exit_code, 2);
  // Nothing was made on the way.
  EXPECT_FALSE(std::filesystem::exists(db()));
}

TEST_F(TokenCommandTest, ListsWithoutTheTokensThemselves) {
  const std::string token = Token({"create", "--role", "viewer", "--name", "ann"}).out;
  ASSERT_EQ(Token({"revoke", "ann"}).exit_code, 0);
  Token({"create", "--role", "agent", "--agent", "node-1", "--expires", "1d"});
  const CommandOutput listed = Token({"list"});
  EXPECT_THAT(listed.out, AllOf(HasSubstr("ann"), HasSubstr("revoked 20"), HasSubstr("node-1"),
                                HasSubstr("expires 20"), Not(HasSubstr(token.substr(4, 20)))));
  EXPECT_THAT(listed.out, Not(HasSubstr(db::HashOf(token.substr(0, token.size() - 1)))));
  const CommandOutput again = Token({"revoke", "ann"});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("was revoked before"));
  EXPECT_EQ(Token({"revoke", "bob"}).exit_code, 2);
}

TEST_F(TokenCommandTest, OnlyANewTokenMakesADatabase) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"list"}, std::vector<std::string>{"revoke", "a"}}) {
    const CommandOutput run = Token(arguments);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("this file does not exist"));
  }
  EXPECT_FALSE(std::filesystem::exists(db()));
}

}  // namespace
}  // namespace meshwright::cli
