// StoreConformanceTest is the fixture of the tests that every store must pass, in a file and in
// memory.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "db/sqlite_store.h"
#include "gtest/gtest.h"
#include "tests/db/store_records.h"

namespace meshwright::db {

enum class StoreKind { kFile, kMemory };

class StoreConformanceTest : public testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "/store-" + std::to_string(getpid()) + ".db";
    Remove();
    auto store = SqliteSweepStore::Open(GetParam() == StoreKind::kFile ? path_ : kInMemory);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }
  void TearDown() override {
    store_.reset();
    Remove();
  }
  void Remove() const {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
  }
  SweepRecord Create(const std::string& name, int32_t trials = 2) {
    auto sweep = store_->CreateSweep(SomeSweep(name), SomeTrials(trials));
    EXPECT_TRUE(sweep.ok()) << sweep.status();
    return *sweep;
  }

  std::string path_;
  std::unique_ptr<SweepStore> store_;
};

inline auto EveryStore() { return testing::Values(StoreKind::kFile, StoreKind::kMemory); }

inline std::string NameOfStore(const testing::TestParamInfo<StoreKind>& tested) {
  return tested.param == StoreKind::kFile ? "File" : "Memory";
}

}  // namespace meshwright::db
