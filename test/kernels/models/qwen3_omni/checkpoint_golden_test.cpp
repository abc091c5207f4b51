// Checkpoint folders as they are published: in shards, with fused experts, in both spellings of rope, in other types.
#include "kernels/core/float16.hpp"
#include "kernels/models/stage_model.hpp"
#include "test/kernels/models/qwen3_omni/omni_case.hpp"
#include "test/kernels/models/qwen3_omni/stage_player.hpp"
#include "test/kernels/runtime/ar_session.hpp"
#include "test/kernels/weights/file_builder.hpp"

#include <fstream>
#include <functional>
#include <map>
#include <sstream>

namespace omni::qwen3_omni {
namespace {

using nlohmann::json;
using ids = std::vector<std::int32_t>;

struct stored_tensor {
  std::string type;
  std::vector<std::int64_t> extents;
  std::string bytes;
};
using stored_tensors = std::map<std::string, stored_tensor>;

std::string file_text(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

stored_tensors tiny_tensors() {
  const std::string file = file_text(checkpoint_folder() / "model.safetensors");
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  const auto header = json::parse(file.substr(8, length));
  stored_tensors all;
  for (const auto& [name, about] : header.items()) {
    if (name == "__metadata__") continue;
    const std::size_t begin = about["data_offsets"][0], end = about["data_offsets"][1];
    all[name] = {about["dtype"], about["shape"], file.substr(8 + length + begin, end - begin)};
  }
  return all;
}

std::string safetensors_of(const stored_tensors& tensors) {
  json header = json::object();
  std::string data;
  for (const auto& [name, t] : tensors) {
    header[name] = {
        {"dtype", t.type}, {"shape", t.extents}, {"data_offsets", {data.size(), data.size() + t.bytes.size()}}};
    data += t.bytes;
  }
  const std::string text = header.dump();
  test::file_builder file;
  file.number<std::uint64_t>(text.size()).raw(text).raw(data);
  return file.text;
}

/// A copy of the tiny checkpoint that a test may change.
struct checkpoint_copy {
  json config = json::parse(file_text(checkpoint_folder() / "config.json"));
  stored_tensors tensors = tiny_tensors();
  bool in_shards = false;

  void write(const test::temporary_folder& to) const {
    to.write("config.json", config.dump());
    for (const std::string name :
         {"generation_config.json", "preprocessor_config.json", "tokenizer.json", "tokenizer_config.json"})
      to.write(name, file_text(checkpoint_folder() / name));
    if (!in_shards) {
      to.write("model.safetensors", safetensors_of(tensors));
      return;
    }
    std::map<std::string, stored_tensors> shards;
    json index = {{"weight_map", json::object()}};
    std::size_t i = 0;
    for (const auto& [name, t] : tensors) {
      const std::string shard = "model-0000" + std::to_string(1 + i++ % 3) + "-of-00003.safetensors";
      shards[shard][name] = t;
      index["weight_map"][name] = shard;
    }
    for (const auto& [name, some] : shards) to.write(name, safetensors_of(some));
    to.write("model.safetensors.index.json", index.dump());
  }
};

/// What a checkpoint says: the thinker's tokens and the talker's codes of one text case.
struct answer {
  ids tokens, codes;
  friend bool operator==(const answer&, const answer&) = default;
};

answer answer_of(const std::filesystem::path& folder) {
  const auto golden = test::golden_cases("qwen3_omni", "e2e_text").front();
  sequence_params params;
  params.sampling.temperature = 0.0F;
  params.sampling.max_tokens = 6;
  params.prompt = golden.i32("input_ids");
  params.hand_on = true;
  const auto thinker = load_stage_model({folder, "thinker", "auto"}),
             talker = load_stage_model({folder, "talker", "auto"});
  thread_pool pool(2);
  const auto runner = talker->make_runner({}, pool);
  test::ar_session thinking(*thinker);
  test::stage_player speaking(*runner);
  thinking.open(0, params);
  speaking.open(0, params);
  for (int i = 0; i < 6; ++i) {
    const auto result = thinking.step({0});
    for (const auto& out : result.items.front().outputs) speaking.give(0, out);
  }
  speaking.give_end(0);
  while (speaking.step({0})) {}
  return {thinking.tokens(0), speaking.codes_of(0)};
}

/// The experts of all layers in two tensors for each, as transformers 5 keeps them.
void fuse_experts(stored_tensors& tensors) {
  stored_tensors fused;
  for (auto& [name, t] : tensors) {
    const auto at = name.find(".experts.");
    if (at == std::string::npos) {
      fused[name] = std::move(t);
      continue;
    }
    const std::string layer = name.substr(0, at + 9);
    if (name.find("gate_proj") != std::string::npos) {
      auto& up = tensors.at(std::string(name).replace(name.find("gate_proj"), 9, "up_proj"));
      auto& both = fused[layer + "gate_up_proj"];
      both.type = t.type;
      both.extents = {both.extents.empty() ? 1 : both.extents[0] + 1, 2 * t.extents[0], t.extents[1]};
      both.bytes += t.bytes + up.bytes;
    } else if (name.find("down_proj") != std::string::npos) {
      auto& down = fused[layer + "down_proj"];
      down.type = t.type;
      down.extents = {down.extents.empty() ? 1 : down.extents[0] + 1, t.extents[0], t.extents[1]};
      down.bytes += t.bytes;
    }
  }
  tensors = std::move(fused);
}

/// The spelling of newer files.
void respell_rope(json& decoder) {
  json parameters = decoder["rope_scaling"].is_null() ? json{{"rope_type", "default"}} : decoder["rope_scaling"];
  parameters["rope_theta"] = decoder["rope_theta"];
  decoder.erase("rope_scaling");
  decoder.erase("rope_theta");
  decoder["rope_parameters"] = parameters;
}

TEST(golden_checkpoint, says_the_same_in_every_spelling) {
  const auto expected = answer_of(checkpoint_folder());
  EXPECT_FALSE(expected.codes.empty());
  const std::map<std::string, std::function<void(checkpoint_copy&)>> spellings = {
      {"in shards", [](auto& c) { c.in_shards = true; }},
      {"fused experts", [](auto& c) { fuse_experts(c.tensors); }},
      {"fused in shards", [](auto& c) { fuse_experts(c.tensors), c.in_shards = true; }},
      {"rope_parameters",
       [](auto& c) {
         respell_rope(c.config["thinker_config"]["text_config"]);
         respell_rope(c.config["talker_config"]["text_config"]);
         respell_rope(c.config["talker_config"]["code_predictor_config"]);
         respell_rope(c.config["code2wav_config"]);
       }},
      {"num_local_experts", [](auto& c) {
         for (const char* part : {"thinker_config", "talker_config"}) {
           auto& text = c.config[part]["text_config"];
           text["num_local_experts"] = text["num_experts"];
           text.erase("num_experts");
         }
       }}};
  for (const auto& [name, change] : spellings) {
    SCOPED_TRACE(name);
    checkpoint_copy copy;
    change(copy);
    const test::temporary_folder folder;
    copy.write(folder);
    EXPECT_EQ(answer_of(folder.path()), expected);
    EXPECT_NE(load_stage_model({folder.path(), "code2wav", "auto"}), nullptr);
  }
}

TEST(golden_checkpoint, in_f16_computes_with_the_rounded_weights) {
  checkpoint_copy halves, rounded;
  for (auto& [name, t] : halves.tensors) {
    std::string bytes;
    auto& as_f32 = rounded.tensors.at(name).bytes;
    for (std::size_t i = 0; i < t.bytes.size(); i += 4) {
      float value = 0.0F;
      std::memcpy(&value, t.bytes.data() + i, 4);
      const std::uint16_t half = f32_to_f16(value);
      bytes.append(reinterpret_cast<const char*>(&half), 2);
      value = f16_to_f32(half);
      std::memcpy(as_f32.data() + i, &value, 4);
    }
    t.type = "F16";
    t.bytes = std::move(bytes);
  }
  const test::temporary_folder in_f16, in_f32;
  halves.write(in_f16);
  rounded.write(in_f32);
  EXPECT_EQ(answer_of(in_f16.path()), answer_of(in_f32.path()));
}

TEST(golden_checkpoint, that_does_not_speak_has_a_thinker_alone) {
  checkpoint_copy copy;
  copy.config["enable_audio_output"] = false;
  copy.config.erase("talker_config");
  copy.config.erase("code2wav_config");
  std::erase_if(copy.tensors, [](const auto& entry) { return !entry.first.starts_with("thinker."); });
  const test::temporary_folder folder;
  copy.write(folder);
  const auto thinker = load_stage_model({folder.path(), "thinker", "auto"});
  EXPECT_EQ(thinker->ports().hands_on, payload::kind::text);
  for (const std::string stage : {"talker", "code2wav"})
    EXPECT_NE(test::refusal("config.json",
                            [&] {
                              load_stage_model({folder.path(), stage, "auto"});
                            })
                  .find("does not speak"),
              std::string::npos);
}

std::string config_refusal(const std::function<void(json&)>& change) {
  checkpoint_copy copy;
  copy.tensors.clear();
  change(copy.config);
  const test::temporary_folder folder;
  copy.write(folder);
  return test::refusal("config.json", [&] { load_config(folder.path()); });
}

TEST(golden_checkpoint, refuses_a_configuration_that_lacks_a_key) {
  const char* const keys[] = {"/enable_audio_output",
                              "/im_start_token_id",
                              "/im_end_token_id",
                              "/tts_pad_token_id",
                              "/assistant_token_id",
                              "/thinker_config",
                              "/thinker_config/audio_token_id",
                              "/thinker_config/position_id_per_seconds",
                              "/thinker_config/text_config/hidden_size",
                              "/thinker_config/text_config/norm_topk_prob",
                              "/thinker_config/text_config/head_dim",
                              "/thinker_config/text_config/rope_theta",
                              "/thinker_config/text_config/num_experts",
                              "/thinker_config/text_config/rms_norm_eps",
                              "/thinker_config/audio_config/n_window",
                              "/thinker_config/audio_config/n_window_infer",
                              "/thinker_config/audio_config/output_dim",
                              "/thinker_config/vision_config/depth",
                              "/thinker_config/vision_config/num_position_embeddings",
                              "/thinker_config/vision_config/out_hidden_size",
                              "/talker_config",
                              "/talker_config/accept_hidden_layer",
                              "/talker_config/num_code_groups",
                              "/talker_config/codec_eos_token_id",
                              "/talker_config/speaker_id",
                              "/talker_config/thinker_hidden_size",
                              "/talker_config/text_config/shared_expert_intermediate_size",
                              "/talker_config/text_config/norm_topk_prob",
                              "/talker_config/code_predictor_config/vocab_size",
                              "/code2wav_config",
                              "/code2wav_config/sliding_window",
                              "/code2wav_config/codebook_size",
                              "/code2wav_config/decoder_dim",
                              "/code2wav_config/rms_norm_eps"};
  for (const std::string key : keys) {
    SCOPED_TRACE(key);
    const auto message = config_refusal([&](json& config) {
      config = config.patch({{{"op", "remove"}, {"path", key}}});
    });
    EXPECT_NE(message.find(key.substr(key.rfind('/') + 1)), std::string::npos) << message;
  }
}

TEST(golden_checkpoint, refuses_a_configuration_that_contradicts_itself) {
  const std::tuple<const char*, json, const char*> changes[] = {
      {"/thinker_config/text_config/rope_scaling/mrope_section", json({4, 2, 3}), "sum"},
      {"/thinker_config/text_config/rope_scaling/interleaved", false, "interleaved"},
      {"/thinker_config/text_config/rope_scaling", nullptr, "mrope_section"},
      {"/thinker_config/audio_config/output_dim", 32, "width"},
      {"/thinker_config/audio_config/n_window_infer", 150, "multiple"},
      {"/thinker_config/vision_config/num_position_embeddings", 63, "square"},
      {"/thinker_config/vision_config/deepstack_visual_indexes", json({1, 0}), "order"},
      {"/talker_config/codec_eos_token_id", 5000, "outside"},
      {"/talker_config/thinker_hidden_size", 128, "wide"},
      {"/talker_config/speaker_id", json::object(), "speaker"},
      {"/talker_config/accept_hidden_layer", 9, "accept_hidden_layer"},
      {"/talker_config/code_predictor_config/hidden_size", 32, "wide"},
      {"/code2wav_config/num_quantizers", 8, "groups"},
      {"/code2wav_config/decoder_dim", 36, "decoder_dim"},
      {"/model_type", "qwen3_omni", "model_type"},
      {"/quantization_config", json({{"bits", 4}}), "quantised"},
  };
  for (const auto& [path, value, word] : changes) {
    SCOPED_TRACE(path);
    const auto message = config_refusal([&, p = path, v = value](json& config) { config[json::json_pointer(p)] = v; });
    EXPECT_NE(message.find(word), std::string::npos) << message;
  }
}

TEST(golden_checkpoint, names_a_tensor_that_is_missing_or_misshapen) {
  const std::pair<const char*, const char*> parts[] = {
      {"thinker", "thinker.model.layers.1.mlp.experts.3.up_proj.weight"},
      {"thinker", "thinker.audio_tower.conv_out.weight"},
      {"thinker", "thinker.visual.merger_list.1.mlp.2.bias"},
      {"talker", "talker.hidden_projection.linear_fc1.weight"},
      {"talker", "talker.model.layers.0.mlp.shared_expert_gate.weight"},
      {"talker", "talker.code_predictor.lm_head.2.weight"},
      {"code2wav", "code2wav.decoder.2.block.1.conv.weight"},
      {"code2wav", "code2wav.upsample.1.1.gamma"},
      {"code2wav", "code2wav.pre_transformer.layers.1.mlp_layer_scale.scale"}};
  for (const auto& [stage, name] : parts) {
    SCOPED_TRACE(name);
    const test::temporary_folder without, wrong;
    checkpoint_copy missing, misshapen;
    missing.tensors.erase(name);
    missing.write(without);
    misshapen.tensors.at(name).extents.push_back(1);
    misshapen.write(wrong);
    for (const auto* folder : {&without, &wrong}) {
      const auto message = test::refusal(folder->path().string(), [&, s = stage] {
        load_stage_model({folder->path(), s, "auto"});
      });
      EXPECT_NE(message.find(name), std::string::npos) << message;
    }
  }
}

} // namespace
} // namespace omni::qwen3_omni
