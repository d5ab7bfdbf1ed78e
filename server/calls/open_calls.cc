#include "server/calls/open_calls.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace meshwright::server {
namespace {

// Exists as long as its call.
class OpenCall final : public grpc::experimental::Interceptor {
 public:
  OpenCall(OpenCalls* calls, std::string method) : calls_(calls), method_(std::move(method)) {
    calls_->Began(method_);
  }
  ~OpenCall() override { calls_->Ended(method_); }
  OpenCall(const OpenCall&) = delete;
  OpenCall& operator=(const OpenCall&) = delete;

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    methods->Proceed();
  }

 private:
  OpenCalls* const calls_;
  const std::string method_;
};

class OpenCallFactory final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit OpenCallFactory(OpenCalls* calls) : calls_(calls) {}
  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* info) override {
    return new OpenCall(calls_, info->method());  // gRPC deletes it
  }

 private:
  OpenCalls* const calls_;
};

}  // namespace

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> OpenCalls::Interceptors() {
  return std::make_unique<OpenCallFactory>(this);
}

void OpenCalls::Began(const std::string& method) {
  const absl::MutexLock lock(&mutex_);
  ++calls_[method];
}

void OpenCalls::Ended(const std::string& method) {
  const absl::MutexLock lock(&mutex_);
  const auto found = calls_.find(method);
  if (found != calls_.end() && --found->second == 0) calls_.erase(found);
}

std::string OpenCalls::ToText() const {
  const absl::MutexLock lock(&mutex_);
  return absl::StrJoin(calls_, ", ", [](std::string* text, const auto& call) {
    absl::StrAppend(text, call.second, " of ", call.first);
  });
}

}  // namespace meshwright::server
