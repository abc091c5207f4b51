#pragma once

namespace omni {

/// A ChatML template for models that come without one: one token in the place of each sound, picture or video, and no
/// system prompt of its own.
inline constexpr const char* chat_ml = R"({%- for message in messages -%}
{{- '<|im_start|>' + message.role + '\n' -}}
{%- if message.content is string -%}{{- message.content -}}
{%- else -%}
{%- for part in message.content -%}
{%- if part.type == 'text' -%}{{- part.text -}}
{%- elif 'audio' in part.type -%}{{- '<|audio_start|><|audio_pad|><|audio_end|>' -}}
{%- elif 'image' in part.type -%}{{- '<|vision_start|><|image_pad|><|vision_end|>' -}}
{%- elif 'video' in part.type -%}{{- '<|vision_start|><|video_pad|><|vision_end|>' -}}
{%- endif -%}
{%- endfor -%}
{%- endif -%}
{{- '<|im_end|>\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\n' -}}{%- endif -%}
)";

} // namespace omni
