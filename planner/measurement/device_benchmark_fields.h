// The fields of a device benchmark (planner/codec/fields.h), in files and in events of workers.
#pragma once

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
  visit(Needed("median_s"), time.median_s);
  visit(Needed("best_s"), time.best_s);
}

template <ConstOr<MatmulTiming> Matmul, typename Visitor>
void VisitFields(Matmul& matmul, Visitor& visit) {
  visit(Needed("dtype"), matmul.precision, kPrecisionText);
  visit(Needed("m"), matmul.m);
  visit(Needed("n"), matmul.n);
  visit(Needed("k"), matmul.k);
  visit(Needed("ranks"), matmul.ranks);
  visit(Inside("time"), matmul.time);
}

template <ConstOr<CopyTiming> Copy, typename Visitor>
void VisitFields(Copy& copy, Visitor& visit) {
  visit(Needed("bytes"), copy.bytes);
  visit(Needed("ranks"), copy.ranks);
  visit(Inside("time"), copy.time);
}

template <ConstOr<CollectiveTiming> Collective, typename Visitor>
void VisitFields(Collective& collective, Visitor& visit) {
  visit(Needed("kind"), collective.kind, kTimedKindNames);
  visit(Needed("bytes"), collective.bytes);
  visit(Needed("ranks"), collective.ranks);
  visit(Needed("groups"), collective.groups);
  visit(Inside("time"), collective.time);
}

template <ConstOr<DeviceBenchmark> Benchmark, typename Visitor>
void VisitFields(Benchmark& benchmark, Visitor& visit) {
  visit(Needed("host"), benchmark.host);
  visit(Needed("worker_version"), benchmark.worker_version);
  visit(Needed("date"), benchmark.date);
  visit(Needed("device_name"), benchmark.device_name);
  visit(Needed("devices"), benchmark.devices);
  visit(Needed("physical_cores"), benchmark.physical_cores);
  visit(Needed("memory_bytes"), benchmark.memory_bytes);
  visit(Needed("compute_units"), benchmark.compute_units);
  visit("matmuls", benchmark.matmuls);
  visit("copies", benchmark.copies);
  visit("collectives", benchmark.collectives);
}

}  // namespace meshwright::planner
