// What every store does; run on a file and in memory.
#include "tests/db/store_conformance.h"

#include <atomic>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "db/shapes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace meshwright::db {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_P(StoreConformanceTest, ReturnsWhatWasCreated) {
  const SweepRecord created = Create("one", 3);
  EXPECT_EQ(created.trial_counts.total(), 3);
  EXPECT_EQ(created.trial_counts.ended(), 0);
  const auto found = store_->GetSweep("one");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, created);
  SweepRecord expected = SomeSweep("one");
  expected.id = created.id;
  expected.cluster_hash = ShapeHash(expected.cluster_json);
  expected.profile_hash = ShapeHash(expected.profile_json);
  expected.trial_counts[TrialState::kPending] = 3;
  expected.candidates = 3;
  expected.last_sequence = created.last_sequence;
  EXPECT_EQ(*found, expected);
  const auto trials = store_->ListTrials(created.id, TrialOrder::kNumber, 1, 1);
  ASSERT_TRUE(trials.ok());
  ASSERT_EQ(trials->size(), 1u);
  EXPECT_EQ(trials->front().layout, "layout2");
}

SweepRecord Unnamed(const std::string& request_id = "") {
  SweepRecord sweep = SomeSweep("", request_id);
  sweep.name_stem = "tiny";
  return sweep;
}

TEST_P(StoreConformanceTest, NumbersSweepsThatHaveNoName) {
  EXPECT_EQ(store_->CreateSweep(Unnamed(), SomeTrials(1))->name, "tiny-1");
  EXPECT_EQ(store_->CreateSweep(Unnamed(), SomeTrials(1))->name, "tiny-2");
}

TEST_P(StoreConformanceTest, ANumberThatIsTakenGivesWayToTheNext) {
  Create("tiny-2");
  Create("tiny-3");
  // It would be the third sweep.
  EXPECT_EQ(store_->CreateSweep(Unnamed("r"), SomeTrials(1))->name, "tiny-4");
  EXPECT_EQ(store_->CreateSweep(Unnamed("r"), SomeTrials(1))->name, "tiny-4");
}

TEST_P(StoreConformanceTest, SweepsThatAreMadeAtOnceGetNamesOfTheirOwn) {
  constexpr int kThreads = 4;
  constexpr int kEach = 10;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this, i] {
      for (int k = 0; k < kEach; ++k) {
        // Every other one takes a name that an automatic one may want.
        if (k % 2 == 0) {
          EXPECT_TRUE(store_->CreateSweep(Unnamed(), SomeTrials(1)).ok());
        } else {
          const std::string name = "tiny-" + std::to_string(i * kEach + k);
          const absl::Status status = store_->CreateSweep(SomeSweep(name), SomeTrials(1)).status();
          EXPECT_TRUE(status.ok() || absl::IsAlreadyExists(status)) << status;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(store_->ListSweepNames()->size(), size_t{kThreads * kEach / 2});
}

TEST_P(StoreConformanceTest, RefusesATakenName) {
  Create("one");
  const auto again = store_->CreateSweep(SomeSweep("one"), SomeTrials(1));
  EXPECT_TRUE(absl::IsAlreadyExists(again.status())) << again.status();
  EXPECT_EQ(store_->ListSweeps(0, 10)->size(), 1u);
}

TEST_P(StoreConformanceTest, ARequestIdMakesOneSweep) {
  const auto first = store_->CreateSweep(SomeSweep("one", "r"), SomeTrials(1));
  const auto second = store_->CreateSweep(SomeSweep("two", "r"), SomeTrials(1));
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->name, first->name);
}

TEST_P(StoreConformanceTest, ARequestIdIsOfOneRequest) {
  ASSERT_TRUE(store_->CreateSweep(SomeSweep("one", "r"), SomeTrials(1)).ok());
  SweepRecord other = SomeSweep("two", "r");
  other.request_json = R"({"create_sweep":{"trials":3}})";
  const absl::Status status = store_->CreateSweep(other, SomeTrials(1)).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_EQ(FieldOf(status), "request_id");
  EXPECT_THAT(std::string(status.message()), HasSubstr("made sweep one"));
  EXPECT_EQ(store_->ListSweeps(0, 10)->size(), 1u);
}

constexpr char kModel[] =
    R"({"groups":[{"count":2}],"name":"tiny","norm_epsilon":1e-05,"vocab":256})";

std::string PlanOf(const std::string& model, int steps) {
  return absl::StrCat(R"({"adaptive":false,"model":)", model,
                      R"(,"seed":18446744073709551615,"steps":)", steps,
                      R"(,"training":{"global_batch":8,"seq_len":64}})");
}

TEST_P(StoreConformanceTest, PlansReadAsTheyWereThoughTheirModelIsStoredOnce) {
  std::vector<TrialRecord> trials = SomeTrials(4);
  trials[0].plan_json = PlanOf(kModel, 1);
  trials[1].plan_json = PlanOf(kModel, 2);
  trials[2].plan_json = PlanOf(R"({"name":"another","vocab":1})", 3);
  trials[3].plan_json = R"({ "model": {"name": "tiny"}, "order": "of its own" })";
  const SweepRecord sweep = *store_->CreateSweep(SomeSweep("one"), trials);
  EXPECT_EQ(sweep.model_hash, ShapeHash(kModel));
  EXPECT_EQ(sweep.training_hash, ShapeHash(R"({"seq_len":64,"global_batch":8})"));
  const auto read = *store_->ListTrials(sweep.id, TrialOrder::kNumber, 0, 10);
  for (size_t i = 0; i < trials.size(); ++i) {
    EXPECT_EQ(read[i].plan_json, trials[i].plan_json);
    EXPECT_EQ(*store_->GetPlan(sweep.id, trials[i].number), trials[i].plan_json);
  }
}

TEST_P(StoreConformanceTest, ForgetsEventsOfSweepsThatEndedLongAgoButTheFirstAndTheLast) {
  const SweepRecord old = Create("old", 3);
  const SweepRecord young = Create("young", 1);
  const SweepRecord open = Create("open", 1);
  ASSERT_TRUE(store_->CancelSweep(old.id, "so", At(100), "").ok());
  ASSERT_TRUE(
      store_->AppendEvent({.sweep_id = old.id, .kind = "result_refused", .time = At(101)}).ok());
  ASSERT_TRUE(store_->CancelSweep(young.id, "so", At(200), "").ok());
  ASSERT_TRUE(
      store_->AppendEvent({.sweep_id = old.id, .kind = "result_refused", .time = At(102)}).ok());
  EXPECT_EQ(*store_->PruneEvents(At(150), 1), 1);
  EXPECT_EQ(*store_->PruneEvents(At(150), 10), 1);
  EXPECT_EQ(*store_->PruneEvents(At(150), 10), 0);
  const auto left = *store_->ListEvents(old.id, 0, 10);
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].kind, "sweep_created") << "it has the caller who asked for the sweep";
  EXPECT_EQ(left[1].kind, "result_refused");
  EXPECT_EQ(store_->GetSweep("old")->last_sequence, left[1].sequence);
  EXPECT_EQ(store_->ListEvents(young.id, 0, 10)->size(), 2u);
  EXPECT_EQ(store_->ListEvents(open.id, 0, 10)->size(), 1u);
}

TEST_P(StoreConformanceTest, ListsSweepsNewestFirstInPages) {
  Create("one");
  const SweepRecord two = Create("two");
  Create("three");
  const auto page = store_->ListSweeps(0, 2);
  ASSERT_EQ(page->size(), 2u);
  EXPECT_EQ(page->front().name, "three");
  EXPECT_EQ(store_->ListSweeps(two.id, 2)->front().name, "one");
}

TEST_P(StoreConformanceTest, MissingThingsAreNotFound) {
  const SweepRecord sweep = Create("one");
  EXPECT_TRUE(absl::IsNotFound(store_->GetSweep("two").status()));
  EXPECT_TRUE(absl::IsNotFound(store_->GetTrial(sweep.id, 9).status()));
}

TEST_P(StoreConformanceTest, ATrialChangesOnlyFromTheStateThatIsNamed) {
  const SweepRecord sweep = Create("one");
  ASSERT_TRUE(store_->UpdateTrial(Assign(sweep.id, 1, 1)).ok());
  const absl::Status again = store_->UpdateTrial(Assign(sweep.id, 1, 1));
  EXPECT_TRUE(absl::IsAborted(again)) << again;
  EXPECT_THAT(std::string(again.message()), HasSubstr("assigned in attempt 1"));
  EXPECT_TRUE(absl::IsAborted(store_->UpdateTrial(Finish(sweep.id, 1, 2, 0.5))));
  // A refused change leaves no event behind.
  EXPECT_EQ(store_->ListEvents(sweep.id, 0, 10)->size(), 2u);
}

TEST_P(StoreConformanceTest, RanksByMeasuredMfu) {
  const SweepRecord sweep = Create("one", 3);
  for (const auto& [number, mfu] : {std::pair{1, 0.1}, std::pair{3, 0.3}}) {
    ASSERT_TRUE(store_->UpdateTrial(Assign(sweep.id, number, 1)).ok());
    ASSERT_TRUE(store_->UpdateTrial(Finish(sweep.id, number, 1, mfu)).ok());
  }
  std::vector<int32_t> order;
  const auto trials = store_->ListTrials(sweep.id, TrialOrder::kMeasuredMfu, 0, 10);
  order.reserve(trials->size());
  for (const TrialRecord& trial : *trials) order.push_back(trial.number);
  EXPECT_THAT(order, ElementsAre(3, 1, 2));
}

TEST_P(StoreConformanceTest, RanksByMeasuredStepShortestFirst) {
  const SweepRecord sweep = Create("one", 4);
  for (const auto& [number, step_s] : {std::pair{1, 0.7}, std::pair{2, 0.5}, std::pair{4, 0.6}}) {
    ASSERT_TRUE(store_->UpdateTrial(Assign(sweep.id, number, 1)).ok());
    ASSERT_TRUE(store_->UpdateTrial(Finish(sweep.id, number, 1, 0.3, step_s)).ok());
  }
  std::vector<int32_t> order;
  const auto trials = store_->ListTrials(sweep.id, TrialOrder::kStepTime, 0, 10);
  order.reserve(trials->size());
  for (const TrialRecord& trial : *trials) order.push_back(trial.number);
  EXPECT_THAT(order, ElementsAre(2, 4, 1, 3));
}

std::vector<int32_t> NumbersOf(const std::vector<MeasuredRow>& rows) {
  std::vector<int32_t> numbers;
  numbers.reserve(rows.size());
  for (const MeasuredRow& row : rows) numbers.push_back(row.trial.number);
  return numbers;
}

TEST_P(StoreConformanceTest, AResultIsAMeasurementAtOnceAndUntilItsSweepGoes) {
  const SweepRecord sweep = Create("one", 4);
  for (const auto& [number, mfu] : {std::pair{1, 0.1}, std::pair{3, 0.3}, std::pair{4, 0.2}}) {
    ASSERT_TRUE(store_->UpdateTrial(Assign(sweep.id, number, 1)).ok());
    ASSERT_TRUE(store_->UpdateTrial(Finish(sweep.id, number, 1, mfu, 1.0 - mfu)).ok());
  }
  MeasurementQuery query{.limit = 2};
  const auto best = *store_->ListMeasured(query);
  EXPECT_THAT(NumbersOf(best), ElementsAre(3, 4));
  EXPECT_EQ(best.front().sweep, "one");
  EXPECT_EQ(best.front().model, "tiny");
  EXPECT_EQ(best.front().seed, sweep.seed);
  EXPECT_EQ(best.front().trial, *store_->GetTrial(sweep.id, 3));
  query.after = best.back().place;
  EXPECT_THAT(NumbersOf(*store_->ListMeasured(query)), ElementsAre(1));
  // A trial that ends without a result was not measured.
  ASSERT_TRUE(store_->CancelSweep(sweep.id, "enough", At(5), "").ok());
  EXPECT_EQ(store_->ListMeasured({.limit = 10})->size(), 3u);
  ASSERT_TRUE(store_->DeleteSweep(sweep.id, At(9), "").ok());
  EXPECT_TRUE(store_->ListMeasured({.limit = 10})->empty());
}

TEST_P(StoreConformanceTest, AResultThatIsUndoneIsNoMeasurement) {
  const SweepRecord sweep = Create("one");
  const auto events = store_->Atomically([&](SweepAccess& access) {
    EXPECT_TRUE(access.UpdateTrial(Assign(sweep.id, 1, 1)).ok());
    EXPECT_TRUE(access.UpdateTrial(Finish(sweep.id, 1, 1, 0.25)).ok());
    EXPECT_EQ(access.ListMeasured({.limit = 10})->size(), 1u);
    return absl::CancelledError("enough");
  });
  EXPECT_TRUE(absl::IsCancelled(events.status()));
  EXPECT_TRUE(store_->ListMeasured({.limit = 10})->empty());
}

TEST_P(StoreConformanceTest, CountsTrialsByState) {
  const SweepRecord sweep = Create("one", 3);
  Create("two", 5);
  ASSERT_TRUE(store_->UpdateTrial(Assign(sweep.id, 1, 1)).ok());
  ASSERT_TRUE(store_->UpdateTrial(Finish(sweep.id, 1, 1, 0.1)).ok());
  ASSERT_TRUE(store_->CancelSweep(sweep.id, "enough", At(5), "").ok());
  const TrialCounts counts = store_->GetSweep("one")->trial_counts;
  EXPECT_EQ(counts[TrialState::kOk], 1);
  EXPECT_EQ(counts[TrialState::kCancelled], 2);
  EXPECT_EQ(counts.total(), 3);
  EXPECT_EQ(counts.ended(), 3);
  EXPECT_EQ(counts.ToText(), "1 ok, 2 cancelled");
  EXPECT_EQ(store_->GetSweep("two")->trial_counts.ToText(), "5 pending");
}

TEST_P(StoreConformanceTest, KeepsWhichLayoutsWereNamedAndWhatIsRunAgain) {
  SweepRecord sweep = SomeSweep("two");
  sweep.rerun_of = "one";
  std::vector<TrialRecord> trials = SomeTrials(2);
  trials[1].requested = true;
  const SweepRecord created = *store_->CreateSweep(sweep, trials);
  EXPECT_EQ(created.rerun_of, "one");
  EXPECT_FALSE(store_->GetTrial(created.id, 1)->requested);
  EXPECT_TRUE(store_->GetTrial(created.id, 2)->requested);
}

TEST_P(StoreConformanceTest, DeleteForgetsAnEndedSweepAlone) {
  const SweepRecord one = Create("one", 3);
  const SweepRecord two = Create("two", 2);
  ASSERT_TRUE(store_->UpdateTrial(Assign(one.id, 1, 1)).ok());
  const absl::Status running = store_->DeleteSweep(one.id, At(9), "token bob");
  EXPECT_TRUE(absl::IsFailedPrecondition(running)) << running;
  ASSERT_TRUE(store_->CancelSweep(one.id, "enough", At(5), "").ok());
  ASSERT_TRUE(store_->DeleteSweep(one.id, At(9), "token bob").ok());
  EXPECT_TRUE(absl::IsNotFound(store_->GetSweep("one").status()));
  EXPECT_EQ(store_->GetSweep("one").status().message(),
            "no sweep is named \"one\" any more: it was deleted by token bob at " +
                absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", At(9), absl::UTCTimeZone()));
  EXPECT_EQ(store_->GetSweep("other").status().message(), "no sweep is named \"other\"");
  EXPECT_TRUE(absl::IsNotFound(store_->GetTrial(one.id, 1).status()));
  EXPECT_TRUE(store_->ListAttempts(one.id, 1)->empty());
  EXPECT_TRUE(store_->ListEvents(one.id, 0, 10)->empty());
  EXPECT_EQ(store_->ListTrials(two.id, TrialOrder::kNumber, 0, 10)->size(), 2u);
  EXPECT_TRUE(absl::IsNotFound(store_->DeleteSweep(one.id, At(9), "")));
}

TEST_P(StoreConformanceTest, CancelEndsWhatHasNotEnded) {
  const SweepRecord sweep = Create("one", 3);
  ASSERT_TRUE(store_->UpdateTrial(Assign(sweep.id, 1, 1)).ok());
  ASSERT_TRUE(store_->UpdateTrial(Finish(sweep.id, 1, 1, 0.1)).ok());
  ASSERT_TRUE(store_->UpdateTrial(Assign(sweep.id, 2, 1)).ok());
  ASSERT_TRUE(store_->CancelSweep(sweep.id, "enough", At(5), "token ann").ok());
  EXPECT_EQ(store_->ListEvents(sweep.id, 0, 100)->back().actor, "token ann");
  EXPECT_EQ(store_->GetTrial(sweep.id, 1)->state, TrialState::kOk);
  EXPECT_EQ(store_->GetTrial(sweep.id, 2)->state, TrialState::kCancelled);
  EXPECT_EQ(store_->ListAttempts(sweep.id, 2)->front().outcome, "cancelled");
  EXPECT_EQ(store_->GetSweep("one")->end_time, At(5));
  EXPECT_TRUE(store_->ListActiveSweeps()->empty());
  EXPECT_TRUE(absl::IsFailedPrecondition(store_->CancelSweep(sweep.id, "again", At(6), "")));
}

TEST_P(StoreConformanceTest, EventsAreNumberedAndPerSweep) {
  const SweepRecord one = Create("one");
  const SweepRecord two = Create("two");
  const auto sequence = store_->AppendEvent({.sweep_id = one.id,
                                             .trial = 1,
                                             .attempt = 1,
                                             .kind = "trial_progress",
                                             .message = "step 1",
                                             .time = At(3)});
  ASSERT_TRUE(sequence.ok());
  EXPECT_GT(*sequence, two.last_sequence);
  const auto events = store_->ListEvents(one.id, one.last_sequence, 10);
  ASSERT_EQ(events->size(), 1u);
  EXPECT_EQ(events->front().sequence, *sequence);
  EXPECT_EQ(events->front().message, "step 1");
}

TEST_P(StoreConformanceTest, ASweepChangesOnlyFromTheStateThatIsNamed) {
  const SweepRecord sweep = Create("one");
  const SweepTransition finish{.sweep_id = sweep.id,
                               .from_state = SweepState::kRunning,
                               .to_state = SweepState::kFinished,
                               .reason = "done",
                               .event_kind = "sweep_finished",
                               .time = At(9)};
  EXPECT_TRUE(absl::IsAborted(store_->UpdateSweep(finish)));
}

TEST_P(StoreConformanceTest, ManyChangesAreOneTransaction) {
  const SweepRecord sweep = Create("one");
  const auto events = store_->Atomically([&](SweepAccess& access) {
    EXPECT_TRUE(access.UpdateTrial(Assign(sweep.id, 1, 1)).ok());
    EXPECT_EQ(access.GetTrial(sweep.id, 1)->state, TrialState::kAssigned);
    return access.UpdateTrial(Finish(sweep.id, 1, 1, 0.25));
  });
  ASSERT_TRUE(events.ok()) << events.status();
  ASSERT_EQ(events->size(), 2u);
  EXPECT_EQ((*events)[0].kind, "trial_assigned");
  EXPECT_EQ((*events)[1].kind, "trial_ended");
  EXPECT_EQ(*events, *store_->ListEvents(sweep.id, sweep.last_sequence, 10));
}

TEST_P(StoreConformanceTest, WhatFailsInsideATransactionIsUndoneAlone) {
  const SweepRecord sweep = Create("one");
  const auto events = store_->Atomically([&](SweepAccess& access) {
    EXPECT_TRUE(access.UpdateTrial(Assign(sweep.id, 1, 1)).ok());
    EXPECT_TRUE(absl::IsAborted(access.UpdateTrial(Assign(sweep.id, 1, 1))));
    EXPECT_TRUE(
        absl::IsAlreadyExists(access.CreateSweep(SomeSweep("one"), SomeTrials(1)).status()));
    return access.UpdateTrial(Assign(sweep.id, 2, 1));
  });
  ASSERT_TRUE(events.ok()) << events.status();
  EXPECT_EQ(events->size(), 2u);
  EXPECT_EQ(store_->GetTrial(sweep.id, 2)->state, TrialState::kAssigned);
}

TEST_P(StoreConformanceTest, AnErrorUndoesTheWholeTransaction) {
  const SweepRecord sweep = Create("one");
  const auto events = store_->Atomically([&](SweepAccess& access) {
    EXPECT_TRUE(access.UpdateTrial(Assign(sweep.id, 1, 1)).ok());
    return absl::CancelledError("enough");
  });
  EXPECT_TRUE(absl::IsCancelled(events.status()));
  EXPECT_EQ(store_->GetTrial(sweep.id, 1)->state, TrialState::kPending);
  EXPECT_EQ(store_->ListEvents(sweep.id, 0, 10)->size(), 1u);
  // And the next one is a new one.
  EXPECT_TRUE(store_->UpdateTrial(Assign(sweep.id, 1, 1)).ok());
}

TEST_P(StoreConformanceTest, ReadersAndWritersDontDisturbEachOther) {
  const SweepRecord sweep = Create("one", 40);
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  readers.reserve(3);
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!done.load()) {
        EXPECT_EQ(store_->ListTrialSummaries(sweep.id)->size(), 40u);
        EXPECT_TRUE(store_->GetSweep("one").ok());
      }
    });
  }
  for (int32_t number = 1; number <= 40; ++number) {
    EXPECT_TRUE(store_->UpdateTrial(Assign(sweep.id, number, 1)).ok());
  }
  done.store(true);
  for (std::thread& reader : readers) reader.join();
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreConformanceTest, EveryStore(), NameOfStore);

}  // namespace
}  // namespace meshwright::db
