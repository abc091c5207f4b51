#include "app/media/address.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstdint>
#include <cstring>
#include <netinet/in.h>

namespace omni::media {
namespace {

struct network {
  std::uint32_t address;
  unsigned bits;
};

constexpr std::uint32_t ip(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  return a << 24U | b << 16U | c << 8U | d;
}

constexpr std::array special_v4{
    network{ip(0, 0, 0, 0), 8},       network{ip(10, 0, 0, 0), 8},     network{ip(100, 64, 0, 0), 10},
    network{ip(127, 0, 0, 0), 8},     network{ip(169, 254, 0, 0), 16}, network{ip(172, 16, 0, 0), 12},
    network{ip(192, 0, 0, 0), 24},    network{ip(192, 0, 2, 0), 24},   network{ip(192, 31, 196, 0), 24},
    network{ip(192, 52, 193, 0), 24}, network{ip(192, 88, 99, 0), 24}, network{ip(192, 168, 0, 0), 16},
    network{ip(192, 175, 48, 0), 24}, network{ip(198, 18, 0, 0), 15},  network{ip(198, 51, 100, 0), 24},
    network{ip(203, 0, 113, 0), 24},  network{ip(224, 0, 0, 0), 4},    network{ip(240, 0, 0, 0), 4},
};

bool is_within(std::uint32_t address, const network& of) { return (address ^ of.address) >> (32 - of.bits) == 0; }

bool is_public_v4(std::uint32_t address) {
  return std::none_of(special_v4.begin(), special_v4.end(), [&](const network& n) { return is_within(address, n); });
}

/// Only 2000::/3 is given out; of it, these beginnings are special.
constexpr std::array special_v6{
    network{ip(0x20, 0x01, 0x00, 0x00), 23}, // 2001::/23: protocols, Teredo
    network{ip(0x20, 0x01, 0x0D, 0xB8), 32}, // documentation
    network{ip(0x20, 0x02, 0x00, 0x00), 16}, // 6to4: an IPv4 address follows
    network{ip(0x26, 0x20, 0x00, 0x4F), 32}, // 2620:4f:8000::/48
    network{ip(0x3F, 0xFF, 0x00, 0x00), 20}, // documentation
};

bool is_public_v6(const std::uint8_t* bytes) {
  const std::uint32_t first = ip(bytes[0], bytes[1], bytes[2], bytes[3]);
  return is_within(first, {ip(0x20, 0, 0, 0), 3}) &&
         std::none_of(special_v6.begin(), special_v6.end(), [&](const network& n) { return is_within(first, n); });
}

} // namespace

bool is_public_address(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, &address, sizeof v4);
    return is_public_v4(ntohl(v4.sin_addr.s_addr));
  }
  if (address.sa_family != AF_INET6) return false;
  sockaddr_in6 v6;
  std::memcpy(&v6, &address, sizeof v6);
  return is_public_v6(v6.sin6_addr.s6_addr);
}

} // namespace omni::media
