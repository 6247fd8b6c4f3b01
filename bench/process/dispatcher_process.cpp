#include "bench/process/dispatcher_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "base/base64.h"

namespace attune::bench {
namespace {

constexpr std::size_t kReadSize = 64 << 10;

std::vector<std::string> environment(const std::string& directory) {
  std::vector<std::string> inherited;
  for (char** entry = environ; *entry; ++entry) inherited.emplace_back(*entry);
  // One thread for Python's numerical libraries: they are not what is measured.
  return child_environment(inherited, {{"NNI_MODE", "start"},
                                       {"NNI_CHECKPOINT_DIRECTORY", directory + "/checkpoint"},
                                       {"NNI_LOG_DIRECTORY", directory},
                                       {"NNI_LOG_LEVEL", "info"},
                                       {"NNI_INCLUDE_INTERMEDIATE_RESULTS", "false"},
                                       {"OMP_NUM_THREADS", "1"},
                                       {"OPENBLAS_NUM_THREADS", "1"}});
}

std::string last_lines(const std::string& file) {
  std::ifstream stream(file);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  return text.size() > 2000 ? text.substr(text.size() - 2000) : text;
}

}  // namespace

DispatcherProcess::DispatcherProcess(const std::vector<std::string>& command,
                                     const json& experiment)
    : buffer_(kReadSize, '\0') {
  directory_ = std::filesystem::temp_directory_path() / "bench-process-XXXXXX";
  if (!::mkdtemp(directory_.data())) throw std::runtime_error("no temporary directory");
  std::filesystem::create_directory(directory_ + "/checkpoint");
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) || ::pipe2(out, O_CLOEXEC)) throw std::runtime_error("no pipe");
  const UniqueFd in_end(in[0]), out_end(out[1]);
  to_.reset(in[1]);
  from_.reset(out[0]);
  const UniqueFd output(
      ::open((directory_ + "/stdio.txt").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));

  ProcessSpec spec;
  spec.arguments = command;
  spec.arguments.insert(spec.arguments.end(),
                        {"--exp_params", base64_encode(dump_json(experiment))});
  spec.environment = environment(directory_);
  spec.directory = directory_;
  spec.descriptors = {{1, output.get()}, {2, output.get()}, {3, in_end.get()}, {4, out_end.get()}};
  auto process = ChildProcess::spawn(io_, spec, [](ExitStatus) {});
  if (!process) throw std::runtime_error(process.error().message);
  process_ = *std::move(process);
}

DispatcherProcess::~DispatcherProcess() {
  process_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

void DispatcherProcess::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(to_.get(), bytes.data(), bytes.size());
    if (written < 0) {
      throw std::runtime_error("the dispatcher does not read: " +
                               last_lines(directory_ + "/stdio.txt"));
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void DispatcherProcess::send(const std::string& code, const std::string& payload) {
  std::string bytes;
  if (auto encoded = encode_frame({code, payload}, {}, bytes); !encoded) {
    throw std::runtime_error(encoded.error().message);
  }
  write(bytes);
}

Frame DispatcherProcess::receive() {
  while (true) {
    auto frame = decoder_.next();
    if (!frame) throw std::runtime_error(frame.error().message);
    if (*frame) return **std::move(frame);
    const ssize_t size = ::read(from_.get(), buffer_.data(), buffer_.size());
    if (size <= 0) {
      throw std::runtime_error("the dispatcher has ended: " +
                               last_lines(directory_ + "/stdio.txt"));
    }
    decoder_.feed(std::string_view(buffer_).substr(0, static_cast<std::size_t>(size)));
  }
}

Frame DispatcherProcess::expect(std::string_view code) {
  Frame frame = receive();
  if (frame.code != code) {
    throw std::runtime_error(
        fmt::format("{} expected, not {} {}", code, frame.code, printable(frame.payload)));
  }
  return frame;
}

std::string DispatcherProcess::proc(const std::string& file) const {
  std::ifstream stream(fmt::format("/proc/{}/{}", process_->pid(), file));
  return {std::istreambuf_iterator<char>(stream), {}};
}

double DispatcherProcess::resident_mib() const {
  constexpr std::string_view kKey = "VmRSS:";
  const std::string status = proc("status");
  const auto at = status.find(kKey);
  if (at == status.npos) throw std::runtime_error("the dispatcher has ended");
  return std::stod(status.substr(at + kKey.size())) / 1024;
}

double DispatcherProcess::cpu_seconds() const {
  // Fields 14 and 15 of the line; the name before them, in parentheses, may hold blanks.
  const std::string line = proc("stat");
  std::istringstream fields(line.substr(line.rfind(')') + 2));
  std::string skipped;
  for (int i = 3; i < 14; ++i) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

void DispatcherProcess::wait() {
  while (process_->running()) io_.run_one();
}

}  // namespace attune::bench
