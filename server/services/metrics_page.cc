#include "server/services/metrics_page.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/system/host_port.h"
#include "base/text/field_error.h"

namespace meshwright::server {
namespace {

constexpr char kTextFormat[] = "text/plain; version=0.0.4; charset=utf-8";

HttpResponse AnswerOf(const Metrics& metrics, const HttpRequest& request) {
  if (request.path != "/metrics") {
    return {.status = 404, .body = "there is no such page: metrics are at /metrics\n"};
  }
  if (request.method != "GET" && request.method != "HEAD") {
    return {.status = 405, .body = "metrics are read by GET\n", .fields = {{"Allow", "GET, HEAD"}}};
  }
  return MetricsAnswer(metrics);
}

}  // namespace

HttpResponse MetricsAnswer(const Metrics& metrics) {
  return {.content_type = kTextFormat, .body = metrics.Text()};
}

absl::StatusOr<std::unique_ptr<MetricsPage>> MetricsPage::Open(const std::string& listen,
                                                               const Metrics& metrics,
                                                               const HttpLimits& limits) {
  const absl::StatusOr<HostPort> address = ParseHostPort(listen);
  if (!address.ok()) {
    return FieldError("metrics_listen", listen, std::string(address.status().message()));
  }
  if (!IsLoopback(*address)) {
    return FieldError("metrics_listen", listen,
                      "must be a loopback address, such as 127.0.0.1:9464: "
                      "/metrics does not authenticate who reads it");
  }
  absl::StatusOr<std::unique_ptr<HttpServer>> server =
      HttpServer::Start(*address, AnsweringAtOnce([&metrics](const HttpRequest& request) {
        return AnswerOf(metrics, request);
      }),
                        limits);
  if (!server.ok()) {
    return absl::UnavailableError(absl::StrCat(
        "can't listen on ", listen, " for metrics: ", std::string(server.status().message()),
        "; choose another port"));
  }
  return std::unique_ptr<MetricsPage>(new MetricsPage(*std::move(server)));
}

}  // namespace meshwright::server
