#include "daemon/resume.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <limits>

#include "base/saved_numbers.h"
#include "daemon/journal_reading.h"
#include "daemon/version.h"
#include "daemon/websocket_channel.h"
#include "dispatcher/journal_frames.h"

namespace attune {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

// A daemon whose manager has gone ends within this time (deadlines.h, PipeChannel).
constexpr milliseconds kEnding{5000};

// How long to wait for the journal: longer than a former daemon can live without its manager, which
// may take time to notice that a WebSocket is lost for good.
milliseconds lock_patience(const Configuration& configuration) {
  if (configuration.websocket_url.empty()) return kEnding;
  return kEnding + WebSocketOptions().longest_reconnecting();
}

Result<std::optional<JournalFile::Existing>> take_journal(const Configuration& configuration,
                                                          FileSystem& files,
                                                          const std::string& path, const Log& log) {
  auto taken = JournalFile::lock_and_read(files, path);
  if (taken) return taken;
  const milliseconds patience = lock_patience(configuration);
  log.info("{}; it is tried for {} s", taken.error().message, patience.count() / 1000);
  return JournalFile::lock_and_read(files, path, patience);
}

// Checks that the present settings are those in the journal's header.
Result<void> compare(const json& header, const json& present) {
  for (const auto& [key, value] : present.items()) {
    // These may differ. The replay shows whether another version gives the same answers; the other
    // settings are taken from the header or are set anew.
    const bool free = key == "attuned" || key == "seed" || key == "max_trials" ||
                      key == "concurrency" || key == "search_space" || key == "limits" ||
                      key == "when_exhausted" || key == "format" || key == "ask_at_once";
    const auto former = header.find(key);
    if (!free && (former == header.end() || *former != value)) {
      return fail(fmt::format("it is of another experiment: its {} was {}, now it is {}", key,
                              former == header.end() ? "none" : dump_json(*former),
                              dump_json(value)));
    }
  }
  return {};
}

void warn_of_other_limits(const Limits& begun, const Limits& present, const Log& log) {
  for (const LimitEntry& entry : limit_entries()) {
    if (begun.*entry.value == present.*entry.value) continue;
    log.warning("--max-{} {} does not count: the experiment began with {}", entry.name,
                present.*entry.value, begun.*entry.value);
  }
}

// Takes the settings that shape answers from the header. The limits of payloads and queues shape
// none, and stay as they are now.
Result<Configuration> as_begun(Configuration configuration, const json& header, const Log& log) {
  auto count = [&](const char* name) -> std::optional<int> {
    const auto found = header.find(name);
    if (found == header.end() || !found->is_number_integer()) return std::nullopt;
    return found->get<int>();
  };
  configuration.context.max_trials = count("max_trials");
  configuration.context.concurrency = count("concurrency");
  configuration.context.pauses = header.value("pauses", json()) == true;
  // The answers name this folder. An earlier attuned never set it.
  const json folder = header.value("trial_checkpoints", json(""));
  configuration.trial_checkpoints = folder.is_string() ? folder.get<std::string>() : "";
  configuration.revision = 0;
  if (header.contains("revision")) {  // an earlier attuned had no other
    configuration.revision = TRY(integer_at(header, "revision"));
    if (configuration.revision < 0 || configuration.revision > kRevision) {
      return fail(fmt::format("its answers are of revision {}: this attuned knows 0 to {}",
                              configuration.revision, kRevision));
    }
  }
  const Limits present = configuration.limits;
  configuration.limits = TRY(limits_from_json(header.value("limits", json::object())));
  configuration.limits.payload = present.payload;
  configuration.limits.queue = present.queue;
  warn_of_other_limits(configuration.limits, present, log);
  // The header of an earlier attuned has no such member: it never repeated points.
  const json when = header.value("when_exhausted", json("stop"));
  configuration.when_exhausted =
      when.is_string() ? parse_when_exhausted(when.get<std::string>()) : std::nullopt;
  if (!configuration.when_exhausted) return fail("its \"when_exhausted\" is unknown");
  configuration.ask_at_once = kAskAtOnceInFormat1;
  if (header.contains("ask_at_once")) {
    configuration.ask_at_once = TRY(integer_at(header, "ask_at_once"));
    if (configuration.ask_at_once < 1) return fail("its \"ask_at_once\" is not positive");
  }
  if (header.contains("seed") && header["seed"].is_number_integer()) {
    configuration.fallback_seed = header["seed"].get<std::uint64_t>();
  }
  return configuration;
}

Result<json> read_header(RecordScanner& records) {
  const auto first = TRY(records.next());
  if (!first) return fail("no record in it is whole");
  json header = TRY(parse_json(first->payload, kJournalJson));
  if (!header.is_object()) return fail("its header is no object");
  const json format = header.value("format", json());
  if (!is_known_format(format)) {
    return fail(fmt::format(
        "format {} of attuned {}: this attuned {} reads formats {} to {}; resume the experiment "
        "with the former program, or let the manager import its results",
        dump_json(format), dump_json(header.value("attuned", json())), kVersion,
        kOldestJournalFormat, kJournalFormat));
  }
  return header;
}

// `plugin_failed`: set if the replay failed because a plug-in did.
Result<Beginning> resume(const Configuration& configuration, const Algorithms& algorithms,
                         const std::string& path, Beginning::Old& old, const Clock& clock,
                         const Log& log, bool& plugin_failed) {
  RecordScanner records(old.existing.bytes);
  json header = TRY(read_header(records));
  Beginning beginning;
  beginning.crew =
      TRY(make_crew(TRY(as_begun(configuration, header, log)), algorithms, clock, log));
  TRY(compare(header, beginning.crew.header));
  // The header for the next snapshot, which is written in the present format.
  header["format"] = kJournalFormat;
  header["ask_at_once"] = beginning.crew.header["ask_at_once"];
  beginning.crew.header = std::move(header);
  const auto& shared = configuration.shared;
  Replay replay(*beginning.crew.dispatcher, *beginning.crew.workers,
                shared ? shared->received : std::numeric_limits<std::uint64_t>::max());
  auto replayed = replay.run(records);
  plugin_failed = replay.algorithm_failed();
  TRY(std::move(replayed));
  old.good = records.end_of_good();
  old.after_snapshot = old.good - replay.after_snapshot();
  if (old.good < old.existing.bytes.size()) {
    log.warning("{}: the last {} bytes were not written to their end, and are cut off", path,
                old.existing.bytes.size() - old.good);
  }
  beginning.fresh = replay.fresh();
  beginning.begin = {shared ? BeginHow::exact : BeginHow::restart, std::string(kVersion)};
  if (shared) {
    // Then nothing was answered or acknowledged, and the daemon can begin again with the IN that
    // comes.
    if (!replay.initialized()) return fail("it ends before the search space was in force");
    const std::uint64_t through = beginning.crew.dispatcher->commands();
    if (through < shared->acknowledged || through > shared->sent) {
      return fail(fmt::format(
          "it has {} commands, and the manager has sent {}, of which it has {} no longer", through,
          shared->sent, shared->acknowledged));
    }
    auto answers = replay.answers_above();
    if (!answers) {
      return fail(
          fmt::format("the manager has received {} answers; {} are known, and not all of "
                      "the later ones are kept",
                      shared->received, beginning.crew.dispatcher->answers()));
    }
    beginning.through = through;
    beginning.answers = *std::move(answers);
    beginning.leftovers = replay.take_leftovers();
  } else {
    auto restarted = replay.restart();
    plugin_failed = replay.algorithm_failed();
    TRY(std::move(restarted));
    beginning.begin.tune_notes = replay.tune_notes();
    beginning.begin.assess_notes = replay.assess_notes();
  }
  log.info("resumed from {}, seed {}: {} commands replayed", path,
           dump_json(beginning.crew.header["seed"]), replay.commands_replayed());
  return beginning;
}

// Renames the journal, to a name that no earlier one has. Returns that name.
Result<std::string> keep(FileSystem& files, const std::string& path, const std::string& suffix,
                         const Log& log) {
  std::string name = path + suffix;
  std::error_code error;
  for (int i = 1; fs::exists(fs::symlink_status(name, error)); ++i) {
    name = fmt::format("{}{}.{}", path, suffix, i);
  }
  if (auto kept = files.rename(path, name); !kept) {
    return fail(kept.error().message +
                "; the journal that is there would be lost: make its directory writable, or move "
                "it away");
  }
  log.warning("it is kept as {}", name);
  return name;
}

}  // namespace

std::string journal_path(const std::string& directory) { return directory + "/attuned.journal"; }

Result<Beginning> make_beginning(const Configuration& configuration, const Algorithms& algorithms,
                                 FileSystem& files, const Clock& clock, const Log& log) {
  const bool remembers = !configuration.checkpoint_directory.empty();
  const std::string path = journal_path(configuration.checkpoint_directory);
  std::string refused = "there is no directory for it (--checkpoint-dir)";
  auto existing = std::optional<JournalFile::Existing>();
  if (remembers) existing = TRY(take_journal(configuration, files, path, log));
  if (existing && existing->bytes.empty()) {  // of a daemon that never got a command
    refused = path + " is empty";
  } else if (existing) {
    Beginning::Old old{*std::move(existing)};
    if (configuration.resume) {
      bool plugin_failed = false;
      auto resumed = resume(configuration, algorithms, path, old, clock, log, plugin_failed);
      if (resumed) {
        resumed->old = std::move(old);
        return resumed;
      }
      // The journal is good. It is left for a daemon whose plug-in works.
      if (plugin_failed) return resumed;
      if (auto made = make_crew(configuration, algorithms, clock, log); !made) {
        return std::unexpected(made.error());
      }
      refused = resumed.error().message;
      log.warning("{} is not used: {}", path, refused);
      const std::string name = TRY(keep(files, path, ".refused", log));
      refused = fmt::format("{}: {}; it is kept as {}", path, refused, name);
    } else {
      log.warning("{} is there, and this is no resume (NNI_MODE=resume, --resume)", path);
      TRY(keep(files, path, ".previous", log));
    }
  } else if (remembers) {
    refused = path + " does not exist";
  }
  const auto& shared = configuration.shared;
  Beginning fresh;
  fresh.begin.version = kVersion;
  fresh.crew = TRY(make_crew(configuration, algorithms, clock, log));
  if (configuration.resume) {
    log.warning("nothing is gone on from: {}; former results come through the manager's ImportData",
                refused);
    if (shared) fresh.refused = refused;
    if (shared && shared->received == 0 && shared->acknowledged == 0) fresh.through = 0;
  }
  const json& tuner = fresh.crew.header["tuner"];
  const json& assessor = fresh.crew.header["assessor"];
  log.info("attuned {} started: tuner {} ({}), assessor {}, seed {}", kVersion,
           tuner["name"].get<std::string>(), tuner["optimize_mode"].get<std::string>(),
           assessor.is_null() ? "none" : assessor["name"].get<std::string>(),
           dump_json(fresh.crew.header["seed"]));
  return fresh;
}

}  // namespace attune
