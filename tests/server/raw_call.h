// CallRaw() makes a unary call to any path, for methods without a stub in the project.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"

namespace meshwright::server {

// `message` and `reply` are serialised messages.
inline grpc::Status CallRaw(const std::shared_ptr<grpc::Channel>& channel, const std::string& path,
                            const std::string& message, grpc::ByteBuffer* reply) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  grpc::CompletionQueue queue;
  const grpc::Slice bytes(message);
  const grpc::ByteBuffer request(&bytes, 1);
  const auto call = stub.PrepareUnaryCall(&context, path, request, &queue);
  call->StartCall();
  grpc::Status status;
  call->Finish(reply, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  return status;
}

}  // namespace meshwright::server
