#pragma once

// The only file that knows which CAF this is (0.17.6 of Debian 12): what other versions spell differently is named here
// and used under these names everywhere else. Signatures are written in the style of CAF 1.x.

#include <caf/all.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace omni {
namespace detail {

template <class Signature>
struct handler_of;
template <class... Out, class... In>
struct handler_of<caf::result<Out...>(In...)> {
  using type = typename caf::replies_to<In...>::template with<Out...>;
};
template <class... In>
struct handler_of<caf::result<void>(In...)> {
  using type = caf::reacts_to<In...>;
};

/// Stands for an optional member while it is written or read: a flag, then the value.
template <class T>
struct optional_member {
  std::optional<T>& member;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, optional_member& x) {
    bool present = x.member.has_value();
    T value = x.member.value_or(T{});
    const auto load = [&]() -> caf::error {
      x.member = present ? std::optional<T>(std::move(value)) : std::nullopt;
      return caf::none;
    };
    return f(present, value, caf::meta::load_callback(load));
  }
};

} // namespace detail

/// A typed actor, e.g. `actor_interface<caf::result<void>(open_request), caf::result<count>(get_count)>`.
template <class... Signatures>
using actor_interface = caf::typed_actor<typename detail::handler_of<Signatures>::type...>;

/// The members of a message, for its `inspect`: `return fields(f, x.id, optional_field(x.seed));`
template <class Inspector, class... Members>
auto fields(Inspector& f, Members&&... members) {
  return f(std::forward<Members>(members)...);
}
template <class T>
detail::optional_member<T> optional_field(std::optional<T>& member) {
  return {member};
}

/// Sets up a system for our messages: `threads` workers that sleep while idle, no network.
inline void configure(caf::actor_system_config& config, unsigned threads) {
  config.set("scheduler.policy", caf::atom("sharing"));
  config.set("scheduler.max-threads", std::size_t(threads));
}

/// The reason of an actor that ends itself with a sentence.
inline caf::error ended_with(const std::string& sentence) { return caf::make_error(caf::sec::runtime_error, sentence); }
/// Why an actor ended, for people.
template <class Actor>
std::string reason_text(Actor* self, const caf::error& reason) {
  return self->system().render(reason);
}

/// Microseconds on the clock of an actor's system: steady, and virtual in tests.
template <class Actor>
std::int64_t now_us(Actor* self) {
  return std::chrono::duration_cast<std::chrono::microseconds>(self->clock().now().time_since_epoch()).count();
}

} // namespace omni
