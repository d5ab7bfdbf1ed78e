#include "executor/worker/comm/memory_account.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <thread>

namespace meshwright::worker {
namespace {

at::Tensor Bytes(int64_t count) { return at::empty({count}, at::kByte); }

class MemoryAccountTest : public testing::Test {
 protected:
  MemoryAccountTest() { InstallAccountingAllocator(); }
};

TEST_F(MemoryAccountTest, CountsRequestedBytesAndTheirPeak) {
  MemoryAccount account;
  const ScopedMemoryAccount scope(&account);
  {
    const at::Tensor first = Bytes(1001);
    const at::Tensor second = Bytes(500);
    EXPECT_EQ(account.held_bytes(), 1501);
  }
  EXPECT_EQ(account.held_bytes(), 0);
  EXPECT_EQ(account.peak_bytes(), 1501);
  account.ResetPeak();
  EXPECT_EQ(account.peak_bytes(), 0);
}

TEST_F(MemoryAccountTest, RefusesWhatExceedsTheLimitAndTakesNothing) {
  MemoryAccount account(1000);
  const ScopedMemoryAccount scope(&account);
  const at::Tensor held = Bytes(600);
  try {
    Bytes(401);
    FAIL() << "401 bytes fitted beside 600 of 1000";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.requested_bytes, 401);
    EXPECT_EQ(error.held_bytes, 600);
    EXPECT_EQ(error.limit_bytes, 1000);
  }
  EXPECT_EQ(account.held_bytes(), 600);
  EXPECT_EQ(Bytes(400).numel(), 400);
}

TEST_F(MemoryAccountTest, CreditsTheAccountThatPaidFromAnyThread) {
  MemoryAccount account;
  at::Tensor tensor;
  {
    const ScopedMemoryAccount scope(&account);
    tensor = Bytes(100);
  }
  MemoryAccount other;
  std::thread([&] {
    const ScopedMemoryAccount scope(&other);
    tensor.reset();
  }).join();
  EXPECT_EQ(account.held_bytes(), 0);
  EXPECT_EQ(other.held_bytes(), 0);
  EXPECT_EQ(other.peak_bytes(), 0);
}

TEST_F(MemoryAccountTest, ThreadsCountForTheirOwnRank) {
  MemoryAccount accounts[2];
  const auto rank = [&](int index) {
    const ScopedMemoryAccount scope(&accounts[index]);
    for (int i = 0; i < 100; ++i) Bytes(int64_t{1000} * (index + 1));
  };
  std::thread first(rank, 0);
  std::thread second(rank, 1);
  first.join();
  second.join();
  EXPECT_EQ(accounts[0].peak_bytes(), 1000);
  EXPECT_EQ(accounts[1].peak_bytes(), 2000);
}

TEST_F(MemoryAccountTest, WithoutAnAccountNothingIsCounted) {
  MemoryAccount account;
  const ScopedMemoryAccount scope(&account);
  {
    const ScopedMemoryAccount nobody(nullptr);
    const at::Tensor tensor = Bytes(100);
    EXPECT_EQ(account.held_bytes(), 0);
  }
  EXPECT_EQ(account.peak_bytes(), 0);
}

}  // namespace
}  // namespace meshwright::worker
