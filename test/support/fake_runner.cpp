#include "test/support/fake_runner.hpp"

#include "kernels/core/check.hpp"
#include "kernels/core/error.hpp"
#include "kernels/text/byte_alphabet.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <unordered_map>

namespace omni::test {
namespace {

constexpr char alphabet[] = "etaoin shrdlu,.";
constexpr std::uint64_t characters = sizeof(alphabet) - 1;

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
  return hash ^ (hash >> 29);
}

/// The token that follows `tokens`; one in 40 ends the text.
std::int32_t next_token(std::span<const std::int32_t> tokens, const sampling_params& sampling) {
  std::uint64_t hash = sampling.temperature > 0 ? sampling.seed.value_or(0) + 1 : 0;
  for (const auto token : tokens) hash = mix(hash, std::uint64_t(token) + 1);
  if (hash % 40 == 0) return fake_eos;
  return alphabet[hash / 40 % characters];
}

std::shared_ptr<payload> make_values(payload::kind what, const std::vector<float>& values, std::int64_t width) {
  auto made = std::make_shared<payload>();
  made->what = what;
  made->rows = std::int64_t(values.size()) / width;
  made->width = width;
  made->bytes.resize(values.size() * sizeof(float));
  std::memcpy(made->bytes.data(), values.data(), made->bytes.size());
  return made;
}

float row_value(char character, std::int32_t part) {
  return float(static_cast<unsigned char>(character)) + float(part) / 16;
}
float sample_value(float row, std::int32_t at) { return row / 512 + float(at) / 1024; }

/// What the runners of one model share with its hooks.
struct fake_counter {
  std::atomic<int> runners{0};
};

class fake_runner_base : public runner {
public:
  fake_runner_base(std::string stage, const fake_options& options, int number)
      : options_(options), stage_(std::move(stage)), number_(number) {}
  [[nodiscard]] const runner_info& info() const override { return info_; }

protected:
  void begin_step(const batch& work) {
    if (options_.before_step) options_.before_step({stage_, number_, steps_, &work});
    ++steps_;
  }

  fake_options options_;
  runner_info info_;

private:
  std::string stage_;
  int number_;
  std::int64_t steps_ = 0;
};

class fake_thinker final : public fake_runner_base {
public:
  fake_thinker(const std::string& stage, const fake_options& options, const runner_options& asked, int number)
      : fake_runner_base(stage, options, number) {
    info_.block_size = options.block_size;
    info_.blocks = options.blocks;
    info_.max_model_len = asked.max_model_len > 0 ? asked.max_model_len : options.max_model_len;
    info_.vocab_size = fake_vocabulary;
    info_.eos_ids = {fake_eos};
    cache_.assign(std::size_t(options.blocks * options.block_size), -1);
  }

  void open(sequence_slot slot, const sequence_params& params) override {
    OMNI_CHECK(sequences_.emplace(slot, params).second, "a slot is opened once");
  }
  void close(sequence_slot slot) override { OMNI_CHECK(sequences_.erase(slot) == 1, "only open slots are closed"); }

  step_result execute(const batch& work) override {
    begin_step(work);
    step_result result;
    for (const auto& item : work.items) {
      for (std::size_t i = 0; i < item.tokens.size(); ++i) cell(item, std::size_t(item.position) + i) = item.tokens[i];
      auto& made = result.items.emplace_back();
      if (item.sample) made.token = choose(item);
    }
    return result;
  }

private:
  std::int32_t& cell(const batch_item& item, std::size_t position) {
    const auto size = std::size_t(options_.block_size);
    return cache_[std::size_t(item.block_table[position / size]) * size + position % size];
  }

  token_choice choose(const batch_item& item) {
    const auto& params = sequences_.at(item.slot);
    std::vector<std::int32_t> seen;
    for (std::size_t at = 0; at < std::size_t(item.position) + item.tokens.size(); ++at) seen.push_back(cell(item, at));
    token_choice chosen;
    if (options_.answer.empty()) {
      chosen.id = next_token(seen, params.sampling);
    } else {
      const auto said = seen.size() - params.prompt.size();
      chosen.id = said < options_.answer.size() ? static_cast<unsigned char>(options_.answer[said]) : fake_eos;
    }
    if (!params.sampling.logprobs) return chosen;
    chosen.logprob = -0.5F;
    for (std::int32_t i = 0; i < *params.sampling.logprobs; ++i)
      chosen.top.emplace_back((chosen.id + i) % 256, -0.5F - float(i));
    return chosen;
  }

  std::unordered_map<sequence_slot, sequence_params> sequences_;
  std::vector<std::int32_t> cache_; // [blocks, block_size] the tokens themselves stand for their keys and values
};

/// Takes pieces in, gives values out, at most so many per step.
class fake_stream : public fake_runner_base {
public:
  using fake_runner_base::fake_runner_base;

  void open(sequence_slot slot, const sequence_params& params) override {
    const auto& speaker = params.voice.speaker;
    if (!speaker.empty() && speaker != "ann" && speaker != "bob")
      throw input_error("voice", "There is no speaker \"" + speaker + "\": choose ann or bob.");
    OMNI_CHECK(waiting_.emplace(slot, std::vector<float>{}).second, "a slot is opened once");
  }
  void close(sequence_slot slot) override { OMNI_CHECK(waiting_.erase(slot) == 1, "only open slots are closed"); }

  step_result execute(const batch& work) override {
    begin_step(work);
    step_result result;
    for (const auto& item : work.items) {
      auto& values = waiting_.at(item.slot);
      if (item.input) take(*item.input, values);
      const auto count = std::min(values.size(), most_per_step());
      auto& made = result.items.emplace_back();
      if (count > 0) made.outputs.push_back(give({values.begin(), values.begin() + std::ptrdiff_t(count)}));
      values.erase(values.begin(), values.begin() + std::ptrdiff_t(count));
      made.input_used_up = values.empty();
      made.finished = item.end_of_input && values.empty();
    }
    return result;
  }

private:
  virtual void take(const payload& piece, std::vector<float>& into) const = 0;
  [[nodiscard]] virtual std::size_t most_per_step() const = 0;
  [[nodiscard]] virtual std::shared_ptr<const payload> give(std::vector<float> values) const = 0;
  std::unordered_map<sequence_slot, std::vector<float>> waiting_;
};

class fake_talker final : public fake_stream {
public:
  fake_talker(const std::string& stage, const fake_options& options, int number) : fake_stream(stage, options, number) {
    info_.sample_rate = options.sample_rate;
    info_.rows_per_second = double(options.sample_rate) / options.samples_per_row;
  }

private:
  void take(const payload& piece, std::vector<float>& into) const override {
    for (const char character : piece.text)
      for (std::int32_t part = 0; part < options_.rows_per_character; ++part)
        into.push_back(row_value(character, part));
  }
  [[nodiscard]] std::size_t most_per_step() const override { return std::size_t(options_.rows_per_step); }
  [[nodiscard]] std::shared_ptr<const payload> give(std::vector<float> values) const override {
    return make_values(payload::kind::rows, values, 1);
  }
};

class fake_code2wav final : public fake_stream {
public:
  fake_code2wav(const std::string& stage, const fake_options& options, int number)
      : fake_stream(stage, options, number) {
    info_.sample_rate = options.sample_rate;
  }

private:
  void take(const payload& piece, std::vector<float>& into) const override {
    for (std::int64_t row = 0; row < piece.rows; ++row)
      for (std::int32_t at = 0; at < options_.samples_per_row; ++at) into.push_back(sample_value(piece.f32()[row], at));
  }
  [[nodiscard]] std::size_t most_per_step() const override {
    return std::size_t(options_.rows_per_step * options_.samples_per_row);
  }
  [[nodiscard]] std::shared_ptr<const payload> give(std::vector<float> values) const override {
    auto made = make_values(payload::kind::samples, values, 1);
    made->sample_rate = options_.sample_rate;
    return made;
  }
};

class fake_model final : public stage_model {
public:
  fake_model(std::string stage, fake_options options) : stage_(std::move(stage)), options_(std::move(options)) {}

  [[nodiscard]] std::unique_ptr<runner> make_runner(const runner_options& asked, thread_pool&) const override {
    const int number = counter_->runners++;
    if (options_.on_make) options_.on_make(stage_, number);
    if (stage_ == "thinker") return std::make_unique<fake_thinker>(stage_, options_, asked, number);
    if (stage_ == "talker") return std::make_unique<fake_talker>(stage_, options_, number);
    return std::make_unique<fake_code2wav>(stage_, options_, number);
  }
  [[nodiscard]] stage_ports ports() const override {
    if (stage_ == "thinker") return {payload::kind::tokens, payload::kind::text, payload::kind::text};
    if (stage_ == "talker") return {payload::kind::text, payload::kind::rows, {}};
    return {payload::kind::rows, payload::kind::samples, payload::kind::samples};
  }
  [[nodiscard]] const text::tokenizer* tokenizer() const override {
    return stage_ == "thinker" ? &fake_tokenizer() : nullptr;
  }
  [[nodiscard]] std::vector<std::string> speakers() const override {
    return stage_ == "thinker" ? std::vector<std::string>{} : std::vector<std::string>{"ann", "bob"};
  }
  [[nodiscard]] bool takes_media() const override { return options_.takes_media && stage_ == "thinker"; }
  [[nodiscard]] placed_prompt place_media(std::vector<std::int32_t> prompt,
                                          std::vector<std::shared_ptr<const media_input>> media) const override {
    if (!takes_media()) return stage_model::place_media(std::move(prompt), std::move(media));
    placed_prompt made;
    for (const std::int32_t token : prompt) {
      std::size_t rows = 1;
      if (token == fake_medium) {
        const auto& medium = media.at(made.media.size());
        rows = medium->samples.size() + std::size_t(medium->frames);
        made.media.push_back({medium, std::int64_t(made.tokens.size())});
      }
      made.tokens.insert(made.tokens.end(), rows, token);
    }
    return made;
  }
  [[nodiscard]] std::uint64_t fingerprint() const override { return 7; }

private:
  std::string stage_;
  fake_options options_;
  std::unique_ptr<fake_counter> counter_ = std::make_unique<fake_counter>();
};

text::tokenizer make_tokenizer() {
  text::tokenizer_parts parts;
  for (std::int32_t byte = 0; byte < 256; ++byte) {
    const char raw = static_cast<char>(byte);
    parts.vocabulary.push_back({text::to_byte_alphabet({&raw, 1}), byte});
  }
  text::added_token end;
  end.id = fake_eos;
  end.content = "<end>";
  end.special = true;
  parts.added.push_back(end);
  return {parts, "the fake tokenizer"};
}

} // namespace

const text::tokenizer& fake_tokenizer() {
  static const text::tokenizer made = make_tokenizer();
  return made;
}

std::vector<std::int32_t> fake_tokens(std::string_view text) {
  std::vector<std::int32_t> ids;
  for (const char one : text) ids.push_back(static_cast<unsigned char>(one));
  return ids;
}

std::shared_ptr<const stage_model> fake_stage_model(const std::string& stage, const fake_options& options) {
  return std::make_shared<fake_model>(stage, options);
}

std::function<std::shared_ptr<const stage_model>(const stage_model_spec&)> fake_loader(fake_options options) {
  return [options = std::move(options)](const stage_model_spec& spec) {
    if (spec.stage != "thinker" && spec.stage != "talker" && spec.stage != "code2wav")
      throw load_error("There is no fake stage \"" + spec.stage + "\".");
    return fake_stage_model(spec.stage, options);
  };
}

std::vector<std::int32_t> expected_tokens(std::vector<std::int32_t> prompt, std::size_t count,
                                          const sampling_params& sampling) {
  std::vector<std::int32_t> said;
  while (said.size() < count && (said.empty() || said.back() != fake_eos || sampling.ignore_eos)) {
    said.push_back(next_token(prompt, sampling));
    prompt.push_back(said.back());
  }
  return said;
}

std::vector<float> expected_sound(std::string_view said, const fake_options& options) {
  std::vector<float> sound;
  for (const char character : said)
    for (std::int32_t part = 0; part < options.rows_per_character; ++part)
      for (std::int32_t at = 0; at < options.samples_per_row; ++at)
        sound.push_back(sample_value(row_value(character, part), at));
  return sound;
}

} // namespace omni::test
