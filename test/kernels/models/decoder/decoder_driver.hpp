#pragma once

#include "kernels/models/decoder/decoder_model.hpp"
#include "kernels/ops/backend.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace omni::test {

/// One part of a step: tokens of a sequence, fed at `position`.
struct fed_part {
  std::vector<std::int32_t> tokens;
  std::int32_t position = 0;
  std::vector<std::int32_t> blocks;
  std::vector<rope_position> positions = {}; // of all tokens, if they are not those of text
  std::vector<media_row> media = {};         // rows counted from the part's first token
};

/// Runs a model's steps directly, with a cache of its own. Block tables are the test's.
class decoder_driver {
public:
  explicit decoder_driver(std::shared_ptr<const decoder_model> model, unsigned threads = 2, std::int32_t blocks = 64)
      : model_(std::move(model)), pool_(threads), lane_(pool_), cache_(model_->cache_shape(block_size), blocks) {}

  static constexpr std::int32_t block_size = 16;

  /// Logits [rows, vocab] of all rows of all parts.
  std::vector<float> feed(const std::vector<fed_part>& parts) {
    std::vector<std::int32_t> ids, rows;
    std::vector<rope_position> positions;
    std::vector<media_row> media;
    std::vector<sequence_rows> sequences;
    for (const auto& part : parts) {
      sequences.push_back({static_cast<std::int64_t>(ids.size()), static_cast<std::int64_t>(part.tokens.size()),
                           part.position, part.blocks});
      for (std::size_t i = 0; i < part.tokens.size(); ++i) {
        rows.push_back(static_cast<std::int32_t>(ids.size()));
        ids.push_back(part.tokens[i]);
        positions.push_back(part.positions.empty() ? part.position + static_cast<std::int32_t>(i) : part.positions[i]);
      }
      for (auto m : part.media) {
        m.row += static_cast<std::int32_t>(sequences.back().first_row);
        media.push_back(m);
      }
    }
    std::vector<float> logits(ids.size() * static_cast<std::size_t>(model_->config().vocab));
    const workspace::scope scope(scratch_);
    const thread_pool::lane::step step(lane_, 0);
    const tensor out(logits.data(), {static_cast<std::int64_t>(ids.size()), model_->config().vocab});
    accepted.resize(media.size() * static_cast<std::size_t>(model_->config().hidden));
    const tensor kept(accepted.data(), {static_cast<std::int64_t>(media.size()), model_->config().hidden});
    const tensor_observer observer = [this](const std::string& name, const tensor& t) { keep(name, t); };
    model_->forward({ids, positions, sequences, rows, &cache_, out, media, kept, watching_ ? &observer : nullptr},
                    {cpu_device(), scratch_, lane_});
    return logits;
  }

  /// One sequence in the blocks 0, 1, 2, ...
  std::vector<float> feed(const std::vector<std::int32_t>& tokens, std::int32_t position = 0) {
    std::vector<std::int32_t> blocks(static_cast<std::size_t>(position) / block_size + tokens.size() / block_size + 2);
    std::iota(blocks.begin(), blocks.end(), 0);
    return feed({{tokens, position, blocks}});
  }

  /// The last row's logits.
  [[nodiscard]] std::vector<float> last(const std::vector<float>& logits) const {
    return {logits.end() - model_->config().vocab, logits.end()};
  }

  /// Keeps inner tensors of the following steps: values and integers, by name.
  void watch() { watching_ = true; }
  std::map<std::string, std::vector<float>> seen;
  std::map<std::string, std::vector<std::int32_t>> seen_ids;
  std::vector<float> accepted; // of the last step's rows of media

private:
  void keep(const std::string& name, const tensor& t) {
    if (t.type == dtype::i32)
      seen_ids[name].assign(t.i32(), t.i32() + t.values());
    else
      seen[name].assign(t.f32(), t.f32() + t.values());
  }

  std::shared_ptr<const decoder_model> model_;
  thread_pool pool_;
  thread_pool::lane lane_;
  workspace scratch_;
  kv_cache cache_;
  bool watching_ = false;
};

inline std::int32_t best_of(const std::vector<float>& logits) {
  return static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

} // namespace omni::test
