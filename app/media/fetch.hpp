#pragma once

#include "app/media/limits.hpp"
#include "app/media/outcome.hpp"

#include <atomic>
#include <functional>
#include <string>
#include <sys/socket.h>

namespace omni::media {

/// Whether a connection to this address may be made. Asked with the very address that is then connected to, on every
/// redirect anew.
using address_policy = std::function<bool(const sockaddr&)>;

/// Downloads an http or https URL; certificates are checked against the machine's authorities, proxies of the
/// environment are not used. Gives up when `cancelled` becomes true. Any thread.
outcome<std::string> fetch(const std::string& url, const limits& bounds, const address_policy& allowed,
                           const std::atomic<bool>& cancelled);

} // namespace omni::media
