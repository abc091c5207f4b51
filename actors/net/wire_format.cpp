#include "actors/net/wire_format.hpp"

namespace omni::net {

void wire_writer::raw(const void* from, std::size_t count) {
  const auto* first = static_cast<const char*>(from);
  to_.insert(to_.end(), first, first + count);
}

} // namespace omni::net
