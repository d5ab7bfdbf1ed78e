// The parts of the gateway that need no server.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/gateway/cookies.h"
#include "server/gateway/error_answer.h"
#include "server/gateway/login_tries.h"
#include "server/gateway/sessions.h"
#include "server/gateway/static_files.h"

namespace meshwright::server {
namespace {

using ::testing::HasSubstr;

TEST(Cookies, AreReadWhereTheirNameStandsOnce) {
  HttpRequest request;
  request.fields = {{"cookie", "a=1; __Host-meshwright=x=y ;b=2"}};
  EXPECT_EQ(CookieOf(request, "__Host-meshwright"), "x=y");
  EXPECT_EQ(CookieOf(request, "a"), "1");
  EXPECT_EQ(CookieOf(request, "b"), "2");
  EXPECT_EQ(CookieOf(request, "c"), std::nullopt);
  EXPECT_EQ(CookieOf(request, "Host-meshwright"), std::nullopt);
  request.fields.push_back({"cookie", "a=3"});
  EXPECT_EQ(CookieOf(request, "a"), std::nullopt);
  request.fields = {{"cookie", ";;=;a;b=;"}};
  EXPECT_EQ(CookieOf(request, "a"), std::nullopt);
  EXPECT_EQ(CookieOf(request, "b"), "");
}

TEST(StaticFiles, HaveTypesAndTags) {
  const planner::EmbeddedFile kFiles[] = {
      {"index.html", "<!doctype html>"}, {"views/plan.js", "export {};"}, {"icon.svg", "<svg/>"}};
  const StaticFiles files(kFiles);
  const HttpResponse index = *files.Find("/", "");
  EXPECT_EQ(index.status, 200);
  EXPECT_EQ(index.body, "<!doctype html>");
  EXPECT_EQ(index.content_type, "text/html; charset=utf-8");
  EXPECT_EQ(files.Find("/index.html", "")->body, index.body);
  EXPECT_EQ(files.Find("/views/plan.js", "")->content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(files.Find("/icon.svg", "")->content_type, "image/svg+xml");
  for (const char* path : {"", "/views", "/views/", "/plan.js", "/views/plan.jsx", "index.html"}) {
    EXPECT_EQ(files.Find(path, ""), std::nullopt) << path;
  }
  ASSERT_EQ(index.fields[0].name, "ETag");
  const std::string tag = index.fields[0].value;
  const HttpResponse again = *files.Find("/", absl::StrCat("\"other\", ", tag));
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
  EXPECT_EQ(files.Find("/icon.svg", tag)->status, 200);
}

TEST(LoginTries, CountsByNetworkAndForgets) {
  absl::Duration now;
  LoginTries tries([&now] { return MonotonicTime{now}; });
  for (int i = 0; i < kMostLoginTries; ++i) EXPECT_TRUE(tries.Take("10.0.0.1").ok());
  EXPECT_EQ(tries.Take("10.0.0.1").code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(tries.Take("10.0.0.2").ok());
  for (int i = 0; i < kMostLoginTries; ++i) {
    EXPECT_TRUE(tries.Take(absl::StrCat("fd00::", i)).ok());
  }
  EXPECT_FALSE(tries.Take("fd00::ffff").ok());
  EXPECT_TRUE(tries.Take("fd00:0:0:1::1").ok());
  now = absl::Minutes(1);
  EXPECT_TRUE(tries.Take("10.0.0.1").ok());
}

TEST(LoginTries, ManyAddressesShareWhatIsLeft) {
  LoginTries tries([] { return MonotonicTime{}; });
  for (size_t i = 0; i < kMostLoginAddresses; ++i) {
    ASSERT_TRUE(tries.Take(absl::StrCat("10.", i >> 16, ".", (i >> 8) & 255, ".", i & 255)).ok());
  }
  for (int i = 0; i < kMostLoginTries; ++i)
    EXPECT_TRUE(tries.Take(absl::StrCat("11.0.0.", i)).ok());
  EXPECT_FALSE(tries.Take("11.0.0.99").ok());
}

TEST(Sessions, TheOldestOneMakesRoom) {
  absl::Time now = absl::UnixEpoch();
  Sessions sessions([&now] { return now; });
  Caller caller;
  caller.token_hash = "h";
  std::vector<std::string> numbers;
  for (size_t i = 0; i <= kMostSessionsOfOne; ++i) {
    numbers.push_back(*sessions.Begin(caller));
    now += absl::Seconds(1);
  }
  EXPECT_FALSE(sessions.Find(numbers[0]));
  EXPECT_TRUE(sessions.Find(numbers[1]));
  sessions.End(numbers[1]);
  EXPECT_FALSE(sessions.Find(numbers[1]));
  EXPECT_FALSE(sessions.Find(""));
  EXPECT_EQ(numbers[2].size(), 64u);
}

TEST(ErrorAnswer, HasTheStatusOfItsCode) {
  const auto status = [](absl::StatusCode code) {
    return ErrorAnswer(absl::Status(code, "m")).status;
  };
  EXPECT_EQ(status(absl::StatusCode::kInvalidArgument), 400);
  EXPECT_EQ(status(absl::StatusCode::kUnauthenticated), 401);
  EXPECT_EQ(status(absl::StatusCode::kPermissionDenied), 403);
  EXPECT_EQ(status(absl::StatusCode::kNotFound), 404);
  EXPECT_EQ(status(absl::StatusCode::kAlreadyExists), 409);
  EXPECT_EQ(status(absl::StatusCode::kFailedPrecondition), 412);
  EXPECT_EQ(status(absl::StatusCode::kResourceExhausted), 429);
  EXPECT_EQ(status(absl::StatusCode::kCancelled), 499);
  EXPECT_EQ(status(absl::StatusCode::kInternal), 500);
  EXPECT_EQ(status(absl::StatusCode::kUnimplemented), 501);
  EXPECT_EQ(status(absl::StatusCode::kUnavailable), 503);
  EXPECT_EQ(status(absl::StatusCode::kDeadlineExceeded), 504);
  EXPECT_EQ(ErrorAnswer(absl::Status(absl::StatusCode::kNotFound, "no \"x\"\n")).body,
            R"({"code":"NOT_FOUND","message":"no \"x\"\n","violations":[]})");
}

}  // namespace
}  // namespace meshwright::server
