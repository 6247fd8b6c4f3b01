#include "bench/process/measure.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <stdexcept>

#include "bench/process/dispatcher_process.h"
#include "bench/process/workload.h"
#include "os/clock.h"
#include "protocol/codec.h"

namespace attune::bench {
namespace {

constexpr int kWindow = 50;  // requests over which a latency is the median
constexpr int kSteps = 100;  // intermediate results of a trial

class Stopwatch {
 public:
  double seconds() const { return clock_.now() - start_; }

 private:
  SystemClock clock_;
  double start_ = clock_.now();
};

// A trial proposed by the dispatcher; its parameter id must be `trial`, which the load counts on.
NewTrialJob proposal(const Frame& frame, int trial) {
  auto command = decode(frame);
  if (!command) throw std::runtime_error(command.error().message);
  auto* job = std::get_if<NewTrialJob>(&*command);
  if (!job || job->parameter_id != ParameterId(std::int64_t{trial})) {
    throw std::runtime_error(fmt::format("NewTrialJob of parameter id {} expected, not {} {}",
                                         trial, frame.code, printable(frame.payload)));
  }
  return std::move(*job);
}

double round_trip_once() {
  int there[2], back[2];
  if (::pipe2(there, O_CLOEXEC) || ::pipe2(back, O_CLOEXEC)) throw std::runtime_error("no pipe");
  const UniqueFd to(there[1]), from(back[0]);
  UniqueFd its_in(there[0]), its_out(back[1]);
  boost::asio::io_context io;
  ProcessSpec spec;
  spec.arguments = {"/bin/cat"};
  spec.directory = "/";
  spec.descriptors = {{0, its_in.get()}, {1, its_out.get()}};
  const auto cat = ChildProcess::spawn(io, spec, [](ExitStatus) {});
  if (!cat) throw std::runtime_error(cat.error().message);
  its_in.reset();
  its_out.reset();
  std::vector<double> microseconds;
  for (int i = 0; i < 20'000; ++i) {
    char byte = 'x';
    const Stopwatch watch;
    if (::write(to.get(), &byte, 1) != 1 || ::read(from.get(), &byte, 1) != 1) {
      throw std::runtime_error("cat does not answer");
    }
    microseconds.push_back(watch.seconds() * 1e6);
  }
  return median(std::move(microseconds));
}

}  // namespace

Figure pipe_round_trip(const Options& options) {
  Figure figure{"pipe round trip", "us"};
  for (int i = 0; i < options.repetitions; ++i) figure.samples.push_back(round_trip_once());
  return figure;
}

std::vector<Figure> life(const Options& options) {
  Figure start{"start to Initialized", "ms"};
  Figure memory{"resident memory after the start", "MiB"};
  Figure end{"Terminate to exit", "ms"};
  for (int i = 0; i < options.repetitions; ++i) {
    const Stopwatch since_launch;
    DispatcherProcess dispatcher(options.command, experiment("TPE"));
    dispatcher.send("IN", mixed_space());
    dispatcher.expect("ID");
    start.samples.push_back(since_launch.seconds() * 1e3);
    memory.samples.push_back(dispatcher.resident_mib());
    const Stopwatch since_terminate;
    dispatcher.send("TE");
    dispatcher.wait();
    end.samples.push_back(since_terminate.seconds() * 1e3);
  }
  return {start, memory, end};
}

std::vector<Figure> latency(const Options& options, const std::string& tuner) {
  std::vector<Figure> figures;
  for (const int n : options.observations) {
    figures.push_back({fmt::format("{} after {} observations", tuner, n), "us"});
  }
  const int requests = std::ranges::max(options.observations) + kWindow;
  Figure memory{fmt::format("resident memory, {} after {} trials", tuner, requests), "MiB"};
  for (int i = 0; i < options.repetitions; ++i) {
    DispatcherProcess dispatcher(options.command, experiment(tuner));
    dispatcher.send("IN", mixed_space());
    dispatcher.expect("ID");
    std::vector<double> microseconds;
    for (int trial = 0; trial < requests; ++trial) {
      const Stopwatch watch;
      dispatcher.send("GE", "1");
      const Frame answer = dispatcher.receive();
      microseconds.push_back(watch.seconds() * 1e6);
      const NewTrialJob job = proposal(answer, trial);
      dispatcher.send("ME", final_result(trial, objective(job.parameters)));
    }
    for (std::size_t k = 0; k < figures.size(); ++k) {
      const auto from = microseconds.begin() + options.observations[k];
      figures[k].samples.push_back(median({from, from + kWindow}));
    }
    memory.samples.push_back(dispatcher.resident_mib());
  }
  figures.push_back(memory);
  return figures;
}

std::vector<Figure> throughput(const Options& options, int metrics) {
  Figure rate{fmt::format("metrics per second, over {}", metrics), "1/s"};
  Figure cpu{fmt::format("processor time of a metric, over {}", metrics), "us"};
  Figure memory{fmt::format("resident memory after {} metrics", metrics), "MiB"};
  const int trials = metrics / kSteps;
  json parameters = experiment("Random");
  parameters["assessor"] = {{"name", "Medianstop"}, {"classArgs", json::object()}};
  for (int i = 0; i < options.repetitions; ++i) {
    DispatcherProcess dispatcher(options.command, parameters);
    dispatcher.send("IN", uniform_space());
    dispatcher.expect("ID");
    dispatcher.send("GE", std::to_string(trials + 1));
    for (int trial = 0; trial <= trials; ++trial) proposal(dispatcher.receive(), trial);

    const double before = dispatcher.cpu_seconds();
    const Stopwatch watch;
    std::string bytes;
    for (int trial = 0; trial < trials; ++trial) {
      bytes.clear();
      append_trial(trial, kSteps, bytes);
      dispatcher.write(bytes);
    }
    dispatcher.send("ME", bad_result(trials));
    dispatcher.expect("KI");
    const double seconds = watch.seconds();
    rate.samples.push_back(trials * kSteps / seconds);
    cpu.samples.push_back((dispatcher.cpu_seconds() - before) * 1e6 / (trials * kSteps));
    memory.samples.push_back(dispatcher.resident_mib());
  }
  return {rate, cpu, memory};
}

}  // namespace attune::bench
