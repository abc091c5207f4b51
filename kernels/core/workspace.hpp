#pragma once

#include "kernels/core/buffer.hpp"

#include <vector>

namespace omni {

/// Scratch memory of one replica: a stack of aligned pieces that a step takes and gives back, so that a step allocates
/// nothing once the largest step was seen. One thread at a time (the replica's own).
class workspace {
public:
  /// Gives back, at its end, everything taken since its start.
  class scope {
  public:
    explicit scope(workspace& owner) : owner_(owner), chunk_(owner.chunk_), used_(owner.used_) {}
    ~scope() { owner_.chunk_ = chunk_, owner_.used_ = used_; }
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;

  private:
    workspace& owner_;
    std::size_t chunk_;
    std::size_t used_;
  };

  /// Uninitialised values, 64-byte aligned, valid until the enclosing `scope` ends.
  tensor take(dtype type, shape extents);
  float* floats(std::int64_t count) { return take(dtype::f32, {count}).f32(); }

  /// Bytes held from the system.
  [[nodiscard]] std::size_t held_bytes() const;

private:
  friend class scope;
  std::vector<buffer> chunks_; // pieces never move: a chunk that is too small is left and the next one is used
  std::size_t chunk_ = 0;
  std::size_t used_ = 0;
};

} // namespace omni
