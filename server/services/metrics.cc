#include "server/services/metrics.h"

#include <utility>

#include "absl/status/status.h"
#include "base/system/descriptors.h"
#include "prometheus/metric_family.h"
#include "prometheus/text_serializer.h"

namespace meshwright::server {
namespace {

const prometheus::Histogram::BucketBoundaries& CallBuckets() {
  static const auto* const kBuckets = new prometheus::Histogram::BucketBoundaries{
      0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0};
  return *kBuckets;
}

prometheus::ClientMetric Gauge(double value, const std::string& state,
                               const std::string& label = "state") {
  prometheus::ClientMetric metric;
  metric.gauge.value = value;
  if (!state.empty()) metric.label.push_back({label, state});
  return metric;
}

prometheus::MetricFamily GaugeFamily(const std::string& name, const std::string& help,
                                     std::vector<prometheus::ClientMetric> metrics) {
  return {.name = name,
          .help = help,
          .type = prometheus::MetricType::Gauge,
          .metric = std::move(metrics)};
}

std::vector<prometheus::MetricFamily> FamiliesOf(const Standing& now) {
  std::vector<StandbyLag> lags = now.standbys;
  if (now.lag) lags.push_back(*now.lag);
  std::vector<prometheus::MetricFamily> families = {
      GaugeFamily("meshwright_epoch", "Epoch of the store",
                  {Gauge(static_cast<double>(now.epoch), "")}),
      GaugeFamily("meshwright_decides", "Whether the server decides and is no standby",
                  {Gauge(now.is_standby ? 0.0 : 1.0, "")})};
  if (lags.empty()) return families;
  const auto add = [&](const std::string& name, const std::string& help, const auto& value_of) {
    std::vector<prometheus::ClientMetric> gauges;
    for (const StandbyLag& lag : lags) {
      gauges.push_back(Gauge(static_cast<double>(value_of(lag)), lag.name, "standby"));
    }
    families.push_back(GaugeFamily("meshwright_standby_" + name, help, std::move(gauges)));
  };
  add("connected", "Whether the standby's stream is open",
      [](const StandbyLag& lag) { return lag.connected ? 1 : 0; });
  add("behind_transactions", "Transactions that the standby lacks",
      [](const StandbyLag& lag) { return lag.transactions; });
  add("behind_bytes", "Size of the transactions that the standby lacks",
      [](const StandbyLag& lag) { return lag.bytes; });
  add("behind_seconds", "Time since the standby lacked nothing",
      [](const StandbyLag& lag) { return absl::ToDoubleSeconds(lag.time); });
  return families;
}

class CallInterceptor final : public grpc::experimental::Interceptor {
 public:
  CallInterceptor(Metrics* metrics, const MonotonicClock& clock,
                  const grpc::experimental::ServerRpcInfo* info)
      : metrics_(metrics),
        clock_(clock),
        method_(info->method()),
        is_unary_(info->type() == grpc::experimental::ServerRpcInfo::Type::UNARY),
        begin_(clock()) {}

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    using Point = grpc::experimental::InterceptionHookPoints;
    if (methods->QueryInterceptionHookPoint(Point::PRE_SEND_STATUS)) {
      metrics_->CountCall(method_, methods->GetSendStatus().error_code());
      if (is_unary_) metrics_->TimeCall(method_, clock_().since_start - begin_.since_start);
    }
    methods->Proceed();
  }

 private:
  Metrics* const metrics_;
  const MonotonicClock& clock_;
  const std::string method_;
  const bool is_unary_;
  const MonotonicTime begin_;
};

class CallInterceptors final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  CallInterceptors(Metrics* metrics, const MonotonicClock& clock)
      : metrics_(metrics), clock_(clock) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* info) override {
    return new CallInterceptor(metrics_, clock_, info);  // gRPC deletes it
  }

 private:
  Metrics* const metrics_;
  const MonotonicClock& clock_;
};

}  // namespace

class Metrics::Figures final : public prometheus::Collectable {
 public:
  void Set(std::function<EngineFigures()> figures) {
    const absl::MutexLock lock(&mutex_);
    figures_ = std::move(figures);
  }

  void SetStanding(std::function<Standing()> standing) {
    const absl::MutexLock lock(&mutex_);
    standing_ = std::move(standing);
  }

  std::vector<prometheus::MetricFamily> Collect() const override {
    std::vector<prometheus::MetricFamily> families = {
        GaugeFamily("process_open_fds", "File descriptors that are open",
                    {Gauge(OpenDescriptors(), "")}),
        GaugeFamily("process_max_fds", "File descriptors that may be open",
                    {Gauge(static_cast<double>(DescriptorLimit()), "")})};
    const absl::MutexLock lock(&mutex_);
    const auto add = [&families](std::vector<prometheus::MetricFamily> more) {
      for (prometheus::MetricFamily& family : more) families.push_back(std::move(family));
    };
    if (figures_) add(FamiliesOf(figures_()));
    if (standing_) add(server::FamiliesOf(standing_()));
    return families;
  }

 private:
  static std::vector<prometheus::MetricFamily> FamiliesOf(const EngineFigures& now) {
    const auto count = [](int64_t value) { return static_cast<double>(value); };
    return {
        GaugeFamily("meshwright_agents", "Connected agents",
                    {Gauge(count(now.idle_agents), "idle"), Gauge(count(now.busy_agents), "busy")}),
        GaugeFamily(
            "meshwright_trials", "Trials of sweeps that have not ended",
            {Gauge(count(now.pending_trials), "pending"), Gauge(count(now.held_trials), "held")}),
        GaugeFamily("meshwright_sweeps", "Sweeps that have not ended",
                    {Gauge(count(now.sweeps), "")}),
        GaugeFamily("meshwright_store_up", "Whether the store can be written",
                    {Gauge(now.store_is_up ? 1.0 : 0.0, "")})};
  }

  mutable absl::Mutex mutex_;
  std::function<EngineFigures()> figures_ ABSL_GUARDED_BY(mutex_);
  std::function<Standing()> standing_ ABSL_GUARDED_BY(mutex_);
};

Metrics::Metrics(MonotonicClock clock)
    : clock_(std::move(clock)),
      registry_(std::make_shared<prometheus::Registry>()),
      figures_(std::make_shared<Figures>()),
      calls_(prometheus::BuildCounter()
                 .Name("meshwright_calls_total")
                 .Help("Calls that ended")
                 .Register(*registry_)),
      call_seconds_(prometheus::BuildHistogram()
                        .Name("meshwright_call_seconds")
                        .Help("How long unary calls took")
                        .Register(*registry_)),
      events_(prometheus::BuildCounter()
                  .Name("meshwright_events_total")
                  .Help("Events of sweeps that were stored")
                  .Register(*registry_)),
      refusals_(prometheus::BuildCounter()
                    .Name("meshwright_refusals_total")
                    .Help("Calls beyond what callers may take at once")
                    .Register(*registry_)) {}

void Metrics::CountCall(const std::string& method, grpc::StatusCode code) {
  // gRPC's codes equal Abseil's.
  calls_
      .Add({{"method", method},
            {"code", absl::StatusCodeToString(static_cast<absl::StatusCode>(code))}})
      .Increment();
}

void Metrics::TimeCall(const std::string& method, absl::Duration took) {
  call_seconds_.Add({{"method", method}}, CallBuckets()).Observe(absl::ToDoubleSeconds(took));
}

void Metrics::CountRefusal(const std::string& limit) {
  refusals_.Add({{"limit", limit}}).Increment();
}

void Metrics::CountEvents(const std::vector<db::EventRecord>& events) {
  for (const db::EventRecord& event : events) events_.Add({{"kind", event.kind}}).Increment();
}

void Metrics::SetFigures(std::function<EngineFigures()> figures) {
  figures_->Set(std::move(figures));
}

void Metrics::SetStanding(std::function<Standing()> standing) {
  figures_->SetStanding(std::move(standing));
}

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> Metrics::Interceptors() {
  return std::make_unique<CallInterceptors>(this, clock_);
}

std::string Metrics::Text() const {
  std::vector<prometheus::MetricFamily> families = registry_->Collect();
  for (prometheus::MetricFamily& family : figures_->Collect()) {
    families.push_back(std::move(family));
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace meshwright::server
