#include "kernels/layers/conv_stack.hpp"

#include "kernels/core/check.hpp"

#include <algorithm>

namespace omni {
namespace {

/// Input rows after an output position that a convolution reads.
std::int64_t rows_after(const stack_conv& c) { return c.weights->span() - c.before; }

/// Positions past the end of its input at which a convolution still makes output.
std::int64_t positions_past_end(const stack_conv& c) { return (c.cut + c.stride - 1) / c.stride; }

} // namespace

track_id conv_stack::add_track(std::int64_t channels) {
  tracks_.push_back({channels, 0, 0});
  return static_cast<track_id>(tracks_.size() - 1);
}

void conv_stack::plan_reads(const stack_conv& c) {
  auto& in = tracks_[static_cast<std::size_t>(c.in)];
  OMNI_CHECK(in.channels == c.weights->in, "a convolution must read as many channels as its weights have");
  in.before = std::max(in.before, c.before);
  in.after = std::max(in.after, rows_after(c) + positions_past_end(c));
  for (const auto to : {c.out, c.activated}) {
    if (to == no_track) continue;
    auto& track = tracks_[static_cast<std::size_t>(to)];
    OMNI_CHECK(track.channels * c.stride == c.weights->out, "a track must have as many channels as its convolution");
    track.before = std::max(track.before, c.cut);
  }
}

conv_stack::step conv_stack::new_step(step::kind what) const {
  step s{};
  s.what = what;
  s.first = parts_;
  s.stage = stage_;
  s.values = stage_values_;
  return s;
}

void conv_stack::begin_stage(std::int64_t values) {
  ++stage_;
  stage_values_ = values;
}

void conv_stack::add(std::vector<stack_conv> convs) {
  auto s = new_step(step::kind::independent);
  for (const auto& c : convs) plan_reads(c);
  parts_ += convs.size();
  s.convs = std::move(convs);
  steps_.push_back(std::move(s));
}

void conv_stack::add_sum(std::vector<stack_conv> convs, float scale) {
  add(std::move(convs));
  steps_.back().what = step::kind::sum;
  steps_.back().scale = scale;
}

void conv_stack::add(row_map map) {
  auto s = new_step(step::kind::map);
  auto& in = tracks_[static_cast<std::size_t>(map.in)];
  in.before = std::max(in.before, map.before);
  s.map = std::move(map);
  steps_.push_back(std::move(s));
  ++parts_;
}

void conv_stack::add_reader(track_id id, std::int64_t before, std::int64_t after) {
  auto& track = tracks_[static_cast<std::size_t>(id)];
  track.before = std::max(track.before, before);
  track.after = std::max(track.after, after);
  readers_.emplace_back(id, before);
}

conv_stack::stream::stream(const conv_stack& plan) : plan_(plan), done_(plan.parts_, 0), read_(plan.tracks_.size(), 0) {
  tracks_.reserve(plan.tracks_.size());
  for (const auto& track : plan.tracks_) tracks_.emplace_back(track.channels, track.before, track.after);
}

conv_stack::stream::session::session(stream& owner, workspace& scratch) : owner_(owner), scope_(scratch) {
  for (auto& track : owner_.tracks_) track.attach(scratch);
}

conv_stack::stream::session::~session() {
  for (auto& track : owner_.tracks_) track.detach();
}

void conv_stack::stream::run(std::span<const float* const> biases, const std::function<void()>& read,
                             const op_context& context) {
  run_from(0, {biases, read, context});
}

/// Runs a stage piece by piece, and the stages after it on each piece at once, so that no stage's output piles up.
void conv_stack::stream::run_from(std::size_t first, const run_args& args) {
  const auto& steps = plan_.steps_;
  auto end = first;
  while (end < steps.size() && steps[end].stage == steps[first].stage) ++end;
  for (bool progress = true; progress;) {
    progress = false;
    for (auto i = first; i < end; ++i) progress |= run_step(steps[i], args.biases, args.context);
    if (end < steps.size())
      run_from(end, args);
    else
      args.read();
    forget();
  }
}

bool conv_stack::stream::run_step(const step& s, std::span<const float* const> biases, const op_context& context) {
  switch (s.what) {
  case step::kind::independent:
    return run_independent(s, biases, context);
  case step::kind::sum:
    return run_sum(s, biases, context);
  case step::kind::map:
    return run_map(s, context);
  }
  return false;
}

/// Positions of a convolution's output that its input allows, about `values` of them at most.
conv_stack::stream::range conv_stack::stream::ready(const stack_conv& c, std::size_t part, std::int64_t values) const {
  const auto& in = tracks_[static_cast<std::size_t>(c.in)];
  const auto end = in.closed() ? in.end() + positions_past_end(c) : in.end() - rows_after(c);
  const auto most = values == 0 ? end : done_[part] + std::max<std::int64_t>(1, values / c.weights->out);
  return {done_[part], std::min(end, most)};
}

conv_job conv_stack::stream::prepare(const stack_conv& c, range positions, const float* bias) {
  conv_panels w(*c.weights);
  if (bias != nullptr) w.bias = bias;
  conv_args a;
  a.x = track(c.in).row(positions.begin - c.before);
  a.x_stride = c.weights->in;
  a.rows = positions.end - positions.begin;
  const auto first = positions.begin * c.stride - c.cut;
  const auto writable = [&](track_id id) {
    auto& to = track(id);
    to.reserve(positions.end * c.stride - c.cut);
    return to.row(first);
  };
  if (c.out != no_track) a.out = writable(c.out);
  if (c.activated != no_track) a.activated = writable(c.activated);
  if (c.residual != no_track) {
    OMNI_CHECK(positions.end <= track(c.residual).end(), "a residual must be known before it is added");
    a.residual = track(c.residual).row(positions.begin);
  }
  a.slope = c.slope;
  a.out_stride = c.weights->out;
  return {w, a};
}

void conv_stack::stream::finish(const stack_conv& c, std::size_t part, range positions) {
  const auto& in = track(c.in);
  const auto total = in.end() * c.stride;
  for (const auto id : {c.out, c.activated}) {
    if (id == no_track) continue;
    auto& to = track(id);
    const auto known = to.end();
    if (!positions.empty()) {
      const auto first = positions.begin * c.stride - c.cut;
      if (first < 0) std::fill(to.row(first), to.row(0), 0.0F); // the cut part of a transposed convolution
      const auto end = positions.end * c.stride - c.cut;
      to.advance(std::max(to.end(), in.closed() ? std::min(end, total) : end));
    }
    if (watch_ && to.end() > known) watch_(id, known);
    if (in.closed() && to.end() == total && !to.closed()) to.close();
  }
  done_[part] = std::max(done_[part], positions.end);
}

bool conv_stack::stream::run_independent(const step& s, std::span<const float* const> biases,
                                         const op_context& context) {
  std::vector<conv_job> jobs;
  std::vector<range> ranges(s.convs.size());
  for (std::size_t i = 0; i < s.convs.size(); ++i) {
    ranges[i] = ready(s.convs[i], s.first + i, s.values);
    if (!ranges[i].empty())
      jobs.push_back(prepare(s.convs[i], ranges[i], biases.empty() ? nullptr : biases[s.first + i]));
  }
  conv(jobs, context);
  for (std::size_t i = 0; i < s.convs.size(); ++i) finish(s.convs[i], s.first + i, ranges[i]);
  return !jobs.empty();
}

bool conv_stack::stream::run_sum(const step& s, std::span<const float* const> biases, const op_context& context) {
  auto common = ready(s.convs.front(), s.first, s.values);
  for (std::size_t i = 1; i < s.convs.size(); ++i)
    common.end = std::min(common.end, ready(s.convs[i], s.first + i, s.values).end);
  if (!common.empty()) {
    std::vector<conv_job> jobs;
    for (std::size_t i = 0; i < s.convs.size(); ++i)
      jobs.push_back(prepare(s.convs[i], common, biases.empty() ? nullptr : biases[s.first + i]));
    jobs.back().a.scale = s.scale;
    conv_sum(jobs, context);
  }
  for (std::size_t i = 0; i < s.convs.size(); ++i) finish(s.convs[i], s.first + i, common);
  return !common.empty();
}

bool conv_stack::stream::run_map(const step& s, const op_context& context) {
  const auto& in = track(s.map.in);
  auto& out = track(s.map.out);
  auto& done = done_[s.first];
  const auto rows = in.end() - done;
  if (rows > 0) {
    out.reserve(in.end());
    s.map.function(in.row(done - s.map.before), out.row(done), rows, context);
    out.advance(in.end());
    if (watch_) watch_(s.map.out, done);
    done = in.end();
  }
  if (in.closed() && !out.closed()) out.close();
  return rows > 0;
}

void conv_stack::stream::forget() {
  std::vector<std::int64_t> needed(tracks_.size());
  for (std::size_t i = 0; i < tracks_.size(); ++i) needed[i] = tracks_[i].end();
  const auto need = [&](track_id id, std::int64_t time) {
    if (id != no_track) needed[static_cast<std::size_t>(id)] = std::min(needed[static_cast<std::size_t>(id)], time);
  };
  for (const auto& s : plan_.steps_) {
    if (s.what == step::kind::map) need(s.map.in, done_[s.first] - s.map.before);
    for (std::size_t i = 0; i < s.convs.size(); ++i) {
      need(s.convs[i].in, done_[s.first + i] - s.convs[i].before);
      need(s.convs[i].residual, done_[s.first + i]);
    }
  }
  for (const auto& [id, before] : plan_.readers_) need(id, read_[static_cast<std::size_t>(id)] - before);
  for (std::size_t i = 0; i < tracks_.size(); ++i) tracks_[i].forget_before(needed[i]);
}

} // namespace omni
