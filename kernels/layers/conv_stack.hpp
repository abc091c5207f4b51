#pragma once

#include "kernels/layers/feature_track.hpp"
#include "kernels/ops/conv.hpp"

#include <functional>
#include <span>
#include <vector>

namespace omni {

/// Index of a track of a `conv_stack`.
using track_id = int;
inline constexpr track_id no_track = -1;

/// One convolution of a stack: reads rows t - before .. t - before + span of `in` for its output row t.
struct stack_conv {
  const conv_weights* weights = nullptr; // owned by the model
  track_id in = no_track;
  std::int64_t before = 0;
  track_id residual = no_track;  // added to the result
  track_id out = no_track;       // where the result goes
  track_id activated = no_track; // where its leaky_relu goes
  float slope = 0.0F;
  // Transposed convolutions: one input row makes `stride` output rows, the first `cut` of all are dropped.
  std::int64_t stride = 1;
  std::int64_t cut = 0;
};

/// A function that makes row t of `out` of rows t - before .. t of `in`: what stands between convolutions.
struct row_map {
  track_id in = no_track;
  track_id out = no_track;
  std::int64_t before = 0;
  /// Reads [rows + before, channels of in] at `in`, writes [rows, channels of out]. A row's result must not depend on
  /// how many are made at once. What it holds is owned by the model.
  std::function<void(const float* in, float* out, std::int64_t rows, const op_context&)> function;
};

/// A network of convolutions over time that computes its outputs as soon as their inputs are known. What was not needed
/// yet is kept from call to call, so outputs are the same, bit for bit, however the input is cut.
/// The plan is built once and is then read-only: any number of streams run over it.
class conv_stack {
public:
  track_id add_track(std::int64_t channels);
  /// What is added from here on goes through its layers in pieces of about `values` values a track, so that the tracks
  /// of the stage stay in cache together; without a stage, all that is ready goes through a layer at once.
  void begin_stage(std::int64_t values);
  /// Convolutions that do not depend on each other.
  void add(std::vector<stack_conv> convs);
  /// Convolutions whose results are summed up and scaled; only the last one says where to.
  void add_sum(std::vector<stack_conv> convs, float scale);
  /// Any function of rows: see `row_map`.
  void add(row_map map);
  /// A reader outside of the stack looks at rows t - before .. t + after when it is at row t. One per track.
  void add_reader(track_id track, std::int64_t before, std::int64_t after);

  [[nodiscard]] std::int64_t channels(track_id track) const {
    return tracks_[static_cast<std::size_t>(track)].channels;
  }
  /// Convolutions and maps added so far.
  [[nodiscard]] std::size_t parts() const { return parts_; }

  class stream;

private:
  struct step {
    enum class kind : std::uint8_t { independent, sum, map } what;
    std::vector<stack_conv> convs;
    std::size_t first = 0; // index of the first of `convs` (or of the map) among all
    float scale = 1.0F;    // sum
    row_map map;
    std::size_t stage = 0;
    std::int64_t values = 0; // of the stage, 0: no limit
  };
  struct track_plan {
    std::int64_t channels = 0;
    std::int64_t before = 0;
    std::int64_t after = 0;
  };

  void plan_reads(const stack_conv& c);
  step new_step(step::kind what) const;

  std::vector<track_plan> tracks_;
  std::vector<step> steps_;
  std::vector<std::pair<track_id, std::int64_t>> readers_; // outside: track, rows before its position
  std::size_t parts_ = 0;                                  // convolutions and maps
  std::size_t stage_ = 0;                                  // of what is added next
  std::int64_t stage_values_ = 0;
};

/// The state of one sentence that runs through a stack. The stack must outlive it.
class conv_stack::stream {
public:
  explicit stream(const conv_stack& plan);

  /// While one exists, the stream computes: its rows live in scratch memory.
  class session {
  public:
    session(stream& owner, workspace& scratch);
    ~session();
    session(const session&) = delete;
    session& operator=(const session&) = delete;

  private:
    stream& owner_;
    workspace::scope scope_;
  };

  [[nodiscard]] feature_track& track(track_id id) { return tracks_[static_cast<std::size_t>(id)]; }

  /// Computes, in a session, all that the inputs written so far allow. `biases` replaces biases where not null (a
  /// speaker's), by convolution in the order they were added. `read` is called each time there may be new rows for a
  /// reader outside, so that few need be held for it.
  void run(std::span<const float* const> biases, const std::function<void()>& read, const op_context& context);
  /// Has `see` called with each track that gets new rows, and the time of the first of them. For tests.
  void watch(std::function<void(track_id, std::int64_t)> see) { watch_ = std::move(see); }
  /// The reader outside has moved on to row `time` of `id`.
  void read_up_to(track_id id, std::int64_t time) { read_[static_cast<std::size_t>(id)] = time; }

private:
  struct run_args {
    std::span<const float* const> biases;
    const std::function<void()>& read;
    const op_context& context;
  };
  struct range {
    std::int64_t begin, end; // output positions
    [[nodiscard]] bool empty() const { return begin >= end; }
  };
  [[nodiscard]] range ready(const stack_conv& c, std::size_t part, std::int64_t values) const;
  conv_job prepare(const stack_conv& c, range positions, const float* bias);
  void finish(const stack_conv& c, std::size_t part, range positions);
  void run_from(std::size_t first, const run_args& args);
  // Each says whether it computed anything.
  bool run_step(const step& s, std::span<const float* const> biases, const op_context& context);
  bool run_independent(const step& s, std::span<const float* const> biases, const op_context& context);
  bool run_sum(const step& s, std::span<const float* const> biases, const op_context& context);
  bool run_map(const step& s, const op_context& context);
  void forget();

  const conv_stack& plan_;
  std::vector<feature_track> tracks_;
  std::vector<std::int64_t> done_; // per convolution or map: output positions computed
  std::vector<std::int64_t> read_; // per track: where the reader outside is
  std::function<void(track_id, std::int64_t)> watch_;
};

} // namespace omni
