#pragma once

#include "kernels/core/op_context.hpp"
#include "kernels/models/decoder/decoder_stack.hpp"
#include "kernels/runtime/batch.hpp"

#include <memory>
#include <span>

namespace omni {

/// What a multimodal model makes of one sequence's sounds and pictures. Used by its runner's thread.
class prompt_media {
public:
  virtual ~prompt_media() = default;
  /// Where the token at `index` stands, generated ones included.
  [[nodiscard]] virtual rope_position position(std::int64_t index) const = 0;
  /// Tokens of the prompt that hold the place of a row, increasing.
  [[nodiscard]] virtual std::span<const std::int64_t> places() const = 0;
  /// The row at places()[place], valid until `forget`; its `row` is the caller's to set. Encodes what it is part of,
  /// if that was not done yet.
  [[nodiscard]] virtual media_row row(std::size_t place, const op_context& context) = 0;
  /// Lets go of encoded rows; they are made again if they are asked for.
  virtual void forget() = 0;
};

/// Reads prompts with sounds and pictures. Immutable.
class media_reader {
public:
  virtual ~media_reader() = default;
  /// Null if there are none in the prompt. Throws `input_error` when they do not fit its places.
  [[nodiscard]] virtual std::unique_ptr<prompt_media> read(const sequence_params& params) const = 0;
};

} // namespace omni
