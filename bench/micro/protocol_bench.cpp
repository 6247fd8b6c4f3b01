// Bytes to commands and back.
#include <benchmark/benchmark.h>

#include "bench/process/workload.h"
#include "protocol/codec.h"

namespace attune::bench {
namespace {

constexpr std::string_view kTrial =
    R"({"parameter_id": 7, "parameter_source": "algorithm", "parameters": {"lr": )"
    R"(0.0123456789, "momentum": 0.93, "batch": 32, "opt": "adam", "layers": 3, "hidden": 128.0, )"
    R"("wd": 17.0, "init": -0.4, "drop": 5.5, "scale": 1.25}, "parameter_index": 0})";

constexpr std::string_view kUnusualMetric =
    R"({"parameter_id": 7, "trial_job_id": "T7", "type": "PERIODICAL", "sequence": 3, )"
    R"("value": "{\"default\": 0.93}"})";

Frame frame_of(const std::string& code) {
  if (code == "TR") return {"TR", std::string(kTrial)};
  // What is not plain is decoded through a tree of values (protocol/plain_metric.h).
  if (code == "ME, an object") return {"ME", std::string(kUnusualMetric)};
  std::string bytes;
  append_trial(7, 1, bytes);
  FrameDecoder decoder{Framing{}};
  decoder.feed(bytes);
  while (auto frame = decoder.next().value()) {
    if (frame->code == code) return *frame;
  }
  return {};
}

// The stream as the daemon reads it: pieces of 64 KiB.
void decode_frames(benchmark::State& state) {
  constexpr std::size_t kPiece = 64 << 10;
  std::string bytes;
  int trials = 0;
  while (bytes.size() < 1 << 20) append_trial(trials++, 100, bytes);
  for (auto _ : state) {
    FrameDecoder decoder{Framing{}};
    for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
      decoder.feed(std::string_view(bytes).substr(at, kPiece));
      while (auto frame = decoder.next().value()) benchmark::DoNotOptimize(frame);
    }
  }
  state.SetItemsProcessed(state.iterations() * trials * 101);
}
BENCHMARK(decode_frames);

void encode_frames(benchmark::State& state) {
  const Frame frame = frame_of("TR");
  std::string bytes;
  for (auto _ : state) {
    bytes.clear();
    benchmark::DoNotOptimize(encode_frame(frame, {}, bytes));
  }
}
BENCHMARK(encode_frames);

void decode_command(benchmark::State& state, const std::string& code) {
  const Frame frame = frame_of(code);
  for (auto _ : state) benchmark::DoNotOptimize(decode(frame));
}
BENCHMARK_CAPTURE(decode_command, ME, "ME");
BENCHMARK_CAPTURE(decode_command, ME_object, "ME, an object");
BENCHMARK_CAPTURE(decode_command, EN, "EN");
BENCHMARK_CAPTURE(decode_command, TR, "TR");

void encode_command(benchmark::State& state, const std::string& code) {
  const Command command = decode(frame_of(code)).value();
  for (auto _ : state) benchmark::DoNotOptimize(encode(command));
}
BENCHMARK_CAPTURE(encode_command, ME, "ME");
BENCHMARK_CAPTURE(encode_command, EN, "EN");
BENCHMARK_CAPTURE(encode_command, TR, "TR");

}  // namespace
}  // namespace attune::bench
