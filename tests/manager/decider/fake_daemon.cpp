// A daemon for tests of the manager's side: what it does is the word in FAKE_DAEMON.
//   works             answers as attuned does; proposes {"x": 0}, {"x": 1}, ... at most FAKE_LIMIT
//                     of them; stops a trial whose intermediate value is above 100, pauses one at
//                     50, and lets it go on with the next request; asks for a checkpoint at 60, and
//                     drops it. Writes what it is told into FAKE_LOG, a command a line
//   dies              writes to stderr, exits with 3
//   error             sends ER, exits with 2
//   garbage           sends bytes that are no command
//   closes            closes its output and stays
//   stops-reading     answers Initialize, then reads nothing more, whatever comes
//   ignores-terminate works, but stays after Terminate and the end of its input
//
// With FAKE_JOURNAL (a file) it remembers: resumed exactly, it goes on where the commands in it
// end. What then goes wrong is in these:
//   FAKE_DIE      "before N" or "after N": kills itself with each N-th command, when that is in the
//                 journal, and before or after it is answered
//   FAKE_EXIT     the exit code to die with instead
//   FAKE_THROUGH  what it says to remember: "+1" and "-1" more and less than is true; "none": that
//                 it cannot go on
//   FAKE_FULL     it cannot remember what it would answer to so many requests for trials, until the
//                 next command comes
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "base/json.h"
#include "protocol/codec.h"
#include "protocol/frame.h"

namespace {

using namespace attune;

std::string word(const char* name, const char* fallback) {
  const char* value = std::getenv(name);
  return value == nullptr ? fallback : value;
}

void put(const std::string& bytes) {
  if (::write(4, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) ::_exit(9);
}

void put_frame(const Frame& frame) {
  std::string bytes;
  if (!encode_frame(frame, Framing{}, bytes)) ::_exit(9);
  put(bytes);
}

[[noreturn]] void stay() {
  ::signal(SIGTERM, SIG_IGN);
  while (true) ::pause();
}

[[noreturn]] void die() {
  if (const std::string code = word("FAKE_EXIT", ""); !code.empty()) ::_exit(std::stoi(code));
  ::raise(SIGKILL);
  ::_exit(9);
}

class Works {
 public:
  // Answers up to this number are not sent: they were, by an earlier one.
  void hush(std::uint64_t answers) { silent_ = answers; }

  // False: it is over.
  bool handle(const Command& command) {
    if (late_ > 0) propose(std::exchange(late_, 0));
    if (const auto* request = std::get_if<RequestTrialJobs>(&command)) {
      if (full_ > 0) {
        --full_;
        late_ = request->count;
        put_frame(encode(NoMoreTrialJobs{{}, "the disk is full", true}));
      } else {
        propose(request->count);
      }
    } else if (const auto* metric = std::get_if<ReportMetricData>(&command)) {
      judge(*metric);
    } else if (const auto* end = std::get_if<TrialEnd>(&command)) {
      if (end->event == TrialEnd::Event::paused) {
        paused_ = {end->trial_job_id, end->checkpoint};
      }
    } else if (const auto* saved = std::get_if<CheckpointSaved>(&command)) {
      send(encode(DropCheckpoint{saved->checkpoint}));
    } else if (const auto* ping = std::get_if<Ping>(&command)) {
      send(encode(Pong{ping->token}));
    }
    return !std::holds_alternative<Terminate>(command);
  }

 private:
  void send(const Frame& frame) {
    if (++answers_ > silent_) put_frame(frame);
  }

  void judge(const ReportMetricData& metric) {
    const std::string& job = metric.trial_job_id;
    if (metric.type == ReportMetricData::Type::request_parameter) {
      const json parameters = metric.parameter_index > 1 ? json() : json{{"x", 7}};
      send(encode(SendTrialJobParameter{std::int64_t{7}, parameters, job, metric.parameter_index}));
    } else if (metric.type == ReportMetricData::Type::periodical && metric.value > 100) {
      send(encode(KillTrialJob{job, "above 100"}));
    } else if (metric.type == ReportMetricData::Type::periodical && metric.value == 77) {
      send(encode(KillTrialJob{job, "77 of 77", true}));
    } else if (metric.value == 50) {
      send(encode(PauseTrialJob{job, "half of 100"}));
    } else if (metric.value == 60) {
      send(encode(SaveCheckpoint{job}));
    }
  }

  void propose(std::int64_t count) {
    if (const auto [job, checkpoint] = std::exchange(paused_, {}); !job.empty() && count > 0) {
      NewTrialJob again;
      again.parameter_id = std::int64_t{next_++};
      again.parameters = {{"x", 0}};
      again.resume_trial_job_id = job;
      again.checkpoint_from = checkpoint;
      send(encode(again));
      --count;
    }
    for (; count > 0 && next_ < limit_; --count, ++next_) {
      // Not as encode() would write it: the manager must keep the text as it is.
      send({"TR", fmt::format(R"({{"parameter_id": {0}, "parameters": {{"x":{0}}}, "extra":1}})",
                              next_)});
    }
    if (count > 0) send(encode(NoMoreTrialJobs{{}, "the limit is reached"}));
  }

  std::uint64_t answers_ = 0, silent_ = 0;
  int full_ = std::atoi(word("FAKE_FULL", "0").c_str());
  std::int64_t late_ = 0;  // asked for while it was full
  int next_ = 0;
  std::pair<std::string, std::string> paused_;  // job and checkpoint
  int limit_ = std::atoi(word("FAKE_LIMIT", "1000000").c_str());
};

// The commands that came so far, a line each, and what becomes of the daemon by them.
class Remembers {
 public:
  // The answer to Initialize, and all that follows from the commands before it.
  void begin(Works& works, const std::optional<std::uint64_t>& received) {
    const std::string lie = word("FAKE_THROUGH", "");
    const bool resumes = received && !path_.empty() && lie != "none";
    std::vector<Command> commands;
    if (resumes) {
      std::ifstream file(path_);
      for (std::string line; std::getline(file, line);)
        commands.push_back(decode({line.substr(0, 2), line.substr(2)}).value());
    }
    count_ = commands.size();
    file_.open(path_.empty() ? "/dev/null" : path_, resumes ? std::ios::app : std::ios::trunc);
    if (!resumes) return put_frame({"ID", ""});
    works.hush(*received);
    const std::uint64_t through = count_ + (lie == "+1" ? 1 : 0) - (lie == "-1" ? 1 : 0);
    put_frame(encode(Initialized{through}));
    for (const Command& command : commands) works.handle(command);
  }
  void note(const Frame& frame) {
    file_ << frame.code << frame.payload << std::endl;
    ++count_;
  }
  void maybe_die(const char* when) {
    if (deadly_ > 0 && when_ == when && count_ % deadly_ == 0) die();
  }

 private:
  std::string path_ = word("FAKE_JOURNAL", "");
  std::string how_ = word("FAKE_DIE", "");
  std::string when_ = how_.substr(0, how_.find(' '));
  std::uint64_t deadly_ = how_.empty() ? 0 : std::stoull(how_.substr(how_.find(' ')));
  std::uint64_t count_ = 0;
  std::ofstream file_;
};

void converse(const std::string& mode, const std::optional<std::uint64_t>& received) {
  FrameDecoder decoder{Framing{}};
  Works works;
  Remembers memory;
  std::ofstream log(word("FAKE_LOG", "/dev/null"), std::ios::app);
  log << "mode " << word("NNI_MODE", "") << std::endl;
  char buffer[4096];
  while (true) {
    const ssize_t size = ::read(3, buffer, sizeof buffer);
    if (size <= 0) return;
    decoder.feed(std::string_view(buffer, static_cast<std::size_t>(size)));
    while (true) {
      const auto frame = decoder.next();
      if (!frame) ::_exit(8);
      if (!*frame) break;
      log << (*frame)->code << ' ' << (*frame)->payload << std::endl;
      // A TrialEnd must bring back the very text of its NewTrialJob.
      if ((*frame)->code == "EN" && (*frame)->payload.find(R"(\"extra\":1)") == std::string::npos)
        ::_exit(6);
      const auto command = decode(**frame);
      if (!command) ::_exit(7);
      if (std::holds_alternative<Initialize>(*command)) {
        memory.begin(works, received);
      } else {
        memory.note(**frame);
        memory.maybe_die("before");
        if (!works.handle(*command)) return;
        memory.maybe_die("after");
      }
      if (mode == "stops-reading") stay();
    }
  }
}

int serve(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "--check") {
    fmt::print(R"({{"fine": true}})");
    return 0;
  }
  if (argc > 1 && std::string(argv[1]) == "--list") {
    fmt::print(
        R"({{"tuners": [{{"name": "TPE", "aliases": ["Parzen"], "optimize_mode": "minimize"}}]}})");
    return 0;
  }
  std::optional<std::uint64_t> received;
  if (argc > 2 && std::string(argv[1]) == "--exp_params") {
    const auto parameters = parse_json(base64_decode(argv[2]).value()).value();
    const json resume = parameters.value("resume", json::object());
    if (resume.contains("received") && word("NNI_MODE", "") == "resume")
      received = resume["received"].get<std::uint64_t>();
  }
  const std::string mode = word("FAKE_DAEMON", "works");
  if (mode == "dies") {
    fmt::print(stderr, "no such tuner\n");
    return 3;
  }
  if (mode == "error") {
    put_frame({"ER", "the space is empty"});
    return 2;
  }
  if (mode == "garbage") put("hello world, this is not a frame\n");
  if (mode == "closes") {
    ::close(4);
    stay();
  }
  converse(mode, received);
  if (mode == "ignores-terminate") stay();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return serve(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fake daemon: %s\n", error.what());
    return 1;
  }
}
