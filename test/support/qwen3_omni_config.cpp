#include "test/support/qwen3_omni_config.hpp"

#include <fstream>

namespace omni::test {
namespace {

using nlohmann::json;

constexpr const char* real_config = R"({
  "model_type": "qwen3_omni_moe", "architectures": ["Qwen3OmniMoeForConditionalGeneration"], "dtype": "bfloat16",
  "enable_audio_output": true, "im_start_token_id": 151644, "im_end_token_id": 151645, "tts_pad_token_id": 151671,
  "tts_bos_token_id": 151672, "tts_eos_token_id": 151673, "system_token_id": 8948, "user_token_id": 872,
  "assistant_token_id": 77091,
  "thinker_config": {
    "audio_token_id": 151675, "audio_start_token_id": 151669, "audio_end_token_id": 151670, "image_token_id": 151655,
    "video_token_id": 151656, "vision_start_token_id": 151652, "vision_end_token_id": 151653,
    "position_id_per_seconds": 13, "seconds_per_chunk": 2,
    "text_config": {
      "hidden_size": 2048, "num_hidden_layers": 48, "num_attention_heads": 32, "num_key_value_heads": 4,
      "head_dim": 128, "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768,
      "intermediate_size": 768, "norm_topk_prob": true, "decoder_sparse_step": 1, "mlp_only_layers": [],
      "shared_expert_intermediate_size": 0, "vocab_size": 152064, "tie_word_embeddings": false, "rms_norm_eps": 1e-6,
      "rope_theta": 1000000, "rope_scaling": {"interleaved": true, "mrope_section": [24, 20, 20], "rope_type": "default"},
      "max_position_embeddings": 65536, "attention_bias": false, "hidden_act": "silu", "sliding_window": null
    },
    "audio_config": {
      "d_model": 1280, "encoder_layers": 32, "encoder_attention_heads": 20, "encoder_ffn_dim": 5120,
      "activation_function": "gelu", "num_mel_bins": 128, "downsample_hidden_size": 480, "n_window": 50,
      "n_window_infer": 800, "conv_chunksize": 500, "max_source_positions": 1500, "output_dim": 2048,
      "scale_embedding": false
    },
    "vision_config": {
      "depth": 27, "hidden_size": 1152, "num_heads": 16, "intermediate_size": 4304, "hidden_act": "gelu_pytorch_tanh",
      "patch_size": 16, "temporal_patch_size": 2, "spatial_merge_size": 2, "in_channels": 3, "out_hidden_size": 2048,
      "num_position_embeddings": 2304, "deepstack_visual_indexes": [8, 16, 24]
    }
  },
  "talker_config": {
    "num_code_groups": 16, "thinker_hidden_size": 2048, "accept_hidden_layer": 24, "codec_pad_id": 2148,
    "codec_bos_id": 2149, "codec_eos_token_id": 2150, "codec_nothink_id": 2155, "codec_think_bos_id": 2156,
    "codec_think_eos_id": 2157, "speaker_id": {"chelsie": 2301, "ethan": 2302, "aiden": 2303},
    "position_id_per_seconds": 13, "spatial_merge_size": 2,
    "text_config": {
      "hidden_size": 1024, "num_hidden_layers": 20, "num_attention_heads": 16, "num_key_value_heads": 2,
      "head_dim": 128, "num_experts": 128, "num_experts_per_tok": 6, "moe_intermediate_size": 384,
      "shared_expert_intermediate_size": 768, "norm_topk_prob": true, "intermediate_size": 2048, "vocab_size": 3072,
      "rms_norm_eps": 1e-6, "rope_theta": 1000000,
      "rope_scaling": {"interleaved": true, "mrope_section": [24, 20, 20], "rope_type": "default"},
      "max_position_embeddings": 65536
    },
    "code_predictor_config": {
      "hidden_size": 1024, "num_hidden_layers": 5, "num_attention_heads": 16, "num_key_value_heads": 8,
      "head_dim": 128, "intermediate_size": 3072, "vocab_size": 2048, "num_code_groups": 16, "rms_norm_eps": 1e-6,
      "rope_theta": 1000000, "max_position_embeddings": 32768
    }
  },
  "code2wav_config": {
    "hidden_size": 1024, "num_hidden_layers": 8, "num_attention_heads": 16, "num_key_value_heads": 16,
    "intermediate_size": 3072, "hidden_act": "silu", "rms_norm_eps": 1e-5, "rope_theta": 10000, "sliding_window": 72,
    "layer_scale_initial_scale": 0.01, "codebook_size": 2048, "num_quantizers": 16, "upsampling_ratios": [2, 2],
    "upsample_rates": [8, 5, 4, 3], "decoder_dim": 1536, "max_position_embeddings": 8000
  }
})";

// What differs from the real one.
constexpr const char* tiny_sizes = R"({
  "im_start_token_id": 391, "im_end_token_id": 392, "tts_pad_token_id": 393, "tts_bos_token_id": 394,
  "tts_eos_token_id": 395, "system_token_id": 300, "user_token_id": 301, "assistant_token_id": 302,
  "thinker_config": {
    "audio_token_id": 396, "audio_start_token_id": 397, "audio_end_token_id": 398, "image_token_id": 399,
    "video_token_id": 400, "vision_start_token_id": 401, "vision_end_token_id": 402,
    "text_config": {
      "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16,
      "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 24, "vocab_size": 416,
      "rope_scaling": {"mrope_section": [4, 2, 2]}, "max_position_embeddings": 512
    },
    "audio_config": {
      "d_model": 24, "encoder_layers": 2, "encoder_attention_heads": 2, "encoder_ffn_dim": 40,
      "downsample_hidden_size": 6, "n_window_infer": 200, "output_dim": 32
    },
    "vision_config": {
      "depth": 2, "hidden_size": 16, "num_heads": 2, "intermediate_size": 40, "out_hidden_size": 32,
      "num_position_embeddings": 16, "deepstack_visual_indexes": [0]
    }
  },
  "talker_config": {
    "num_code_groups": 4, "thinker_hidden_size": 32, "accept_hidden_layer": 2, "codec_pad_id": 40, "codec_bos_id": 41,
    "codec_eos_token_id": 42, "codec_nothink_id": 43, "codec_think_bos_id": 44, "codec_think_eos_id": 45,
    "speaker_id": {"chelsie": 46, "ethan": 47, "aiden": 48},
    "text_config": {
      "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16,
      "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 8, "shared_expert_intermediate_size": 24,
      "intermediate_size": 20, "vocab_size": 1056, "rope_scaling": {"mrope_section": [4, 2, 2]},
      "max_position_embeddings": 512
    },
    "code_predictor_config": {
      "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16,
      "intermediate_size": 24, "vocab_size": 32, "num_code_groups": 4
    }
  },
  "code2wav_config": {
    "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2,
    "intermediate_size": 24, "sliding_window": 8, "codebook_size": 32, "num_quantizers": 4, "upsample_rates": [4, 3],
    "decoder_dim": 32
  }
})";

constexpr const char* half_billion_sizes = R"({
  "thinker_config": {
    "text_config": {
      "hidden_size": 512, "num_hidden_layers": 10, "num_attention_heads": 8, "num_experts": 32, "num_experts_per_tok": 4,
      "moe_intermediate_size": 256, "vocab_size": 152064
    },
    "audio_config": {
      "d_model": 512, "encoder_layers": 8, "encoder_attention_heads": 8, "encoder_ffn_dim": 2048,
      "downsample_hidden_size": 192, "output_dim": 512
    },
    "vision_config": {"depth": 6, "hidden_size": 512, "num_heads": 8, "intermediate_size": 2048, "out_hidden_size": 512,
                      "deepstack_visual_indexes": [1, 3, 5]}
  },
  "talker_config": {
    "thinker_hidden_size": 512, "accept_hidden_layer": 6,
    "text_config": {
      "hidden_size": 512, "num_hidden_layers": 8, "num_attention_heads": 8, "num_experts": 16, "num_experts_per_tok": 4,
      "moe_intermediate_size": 192, "shared_expert_intermediate_size": 384, "intermediate_size": 512
    },
    "code_predictor_config": {
      "hidden_size": 512, "num_attention_heads": 8, "num_key_value_heads": 4, "intermediate_size": 1536
    }
  },
  "code2wav_config": {
    "hidden_size": 512, "num_attention_heads": 8, "num_key_value_heads": 8, "intermediate_size": 1536,
    "decoder_dim": 768
  }
})";

json changed(const char* changes) {
  json config = real_qwen3_omni_config();
  config.merge_patch(json::parse(changes));
  return config;
}

} // namespace

json real_qwen3_omni_config() { return json::parse(real_config); }

json tiny_qwen3_omni_config() { return changed(tiny_sizes); }

json half_billion_qwen3_omni_config() { return changed(half_billion_sizes); }

void write_config(const std::filesystem::path& folder, const json& config) {
  std::ofstream(folder / "config.json") << config.dump(1);
}

} // namespace omni::test
