#pragma once

#include <sys/socket.h>

namespace omni::media {

/// Whether the address belongs to the public Internet: neither this machine, nor a private, link-local (cloud
/// metadata), shared, documentation, multicast or reserved network, nor an IPv6 form that stands for an IPv4 address.
/// Source: IANA's special-purpose address registries.
bool is_public_address(const sockaddr& address);

} // namespace omni::media
