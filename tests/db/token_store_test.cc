// Tokens in a database that a server works on meanwhile.
#include "db/token_store.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "db/check.h"
#include "db/migrations.h"
#include "db/sqlite_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/db/store_records.h"

namespace meshwright::db {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kBeforeTokens = 3;  // the schema without a table of tokens

class TokenStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/tokens-" + std::to_string(getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    path_ = folder_ + "/sweeps.db";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<TokenStore> Open() const {
    absl::StatusOr<std::unique_ptr<TokenStore>> store = TokenStore::Open(path_);
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }
  static TokenRecord Of(const std::string& name, const std::string& token,
                        const std::string& agent = "") {
    return {.name = name,
            .hash = HashOf(token),
            .role = agent.empty() ? Role::kOperator : Role::kAgent,
            .agent = agent,
            .create_time = At(1)};
  }
  // A database of the schema before tokens, with a sweep and its event.
  void MakeOldDatabase() const {
    auto connection = *SqliteConnection::Open(path_, SqliteConnection::Mode::kReadWriteCreate);
    MigrationScripts scripts = SchemaMigrations();
    scripts.resize(kBeforeTokens);
    ASSERT_TRUE(Migrate(connection.get(), scripts).ok());
    const absl::Status status = connection->Execute(R"sql(
      INSERT INTO sweeps VALUES (1, 's', NULL, 'finished', 'done', 0, 0, 'm', 'c', '{}', 'h', 'p',
        '{}', 'h', 4, 'cpu', 64, 8, 'fp32', 5, 0, NULL, '{}', '1', '');
      INSERT INTO events (sweep_id, kind, message, time_us) VALUES (1, 'sweep_created', 'one', 7);)sql");
    ASSERT_TRUE(status.ok()) << status;
  }
  std::string Bytes() const {
    std::ostringstream bytes;
    for (const char* suffix : {"", "-wal"}) {
      bytes << std::ifstream(path_ + suffix, std::ios::binary).rdbuf();
      bytes.clear();  // a file that is empty or not there
    }
    return bytes.str();
  }

  std::string folder_;
  std::string path_;
};

TEST_F(TokenStoreTest, FindsATokenByItsHash) {
  const std::string token = *NewToken();
  TokenRecord record = Of("node-1", token, "node-1");
  record.expire_time = At(100);
  ASSERT_TRUE(Open()->Add(record).ok());
  EXPECT_EQ(*Open()->Find(HashOf(token)), record);
  EXPECT_EQ(*Open()->Find(HashOf(*NewToken())), std::nullopt);
  // Of a hash that begins the same the whole counts.
  std::string alike = HashOf(token);
  alike.back() = alike.back() == '0' ? '1' : '0';
  EXPECT_EQ(*Open()->Find(alike), std::nullopt);
}

TEST_F(TokenStoreTest, TheTokenItselfIsNowhereInTheFile) {
  const std::string token = *NewToken();
  const auto store = Open();
  ASSERT_TRUE(store->Add(Of("a", token)).ok());
  EXPECT_THAT(Bytes(), HasSubstr(HashOf(token)));
  EXPECT_THAT(Bytes(), Not(HasSubstr(token.substr(4))));
}

TEST_F(TokenStoreTest, WhatOneStoreChangesAnotherOneSees) {
  const auto sweeps = *SqliteSweepStore::Open(path_);
  const auto of_server = Open();
  const std::string token = *NewToken();
  EXPECT_EQ(*of_server->Find(HashOf(token)), std::nullopt);
  {
    const auto of_command = Open();
    ASSERT_TRUE(of_command->Add(Of("a", token)).ok());
    // And the server writes meanwhile.
    ASSERT_TRUE(sweeps->CreateSweep(SomeSweep("one"), SomeTrials(1)).ok());
    ASSERT_TRUE((*of_server->Find(HashOf(token))).has_value());
    EXPECT_FALSE((*of_server->Find(HashOf(token)))->revoke_time.has_value());
    ASSERT_TRUE(of_command->Revoke("a", At(5)).ok());
  }
  EXPECT_EQ((*of_server->Find(HashOf(token)))->revoke_time, At(5));
  ASSERT_TRUE(sweeps->CreateSweep(SomeSweep("two"), SomeTrials(1)).ok());
  EXPECT_TRUE(CheckStore(path_)->ok());
}

TEST_F(TokenStoreTest, ANameIsTakenOnceAndStaysTaken) {
  const auto store = Open();
  EXPECT_EQ(*store->FreeName("a"), "a");
  ASSERT_TRUE(store->Add(Of("a", "1")).ok());
  ASSERT_TRUE(store->Revoke("a", At(2)).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(store->Add(Of("a", "2"))));
  EXPECT_EQ(*store->FreeName("a"), "a-2");
  ASSERT_TRUE(store->Add(Of("a-2", "2")).ok());
  EXPECT_EQ(*store->FreeName("a"), "a-3");
  EXPECT_EQ(store->List()->size(), 2u);
}

TEST_F(TokenStoreTest, OnlyATokenThatCountsIsRevoked) {
  const auto store = Open();
  EXPECT_THAT(std::string(store->Revoke("node-1", At(1)).message()), HasSubstr("there are none"));
  ASSERT_TRUE(store->Add(Of("node-1", "1")).ok());
  const absl::Status unknown = store->Revoke("node", At(1));
  EXPECT_TRUE(absl::IsNotFound(unknown));
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("nearest: node-1"));
  EXPECT_TRUE(store->Revoke("node-1", At(1)).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(store->Revoke("node-1", At(2))));
}

// What the schema itself refuses, whoever writes it.
TEST_F(TokenStoreTest, AnAgentsTokenNamesItsAgentAndNoOtherDoes) {
  const auto store = Open();
  TokenRecord nobodys = Of("a", "1");
  nobodys.role = Role::kAgent;
  EXPECT_FALSE(store->Add(nobodys).ok());
  TokenRecord viewer = Of("b", "2", "node-1");
  viewer.role = Role::kViewer;
  EXPECT_FALSE(store->Add(viewer).ok());
}

TEST_F(TokenStoreTest, ADatabaseOfTodayGetsTokensAndKeepsItsEvents) {
  MakeOldDatabase();
  ASSERT_TRUE(Open()->Add(Of("a", "1")).ok());
  EXPECT_TRUE(std::filesystem::exists(CopyBeforeMigration(path_, kBeforeTokens)));
  const auto sweeps = *SqliteSweepStore::Open(path_);
  const std::vector<EventRecord> events = *sweeps->ListEvents(1, 0, 10);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].message, "one");
  EXPECT_EQ(events[0].actor, "");
}

TEST_F(TokenStoreTest, AnOlderDatabaseIsNotChangedUnderItsServer) {
  MakeOldDatabase();
  {
    const auto server = StoreLock::Take(path_);
    ASSERT_TRUE(server.ok());
    const absl::Status status = TokenStore::Open(path_).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("is in use by another server"));
  }
  EXPECT_TRUE(TokenStore::Open(path_).ok());
}

TEST_F(TokenStoreTest, ASweepsFirstEventSaysWhoAskedForIt) {
  const auto sweeps = *SqliteSweepStore::Open(path_);
  SweepRecord sweep = SomeSweep("one");
  sweep.actor = "token ann";
  ASSERT_TRUE(sweeps->CreateSweep(sweep, SomeTrials(1)).ok());
  EXPECT_EQ((*sweeps->ListEvents(1, 0, 10))[0].actor, "token ann");
  EXPECT_EQ(sweeps->GetSweepById(1)->actor, "token ann");
}

}  // namespace
}  // namespace meshwright::db
