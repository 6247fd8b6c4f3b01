#include "manager/app/own_dashboard.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <utility>

namespace attune {
namespace {

struct Pipe {
  UniqueFd read, write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends = {};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return fail(fmt::format("cannot make a pipe: {}", strerror(errno)));
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace

Result<std::unique_ptr<OwnDashboard>> OwnDashboard::start(
    boost::asio::io_context& io, const OwnDashboardSetup& setup,
    std::function<void(const std::string&)> say) {
  Pipe in = TRY(make_pipe());
  Pipe out = TRY(make_pipe());
  std::unique_ptr<OwnDashboard> dashboard(new OwnDashboard(io, std::move(say)));
  ProcessSpec spec{.arguments = {setup.program, "dashboard", setup.directory, "--end-with-input"},
                   .environment = setup.environment,
                   .directory = "/",
                   .descriptors = {{0, in.read.get()}, {1, out.write.get()}, {2, STDERR_FILENO}}};
  if (!setup.listen.empty()) {
    spec.arguments.emplace_back("--listen");
    spec.arguments.push_back(setup.listen);
  }
  OwnDashboard* const plain = dashboard.get();
  dashboard->process_ = TRY(ChildProcess::spawn(io, spec, [plain](ExitStatus status) {
    plain->say_("warning: the dashboard has ended: " + to_text(status));
  }));
  dashboard->input_ = std::move(in.write);
  dashboard->output_.assign(out.read.release());
  dashboard->read();
  return dashboard;
}

void OwnDashboard::read() {
  output_.async_read_some(
      boost::asio::buffer(buffer_),
      [this, alive = std::weak_ptr(alive_)](boost::system::error_code error, std::size_t count) {
        if (alive.expired() || error) return;
        line_.append(buffer_.data(), count);
        const std::size_t end = line_.find('\n');
        if (end == std::string::npos) return read();
        say_(line_.substr(0, end));  // it prints nothing else
      });
}

}  // namespace attune
