// BenchmarkText declares the fields that `meshwright benchmark` prints (planner/codec/fields.h).
#pragma once

#include "planner/calibration/cluster_from_benchmark.h"
#include "planner/catalog/cluster_fields.h"
#include "planner/codec/fields.h"
#include "planner/measurement/device_benchmark_fields.h"

namespace meshwright::cli {

struct FitErrorsText {
  planner::LogFitErrors errors;
};

template <typename Visitor>
void VisitFields(const FitErrorsText& text, Visitor& visit) {
  visit({"rows", "Timings that were used, a count"}, text.errors.rows);
  visit({"median_error", "Median of |fitted / measured - 1|"}, text.errors.median);
  visit({"worst_error", "Largest |fitted / measured - 1|"}, text.errors.worst);
}

struct FittedText {
  FitErrorsText matmuls;
  FitErrorsText collectives;
};

template <typename Visitor>
void VisitFields(const FittedText& fit, Visitor& visit) {
  visit({"matmuls", "How far the fitted formulas are from the timings of products"}, fit.matmuls);
  visit({"collectives", "How far the fitted formulas are from the timings of collectives"},
        fit.collectives);
}

struct BenchmarkText {
  planner::DeviceBenchmark benchmark;
  FittedText fit;
  planner::ClusterSpec cluster;
};

template <typename Visitor>
void VisitFields(const BenchmarkText& text, Visitor& visit) {
  visit({"benchmark", "What was measured"}, text.benchmark);
  visit({"fit", "How far the fitted formulas are from what was measured"}, text.fit);
  visit({"cluster", "Cluster file made of the measurements, which --cluster takes"}, text.cluster);
}

}  // namespace meshwright::cli
