#include "kernels/models/qwen3_omni/talker_prompt.hpp"

#include <algorithm>

namespace omni::qwen3_omni {
namespace {

using ids = std::span<const std::int32_t>;

/// Rows of media that follow each other keep their distances; what comes after them stands one beyond the farthest.
void hear_media(std::span<const rope_position> run, std::int64_t first, talker_prompt& to) {
  const float from = run.front().time, start = to.next_position;
  float farthest = start;
  for (const auto& p : run) {
    const rope_position moved(p.time - from + start, p.height - from + start, p.width - from + start);
    to.heard.push_back({-1, first++, moved});
    farthest = std::max({farthest, moved.time, moved.height, moved.width});
  }
  to.next_position = farthest + 1.0F;
}

/// One user turn. `media`: the first of its rows of media.
void hear_turn(ids turn, std::span<const rope_position> media_positions, std::int64_t media, const token_ids& tokens,
               talker_prompt& to) {
  const auto is_media = [&](std::int32_t id) { return tokens.is_media(id); };
  for (auto at = turn.begin(); at != turn.end();) {
    const auto end = std::find_if_not(at, turn.end(), is_media);
    if (const auto count = end - at; count > 0) {
      hear_media(media_positions.subspan(static_cast<std::size_t>(media), static_cast<std::size_t>(count)), media, to);
      media += count;
      at = end;
      continue;
    }
    to.heard.push_back({*at++, -1, {to.next_position, to.next_position, to.next_position}});
    to.next_position += 1.0F;
  }
}

} // namespace

talker_prompt read_talker_prompt(ids prompt, std::span<const rope_position> media_positions, const token_ids& tokens) {
  talker_prompt made;
  std::int64_t media = 0;
  ids last;
  for (auto at = std::find(prompt.begin(), prompt.end(), tokens.im_start); at != prompt.end();) {
    const auto end = std::find(at + 1, prompt.end(), tokens.im_start);
    const ids turn(at, end);
    const auto inside = std::count_if(turn.begin(), turn.end(), [&](auto id) { return tokens.is_media(id); });
    const std::int32_t role = turn.size() > 1 ? turn[1] : -1;
    if (role == tokens.user) hear_turn(turn, media_positions, media, tokens, made);
    if (role != tokens.user && role != tokens.system && role != tokens.assistant) {
      made.problem = "A turn of this conversation is neither of the system nor of the user nor of the assistant, so it "
                     "cannot be answered by voice: ask for text.";
      return made;
    }
    media += inside;
    last = turn;
    at = end;
  }
  if (last.size() < 3 || last[1] != tokens.assistant) {
    made.problem =
        "The conversation does not end where the assistant's turn begins, so it cannot be answered by voice: "
        "add a generation prompt, or ask for text.";
    return made;
  }
  made.opening.assign(last.begin(), last.begin() + 3);
  made.reply.assign(last.begin() + 3, last.end());
  return made;
}

} // namespace omni::qwen3_omni
