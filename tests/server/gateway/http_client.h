// HttpClient asks a server of HTTP/1.1 on the loopback interface, in plain text or over TLS, as a
// page or a script does.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/system/host_port.h"
#include "nlohmann/json.hpp"
#include "tests/server/test_certificates.h"

namespace meshwright::server {

struct HttpAnswer {
  int status = 0;    // 0: there was no answer
  std::string head;  // status line and fields
  std::string body;

  // Returns the value of a field, empty if there is none.
  std::string Field(std::string_view name) const;
  nlohmann::json Json() const { return nlohmann::json::parse(body, nullptr, false); }
};

// A connection, of which a test reads and writes the bytes.
class HttpLine {
 public:
  virtual ~HttpLine() = default;
  virtual bool Send(std::string_view bytes) = 0;
  // Returns the next bytes; empty at the end, and after 5 s without any.
  virtual std::string Read() = 0;

  // Returns the bytes up to and including `end`, and those that came with it.
  std::string ReadUntil(std::string_view end);
};

struct HttpCaller {
  HostPort server;
  bool tls = false;
  const TestIdentity* identity = nullptr;  // its certificate, if any
};

// Connects. Over TLS, the server's certificate is not checked. Returns null if TLS fails.
std::unique_ptr<HttpLine> Connect(const HttpCaller& caller);

using HttpFields = std::vector<std::pair<std::string, std::string>>;

// Returns a request's bytes. `Host` and, if there is a body, `Content-Length` are added unless
// `fields` has them.
std::string RequestText(const HttpCaller& caller, const std::string& method,
                        const std::string& target, const HttpFields& fields,
                        const std::string& body);

// Sends one request on a connection of its own and returns the answer.
HttpAnswer Ask(const HttpCaller& caller, const std::string& method, const std::string& target,
               const HttpFields& fields = {}, const std::string& body = "");

// Posts `body` as application/json.
HttpAnswer Post(const HttpCaller& caller, const std::string& target, const std::string& body,
                HttpFields fields = {});

// Returns the data of the server-sent events of one kind in the bytes of an answer.
std::vector<nlohmann::json> EventsIn(const std::string& bytes, const std::string& kind);

}  // namespace meshwright::server
