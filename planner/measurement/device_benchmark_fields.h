// Names the fields of a device benchmark, in files and in events of workers
// (planner/codec/fields.h).
#pragma once

#include "planner/catalog/fingerprint_fields.h"
#include "planner/catalog/spec_fields.h"
#include "planner/codec/fields.h"
#include "planner/measurement/device_benchmark.h"

namespace meshwright::planner {

// The operations that are timed.
inline constexpr EnumNames<CollectiveKind, 4> kTimedKindNames = {{
    {CollectiveKind::kAllReduce, "all_reduce"},
    {CollectiveKind::kAllGather, "all_gather"},
    {CollectiveKind::kReduceScatter, "reduce_scatter"},
    {CollectiveKind::kSend, "send"},
}};

template <ConstOr<Timing> Time, typename Visitor>
void VisitFields(Time& time, Visitor& visit) {
  visit(Needed({"median_s", "Median of the windows, seconds of one operation"}), time.median_s);
  visit(Needed({"best_s", "Best of the windows, seconds"}), time.best_s);
}

template <ConstOr<MatmulTiming> Matmul, typename Visitor>
void VisitFields(Matmul& matmul, Visitor& visit) {
  visit(Needed({"dtype", "bf16, fp32 or fp64"}), matmul.precision, kPrecisionText);
  visit(Needed({"m", "Rows"}), matmul.m);
  visit(Needed({"n", "Columns"}), matmul.n);
  visit(Needed({"k", "Inner dimension"}), matmul.k);
  visit(Needed({"ranks", "Ranks that run simultaneously"}), matmul.ranks);
  visit(Inside("time"), matmul.time);
}

template <ConstOr<CopyTiming> Copy, typename Visitor>
void VisitFields(Copy& copy, Visitor& visit) {
  visit(Needed({"bytes", "Bytes that the copy reads, and writes"}), copy.bytes);
  visit(Needed({"ranks", "Ranks that run simultaneously"}), copy.ranks);
  visit(Inside("time"), copy.time);
}

template <ConstOr<CollectiveTiming> Collective, typename Visitor>
void VisitFields(Collective& collective, Visitor& visit) {
  visit(Needed({"kind", "all_reduce, all_gather, reduce_scatter or send"}), collective.kind,
        kTimedKindNames);
  visit(Needed({"bytes", "The full buffer, bytes"}), collective.bytes);
  visit(Needed({"ranks", "Ranks of a group"}), collective.ranks);
  visit(Needed({"groups", "Groups that run simultaneously"}), collective.groups);
  visit(Inside("time"), collective.time);
}

template <ConstOr<DeviceBenchmark> Benchmark, typename Visitor>
void VisitFields(Benchmark& benchmark, Visitor& visit) {
  visit(Needed({"host", "Host"}), benchmark.host);
  visit(Needed({"worker_version", "Version of the worker"}), benchmark.worker_version);
  visit(Needed({"date", "YYYY-MM-DD"}), benchmark.date);
  visit(Needed({"device_name", "Name of the device that the driver reports"}),
        benchmark.device_name);
  visit(Needed({"devices", "Ranks"}), benchmark.devices);
  visit(Needed({"physical_cores", "Cores that the ranks share; 0 where each has a device"}),
        benchmark.physical_cores);
  visit(Needed({"memory_bytes", "Memory of one device, bytes"}), benchmark.memory_bytes);
  visit(Needed({"compute_units", "Compute units of one device"}), benchmark.compute_units);
  visit(Inside("machine"), benchmark.machine);
  visit({"matmuls", "Matrix products"}, benchmark.matmuls);
  visit({"copies", "Copies in memory"}, benchmark.copies);
  visit({"collectives", "Collectives"}, benchmark.collectives);
}

}  // namespace meshwright::planner
