// What holds for each caller of a server that asks who calls: how much one may take, and how long
// what one has begun goes on.
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "db/sqlite.h"
#include "tests/server/access_fixture.h"

namespace meshwright::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using CallerLimitsTest = AccessTest;

TEST_F(CallerLimitsTest, AWatchEndsWhenItsTokenIsRevokedOrExpires) {
  StartServer("");
  const ServerAccess bob = With(Token("bob", db::Role::kOperator));
  v1::Sweep sweep;
  ExpectOk(Create(bob, &sweep));  // which waits for agents, and nothing happens in it
  const Watch others(bob, sweep.name());
  Watch revoked(With(Token("ann", db::Role::kViewer)), sweep.name());
  Watch expired(With(Token("eve", db::Role::kViewer, "", absl::Hours(1))), sweep.name());
  EXPECT_TRUE(
      WaitFor([&] { return others.has_events() && revoked.has_events() && expired.has_events(); }));
  Revoke("ann");
  ExpectRefused(revoked.Wait(), grpc::StatusCode::UNAUTHENTICATED, "token ann was revoked on 20");
  EXPECT_FALSE(expired.ended());
  ahead_s_.store(3601);
  ExpectRefused(expired.Wait(), grpc::StatusCode::UNAUTHENTICATED, "token eve expired on 20");
  EXPECT_FALSE(others.ended());
}

TEST_F(CallerLimitsTest, ACertificateCountsUntilItsEndOnOpenConnectionsToo) {
  StartServer(authority_.certificate());
  const ServerAccess ann =
      With(authority_.Issue("URI:meshwright://operator/ann", -60, /*end_s=*/1800));
  const ServerAccess bob = With(authority_.Issue("URI:meshwright://operator/bob"));
  v1::Sweep sweep;
  ExpectOk(Create(bob, &sweep));
  const Watch others(bob, sweep.name());
  Watch expired(ann, sweep.name());
  EXPECT_TRUE(WaitFor([&] { return others.has_events() && expired.has_events(); }));
  const std::unique_ptr<v1::Sweeps::Stub> open = v1::Sweeps::NewStub(Dial(ann));
  const auto list = [&] {
    grpc::ClientContext context;
    v1::ListSweepsResponse response;
    return open->ListSweeps(&context, {}, &response);
  };
  ExpectOk(list());
  ahead_s_.store(1801);
  ExpectRefused(expired.Wait(), grpc::StatusCode::UNAUTHENTICATED, "certificate ann expired on 20");
  ExpectRefused(list(), grpc::StatusCode::UNAUTHENTICATED, "connect with another one");
  EXPECT_FALSE(others.ended());
}

TEST_F(CallerLimitsTest, AServerThatNobodyCanCallSaysSo) {
  const std::string said = "nobody can call this server yet";
  StartServer("");
  ASSERT_EQ(Logged(said).size(), 1u);
  EXPECT_EQ(Logged(said)[0].level, LogLevel::kWarning);
  EXPECT_THAT(Logged(said)[0].message,
              AllOf(HasSubstr("--tls-client-ca"), HasSubstr("meshwright token create")));
  Token("ann", db::Role::kViewer);
  Revoke("ann");
  Token("eve", db::Role::kViewer, "", absl::ZeroDuration());
  server_.reset();
  StartServer("");
  EXPECT_EQ(Logged(said).size(), 2u);
  server_.reset();
  StartServer(authority_.certificate());
  EXPECT_EQ(Logged(said).size(), 2u);
  Token("bob", db::Role::kViewer);
  server_.reset();
  StartServer("");
  EXPECT_EQ(Logged(said).size(), 2u);
}

TEST_F(CallerLimitsTest, WhoCallsTooOftenIsRefusedAlone) {
  limits_.max_calls_per_s = 1.0;
  calls_clock_stands_ = true;
  StartServer("");
  const ServerAccess ann = With(Token("ann", db::Role::kViewer));
  for (int i = 0; i < 5; ++i) ExpectOk(List(ann));
  ExpectRefused(List(ann), grpc::StatusCode::RESOURCE_EXHAUSTED,
                "token ann calls too often: one caller may make 1 calls a second");
  ExpectOk(List(With(Token("bob", db::Role::kViewer))));
  ExpectOk(CallPath(ann, "/grpc.health.v1.Health/Check"));
  monotonic_s_.store(1);
  ExpectOk(List(ann));
  EXPECT_EQ(Logged("calls too often").size(), 1u);
  EXPECT_EQ(Logged("calls too often")[0].about.code, "RESOURCE_EXHAUSTED");
}

TEST_F(CallerLimitsTest, EachCallersStreamsAndSearchesAreCounted) {
  limits_.max_watchers_per_caller = 1;
  limits_.max_searches_per_caller = 1;
  std::atomic<bool> release{false};
  std::atomic<int> searching{0};
  recommend_ = [&](const planner::PlanQuery&, int32_t,
                   const planner::SearchRun&) -> absl::StatusOr<planner::RecommendAnswer> {
    ++searching;
    while (!release.load()) absl::SleepFor(absl::Milliseconds(5));
    return planner::RecommendAnswer();
  };
  StartServer("");
  const ServerAccess ann = With(Token("ann", db::Role::kOperator));
  const ServerAccess bob = With(Token("bob", db::Role::kOperator));
  v1::Sweep sweep;
  ExpectOk(Create(ann, &sweep));
  const Watch first(ann, sweep.name());
  EXPECT_TRUE(WaitFor([&] { return first.has_events(); }));
  Watch second(ann, sweep.name());
  ExpectRefused(second.Wait(), grpc::StatusCode::RESOURCE_EXHAUSTED, "token ann has 1 watchers");
  const Watch others(bob, sweep.name());
  EXPECT_TRUE(WaitFor([&] { return others.has_events(); }));

  const auto recommend = [](const ServerAccess& access) {
    v1::RecommendRequest request;
    request.mutable_plan()->mutable_model()->set_preset("tinystories-15m");
    request.mutable_plan()->mutable_cluster()->set_preset("local-cpu");
    request.mutable_plan()->set_gpus(4);
    request.mutable_plan()->set_seq_len(64);
    request.mutable_plan()->set_global_batch(8);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    v1::RecommendResponse response;
    return v1::Planner::NewStub(Dial(access))->Recommend(&context, request, &response);
  };
  std::thread anns([&] { ExpectOk(recommend(ann)); });
  EXPECT_TRUE(WaitFor([&] { return searching.load() == 1; }));
  ExpectRefused(recommend(ann), grpc::StatusCode::RESOURCE_EXHAUSTED, "token ann has 1 searches");
  std::thread bobs([&] { ExpectOk(recommend(bob)); });
  EXPECT_TRUE(WaitFor([&] { return searching.load() == 2; }));
  release.store(true);
  anns.join();
  bobs.join();
  ExpectOk(recommend(ann));
}

TEST_F(CallerLimitsTest, CallsThatWaitForTheStoreAreCountedAndHoldUpNoOther) {
  limits_.max_calls = 5;
  limits_.max_calls_per_caller = 4;
  StartServer("");
  const ServerAccess ann = With(Token("ann", db::Role::kOperator));
  const ServerAccess bob = With(Token("bob", db::Role::kOperator));
  std::vector<v1::Sweep> sweeps(5);
  for (v1::Sweep& sweep : sweeps) ExpectOk(Create(bob, &sweep));
  auto locker = db::SqliteConnection::Open(db(), db::SqliteConnection::Mode::kReadWriteCreate);
  ASSERT_TRUE(locker.ok()) << locker.status();
  ASSERT_TRUE((*locker)->Execute("BEGIN IMMEDIATE").ok());
  std::vector<std::thread> waiting;
  const auto cancel = [&](const ServerAccess& access) {
    waiting.emplace_back([access, name = sweeps[waiting.size()].name()] {
      v1::CancelSweepRequest request;
      request.set_name(name);
      v1::Sweep cancelled;
      // A call that asks whether all places are taken may have the last one.
      EXPECT_TRUE(WaitFor([&] {
        grpc::ClientContext context;
        return v1::Sweeps::NewStub(Dial(access))->CancelSweep(&context, request, &cancelled).ok();
      }));
      EXPECT_EQ(cancelled.state(), v1::SWEEP_STATE_CANCELLED);
    });
  };
  const auto is_full = [](const ServerAccess& access) {
    return List(access).error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED;
  };
  for (int i = 0; i < 4; ++i) cancel(ann);
  EXPECT_TRUE(WaitFor([&] { return is_full(ann); }));
  ExpectRefused(List(ann), grpc::StatusCode::RESOURCE_EXHAUSTED,
                "token ann has 4 calls, the most that one caller may have at once (serve "
                "--max-calls-per-caller)");
  ExpectOk(List(bob));
  cancel(bob);
  EXPECT_TRUE(WaitFor([&] { return is_full(bob); }));
  ExpectRefused(List(bob), grpc::StatusCode::RESOURCE_EXHAUSTED,
                "the server has 5 calls, the most that it takes at once (serve --max-calls)");
  ExpectOk(CallPath(bob, "/grpc.health.v1.Health/Check"));
  ASSERT_TRUE((*locker)->Execute("ROLLBACK").ok());
  for (std::thread& call : waiting) call.join();
  ExpectOk(List(ann));
}

}  // namespace
}  // namespace meshwright::server
