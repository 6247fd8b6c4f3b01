// The command attune dashboard.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "backends/local/machine.h"
#include "dashboard/dashboard.h"
#include "manager/app/nni_home.h"
#include "manager/app/run_command.h"
#include "manager/dashboard/store_tree.h"
#include "manager/dashboard/stored_view.h"
#include "manager/store/schema.h"
#include "os/atomic_file.h"
#include "os/private_file.h"
#include "os/process.h"
#include "os/standard_output.h"
#include "os/trust.h"

namespace attune {
namespace {

namespace asio = boost::asio;

constexpr const char* kUsualAddress = "127.0.0.1:8470";
constexpr const char* kAnyPort = "127.0.0.1:0";

// The token of the file, or a new one, which is written there.
Result<Secret> token_of(const std::string& file) {
  if (file.empty()) return Secret::draw();
  std::error_code error;
  if (std::filesystem::exists(file, error)) {
    const UniqueFd opened = TRY(open_trusted(file, O_RDONLY));
    struct stat status = {};
    if (::fstat(opened.get(), &status) != 0 || (status.st_mode & 077) != 0)
      return fail(
          fmt::format("{}: other users can read it; chmod 600 {}, and give it a new token "
                      "by removing it if they may have done so",
                      file, file));
    std::string text = TRY(read_to_end(opened.get(), file, 1 << 10));
    while (!text.empty() && text.back() == '\n') text.pop_back();
    auto secret = Secret::parse(text);
    if (!secret) return fail(file + ": it holds no token; remove it, and a new one is written");
    return secret;
  }
  const Secret secret = Secret::draw();
  const UniqueFd made = TRY(open_private(file, O_WRONLY | O_CREAT | O_EXCL));
  const std::string text = secret.hex() + "\n";
  if (::write(made.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return fail("cannot write " + file);
  return secret;
}

// Other users of the machine can read the arguments of a program. So the browser gets the name of a
// file of ours, which leads it to the link.
class BrowserPage {
 public:
  BrowserPage() = default;
  BrowserPage(const BrowserPage&) = delete;
  BrowserPage& operator=(const BrowserPage&) = delete;
  ~BrowserPage() {
    if (!path_.empty()) ::unlink(path_.c_str());
    if (opener_ != nullptr) opener_->leave();  // it may be the browser itself
  }

  Result<void> open(asio::io_context& io, const std::string& link,
                    const std::vector<std::string>& environment) {
    std::error_code error;
    std::string path =
        (std::filesystem::temp_directory_path(error) / "attune-XXXXXX.html").string();
    const UniqueFd file(::mkostemps(path.data(), 5, O_CLOEXEC));  // with mode 0600
    if (!file) return fail("cannot write " + path);
    path_ = path;
    const std::string text = fmt::format(
        "<!doctype html><meta charset=utf-8><meta http-equiv=refresh content=\"0;url={0}\">"
        "<a href=\"{0}\">attune</a>\n",
        link);
    if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      return fail("cannot write " + path);
    opener_ = TRY(ChildProcess::spawn(io,
                                      {.arguments = {"/usr/bin/xdg-open", path_},
                                       .environment = environment,
                                       .directory = "/",
                                       .descriptors = {}},
                                      [](ExitStatus) {}));
    return {};
  }

 private:
  std::string path_;
  std::unique_ptr<ChildProcess> opener_;
};

// Calls `ended` when standard input has come to its end.
class InputEnd {
 public:
  explicit InputEnd(asio::io_context& io) : input_(io) {}
  void watch(std::function<void()> ended) {
    ended_ = std::move(ended);
    input_.assign(::dup(STDIN_FILENO));
    read();
  }

 private:
  void read() {
    input_.async_read_some(asio::buffer(buffer_),
                           [this](boost::system::error_code error, std::size_t) {
                             if (error == asio::error::operation_aborted) return;
                             if (error) return ended_();
                             read();
                           });
  }

  asio::posix::stream_descriptor input_;
  std::array<char, 256> buffer_ = {};
  std::function<void()> ended_;
};

// `listen` is empty: the usual address, or, if another program has that and `may_move`, any port.
Result<std::unique_ptr<Dashboard>> start(asio::io_context& io, StoredSource& source,
                                         const Secret& token, DashboardOptions options,
                                         const std::string& listen, bool may_move) {
  options.listen = listen.empty() ? kUsualAddress : listen;
  auto dashboard = Dashboard::start(io, source, token, options);
  if (dashboard || !listen.empty() || !may_move) return dashboard;
  options.listen = kAnyPort;
  return Dashboard::start(io, source, token, options);
}

// What NNI's clients see.
struct NniExperiment {
  StoreReader reader;
  StoredExperiment experiment;
};

// That of a folder, if it is the folder of one; else the newest.
Result<NniExperiment> nni_experiment(const std::vector<std::filesystem::path>& folders) {
  std::vector<std::filesystem::path> stores;
  for (const auto& folder : folders) {
    std::error_code error;
    // In the folder of an experiment this is a link; find_stores() names the folder that it leads
    // to, where there are others, too.
    const bool here = std::filesystem::exists(folder / kStoreFile, error);
    if (here) stores.push_back(folder);
    if (!here) std::ranges::copy(find_stores({folder}).stores, std::back_inserter(stores));
  }
  std::optional<NniExperiment> newest;
  std::string problem = "there is no experiment yet; attune run begins one";
  for (const auto& store : stores) {
    auto reader = open_trusted_store(store);
    auto experiment = reader ? reader->find("") : std::unexpected(reader.error());
    if (!reader) problem = reader.error().message;
    if (experiment && (!newest || experiment->started > newest->experiment.started))
      newest = NniExperiment{*std::move(reader), *std::move(experiment)};
  }
  if (!newest) return fail("--nni-rest: " + problem);
  return *std::move(newest);
}

// Says where NNI's clients find the experiment. Returns the home for nnictl; null: it cannot reach
// a socket.
Result<std::unique_ptr<NniHome>> welcome_nni(asio::io_context& io, const Dashboard& dashboard,
                                             NniExperiment nni, bool read_only) {
  const std::string address = dashboard.address();
  const bool socket = address.starts_with("unix:");
  put_text(stdout,
           fmt::format("NNI's REST API, experiment {}: http://{}/{}/api/v1/nni\n",
                       nni.experiment.id, socket ? "localhost" : address, dashboard.prefix()));
  if (socket) return nullptr;
  const std::string place = address.substr(address.rfind(':') + 1) + "/" + dashboard.prefix();
  auto home = TRY(NniHome::make(io, std::move(nni.reader), nni.experiment, place, !read_only));
  put_text(stdout, fmt::format("nnictl: HOME={} nnictl trial ls\n", home->path().string()));
  return home;
}

}  // namespace

Result<int> serve_dashboard(const DashboardCommandOptions& options,
                            const Surroundings& surroundings) {
  std::vector<std::filesystem::path> roots;
  for (const std::string& directory : options.directories) {
    std::error_code error;
    if (!std::filesystem::is_directory(directory, error) && options.directories.size() > 1)
      return fail(directory + ": there is no such folder");
    roots.emplace_back(directory);
  }
  std::optional<NniExperiment> nni;
  if (options.nni_rest) nni = TRY(nni_experiment(roots));
  const Secret token = TRY(token_of(options.token_file));
  const rlim_t file_limit = raise_file_limit();  // each store that is shown takes several
  const SystemClock clock;
  asio::io_context io;
  StoredSource source(io, clock,
                      {.roots = roots,
                       .program = surroundings.program_folder + "/attune",
                       .environment = surroundings.environment,
                       .file_limit = file_limit == RLIM_INFINITY ? 0 : file_limit,
                       .nni_experiment = nni ? nni->experiment.id : ""});
  auto dashboard =
      TRY(start(io, source, token,
                {.allow_remote = options.allow_remote,
                 .rules = {.hosts = options.allow_hosts, .read_only = options.read_only},
                 .version = ATTUNE_VERSION},
                // Programs that know the token of a file would show it to whoever has that port.
                options.listen, options.token_file.empty()));
  asio::signal_set signals(io, SIGINT, SIGTERM);
  signals.async_wait([&](boost::system::error_code, int) { io.stop(); });
  InputEnd input(io);
  if (options.end_with_input) input.watch([&] { io.stop(); });
  put_text(stdout, fmt::format("dashboard: {}\n", dashboard->link()));
  std::unique_ptr<NniHome> home;
  if (nni) home = TRY(welcome_nni(io, *dashboard, *std::move(nni), options.read_only));
  std::fflush(stdout);
  BrowserPage page;
  if (options.open) {
    if (auto opened = page.open(io, dashboard->link(), surroundings.environment); !opened)
      put_text(stderr, fmt::format("attune: no browser was opened: {}\n", opened.error().message));
  }
  io.run();
  return kExitOk;
}

}  // namespace attune
