// Conditions over trials, as callers ask them.
#include <set>

#include "gmock/gmock.h"
#include "tests/server/server_fixture.h"

namespace meshwright::server {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The wider its tensor parallelism, the faster.
trial::TrialResult FasterByTp(const trial::TrialPlan& plan, const trial::TrialRunnerOptions&) {
  trial::TrialResult result = Measured(plan);
  result.step_s = 1.0 / plan.layout.tp;
  return result;
}

class SweepQueriesTest : public ServerFixture {
 protected:
  void SetUp() override {
    ServerFixture::SetUp();
    const TestAgent agent(server_->address(), "a", FasterByTp);
    AwaitAgents(1);
    for (const char* layouts : {"first", "second"}) {
      v1::CreateSweepRequest request = TinySweep(1);
      request.set_sweep_id(layouts);
      request.add_layouts("tp1.pp1.dp4.mb1.zero1");
      request.add_layouts("tp2.pp1.dp2.mb1");
      request.add_layouts("tp2.pp2.dp1.mb1");
      v1::Sweep sweep;
      const grpc::Status status = Create(request, &sweep);
      ASSERT_TRUE(status.ok()) << status.error_message();
      Watch(sweep.name());
    }
  }

  grpc::Status List(const v1::ListTrialsRequest& request, v1::ListTrialsResponse* response) {
    grpc::ClientContext context;
    return sweeps_->ListTrials(&context, request, response);
  }
  std::vector<v1::Trial> Where(const std::string& parent, const std::string& filter,
                               const std::string& order_by = "") {
    v1::ListTrialsRequest request;
    request.set_parent(parent);
    request.set_filter(filter);
    request.set_order_by(order_by);
    v1::ListTrialsResponse response;
    const grpc::Status status = List(request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return {response.trials().begin(), response.trials().end()};
  }
};

TEST_F(SweepQueriesTest, AConditionChoosesAmongTheTrialsOfOneSweepOrAll) {
  EXPECT_THAT(Where("sweeps/first", "tp = 2 and pp = 2"), SizeIs(1));
  EXPECT_THAT(Where("sweeps/-", "tp = 2 and pp = 2 and dp = 1 and mb = 1"), SizeIs(2));
  EXPECT_THAT(Where("sweeps/-", "outcome = oom"), IsEmpty());
  EXPECT_THAT(Where("sweeps/-", "zero = 1 and step_s > 0.9 and model = tinystories-15m"),
              SizeIs(2));
  EXPECT_THAT(Where("sweeps/-", "cluster = h100"), IsEmpty());
  for (const v1::Trial& trial : Where("sweeps/-", "not (tp = 1 or pp = 1)")) {
    EXPECT_THAT(trial.layout(), HasSubstr("tp2.cp1.pp2"));
  }
}

TEST_F(SweepQueriesTest, TheOrderIsThatOfTheFigureThatIsAskedFor) {
  double last_s = 0.0;
  const std::vector<v1::Trial> by_step = Where("sweeps/-", "", "step_s");
  ASSERT_THAT(by_step, SizeIs(testing::Ge(6u)));
  for (const v1::Trial& trial : by_step) {
    EXPECT_GE(trial.measured().step_s(), last_s);
    last_s = trial.measured().step_s();
  }
}

TEST_F(SweepQueriesTest, PagesTogetherAreTheWholeAnswerAndHoldForOneQuestion) {
  const size_t all = Where("sweeps/-", "tp >= 1").size();
  v1::ListTrialsRequest request;
  request.set_parent("sweeps/-");
  request.set_filter("tp >= 1");
  request.set_page_size(2);
  std::set<std::string> names;
  std::string first_token;
  do {
    v1::ListTrialsResponse response;
    const grpc::Status status = List(request, &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    for (const v1::Trial& trial : response.trials()) names.insert(trial.name());
    request.set_page_token(response.next_page_token());
    if (first_token.empty()) first_token = response.next_page_token();
  } while (!request.page_token().empty());
  EXPECT_EQ(names.size(), all);
  request.set_page_token(first_token);
  request.set_filter("tp >= 2");
  v1::ListTrialsResponse response;
  EXPECT_EQ(List(request, &response).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(SweepQueriesTest, BasicLeavesOutWhatIsLong) {
  v1::ListTrialsRequest request;
  request.set_parent("sweeps/-");
  request.set_view(v1::TRIAL_VIEW_BASIC);
  v1::ListTrialsResponse basic;
  ASSERT_TRUE(List(request, &basic).ok());
  request.set_view(v1::TRIAL_VIEW_FULL);
  v1::ListTrialsResponse full;
  ASSERT_TRUE(List(request, &full).ok());
  ASSERT_EQ(basic.trials_size(), full.trials_size());
  EXPECT_LT(basic.ByteSizeLong(), full.ByteSizeLong() / 2);
  EXPECT_GT(basic.trials(0).figures().step_s(), 0.0);
  EXPECT_FALSE(basic.trials(0).has_measured());
  EXPECT_TRUE(full.trials(0).has_measured());
}

TEST_F(SweepQueriesTest, AConditionThatCantBeReadNamesItsFieldAndWhatThereIs) {
  for (const auto& [filter, part] : {std::pair{"colour = 3", "colour"},
                                     {"tp >= and", "tp"},
                                     {"outcome = fine", "fine"},
                                     {"tp = 1'; DROP TABLE trials; --", "'"}}) {
    v1::ListTrialsRequest request;
    request.set_parent("sweeps/-");
    request.set_filter(filter);
    v1::ListTrialsResponse response;
    const grpc::Status status = List(request, &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << filter;
    EXPECT_THAT(status.error_message(), HasSubstr("filter")) << filter;
    EXPECT_THAT(status.error_message(), HasSubstr(part)) << filter;
  }
  EXPECT_THAT(Where("sweeps/-", ""), SizeIs(testing::Ge(6u)));
}

}  // namespace
}  // namespace meshwright::server
