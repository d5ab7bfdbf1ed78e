#include "executor/gang/tls_socket.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "executor/gang/socket_address.h"

namespace meshwright::gang {

struct TlsConnection {
  UniqueFd socket;
  std::string secret;
  MonotonicTime deadline;
  Purpose purpose = Purpose::kLink;
  bool is_authenticated = false;
  size_t room_bytes = kMostHandshakeBytes;  // which the peer may still send
  int error = 0;                            // errno of the socket's failure; 0: it was closed
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl{nullptr, &SSL_free};
};

namespace {

static_assert(kMostRecordBytes == SSL3_RT_MAX_PLAIN_LENGTH);

// OpenSSL uses keys of the callbacks below with this cipher only.
constexpr char kCipher[] = "TLS_AES_128_GCM_SHA256";

// The key's identities, by purpose. The number changes with what members say to each other.
constexpr std::array<const char*, 2> kIdentities = {"meshwright gang 2 link",
                                                    "meshwright gang 2 tunnel"};

absl::Status Stranger(absl::string_view why) {
  return absl::PermissionDeniedError(absl::StrCat("not of this gang: ", why));
}

TlsConnection& ConnectionOf(BIO* bio) { return *static_cast<TlsConnection*>(BIO_get_data(bio)); }
TlsConnection& ConnectionOf(const SSL* ssl) {
  return *static_cast<TlsConnection*>(SSL_get_app_data(ssl));
}

int ReceiveCiphertext(BIO* bio, char* data, int size) {
  TlsConnection& connection = ConnectionOf(bio);
  BIO_clear_retry_flags(bio);
  const size_t most = std::min(static_cast<size_t>(size), connection.room_bytes);
  const ssize_t n = ::recv(connection.socket.get(), data, most, 0);
  connection.error = n < 0 ? errno : 0;
  if (n < 0 && IsForLater(errno)) BIO_set_retry_read(bio);
  if (n > 0 && !connection.is_authenticated) connection.room_bytes -= static_cast<size_t>(n);
  return static_cast<int>(n);
}

int SendCiphertext(BIO* bio, const char* data, int size) {
  TlsConnection& connection = ConnectionOf(bio);
  BIO_clear_retry_flags(bio);
  const ssize_t n = ::send(connection.socket.get(), data, static_cast<size_t>(size), MSG_NOSIGNAL);
  connection.error = n < 0 ? errno : 0;
  if (n < 0 && IsForLater(errno)) BIO_set_retry_write(bio);
  return static_cast<int>(n);
}

long Control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

// Returns how OpenSSL reads and writes a socket. Its own way would raise SIGPIPE, and would read
// any number of bytes of a peer that is not authenticated.
const BIO_METHOD* SocketMethod() {
  static const BIO_METHOD* method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "socket of a gang");
    BIO_meth_set_read(made, ReceiveCiphertext);
    BIO_meth_set_write(made, SendCiphertext);
    BIO_meth_set_ctrl(made, Control);
    return made;
  }();
  return method;
}

// Copies the connection's secret to `key` and returns its size; 0 if there is no room.
unsigned int CopySecret(const TlsConnection& connection, unsigned char* key, unsigned int room) {
  const std::string& secret = connection.secret;
  if (secret.size() > room) return 0;
  std::copy(secret.begin(), secret.end(), key);
  return static_cast<unsigned int>(secret.size());
}

unsigned int UseKey(SSL* ssl, const char*, char* identity, unsigned int identity_room,
                    unsigned char* key, unsigned int key_room) {
  const TlsConnection& connection = ConnectionOf(ssl);
  std::snprintf(identity, identity_room, "%s",
                kIdentities[static_cast<size_t>(connection.purpose)]);
  return CopySecret(connection, key, key_room);
}

// If no key is found, the handshake fails, since the listener has no certificate.
unsigned int FindKey(SSL* ssl, const char* identity, unsigned char* key, unsigned int room) {
  const auto found = std::find(kIdentities.begin(), kIdentities.end(), std::string_view(identity));
  if (found == kIdentities.end()) return 0;
  TlsConnection& connection = ConnectionOf(ssl);
  connection.purpose = static_cast<Purpose>(found - kIdentities.begin());
  return CopySecret(connection, key, room);
}

// Returns the settings of all connections, or null.
SSL_CTX* Context() {
  static SSL_CTX* context = [] {
    SSL_CTX* made = SSL_CTX_new(TLS_method());
    if (made == nullptr || SSL_CTX_set_min_proto_version(made, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_ciphersuites(made, kCipher) != 1 || SSL_CTX_set_num_tickets(made, 0) != 1) {
      SSL_CTX_free(made);
      return static_cast<SSL_CTX*>(nullptr);
    }
    SSL_CTX_set_options(made, SSL_OP_NO_TICKET);
    SSL_CTX_set_session_cache_mode(made, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(made, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_psk_client_callback(made, UseKey);
    SSL_CTX_set_psk_server_callback(made, FindKey);
    return made;
  }();
  return context;
}

}  // namespace

absl::StatusOr<TlsSocket> TlsSocket::Make(UniqueFd socket, const std::string& secret,
                                          MonotonicTime deadline) {
  auto connection = std::make_unique<TlsConnection>(
      TlsConnection{.socket = std::move(socket), .secret = secret, .deadline = deadline});
  SSL* ssl = SSL_new(Context());
  connection->ssl.reset(ssl);
  BIO* bio = BIO_new(SocketMethod());
  if (ssl == nullptr || bio == nullptr) {
    BIO_free(bio);
    return absl::InternalError(
        absl::StrCat("this OpenSSL has no TLS 1.3 with ", kCipher, ", which agents need"));
  }
  BIO_set_data(bio, connection.get());
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl, bio, bio);
  SSL_set_app_data(ssl, connection.get());
  return TlsSocket(std::move(connection));
}

absl::StatusOr<TlsSocket> TlsSocket::OfListener(UniqueFd accepted, const std::string& secret,
                                                MonotonicTime deadline) {
  ASSIGN_OR_RETURN(TlsSocket made, Make(std::move(accepted), secret, deadline));
  SSL_set_accept_state(made.connection_->ssl.get());
  return made;
}

absl::StatusOr<TlsSocket> TlsSocket::Dial(const SocketAddress& address, const std::string& secret,
                                          Purpose purpose, MonotonicTime deadline) {
  ASSIGN_OR_RETURN(UniqueFd socket, gang::Dial(address));
  ASSIGN_OR_RETURN(TlsSocket made, Make(std::move(socket), secret, deadline));
  made.connection_->purpose = purpose;
  SSL* ssl = made.connection_->ssl.get();
  SSL_set_connect_state(ssl);
  // A listener without the secret could show a certificate instead, but none is trusted.
  SSL_set_verify(ssl, SSL_VERIFY_PEER, /*callback=*/nullptr);
  return made;
}

TlsSocket::TlsSocket(std::unique_ptr<TlsConnection> connection)
    : connection_(std::move(connection)) {}
TlsSocket::TlsSocket(TlsSocket&& other) noexcept = default;
TlsSocket& TlsSocket::operator=(TlsSocket&& other) noexcept = default;
TlsSocket::~TlsSocket() = default;
void TlsSocket::Close() { connection_.reset(); }

absl::Status TlsSocket::StatusOf(int result) const {
  const int error = SSL_get_error(connection_->ssl.get(), result);
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return absl::OkStatus();
  if (error == SSL_ERROR_ZERO_RETURN) return absl::OutOfRangeError("the connection was closed");
  if (error == SSL_ERROR_SYSCALL) {
    if (connection_->error == 0) return absl::UnavailableError("the connection was closed");
    errno = connection_->error;
    return SocketError(is_authenticated() ? "the connection broke" : "connect");
  }
  const char* reason = ERR_reason_error_string(ERR_peek_error());
  const std::string why = absl::StrCat("TLS: ", reason == nullptr ? "unknown error" : reason);
  if (is_authenticated()) return absl::UnavailableError(why);
  return Stranger(absl::StrCat("it does not know the secret (", why, ")"));
}

absl::Status TlsSocket::ShakeHands(MonotonicTime now) {
  if (is_authenticated()) return absl::OkStatus();
  ERR_clear_error();
  const int result = SSL_do_handshake(connection_->ssl.get());
  if (result == 1) {
    connection_->is_authenticated = true;
    connection_->room_bytes = SIZE_MAX;
    return absl::OkStatus();
  }
  if (connection_->room_bytes == 0) {
    return Stranger(absl::StrCat("it has sent ", kMostHandshakeBytes,
                                 " bytes and not shown that it knows the secret"));
  }
  RETURN_IF_ERROR(StatusOf(result));
  if (now <= connection_->deadline) return absl::OkStatus();
  return absl::DeadlineExceededError("the other end does not answer");
}

pollfd TlsSocket::awaited() const {
  const bool writes = SSL_want_write(connection_->ssl.get());
  return {
      .fd = descriptor(), .events = static_cast<short>(writes ? POLLOUT : POLLIN), .revents = 0};
}

bool TlsSocket::is_authenticated() const { return connection_->is_authenticated; }
Purpose TlsSocket::purpose() const { return connection_->purpose; }
int TlsSocket::descriptor() const { return connection_->socket.get(); }

absl::StatusOr<size_t> TlsSocket::Receive(std::span<char> buffer) {
  ERR_clear_error();
  size_t received = 0;
  const int result = SSL_read_ex(connection_->ssl.get(), buffer.data(), buffer.size(), &received);
  if (result != 1) RETURN_IF_ERROR(StatusOf(result));
  return received;
}

absl::StatusOr<size_t> TlsSocket::Send(std::string_view bytes) {
  size_t sent = 0;
  while (sent < bytes.size()) {
    ERR_clear_error();
    size_t some = 0;
    const int result =
        SSL_write_ex(connection_->ssl.get(), bytes.data() + sent, bytes.size() - sent, &some);
    if (result != 1) {
      RETURN_IF_ERROR(StatusOf(result));
      break;
    }
    sent += some;
  }
  return sent;
}

absl::StatusOr<bool> TlsSocket::EndSending() {
  ERR_clear_error();
  const int result = SSL_shutdown(connection_->ssl.get());
  if (result < 0) RETURN_IF_ERROR(StatusOf(result));
  return result >= 0;
}

}  // namespace meshwright::gang
