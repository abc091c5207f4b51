#include "actors/net/tls.hpp"

#include "actors/net/socket.hpp"

#include <csignal>
#include <cstring>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <string>
#include <utility>

namespace omni::net {
namespace {

/// OpenSSL writes with write(2), and a connection that the other end has closed would raise SIGPIPE.
void block_sigpipe_in_this_thread() {
  thread_local const bool blocked = [] {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    return pthread_sigmask(SIG_BLOCK, &set, nullptr) == 0;
  }();
  (void)blocked;
}

/// What OpenSSL says of this thread's last failure.
std::string last_error() {
  if (const auto first = ERR_peek_error(); ERR_SYSTEM_ERROR(first)) return std::strerror(ERR_GET_REASON(first));
  const auto code = ERR_peek_last_error();
  const char* text = code == 0 ? nullptr : ERR_reason_error_string(code);
  return text == nullptr ? "the connection was closed" : text;
}

tl::unexpected<failure> wrong_file(const char* flag, const std::string& file) {
  return fail(errc::invalid_request, std::string(flag) + " " + file + " cannot be used: " + last_error() +
                                         "; it must be a readable PEM file that fits the other two.");
}

} // namespace

tls_session::tls_session(ssl_st* session) : session_(session) {}
tls_session::tls_session(tls_session&& other) noexcept
    : session_(std::exchange(other.session_, nullptr)), last_words_(other.last_words_) {}
tls_session::~tls_session() { SSL_free(session_); }

tls_session::outcome tls_session::outcome_of(int result) {
  switch (SSL_get_error(session_, result)) {
  case SSL_ERROR_NONE:
    return outcome::done;
  case SSL_ERROR_WANT_READ:
  case SSL_ERROR_WANT_WRITE:
    return outcome::wait;
  default:
    if (ERR_peek_last_error() != 0) *last_words_ = problem();
    return outcome::broken;
  }
}

tls_session::outcome tls_session::read(char* into, std::size_t most, std::size_t& got) {
  block_sigpipe_in_this_thread();
  ERR_clear_error();
  got = 0;
  return outcome_of(SSL_read_ex(session_, into, most, &got));
}

tls_session::outcome tls_session::write(const char* from, std::size_t most, std::size_t& put) {
  block_sigpipe_in_this_thread();
  ERR_clear_error();
  put = 0;
  return outcome_of(SSL_write_ex(session_, from, most, &put));
}

tls_session::outcome tls_session::handshake() {
  block_sigpipe_in_this_thread();
  ERR_clear_error();
  return outcome_of(SSL_do_handshake(session_));
}

std::size_t tls_session::pending() const { return std::size_t(SSL_pending(session_)); }

std::string tls_session::problem() const {
  const auto verified = SSL_get_verify_result(session_);
  if (verified != X509_V_OK)
    return std::string("the other side's certificate is not accepted, ") + X509_verify_cert_error_string(verified);
  return last_error();
}

bool tls_session::finish_handshake(int fd, std::chrono::milliseconds most) {
  const auto end = std::chrono::steady_clock::now() + most;
  for (;;) {
    const auto now = handshake();
    if (now != outcome::wait) return now == outcome::done;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0 || !wait_for(fd, SSL_want_write(session_), left)) return false;
  }
}

expected<std::shared_ptr<const tls_context>> tls_context::make(const network_config& config) {
  const bool any = !config.tls_cert.empty() || !config.tls_key.empty() || !config.tls_ca.empty();
  if (!any) return std::shared_ptr<const tls_context>();
  if (config.tls_cert.empty() || config.tls_key.empty() || config.tls_ca.empty())
    return fail(errc::invalid_request,
                "--omni-tls-cert, --omni-tls-key and --omni-tls-ca belong together: give all three.");
  ERR_clear_error();
  std::shared_ptr<tls_context> made(new tls_context(SSL_CTX_new(TLS_method())));
  auto* context = made->context_;
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  if (SSL_CTX_use_certificate_chain_file(context, config.tls_cert.c_str()) != 1)
    return wrong_file("--omni-tls-cert", config.tls_cert);
  if (X509_cmp_current_time(X509_get0_notAfter(SSL_CTX_get0_certificate(context))) < 0)
    return fail(errc::invalid_request,
                "--omni-tls-cert " + config.tls_cert + " has expired: nobody would accept it, make a new one.");
  if (SSL_CTX_use_PrivateKey_file(context, config.tls_key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context) != 1)
    return wrong_file("--omni-tls-key", config.tls_key);
  if (SSL_CTX_load_verify_locations(context, config.tls_ca.c_str(), nullptr) != 1)
    return wrong_file("--omni-tls-ca", config.tls_ca);
  return std::shared_ptr<const tls_context>(std::move(made));
}

tls_context::~tls_context() { SSL_CTX_free(context_); }

std::unique_ptr<tls_session> tls_context::session(int fd, bool accept) const {
  auto* session = SSL_new(context_);
  SSL_set_fd(session, fd);
  accept ? SSL_set_accept_state(session) : SSL_set_connect_state(session);
  return std::make_unique<tls_session>(session);
}

std::unique_ptr<tls_session> tls_context::accepting(int fd) const { return session(fd, true); }
std::unique_ptr<tls_session> tls_context::connecting(int fd) const { return session(fd, false); }

expected<void> check_exposure(const network_config& config, const std::string& address, const std::string& flag) {
  if (is_loopback(address) || !config.tls_cert.empty() || config.insecure) return {};
  return fail(errc::invalid_request,
              flag + " " + address +
                  " can be reached from other machines: give --omni-tls-cert, --omni-tls-key and --omni-tls-ca, or "
                  "--insecure if whoever reaches it may take part.");
}

expected<void> check_head(const network_config& config) {
  if (auto good = check_exposure(config, config.address, "--omni-master-address"); !good) return good;
  if (const auto tls = tls_context::make(config); !tls) return tl::unexpected(tls.error());
  return {};
}

} // namespace omni::net
