#pragma once

#include "messages/config.hpp"
#include "messages/errc.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

struct ssl_ctx_st;
struct ssl_st;

namespace omni::net {

/// One end of a mutual TLS connection over a non-blocking socket. Not thread safe.
class tls_session {
public:
  explicit tls_session(ssl_st* session);
  ~tls_session();
  tls_session(tls_session&& other) noexcept;
  tls_session& operator=(tls_session&&) = delete;
  tls_session(const tls_session&) = delete;
  tls_session& operator=(const tls_session&) = delete;

  enum class outcome : std::uint8_t { done, wait, broken };
  outcome read(char* into, std::size_t most, std::size_t& got);
  outcome write(const char* from, std::size_t most, std::size_t& put);
  /// Goes on with the handshake; `read` and `write` do so too.
  outcome handshake();
  /// Bytes that were received and decrypted, but not read.
  [[nodiscard]] std::size_t pending() const;
  /// Why it is broken, for people.
  [[nodiscard]] std::string problem() const;
  /// What broke it later on, as far as TLS knows, for whoever does not hold it; empty until then.
  [[nodiscard]] std::shared_ptr<const std::string> last_words() const { return last_words_; }
  /// Does the whole handshake; false if it is broken or takes longer.
  bool finish_handshake(int fd, std::chrono::milliseconds most);

private:
  outcome outcome_of(int result);
  ssl_st* session_;
  std::shared_ptr<std::string> last_words_ = std::make_shared<std::string>();
};

/// Certificate, key and authority of this process. Both sides of a connection show a certificate of the authority, or
/// it is not made. Host names are not compared: whoever holds such a certificate belongs to the pipeline.
class tls_context {
public:
  /// Nothing if `config` names no files. Errors: `invalid_request`, which file and why.
  static expected<std::shared_ptr<const tls_context>> make(const network_config& config);
  ~tls_context();
  tls_context(const tls_context&) = delete;
  tls_context& operator=(const tls_context&) = delete;

  [[nodiscard]] std::unique_ptr<tls_session> accepting(int fd) const;
  [[nodiscard]] std::unique_ptr<tls_session> connecting(int fd) const;

private:
  explicit tls_context(ssl_ctx_st* context) : context_(context) {}
  [[nodiscard]] std::unique_ptr<tls_session> session(int fd, bool accept) const;
  ssl_ctx_st* context_;
};

/// Whether this address may be used as `config` says: the loopback always, others with TLS or `insecure`. `flag` names
/// the address for people. Errors: `invalid_request`.
expected<void> check_exposure(const network_config& config, const std::string& address, const std::string& flag);
/// Whether a head may listen as `config` says, for telling so before models are loaded. Errors: `invalid_request`.
expected<void> check_head(const network_config& config);

} // namespace omni::net
