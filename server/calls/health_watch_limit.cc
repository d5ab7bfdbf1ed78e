#include "server/calls/health_watch_limit.h"

#include <string_view>

#include "grpcpp/server_context.h"

namespace meshwright::server {
namespace {

constexpr std::string_view kHealthWatch = "/grpc.health.v1.Health/Watch";

class HealthWatch final : public grpc::experimental::Interceptor {
 public:
  HealthWatch(grpc::ServerContextBase* context, int32_t most, std::atomic<int32_t>* open)
      : context_(context), open_(open), is_beyond_(open->fetch_add(1) >= most) {}
  ~HealthWatch() override { --*open_; }
  HealthWatch(const HealthWatch&) = delete;
  HealthWatch& operator=(const HealthWatch&) = delete;

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    using Point = grpc::experimental::InterceptionHookPoints;
    if (is_beyond_ && methods->QueryInterceptionHookPoint(Point::PRE_SEND_INITIAL_METADATA)) {
      context_->TryCancel();
    }
    methods->Proceed();
  }

 private:
  grpc::ServerContextBase* const context_;
  std::atomic<int32_t>* const open_;
  const bool is_beyond_;
};

}  // namespace

grpc::experimental::Interceptor* HealthWatchLimit::CreateServerInterceptor(
    grpc::experimental::ServerRpcInfo* info) {
  if (info->method() != kHealthWatch) return nullptr;
  return new HealthWatch(info->server_context(), most_, open_);  // gRPC deletes it
}

}  // namespace meshwright::server
